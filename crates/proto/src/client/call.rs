//! A call of a client, and how it ends.

use std::fmt;
use std::time::Duration;

use bowline_types::cache::CacheHint;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequests;
use bowline_types::json::{Object, RawJson};
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::text::counted;

use crate::limits::Limits;
use crate::mirror::ParamHeader;
use crate::transmit::FailureKind;
use crate::wire::splice;

/// A call to send.
///
/// Made by the client framework, or by a relay from a call of its own client. It is kept until the
/// call ends, because it may have to be sent again with answers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallRequest {
    /// The method to call.
    pub method: Method,
    /// The params, without `_meta`.
    pub params: Object,
    /// Further members of `_meta`.
    pub meta: Meta,
    /// Whether to ask for progress.
    pub progress: bool,
    /// The least severe log message to ask for (2026-07-28; a session sets its level once).
    pub log_level: Option<LoggingLevel>,
    /// Whether to ask the server even if a fresh result is stored.
    pub fresh: bool,
    /// Arguments to repeat in HTTP headers.
    pub headers: Vec<ParamHeader>,
    /// How long to wait without a sign of life; by default [`Limits::request_timeout`].
    pub timeout: Option<Duration>,
    /// How long to wait at all; by default [`Limits::request_deadline`], or `timeout` if that is
    /// longer.
    pub deadline: Option<Duration>,
    /// Whether the params ask for a task (2025-11-25). The answer is then one.
    pub as_task: bool,
    /// Questions of the server to answer first. The request carries the answers as
    /// `inputResponses`, as `tasks/update` demands.
    pub questions: InputRequests,
}

impl CallRequest {
    /// A call without options.
    pub fn new(method: Method, params: Object) -> Self {
        Self {
            method,
            params,
            meta: Meta::new(),
            progress: false,
            log_level: None,
            fresh: false,
            headers: Vec::new(),
            timeout: None,
            deadline: None,
            as_task: false,
            questions: InputRequests::new(),
        }
    }

    /// How long to wait without a sign of life.
    pub(super) fn timeout(&self, limits: &Limits) -> Duration {
        self.timeout.unwrap_or(limits.request_timeout)
    }

    /// How long to wait at all. A time-out set for the call is not cut short by the limits.
    pub(super) fn deadline(&self, limits: &Limits) -> Duration {
        let least = self.timeout.unwrap_or_default();
        self.deadline.unwrap_or(limits.request_deadline.max(least))
    }

    /// The params as they are sent. `always` are the members of `_meta` that the era requires,
    /// `extra` the members that a retry adds. The id serves as the progress token, so no second
    /// number has to be kept. Text is joined and never parsed again.
    pub(super) fn text(&self, id: i64, always: &str, extra: &str) -> String {
        let token = self.progress.then(|| format!("\"{}\":{id}", key::PROGRESS_TOKEN));
        let level = self.log_level.filter(|_| !always.is_empty());
        let level = level.map(|level| splice::member(key::LOG_LEVEL, &level));
        let own = (!self.meta.is_empty()).then(|| splice::json(&self.meta));
        let own = own.as_deref().map_or("", |own| splice::members(own));
        let meta = [token.as_deref().unwrap_or(""), always, level.as_deref().unwrap_or(""), own];
        let params = splice::members(self.params.as_str());
        // The capacity for all pieces and the punctuation between them.
        let length: usize = meta.iter().chain(&[extra, params]).map(|piece| piece.len() + 1).sum();
        let mut text = String::with_capacity(length + "{\"_meta\":{},}".len());
        text.push('{');
        if meta.iter().any(|members| !members.is_empty()) {
            text.push_str("\"_meta\":{");
            splice::list(&mut text, &meta);
            text.push_str(if extra.is_empty() && params.is_empty() { "}" } else { "}," });
        }
        splice::list(&mut text, &[extra, params]);
        text.push('}');
        text
    }
}

/// A result of the server. Decoded later, by the method that was called.
#[derive(Clone, Debug)]
pub struct CallAnswer {
    /// The JSON object of the result, as it arrived.
    pub result: RawJson,
    /// How long it stays fresh and for whom, if the server declared it.
    pub cache: Option<CacheHint>,
    /// Whether the result was stored before and the server was not asked again.
    pub reused: bool,
    /// Whether the result is a task, which continues the call.
    pub is_task: bool,
}

