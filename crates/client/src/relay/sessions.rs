//! The sessions of callers that listen: they get what belongs to no call.
//!
//! A question of the upstream server that belongs to no call goes to a session only if the relay
//! serves no other. Otherwise it is refused, because another caller could get it.

use std::future::ready;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bowline_proto::request::{ClientProfile, EveryResource, Outbox, Outgoing, Parts};
use bowline_proto::sync::lock;
use bowline_transport::connect::QuestionAnswer;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::caller;
use crate::subscribe::Changes;

/// The most resources that one session may subscribe to. Resources that it unsubscribed from count
/// too, since the relay does not see `resources/unsubscribe`.
pub(super) const MOST: usize = 1024;

/// The callers that listen now.
#[derive(Debug, Default)]
pub(crate) struct ListeningSessions {
    listening: Mutex<Vec<ListeningSession>>,
    /// Whether the relay serves one session and no other caller.
    is_for_one: AtomicBool,
}

#[derive(Clone, Debug)]
pub(super) struct ListeningSession {
    /// All calls of a session share this allocation, so its address identifies the session.
    caller: Arc<ClientProfile>,
    /// Of the call that listens on behalf of the session; `None` for a caller without a session.
    outbox: Option<Outbox>,
    pub(super) changes: UnboundedSender<Changes>,
    count: Arc<Mutex<usize>>,
}

impl ListeningSession {
    pub(super) fn may_follow(&self) -> bool {
        let mut count = lock(&self.count);
        *count += 1;
        *count <= MOST
    }
}

impl ListeningSessions {
    /// Notes that the relay serves one session and no other caller.
    pub(super) fn serve_one(&self) {
        self.is_for_one.store(true, Ordering::Relaxed);
    }

    /// Whether the relay serves one session and no other caller.
    pub(super) fn is_for_one(&self) -> bool {
        self.is_for_one.load(Ordering::Relaxed)
    }

    /// Puts a question that belongs to no call to the only session, or refuses it.
    pub(crate) fn ask(&self, question: InputRequest) -> QuestionAnswer {
        let only = match &self.lock()[..] {
            [ListeningSession { caller, outbox: Some(outbox), .. }] if self.is_for_one() => {
                Some((outbox.clone(), caller.clone()))
            }
            _ => None,
        };
        match only {
            Some((outbox, caller)) => Box::pin(caller::ask(outbox, caller, question)),
            None => {
                let message = "the question belongs to no call, and several clients are behind \
                               this one; ask while you serve a call";
                Box::pin(ready(Err(ErrorObject::internal(message))))
            }
        }
    }

    /// Passes a log message that belongs to no call to all sessions. Each gets only the levels that
    /// it asked for.
    pub(crate) fn log(&self, message: &LogMessageParams) {
        let outboxes = self.lock().iter().filter_map(|session| session.outbox.clone()).collect();
        let outboxes: Vec<_> = outboxes;
        for outbox in outboxes {
            // Log messages may be lost if the caller is slow.
            let _ = outbox.emit(Outgoing::Log(message.clone()));
        }
    }

    pub(super) fn find(&self, caller: &Arc<ClientProfile>) -> Option<ListeningSession> {
        self.lock().iter().find(|entry| Arc::ptr_eq(&entry.caller, caller)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ListeningSession>> {
        lock(&self.listening)
    }
}

/// Keeps a caller in [`ListeningSessions`]; dropping it removes the caller.
pub(super) struct SessionGuard {
    sessions: Arc<ListeningSessions>,
    caller: Arc<ClientProfile>,
}

impl SessionGuard {
    pub(super) fn open(
        sessions: &Arc<ListeningSessions>,
        parts: &Parts,
    ) -> (Self, UnboundedReceiver<Changes>) {
        let (changes, followed) = unbounded_channel();
        let (caller, count) = (parts.client.clone(), Arc::default());
        let is_session = parts.extensions.get::<EveryResource>().is_some();
        let outbox = is_session.then(|| parts.outbox.clone());
        sessions.lock().push(ListeningSession { caller, outbox, changes, count });
        (Self { sessions: sessions.clone(), caller: parts.client.clone() }, followed)
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.caller, &self.caller));
    }
}
