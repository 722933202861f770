//! Whether a server asks its callers questions: found out when it first does, and remembered.

use std::fmt;

/// What is known of one server.
#[derive(Default)]
pub(crate) struct Asking {
    asks: bool,
    remember: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Asking {
    /// A server that asks or not, as far as it is known. `remember` is called when it first asks.
    pub(crate) fn new(asks: bool, remember: Option<Box<dyn Fn() + Send + Sync>>) -> Self {
        Self { asks, remember }
    }

    /// Whether the server has asked before this program began.
    pub(crate) fn is_known(&self) -> bool {
        self.asks
    }

    /// Remembers that it asks.
    pub(crate) fn remember(&self) {
        if let Some(remember) = &self.remember {
            remember();
        }
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Asking").field(&self.asks).finish()
    }
}
