//! Reports what is found to be wrong with a configuration while the gateway runs.

use std::fmt;
use std::sync::Arc;

use crate::config::ConfigError;

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
