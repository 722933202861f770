//! One call, as extractors see it.

use std::fmt;
use std::sync::{Arc, LazyLock, OnceLock};

use bowline_proto::members::Members;
use bowline_proto::request::{Outgoing, Parts, Request};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::read::{self, read_owned};
use bytes::Bytes;
use http::HeaderMap;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};
use crate::sync::Signal;
use crate::text_arguments::TextArguments;
use crate::tool_validator::ToolValidator;

#[cfg(feature = "tracing")]
pub(crate) mod polled;
mod roots;
mod rounds;
mod shared;

pub use roots::Roots;
pub(crate) use rounds::{RoundEnd, Rounds, UnansweredQuestion};
pub(crate) use shared::ServerShared;

/// One call: everything that extractors take their values from. Cheap to clone.
#[derive(Clone)]
pub struct Call(Arc<Inner>);

struct Inner {
    parts: Parts,
    target: CallTarget,
    shared: Arc<ServerShared>,
    /// The answers so far, once the handler asks the user (2026-07-28). Boxed, because they are large
    /// and most calls have none.
    rounds: OnceLock<Box<Rounds>>,
    /// The client's roots, once the handler asked for them.
    roots: OnceLock<Roots>,
    /// Raised when the call is over, however it ended.
    over: Signal,
}

/// Marks a call that runs as a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InTask;

/// What is called, and with which arguments.
pub(crate) enum CallTarget {
    /// A tool, with its arguments as JSON. The validator knows the tool's name and schemas.
    Tool { validator: Arc<ToolValidator>, arguments: Bytes },
    /// Anything else, such as a prompt or a resource, with its arguments as texts by name.
    Other { name: Arc<str>, arguments: TextArguments },
    /// A method or notification of an extension.
    Method { name: &'static str, params: Members },
}

impl Call {
    pub(crate) fn new(request: Request, target: CallTarget, shared: Arc<ServerShared>) -> Self {
        let (rounds, roots, over) = Default::default();
        Self(Arc::new(Inner { parts: request.parts, target, shared, rounds, roots, over }))
    }

    /// Everything about the request but its params.
    pub fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// The name of the tool or prompt that is called, the URI of the resource that is read, or the
    /// method of an extension.
    pub fn name(&self) -> &str {
        match &self.0.target {
            CallTarget::Tool { validator, .. } => validator.name(),
            CallTarget::Other { name, .. } => name,
            CallTarget::Method { name, .. } => name,
        }
    }

    /// The JSON text of the arguments: always an object. Those of prompts are texts, and so are
    /// those of resources, which are what a URI has in the place of a template's variables. For a
    /// method of an extension they are its params.
    pub fn arguments(&self) -> &[u8] {
        match &self.0.target {
            CallTarget::Tool { arguments, .. } => arguments,
            CallTarget::Other { arguments, .. } => arguments.json(),
            CallTarget::Method { params, .. } => params.as_str().as_bytes(),
        }
    }

    /// What the server was given as state of this type.
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.shared.states.get()
    }

    /// A value of this type that a layer or the transport attached to the request; see
    /// [`Context::extension`](crate::Context::extension).
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let extensions = &self.parts().extensions;
        extensions.get().or_else(|| extensions.get::<http::request::Parts>()?.extensions.get())
    }

    /// The headers of the HTTP request that the call came with. Empty over other transports.
    pub fn headers(&self) -> &HeaderMap {
        static NONE: LazyLock<HeaderMap> = LazyLock::new(HeaderMap::new);
        let request = self.parts().extensions.get::<http::request::Parts>();
        request.map_or_else(|| &*NONE, |request| &request.headers)
    }

    /// The [`Registry`](crate::Registry) or the [`Notify`](crate::Notify) of the server.
    pub(crate) fn handle<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.0.shared.handles.get()
    }

    /// The arguments as a type.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        match &self.0.target {
            CallTarget::Tool { validator, arguments } => {
                let decoded = read::text(arguments).and_then(read_owned);
                decoded.map_err(|error| validator.explain(arguments, error).into())
            }
            CallTarget::Other { arguments, .. } => arguments.decode().map_err(Error::misfit),
            CallTarget::Method { params, .. } => params
                .parse_all()
                .map_err(|error| Error::refusal(ErrorObject::misread_params(error))),
        }
    }

    /// The arguments as texts by name, if that is what they are.
    pub(crate) fn text_arguments(&self) -> Option<&TextArguments> {
        match &self.0.target {
            CallTarget::Tool { .. } | CallTarget::Method { .. } => None,
            CallTarget::Other { arguments, .. } => Some(arguments),
        }
    }

    pub(crate) fn shared(&self) -> &ServerShared {
        &self.0.shared
    }

    pub(crate) fn rounds(&self) -> Option<&Rounds> {
        self.0.rounds.get().map(|rounds| &**rounds)
    }

    /// Prepares the record of answers: creates an empty record if there is none.
    pub(crate) fn begin_rounds(&self) -> Result<()> {
        if self.rounds().is_none() {
            self.set_rounds(Rounds::first()?);
        }
        Ok(())
    }

    /// Sets the answers so far, unless they are set already.
    pub(crate) fn set_rounds(&self, rounds: Rounds) {
        _ = self.0.rounds.set(Box::new(rounds));
    }

    pub(crate) fn known_roots(&self) -> Option<&Roots> {
        self.0.roots.get()
    }

    /// Whether the call runs as a task.
    pub(crate) fn is_in_task(&self) -> bool {
        self.parts().extensions.get::<InTask>().is_some()
    }

    /// Remembers the client's roots for the rest of the call.
    pub(crate) fn know_roots(&self, roots: Roots) {
        _ = self.0.roots.set(roots);
    }

    /// Whether to send a log message of this level. Up to 2025-11-25 the connection knows the level
    /// of the session and filters messages again.
    pub(crate) fn wants_log(&self, level: LoggingLevel) -> bool {
        match self.parts().log_level {
            Some(least) => least <= level,
            None => !self.parts().revision.has_log_level_per_request(),
        }
    }

    /// Sends a message that may be dropped if there is no room, unless the call is over.
    pub(crate) fn send_if_room(&self, outgoing: Outgoing) {
        if !self.over().is_raised() {
            _ = self.parts().outbox.emit(outgoing);
        }
    }

    /// Ends the call: wakes tasks of the handler that still hold it.
    pub(crate) fn end(&self) {
        if Arc::strong_count(&self.0) > 1 {
            self.0.over.raise();
        }
    }

    pub(crate) fn over(&self) -> &Signal {
        &self.0.over
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("name", &self.name()).field("parts", self.parts()).finish()
    }
}