impl CallAnswer {
    /// A result that the server sent just now.
    pub(super) fn new(result: RawJson) -> Self {
        Self { result, cache: None, reused: false, is_task: false }
    }
}

/// Why a call has no result. Local: it never goes to a peer. [`Refused`](Self::Refused) is the one
/// variant that holds what the server sent (ERR-13).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CallError {
    /// The server answered with an error.
    Refused(ErrorObject),
    /// The server does not offer the method, so the call was not sent.
    NotOffered {
        /// The method that was called.
        method: Method,
        /// The capability that the server does not declare, or the revision that lacks the method.
        missing: String,
    },
    /// No answer came in time. The server was asked to cancel the call.
    TimedOut(Duration),
    /// The answer breaks the protocol.
    Invalid(String),
    /// The server asked for input in more rounds than [`Limits::rounds`].
    TooManyRounds(usize),
    /// The call became a task, which was cancelled. Holds the text of the server about it.
    TaskCancelled(Option<String>),
    /// The client could not answer a question of the server.
    Unanswered(ErrorObject),
    /// The call failed, although the connection is open: an HTTP status instead of an answer, or a
    /// broken HTTP request.
    Failed {
        /// What happened, and so whether the server may have processed the call.
        kind: FailureKind,
        /// What failed and where, with the status and the text of the body.
        reason: String,
    },
    /// The connection closed before the answer.
    Closed,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(error) => write!(f, "the server answered with an error: {error}"),
            Self::NotOffered { method, missing } => {
                write!(f, "`{method}` was not sent: the server does not offer {missing}")
            }
            Self::TimedOut(after) => write!(f, "no answer came within {after:?}"),
            Self::Invalid(reason) => write!(f, "the server's answer is invalid: {reason}"),
            Self::TooManyRounds(most) => {
                let rounds = counted(*most, "round");
                write!(f, "the server still asked for input after {rounds}")
            }
            Self::TaskCancelled(None) => f.write_str("its task was cancelled"),
            Self::TaskCancelled(Some(text)) => write!(f, "its task was cancelled: {text}"),
            Self::Unanswered(error) => {
                write!(f, "a question of the server's was not answered: {error}")
            }
            Self::Failed { reason, .. } => f.write_str(reason),
            Self::Closed => f.write_str("the connection closed before the answer came"),
        }
    }
}

impl std::error::Error for CallError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(params: &str) -> CallRequest {
        CallRequest::new(Method::ToolsList, Object::new(RawJson::from_checked(params)).unwrap())
    }

    #[test]
    fn params_are_one_object_whichever_parts_are_present() {
        for (always, always_is) in [("", ""), (r#""a":1"#, r#""a":1"#)] {
            for (extra, extra_is) in [("", ""), (r#""requestState":"s""#, r#""requestState":"s""#)]
            {
                for params in ["{}", r#"{"cursor":"2"}"#] {
                    let text = call(params).text(7, always, extra);
                    let meta = format!(r#""_meta":{{{always_is}}}"#);
                    let parts = [
                        if always_is.is_empty() { "" } else { &meta },
                        extra_is,
                        &params[1..params.len() - 1],
                    ];
                    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                    assert_eq!(text, format!("{{{}}}", parts.join(",")));
                }
            }
        }
    }

    /// A session sets its log level once, so a call within one does not repeat it.
    #[test]
    fn a_log_level_is_sent_only_where_each_request_says_everything() {
        let mut call = call("{}");
        call.log_level = Some(LoggingLevel::Info);
        assert_eq!(call.text(7, "", ""), "{}");
        let modern = r#"{"_meta":{"a":1,"io.modelcontextprotocol/logLevel":"info"}}"#;
        assert_eq!(call.text(7, r#""a":1"#, ""), modern);
    }

    #[test]
    fn meta_of_the_caller_is_sent_along() {
        let mut call = call("{}");
        call.meta.set("com.example/a", "b").unwrap();
        call.progress = true;
        let text = r#"{"_meta":{"progressToken":7,"com.example/a":"b"}}"#;
        assert_eq!(call.text(7, "", ""), text);
    }
}
