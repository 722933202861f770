//! A call of a client, and how it ends.

use std::fmt;
use std::time::Duration;

use bowline_types::cache::CacheHint;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequests;
use bowline_types::json::{Object, RawJson};
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::text::counted;

use crate::limits::Limits;
use crate::limits::long::Oversize;
use crate::mirror::ParamHeader;
use crate::request::{Input, SuccessKind};
use crate::splice;
use crate::transmit::FailureKind;

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
    /// The caller on whose behalf a relay makes the call; `None` for calls of the client itself.
    pub on_behalf: Option<Box<OnBehalf>>,
}

/// The caller on whose behalf a relay makes a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OnBehalf {
    /// The capabilities that the request states instead of those of the client (2026-07-28). The
    /// server may ask for nothing else.
    pub capabilities: ClientCapabilities,
    /// Which calls have the same caller, for questions that name no call.
    pub asker: Asker,
    /// Whether a result that requires input ends the call, because the caller answers it by
    /// another call. Otherwise the caller is asked, and the call sent again (2026-07-28).
    pub passes_on: bool,
    /// The answers and the state that the caller returned from an earlier round (2026-07-28).
    pub input: Option<Box<Input>>,
}

impl OnBehalf {
    /// A caller with these capabilities, which is asked the questions of the server.
    pub fn new(capabilities: ClientCapabilities, asker: Asker) -> Self {
        Self { capabilities, asker, passes_on: false, input: None }
    }
}

/// What answers the questions of a server behind a relay. A question that names no call goes to the
/// only asker whose calls are in flight, and is refused if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A session of the caller, by a number that no other session has at the same time. All of its
    /// calls can answer.
    Session(u64),
    /// This call alone, since a caller without a session answers for each call separately (ST-5).
    Call,
}

impl Asker {
    /// Whether two calls have the same asker.
    pub(super) fn is_same(self, other: Self) -> bool {
        matches!((self, other), (Self::Session(one), Self::Session(two)) if one == two)
    }
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
            on_behalf: None,
        }
    }

    /// The members that the first round of the call adds to its params: what the caller of a relay
    /// returned from an earlier round.
    pub(super) fn returned(&self) -> String {
        let input = self.on_behalf.as_ref().and_then(|caller| caller.input.as_deref());
        let Some(Input { responses, state }) = input else { return String::new() };
        let responses = splice::member("inputResponses", responses);
        match state {
            Some(state) => format!("{responses},{}", splice::member("requestState", state)),
            None => responses,
        }
    }

    /// How long to wait without a sign of life.
    pub(super) fn timeout(&self, limits: &Limits) -> Duration {
        self.timeout.unwrap_or(limits.request_timeout)
    }

    /// How long to wait at all. A timeout set for the call is not cut short by the limits.
    pub(super) fn deadline(&self, limits: &Limits) -> Duration {
        let least = self.timeout.unwrap_or_default();
        self.deadline.unwrap_or(limits.request_deadline.max(least))
    }

    /// The params as they are sent. `modern_meta` are the members of `_meta` that 2026-07-28 requires,
    /// `extra` the members that a retry adds. The id serves as the progress token, so no second
    /// number has to be kept. Text is joined and never parsed again.
    pub(super) fn text(&self, id: i64, modern_meta: Option<&str>, extra: &str) -> String {
        let token = self.progress.then(|| format!("\"{}\":{id}", key::PROGRESS_TOKEN));
        let level = self.log_level.filter(|_| modern_meta.is_some());
        let level = level.map(|level| splice::member(key::LOG_LEVEL, &level));
        let own = (!self.meta.is_empty()).then(|| splice::json(&self.meta));
        let own = own.as_deref().map_or("", |own| splice::members(own));
        let meta = [token.as_deref(), modern_meta, level.as_deref(), Some(own)];
        let meta = meta.map(Option::unwrap_or_default);
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
    /// Whether the call is complete, continues as a task, or was answered with questions. The last
    /// only if the call [passes them on](OnBehalf::passes_on).
    pub kind: SuccessKind,
}

impl CallAnswer {
    /// Whether the result is a task, which continues the call.
    pub fn is_task(&self) -> bool {
        self.kind == SuccessKind::Task
    }

    /// A result that the server sent just now.
    pub(super) fn new(result: RawJson) -> Self {
        Self { result, cache: None, reused: false, kind: SuccessKind::Complete }
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
    /// The answer was skipped, because it is too long for this client.
    TooLong(Oversize),
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
            Self::TooLong(why) => write!(f, "the server's answer is {why}"),
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
        for modern_meta in [None, Some(r#""a":1"#)] {
            for (extra, extra_is) in [("", ""), (r#""requestState":"s""#, r#""requestState":"s""#)]
            {
                for params in ["{}", r#"{"cursor":"2"}"#] {
                    let text = call(params).text(7, modern_meta, extra);
                    let meta = modern_meta.map(|meta| format!(r#""_meta":{{{meta}}}"#));
                    let parts = [
                        meta.as_deref().unwrap_or_default(),
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
        assert_eq!(call.text(7, None, ""), "{}");
        let modern = r#"{"_meta":{"a":1,"io.modelcontextprotocol/logLevel":"info"}}"#;
        assert_eq!(call.text(7, Some(r#""a":1"#), ""), modern);
    }

    #[test]
    fn meta_of_the_caller_is_sent_along() {
        let mut call = call("{}");
        call.meta.set("com.example/a", "b").unwrap();
        call.progress = true;
        let text = r#"{"_meta":{"progressToken":7,"com.example/a":"b"}}"#;
        assert_eq!(call.text(7, None, ""), text);
    }
}
