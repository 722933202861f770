//! The names of the tools that a server has listed, to any caller.

use std::collections::BTreeSet;
use std::sync::Mutex;

use bowline_proto::sync::lock;
use bowline_types::tool::ListToolsResult;

use super::findings::RuleFindings;

/// The most names that are remembered of a server.
const MOST_NAMES: usize = 10_000;

/// The names of the tools that a server has listed.
#[derive(Debug, Default)]
pub(super) struct ListedTools(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    names: BTreeSet<String>,
    /// A first page has been read, so that the last one completes a list.
    is_begun: bool,
}

/// Which page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Page {
    First,
    Further,
}

impl ListedTools {
    /// Notes a page, before names are changed. After the last one the rules are checked.
    pub(super) fn note(&self, result: &ListToolsResult, page: Page, findings: &RuleFindings) {
        let mut state = lock(&self.0);
        state.is_begun |= page == Page::First;
        let room = MOST_NAMES.saturating_sub(state.names.len());
        state.names.extend(result.tools.iter().take(room).map(|tool| tool.name.clone()));
        if state.is_begun && result.next_cursor.is_none() {
            findings.note_unlisted(&state.names);
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        lock(&self.0).names.contains(name)
    }
}
