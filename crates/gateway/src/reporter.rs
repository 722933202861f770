//! Reports what is found to be wrong with a configuration while the gateway runs.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{ConfigError, ServerEntry};

/// Reports what is found to be wrong with a configuration after it was loaded.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<Report>>);

type Report = dyn Fn(&ConfigError) + Send + Sync;

impl Reporter {
    pub(crate) fn new(report: impl Fn(&ConfigError) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(report)))
    }

    pub(crate) fn report(&self, note: &ConfigError) {
        if let Some(report) = &self.0 {
            report(note);
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reporter").field(&self.0.is_some()).finish()
    }
}

/// Reports the faults of one server of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct EntryReporter {
    reporter: Reporter,
    file: PathBuf,
    at: String,
}

impl EntryReporter {
    pub(crate) fn new(reporter: Reporter, entry: &ServerEntry) -> Self {
        Self { reporter, file: entry.file.clone(), at: entry.at.clone() }
    }

    pub(crate) fn report(&self, problem: &str) {
        self.reporter.report(&ConfigError::new(&self.file, self.at.as_str(), problem));
    }
}
