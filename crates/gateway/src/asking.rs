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
        if !self.asks.send_replace(true)
            && let Some(remember) = &self.remember
        {
            remember();
        }
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asking").field(&self.is_known()).finish()
    }
}
