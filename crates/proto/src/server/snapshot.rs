//! The state of a session without its calls: enough to continue it on another connection.
//!
//! Endpoints that share a store write it into the record of a session, and each makes its copy from
//! it. Calls, questions and streams are not part of it: they belong to the endpoint where they run.

use std::collections::BTreeSet;

use bowline_types::capability::{ClientCapabilities, ServerCapabilities};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::legacy::set_level::SetLevelParams;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::method::Method;
use bowline_types::read::ReadError;
use bowline_types::revision::Revision;
use serde::{Deserialize, Serialize};

use crate::frame::{MethodName, RequestMessage};

/// What the handshake fixed, and what the client set since (up to 2025-11-25). Its JSON form is
/// stable within a format number that the HTTP server writes beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionSnapshot {
    /// The revision that was agreed on.
    pub revision: Revision,
    /// The name and version of the client, as it claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_info: Option<Implementation>,
    /// The capabilities of the client.
    pub client_capabilities: ClientCapabilities,
    /// The capabilities that the server declared.
    pub server_capabilities: ServerCapabilities,
    /// The least severe log message that the client asked for.
    pub log_level: LoggingLevel,
    /// The resources that the client subscribed to.
    pub followed: BTreeSet<String>,
    /// Whether the client sent `notifications/initialized`.
    pub is_initialized: bool,
}

impl SessionSnapshot {
    /// A session of which only the revision is known. The client is never asked anything.
    pub fn new(revision: Revision, log_level: LoggingLevel) -> Self {
        Self {
            revision,
            client_info: None,
            client_capabilities: ClientCapabilities::default(),
            server_capabilities: ServerCapabilities::default(),
            log_level,
            followed: BTreeSet::new(),
            is_initialized: false,
        }
    }

    /// Parses what [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// If the JSON has another shape.
    pub fn from_json(json: &RawJson) -> Result<Self, ReadError> {
        json.parse()
    }

    /// The snapshot as JSON, for a store.
    ///
    /// # Errors
    ///
    /// If something in it cannot be written as JSON.
    pub fn to_json(&self) -> Result<RawJson, serde_json::Error> {
        RawJson::from_value(self)
    }

    /// Applies the changes between `base` and `ours` to this snapshot, so that settings which the
    /// client changed on two connections are both kept.
    ///
    /// A three-way merge: `self` is what the store has, `base` what this side saw last. A setting that
    /// both changed ends as in the store, whose client knows of it already; `notifications/initialized`
    /// is never taken back.
    pub fn merge(&mut self, base: &Self, ours: &Self) {
        if self.log_level == base.log_level {
            self.log_level = ours.log_level;
        }
        self.followed.extend(ours.followed.difference(&base.followed).cloned());
        for stopped in base.followed.difference(&ours.followed) {
            self.followed.remove(stopped);
        }
        self.is_initialized |= ours.is_initialized;
    }

    /// Takes back what a request of the client set, which gets an error because the store refused it.
    /// `saved` is what the store has.
    ///
    /// Otherwise a later request would write it, over what the client has set on another connection
    /// meanwhile.
    pub fn take_back(&mut self, change: &SessionChange, saved: &Self) {
        match change {
            SessionChange::LogLevel(level) if self.log_level == *level => {
                self.log_level = saved.log_level;
            }
            SessionChange::LogLevel(_) => {}
            SessionChange::Followed(uri) if saved.followed.contains(uri) => {
                self.followed.insert(uri.clone());
            }
            SessionChange::Followed(uri) => {
                self.followed.remove(uri);
            }
        }
    }
}

/// What a request of the client changes in its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// The least severe log message that the client wants.
    LogLevel(LoggingLevel),
    /// Whether the client follows the resource with this URI.
    Followed(String),
}

