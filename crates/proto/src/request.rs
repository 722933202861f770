//! The waist: what every transport brings and every service answers.
//!
//! A [`Request`] is one call with everything that concerns it, from either era and any transport. A
//! service answers with a [`Response`], and may send messages before it through the [`Outbox`].
//! Transports call `tower_service::Service<Request, Response = Response, Error = Infallible>`, and
//! servers, clients and layers implement it.
//!
//! Everything above the waist sees only these types. So a handler, a layer or a mounted server
//! works the same whether the call came from a session, from a single HTTP request or from a test.
//! Errors of the protocol are part of the [`Response`]; the service itself cannot fail.
//!
//! ```text
//!   transport ─► Request { parts, params } ─► layers ─► service ─► Response
//!        ▲                     │ parts.outbox
//!        └─ progress, logs, questions, changes
//! ```

mod access;
mod claims;
mod extensions;
mod outbox;
mod response;
mod session_level;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::id::ProgressToken;
use bowline_types::implementation::Implementation;
use bowline_types::input::InputResponses;
use bowline_types::method::Method;
use bowline_types::revision::Revision;

pub use self::access::Access;
pub use self::claims::Claims;
pub use self::extensions::Extensions;
pub use self::outbox::{
    ConnectionId, ExtensionNotification, Outbox, Outgoing, OutgoingQuestion, ProgressUpdate,
    QuestionError, QuestionTicket, Reply, ReportedChange, Sink, TaskNotification, is_part_of,
};
pub use self::response::{Response, ResultBody, ResultText, Success, SuccessKind};
pub use self::session_level::SessionLevel;
use crate::members::Members;
use crate::mirror::ParamHeaders;

/// One call, on its way to the handler. A clone is the same call, for a second handler.
///
/// Made by [`Exchange::open`](crate::server::Exchange::open) for each admitted request, and by the
/// connection for calls of its own ([`Handshake`], [`EveryResource`]).
#[derive(Clone, Debug)]
pub struct Request {
    /// Everything about the call but its params.
    pub parts: Parts,
    /// The members of `params`. Only `_meta` and the answers of earlier rounds have been read.
    pub params: Members,
}

// A request is moved several times on its way, and copies of more than 256 bytes take a slower path.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Request>() <= 256, "a request has at most 256 bytes");

/// Everything about a call but its params. Layers may change it on the way in: they attach
/// extensions, or wrap the outbox.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The number that the server gave this call. The id on the wire is only repeated in the
    /// answer.
    pub exchange: ExchangeId,
    /// The method that is called.
    pub method: Method,
    /// The revision that the caller speaks.
    pub revision: Revision,
    /// The client that calls, and its capabilities.
    pub client: Arc<ClientProfile>,
    /// `_meta` of the request, as it came.
    pub meta: Members,
    /// The token for progress notifications, if the caller asked for them.
    pub progress: Option<ProgressToken>,
    /// The least severe log message that the caller asked for.
    pub log_level: Option<LoggingLevel>,
    /// Answers and state that the client returned from an earlier round (2026-07-28).
    pub input: Option<Box<Input>>,
    /// On whose behalf the call is made.
    pub owner: Owner,
    /// The scopes that the call was granted.
    pub access: Access,
    /// Headers that repeat arguments (2026-07-28); `None` where the transport has none.
    pub headers: Option<ParamHeaders>,
    /// Sends messages to the caller while the call runs.
    pub outbox: Outbox,
    /// Values that the transport and outer layers attached.
    pub extensions: Extensions,
}

impl Parts {
    /// Whether the caller shows views of tools (MCP Apps). Up to 2025-03-26 definitions have no
    /// `_meta`, so no client knows which tools have one.
    pub fn shows_views(&self) -> bool {
        self.revision.has_meta_on_items() && self.client.capabilities.supports_ui()
    }
}

/// The client that calls, as a handshake described it once or as each request describes it. Shared
/// by all requests of a session, or on 2026-07-28 by requests that describe the client in the same
/// words.
#[derive(Clone, Debug, Default)]
pub struct ClientProfile {
    /// Self-reported, for display and logs only.
    pub info: Option<Implementation>,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// The log level of its session.
    pub level: SessionLevel,
}

/// Answers and state that the client returned in a retry.
///
/// Present only on 2026-07-28, in the second and later rounds of a call (MRTR-26). The server
/// checks the state before it believes anything of it (MRTR-9).
#[derive(Clone, Debug, Default)]
pub struct Input {
    /// Answers by the keys of the questions.
    pub responses: InputResponses,
    /// The state that the server sent along with the questions, as the client returned it:
    /// untrusted.
    pub state: Option<String>,
}

/// The number that a server gives a call when it arrives; unique per connection.
///
/// Everything that belongs to the call is found by this number. Ids on the wire are chosen by
/// clients, and some use the same id for every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId(pub u64);

/// On whose behalf a call is made, according to a verified credential.
///
/// Everything that outlives a call (sessions, sealed state, tasks) is bound to its owner. All
/// callers without credentials share one owner.
///
/// ```
/// use bowline_proto::request::Owner;
///
/// let ann = Owner::known("https://auth.example.com", "ann");
/// assert_eq!(ann.identity(), Some(("https://auth.example.com", "ann")));
/// assert_ne!(ann, Owner::known("https://other.example", "ann"));
/// assert_eq!(Owner::anonymous().identity(), None);
/// ```
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

/// The address that a call comes from, attached by transports that know it. Callers without
/// credentials are told apart by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Peer(pub IpAddr);

/// Marks the `server/discover` call that the connection makes to answer a handshake. The client
/// sent `initialize`.
#[derive(Clone, Copy, Debug)]
pub struct Handshake;

/// Marks the `subscriptions/listen` call that the connection makes on behalf of a legacy session.
/// The service reports changes of every resource, whatever the filter names; the connection passes
/// on those that the session has subscribed to.
#[derive(Clone, Copy, Debug)]
pub struct EveryResource;

/// Attached by a server that can run calls of its caller as tasks. On a list of tools: a relay then
/// says which tools of a modern server may become tasks. On a call: a relay refuses a call that the
/// server behind runs only as a task, and [demands](Self::demand) one.
#[derive(Clone, Debug, Default)]
pub struct HostsTasks(Arc<AtomicBool>);

impl HostsTasks {
    /// Says that the call has to run as a task. It was not sent.
    pub fn demand(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the call has to run as a task.
    pub fn is_demanded(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Marks a call that runs as a task: its questions are answered while it runs, whatever the era.
#[derive(Clone, Copy, Debug)]
pub struct AnsweredWithin;
