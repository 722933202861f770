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
    /// Whether something had to wait on its line.
    pub(super) leaves_items: bool,
}

impl Hand<'_> {
    /// Brings something to a line, or hands it over.
    pub(super) fn give(&mut self, line: &Arc<Line>, item: Item) {
        let is_ours = self.line.is_some_and(|own| Arc::ptr_eq(own, line));
        if is_ours && std::mem::take(&mut self.is_free) {
            self.item = Some(item);
        } else {
            self.leaves_items |= is_ours;
            line.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_handed_over_and_the_rest_waits_on_its_line() {
        let (ours, other) = (Arc::new(Line::new(1)), Arc::new(Line::new(1)));
        let mut hand = Hand { line: Some(&ours), is_free: true, ..Hand::default() };
        let item = |number| Item::Cancelled(ExchangeId(number));
        hand.give(&other, item(1));
        assert!(hand.item.is_none() && !hand.leaves_items, "it belongs to somebody else");
        hand.give(&ours, item(2));
        assert!(ours.is_empty() && !hand.leaves_items);
        hand.give(&ours, item(3));
        // A line on which something waits is not over, whatever was handed over before.
        assert!(hand.leaves_items);
        assert!(matches!(hand.item, Some(Item::Cancelled(ExchangeId(2)))));
        assert!(matches!(ours.take(), Some(Item::Cancelled(ExchangeId(3)))));
        assert!(matches!(other.take(), Some(Item::Cancelled(ExchangeId(1)))));
    }

    #[test]
    fn nothing_is_handed_over_where_something_waits() {
        let line = Arc::new(Line::new(1));
        let mut hand = Hand { line: Some(&line), ..Hand::default() };
        hand.give(&line, Item::Cancelled(ExchangeId(1)));
        assert!(hand.item.is_none() && hand.leaves_items && !line.is_empty());
    }
}