impl SessionChange {
    /// The change that a request makes, if it makes one.
    pub fn of(request: &RequestMessage) -> Option<Self> {
        match request.method {
            MethodName::Known(Method::LoggingSetLevel) => {
                let params = request.params.parse_all::<SetLevelParams>().ok()?;
                Some(Self::LogLevel(params.level))
            }
            MethodName::Known(Method::ResourcesSubscribe | Method::ResourcesUnsubscribe) => {
                let params = request.params.parse_all::<SubscribeParams>().ok()?;
                Some(Self::Followed(params.uri))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{Frame, Message};
    use crate::limits::Limits;

    fn snapshot(followed: &[&str]) -> SessionSnapshot {
        let mut snapshot = SessionSnapshot::new(Revision::V2025_11_25, LoggingLevel::Info);
        snapshot.followed = followed.iter().map(|&uri| uri.to_owned()).collect();
        snapshot
    }

    #[test]
    fn what_was_set_in_two_places_counts_from_both() {
        let base = snapshot(&["a:1", "a:2"]);
        let ours = SessionSnapshot { log_level: LoggingLevel::Debug, ..snapshot(&["a:2", "a:3"]) };
        let mut theirs =
            SessionSnapshot { is_initialized: true, ..snapshot(&["a:1", "a:2", "a:4"]) };
        theirs.merge(&base, &ours);
        let expected = SessionSnapshot {
            log_level: LoggingLevel::Debug,
            is_initialized: true,
            ..snapshot(&["a:2", "a:3", "a:4"])
        };
        assert_eq!(theirs, expected);
    }

    #[test]
    fn a_level_that_both_changed_is_the_one_in_the_store() {
        let level = |log_level| SessionSnapshot { log_level, ..snapshot(&[]) };
        let (base, ours) = (level(LoggingLevel::Info), level(LoggingLevel::Debug));
        for (mut theirs, expected) in [
            (level(LoggingLevel::Error), LoggingLevel::Error),
            (level(LoggingLevel::Info), LoggingLevel::Debug),
        ] {
            theirs.merge(&base, &ours);
            assert_eq!(theirs.log_level, expected);
        }
    }

    #[test]
    fn what_a_refused_request_set_is_taken_back_and_nothing_else() {
        let level = |log_level, followed| SessionSnapshot { log_level, ..snapshot(followed) };
        let saved = level(LoggingLevel::Info, &["a:1"]);
        let mut ours = level(LoggingLevel::Debug, &["a:2", "a:3"]);
        let refused = |method: &str, params: &str| {
            let text =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            match Frame::parse(&text.into(), &Limits::default()) {
                Ok(Frame::Message(Message::Request(request))) => SessionChange::of(&request),
                other => panic!("{other:?}"),
            }
        };
        for (method, params) in [
            ("resources/unsubscribe", r#"{"uri":"a:1"}"#),
            ("resources/subscribe", r#"{"uri":"a:2"}"#),
            ("logging/setLevel", r#"{"level":"error"}"#),
            ("tools/list", "{}"),
        ] {
            refused(method, params).iter().for_each(|change| ours.take_back(change, &saved));
        }
        assert_eq!(
            ours,
            level(LoggingLevel::Debug, &["a:1", "a:3"]),
            "another request set the level"
        );
        let level = refused("logging/setLevel", r#"{"level":"debug"}"#);
        ours.take_back(&level.unwrap(), &saved);
        assert_eq!(ours.log_level, LoggingLevel::Info);
    }

    #[test]
    fn a_session_that_was_opened_in_one_place_is_open() {
        let (base, open) =
            (snapshot(&[]), SessionSnapshot { is_initialized: true, ..snapshot(&[]) });
        for (mut theirs, ours) in [(base.clone(), open.clone()), (open.clone(), base.clone())] {
            theirs.merge(&base, &ours);
            assert!(theirs.is_initialized);
        }
    }

    #[test]
    fn what_was_not_touched_here_is_as_it_is_there() {
        let base = snapshot(&["a:1"]);
        let mut theirs = SessionSnapshot { log_level: LoggingLevel::Error, ..snapshot(&[]) };
        let expected = theirs.clone();
        theirs.merge(&base, &base);
        assert_eq!(theirs, expected);
    }
}
