//! The log level of a session (up to 2025-11-25), which a new session gets before any call.
//!
//! The server stores the level with the session, so a lost session loses it. Calls wait until the
//! server has answered `logging/setLevel`: over HTTP each message is a request of its own, a call
//! could overtake the level, and the server would not send the log messages of that call.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::method::Method;

use super::super::call::CallRequest;
use super::{ClientConnection, Purpose, ServerProfile};

impl ClientConnection {
    /// Remembers a level that the server has accepted.
    pub(super) fn note_level(&mut self, request: &CallRequest) {
        if let (Method::LoggingSetLevel, Some(session)) = (request.method, self.session_mut()) {
            session.level = Some(request.params.clone());
        }
    }

    /// Sets the level of the lost session in the new one. If there was none, or if the server no
    /// longer logs, the calls that wait follow at once.
    pub(super) fn restore_level(&mut self, profile: &ServerProfile, now: Instant) {
        let session = self.session_mut().filter(|_| profile.capabilities.supports_logging());
        let level = session.and_then(|session| {
            session.is_restoring = session.level.is_some();
            session.level.clone()
        });
        let Some(level) = level else { return self.send_postponed(now) };
        let timeout = self.config.limits().request_timeout;
        let id = self.await_answer(Purpose::RestoreLevel, timeout, timeout, now);
        self.send_request(id, Method::LoggingSetLevel, level.as_str());
    }

    /// The server has answered: with or without the level, the calls follow.
    pub(super) fn level_answered(&mut self, outcome: Result<RawJson, ErrorObject>, now: Instant) {
        match outcome {
            Ok(_) => {
                self.end_restoring(now);
            }
            Err(error) => self.level_failed(&error.to_string(), now),
        }
    }

    /// The server has no level. A client without log messages is still of use.
    pub(super) fn level_failed(&mut self, reason: &str, now: Instant) {
        self.diagnostic(format!("the log level of the new session could not be set: {reason}"));
        self.end_restoring(now);
    }

    /// Whether a new session has no log level yet.
    pub(super) fn is_restoring(&self) -> bool {
        self.session().is_some_and(|session| session.is_restoring)
    }

    fn end_restoring(&mut self, now: Instant) {
        if let Some(session) = self.session_mut() {
            session.is_restoring = false;
        }
        self.send_postponed(now);
    }
}
