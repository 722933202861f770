//! The push messages of the database on one connection, until the connection is given up.
//!
//! The client library reports a connection that was closed, but says nothing when its last handle is
//! dropped. So whatever ends a connection, [`Pushes`] reports it, once, and passes on nothing after
//! that: what still arrives must not be taken for something of the next connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use redis::{PushInfo, PushKind};

/// What gets messages of topics, and learns of lost connections.
pub(crate) type PushHandler = Arc<dyn Fn(PushInfo) + Send + Sync>;

/// See the module.
pub(crate) struct Pushes {
    handler: PushHandler,
    is_open: AtomicBool,
    /// Held while the handler runs, so that the report of the end comes after all messages.
    order: Mutex<()>,
}

impl Pushes {
    pub(crate) fn new(handler: &PushHandler) -> Arc<Self> {
        let (handler, is_open) = (handler.clone(), AtomicBool::new(true));
        Arc::new(Self { handler, is_open, order: Mutex::default() })
    }

    pub(crate) fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Passes on what the database has sent.
    pub(crate) fn receive(&self, info: PushInfo) {
        let _order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_open() {
            return;
        }
        if info.kind == PushKind::Disconnection {
            self.is_open.store(false, Ordering::Release);
        }
        (self.handler)(info);
    }

    /// Reports that the connection is given up, unless it was reported as closed.
    pub(crate) fn close(&self) {
        self.receive(PushInfo { kind: PushKind::Disconnection, data: Vec::new() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_reported_once_and_nothing_after_it() {
        let received = Arc::new(Mutex::new(Vec::new()));
        let kinds = received.clone();
        let handler: PushHandler = Arc::new(move |info| kinds.lock().unwrap().push(info.kind));
        let pushes = Pushes::new(&handler);
        let send = |kind| pushes.receive(PushInfo { kind, data: Vec::new() });
        send(PushKind::SMessage);
        assert!(pushes.is_open());
        pushes.close();
        assert!(!pushes.is_open());
        send(PushKind::SMessage);
        send(PushKind::Disconnection);
        pushes.close();
        assert_eq!(*received.lock().unwrap(), [PushKind::SMessage, PushKind::Disconnection]);
    }
}
