//! How long clients may cache the lists of a server, and for whom (2026-07-28).

use bowline_types::cache::CacheHint;

/// A list of features that clients can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
}

/// How long clients may cache each list, and whether callers may share it (2026-07-28).
#[derive(Clone, Debug)]
pub(crate) struct ListCaching {
    /// The hint of lists that have none of their own.
    pub(crate) general: CacheHint,
    special: Vec<(ListKind, CacheHint)>,
}

impl ListCaching {
    pub(crate) fn new() -> Self {
        // All callers get the same lists by default.
        Self { general: CacheHint::public(std::time::Duration::ZERO), special: Vec::new() }
    }

    /// Sets the hint of one list.
    pub(crate) fn set(&mut self, list: ListKind, hint: CacheHint) {
        self.special.retain(|(other, _)| *other != list);
        self.special.push((list, hint));
    }

    pub(super) fn hint(&self, list: ListKind) -> CacheHint {
        let special = self.special.iter().find(|(other, _)| *other == list);
        special.map_or(self.general, |(_, hint)| *hint)
    }
}
