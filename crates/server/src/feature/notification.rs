//! Handlers of notifications, which are not answered.
//!
//! Only one notification of clients leads to code of a server: that the roots changed (up to
//! 2025-11-25). The handler runs like that of a tool, and it may ask the client for its roots.

use std::fmt;
use std::sync::Arc;

use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use bowline_types::template::Variables;
use futures_core::future::BoxFuture;

use crate::call::{Call, CallTarget};
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::handler::{ErasedHandler, Handler, erase};
use crate::respond::IntoNothing;
use crate::run::Callee;
use crate::signature::{HandlerSignature, Purpose};
use crate::states::States;
use crate::text_arguments::TextArguments;

/// A handler of a notification. Kept in the profile of the server, not in a set of features: it has
/// no name and is not listed.
pub(crate) struct NotificationHandler {
    /// What the notification is about, for error messages.
    title: &'static str,
    signature: HandlerSignature,
    handler: ErasedHandler<()>,
}

impl NotificationHandler {
    pub(crate) fn new<M, H>(title: &'static str, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoNothing + 'static,
    {
        let signature = HandlerSignature::of(&[H::describe]);
        Self { title, signature, handler: erase(handler, |nothing, _| nothing.into_nothing()) }
    }

    /// Checks that the handler takes only what a notification has, and state that the server has.
    ///
    /// # Errors
    ///
    /// Says what is missing or wrong.
    pub(crate) fn check(&self, states: &States) -> Result<(), BuildError> {
        let label = self.label();
        if let Some(problem) = self.signature.problem(Purpose::Notification) {
            return Err(BuildError::new(format!("{label} {problem}")));
        }
        if self.signature.input().is_some() {
            return Err(BuildError::new(format!("{label} takes `Args`, but there are none")));
        }
        self.signature.check_states(&label, states)
    }
}

impl Callee for NotificationHandler {
    type Output = ();

    fn label(&self) -> String {
        format!("handler of {}", self.title)
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        let name = request.parts.method.name().into();
        let arguments = TextArguments::of_uri(Variables::default(), Arc::default());
        Ok(CallTarget::Other { name, arguments })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<()>> {
        (self.handler)(call)
    }

    /// A notification is not answered, so an error of the handler is dropped.
    fn complete(&self, _: &Call, _: HandlerResult<()>) -> Response {
        Ok(Success::empty())
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.label())))
    }
}

impl fmt::Debug for NotificationHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotificationHandler").field(&self.title).finish()
    }
}
