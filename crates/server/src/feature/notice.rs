//! What hears of a notification: a handler whose answer goes nowhere.

use std::fmt;
use std::sync::Arc;

use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use bowline_types::template::Variables;

use super::run::{Callee, Run};
use crate::call::{Call, Called};
use crate::error::Result as HandlerResult;
use crate::extract::States;
use crate::handler::{ErasedHandler, Handler, erase};
use crate::layer::BoxFuture;
use crate::respond::IntoNothing;
use crate::server::BuildError;
use crate::shared::ServerShared;
use crate::signature::{Purpose, Signature};
use crate::words::Words;

/// A handler of a notification.
pub(crate) struct Notice {
    /// What it hears of, in words.
    title: &'static str,
    signature: Signature,
    handler: ErasedHandler<()>,
}

impl Notice {
    pub(crate) fn new<M, H>(title: &'static str, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoNothing + 'static,
    {
        let mut signature = Signature::default();
        H::describe(&mut signature);
        Self { title, signature, handler: erase(handler, |nothing, _| nothing.into_nothing()) }
    }
}

/// Something that hears of notifications.
///
/// A server that has none does not carry what runs it.
pub(crate) trait Hears: Send + Sync {
    /// Checks that the handler can work with what there is.
    ///
    /// # Errors
    ///
    /// Says what is missing or wrong.
    fn check(&self, states: &States) -> Result<(), BuildError>;

    /// Tells it of a notification.
    fn hear(self: Arc<Self>, request: Request, shared: Arc<ServerShared>) -> BoxFuture<Response>;
}

impl Hears for Notice {
    fn check(&self, states: &States) -> Result<(), BuildError> {
        let title = self.title();
        if let Some(problem) = self.signature.problem(Purpose::Notice) {
            return Err(BuildError::new(format!("{title} {problem}")));
        }
        if self.signature.input().is_some() {
            return Err(BuildError::new(format!("{title} takes `Args`, but there are none")));
        }
        self.signature.check_states(&title, states)
    }

    fn hear(self: Arc<Self>, request: Request, shared: Arc<ServerShared>) -> BoxFuture<Response> {
        Box::pin(Run::start(self, request, shared))
    }
}

impl Callee for Notice {
    type Output = ();

    fn title(&self) -> String {
        format!("handler of {}", self.title)
    }

    fn admit(&self, request: &Request) -> Result<Called, Response> {
        let name = request.parts.method.name().into();
        let arguments = Words::of_uri(Variables::default(), Arc::default());
        Ok(Called::Other { name, arguments })
    }

    fn call(&self, call: Call) -> BoxFuture<HandlerResult<()>> {
        self.handler.call(call)
    }

    /// Nobody hears what a handler fails with.
    fn complete(&self, _: &Call, _: HandlerResult<()>) -> Response {
        Ok(Success::empty())
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.title())))
    }
}

impl fmt::Debug for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Notice").field(&self.title).finish()
    }
}
