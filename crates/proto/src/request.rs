//! The waist: what every transport brings and every service answers.
//!
//! A [`Request`] is one call with everything that concerns it, whatever era or transport it came
//! through. A service answers with a [`Response`], and may talk back meanwhile through the
//! [`Outbox`]. Everything that carries bytes stands on one side of
//! `tower_service::Service<Request, Response = Response, Error = Infallible>`, everything that does
//! work on the other.

mod extensions;
mod outbox;
mod response;

use std::net::IpAddr;
use std::sync::Arc;

use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::id::ProgressToken;
use bowline_types::implementation::Implementation;
use bowline_types::input::InputResponses;
use bowline_types::method::Method;
use bowline_types::revision::Revision;

pub use self::extensions::Extensions;
pub use self::outbox::{
    Change, ConnectionId, Outbox, Outgoing, ProgressUpdate, Question, QuestionError, Reply, Sink,
    is_part_of,
};
pub use self::response::{Response, ResultBody, ResultText, Success, SuccessKind};
use crate::members::Members;
use crate::mirror::ParamHeaders;

/// One call, on its way to whoever does the work. A clone is the same call, for another to work on.
#[derive(Clone, Debug)]
pub struct Request {
    /// Everything about the call but its params.
    pub parts: Parts,
    /// The members of `params`, unread but for `_meta` and the answers of earlier rounds.
    pub params: Members,
}

/// Everything about a call but its params.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Our own number for this call; the id on the wire is only echoed.
    pub exchange: ExchangeId,
    /// What is asked.
    pub method: Method,
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// Who calls, and what it can do.
    pub client: Arc<ClientProfile>,
    /// `_meta` of the request, as it came.
    pub meta: Members,
    /// Given if the caller wants to hear of progress.
    pub progress: Option<ProgressToken>,
    /// The least severe log message that the caller wants to hear for this call.
    pub log_level: Option<LoggingLevel>,
    /// Answers and state that came back from an earlier round (2026-07-28).
    pub input: Option<Box<Input>>,
    /// On whose behalf the call is made.
    pub owner: Owner,
    /// Headers that repeat arguments (2026-07-28); `None` where the transport has none.
    pub headers: Option<ParamHeaders>,
    /// The way to talk back while the call runs.
    pub outbox: Outbox,
    /// Whatever outer layers attach.
    pub extensions: Extensions,
}

/// Who calls: what a handshake told once, or each request tells anew.
#[derive(Clone, Debug, Default)]
pub struct ClientProfile {
    /// Self-reported, for display and logs only.
    pub info: Option<Implementation>,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
}

/// What a retry brings back.
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Answers by the keys of the questions.
    pub responses: InputResponses,
    /// The state that we sent along with the questions, as the client returns it: untrusted.
    pub state: Option<String>,
}

/// The number that a server gives a call when it arrives; unique per connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// On whose behalf a call is made, as a verified credential says.
///
/// Everything that outlives a call (sessions, sealed state, tasks) is bound to its owner. All
/// callers without credentials share one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner(Option<Arc<(String, String)>>);

impl Owner {
    /// A caller without credentials.
    pub fn anonymous() -> Self {
        Self(None)
    }

    /// A caller known to an issuer under a subject.
    pub fn known(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self(Some(Arc::new((issuer.into(), subject.into()))))
    }

    /// Issuer and subject, unless anonymous.
    pub fn identity(&self) -> Option<(&str, &str)> {
        self.0.as_deref().map(|(issuer, subject)| (issuer.as_str(), subject.as_str()))
    }
}

/// Attached by transports that know it: the address that a call comes from. Whoever has no
/// credentials is told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// Attached to the `server/discover` that the engine makes to answer a handshake: what the client
/// sent is `initialize`.
#[derive(Clone, Copy, Debug)]
pub struct Handshake;

/// Attached to the `subscriptions/listen` that the engine makes on behalf of a legacy session: every
/// change of a resource is wanted, whatever the filter names. The session subscribes and
/// unsubscribes while the call stands, and the engine lets through what it wants.
#[derive(Clone, Copy, Debug)]
pub struct EveryResource;
