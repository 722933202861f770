//! What is found to be wrong with the rules of an entry once its server has listed its tools. Each
//! finding is reported once.

use std::collections::BTreeSet;
use std::sync::Mutex;

use bowline_proto::sync::lock;

use crate::config::{ConfigError, ServerEntry};
use crate::reporter::Reporter;

/// Reports what is wrong with the rules of an entry.
#[derive(Debug)]
pub(crate) struct RuleFindings {
    entry: ServerEntry,
    report: Reporter,
    reported: Mutex<BTreeSet<String>>,
}

impl RuleFindings {
    pub(crate) fn new(entry: &ServerEntry, report: Reporter) -> Self {
        Self { entry: entry.clone(), report, reported: Mutex::default() }
    }

    pub(super) fn entry(&self) -> &ServerEntry {
        &self.entry
    }

    /// A tool is not offered, because another was given its name.
    pub(super) fn note_collision(&self, tool: &str, holder: &str) {
        let problem = format!("the tool `{tool}` is not offered, because `{holder}` has its name");
        self.note(problem, format!("rename `{tool}` too"));
    }

    /// Rules may name tools that the server does not list.
    pub(super) fn note_unlisted(&self, listed: &BTreeSet<String>) {
        for unlisted in self.entry.tools.unlisted(&listed.iter().map(String::as_str)) {
            self.note(unlisted.problem(), unlisted.advice());
        }
    }

    fn note(&self, problem: String, advice: String) {
        if !lock(&self.reported).insert(problem.clone()) {
            return;
        }
        let note = ConfigError::new(&self.entry.file, self.entry.at.as_str(), problem);
        self.report.report(&note.with_advice(advice));
    }
}
