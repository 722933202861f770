//! Whether a server asks its callers questions: found out when it first does, and remembered.

use std::fmt;

use tokio::sync::watch;

/// What is known of one server.
#[derive(Default)]
pub(crate) struct Asking {
    asks: watch::Sender<bool>,
    remember: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Asking {
    /// A server that asks or not, as far as it is known. `remember` is called when it first asks.
    pub(crate) fn new(asks: bool, remember: Option<Box<dyn Fn() + Send + Sync>>) -> Self {
        Self { asks: watch::Sender::new(asks), remember }
    }

    /// Whether the server has asked.
    pub(crate) fn is_known(&self) -> bool {
        *self.asks.borrow()
    }

    /// Tells when it becomes known.
    pub(crate) fn changes(&self) -> watch::Receiver<bool> {
        self.asks.subscribe()
    }

    /// Notes that it asks.
    pub(crate) fn note(&self) {
        let is_news = self.asks.send_if_modified(|asks| !std::mem::replace(asks, true));
        if is_news && let Some(remember) = &self.remember {
            remember();
        }
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asking").field(&self.is_known()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Callers that listen look for another lane with each change, and may move.
    #[test]
    fn only_the_first_question_is_a_change_and_is_remembered() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let remember = move || _ = counted.fetch_add(1, Ordering::Relaxed);
        let asking = Asking::new(false, Some(Box::new(remember)));
        let mut changes = asking.changes();
        asking.note();
        assert!(changes.has_changed().unwrap() && *changes.borrow_and_update());
        asking.note();
        assert!(!changes.has_changed().unwrap());
        assert_eq!(count.load(Ordering::Relaxed), 1);
    }
}
