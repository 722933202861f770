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

use super::caller;

/// The sessions of callers that listen now.
#[derive(Debug, Default)]
pub(crate) struct CallerSessions {
    open: Mutex<Vec<CallerSession>>,
    /// Whether the relay serves one session and no other caller.
    is_for_one: AtomicBool,
}

/// A session of a caller. All calls of a session share the allocation of the profile, so its address
/// identifies the session.
#[derive(Clone, Debug)]
struct CallerSession {
    client: Arc<ClientProfile>,
    /// Of the call that listens on behalf of the session.
    outbox: Outbox,
}

impl CallerSessions {
    /// Adds the session on whose behalf a call listens. Dropping the guard removes it. Callers
    /// without a session get only what belongs to their calls (LOG-20).
    pub(super) fn open(sessions: &Arc<Self>, parts: &Parts) -> Option<impl Drop + use<>> {
        parts.extensions.get::<EveryResource>()?;
        let session = CallerSession { client: parts.client.clone(), outbox: parts.outbox.clone() };
        sessions.lock().push(session);
        Some(SessionGuard { sessions: sessions.clone(), client: parts.client.clone() })
    }

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
            [session] if self.is_for_one() => Some(session.clone()),
            _ => None,
        };
        match only {
            Some(session) => Box::pin(caller::ask(session.outbox, session.client, question)),
            None => {
                let message = "the question belongs to no call of one client; ask it while you \
                               serve a call, and on the stream of that call";
                Box::pin(ready(Err(ErrorObject::internal(message))))
            }
        }
    }

    /// Passes a log message that belongs to no call to all sessions. Each gets only the levels that
    /// it asked for.
    pub(crate) fn log(&self, message: &LogMessageParams) {
        let sessions = self.lock().clone();
        for session in sessions {
            // Log messages may be lost if the caller is slow.
            let _ = session.outbox.emit(Outgoing::Log(message.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CallerSession>> {
        lock(&self.open)
    }
}

/// Keeps a session in [`CallerSessions`].
struct SessionGuard {
    sessions: Arc<CallerSessions>,
    client: Arc<ClientProfile>,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.client, &self.client));
    }
}
