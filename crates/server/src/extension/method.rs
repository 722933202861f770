//! One method or notification of an extension.

use bowline_proto::members::Members;
use bowline_proto::request::{Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::{CustomMethod, MessageKind, Method};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;

use crate::call::{Call, CallTarget};
use crate::error::BuildError;
use crate::error::Result as HandlerResult;
use crate::handler::{ErasedHandler, Handler, erase};
use crate::respond::{IntoMethodResult, IntoNothing};
use crate::run::Callee;
use crate::signature::{HandlerSignature, Purpose};
use crate::states::States;

/// A method of an extension with its handler. A notification is one too: its result is dropped.
pub(super) struct MethodEntry {
    method: CustomMethod,
    signature: HandlerSignature,
    handler: ErasedHandler<RawJson>,
}

impl MethodEntry {
    pub(super) fn request<M, H>(method: CustomMethod, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoMethodResult + 'static,
    {
        let handler = erase(handler, |result, _| result.into_method_result());
        Self { method, signature: HandlerSignature::of(&[H::describe]), handler }
    }

    pub(super) fn notification<M, H>(method: CustomMethod, handler: H) -> Self
    where
        M: 'static,
        H: Handler<M>,
        H::Output: IntoNothing + 'static,
    {
        let handler =
            erase(handler, |nothing, _| nothing.into_nothing().map(|()| RawJson::empty_object()));
        Self { method, signature: HandlerSignature::of(&[H::describe]), handler }
    }

    /// The name on the wire.
    pub(super) fn name(&self) -> &'static str {
        self.method.name()
    }

    pub(super) fn method(&self) -> Method {
        Method::Custom(self.method)
    }

    pub(super) fn signature(&self) -> &HandlerSignature {
        &self.signature
    }

    /// What is wrong with the handler.
    pub(super) fn problem(&self) -> Option<String> {
        let problem = self.signature.problem(Purpose::Extension).or_else(|| {
            if self.signature.input().is_some() {
                Some("takes `Args`; take `Params`, which needs no schema".to_owned())
            } else if self.signature.asks() {
                let only = "only tools, prompts and resources may ask since 2026-07-28";
                Some(format!("takes `Ask` or `Elicited`, but {only}"))
            } else {
                None
            }
        });
        problem.map(|problem| format!("has a handler of `{}` that {problem}", self.name()))
    }

    /// Checks that all the state that the handler needs is there.
    ///
    /// # Errors
    ///
    /// Names the state that is missing.
    pub(super) fn check_states(&self, states: &States) -> Result<(), BuildError> {
        self.signature.check_states(&self.label(), states)
    }
}

impl Callee for MethodEntry {
    type Output = RawJson;

    fn label(&self) -> String {
        match self.method().row().kind {
            MessageKind::Request => format!("method `{}`", self.name()),
            MessageKind::Notification => format!("notification `{}`", self.name()),
        }
    }

    fn admit(&self, request: &Request) -> Result<CallTarget, Response> {
        let params: Members = request.params.clone();
        Ok(CallTarget::Method { name: self.name(), params })
    }

    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<RawJson>> {
        (self.handler)(call)
    }

    fn complete(&self, call: &Call, outcome: HandlerResult<RawJson>) -> Response {
        let result = outcome.map_err(|error| error.into_error(call.parts().revision))?;
        if !result.is_object() {
            let message = format!("the {} gave a result that is no JSON object", self.label());
            return Err(ErrorObject::internal(message));
        }
        Ok(Success::raw(result, Meta::new()))
    }

    fn fail(&self, reason: String, _: Revision) -> Response {
        Err(ErrorObject::internal(format!("the {} failed: {reason}", self.label())))
    }

    fn grace(&self) -> Option<std::time::Duration> {
        self.signature.may_clean_up().then_some(crate::run::GRACE)
    }
}
