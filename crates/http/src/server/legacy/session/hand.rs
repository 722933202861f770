//! What passes from hand to hand between a session and whoever drives one of its lines.

use std::sync::Arc;

use bowline_proto::request::ExchangeId;

use super::super::item::{Item, Line};

/// What became of a line whose call has ended.
pub(in super::super) struct Completed {
    /// What comes next on it, handed over because nothing waits there.
    pub(in super::super) next: Option<Item>,
    /// Whether nothing comes after that.
    pub(in super::super) is_over: bool,
}

/// Whoever drives a line, while it asks the session for something: takes what belongs to its line
/// straight from our hand, as long as nothing waits there that comes first.
#[derive(Default)]
pub(super) struct Hand<'a> {
    pub(super) line: Option<&'a Arc<Line>>,
    /// The call that has just left the line.
    pub(super) left: Option<ExchangeId>,
    pub(super) is_free: bool,
    pub(super) item: Option<Item>,
}

impl Hand<'_> {
    /// Brings something to a line, or hands it over.
    pub(super) fn give(&mut self, line: &Arc<Line>, item: Item) {
        let is_ours = self.line.is_some_and(|own| Arc::ptr_eq(own, line));
        if is_ours && std::mem::take(&mut self.is_free) {
            self.item = Some(item);
        } else {
            line.push(item);
        }
    }
}
