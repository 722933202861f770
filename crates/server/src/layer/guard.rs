//! The common part of the layers of this crate: each is a [`Guard`] before a service.

use std::fmt;
use std::sync::Arc;

use bowline_proto::request::{EveryResource, Handshake, Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tower_service::Service;

use super::{ErasedService, Fault, Next, always_ready};
use crate::error::BoxError;
use crate::tool_response::tool_error;

/// Lets a call pass, makes it wait, or refuses it. One method instead of a whole tower service,
/// since all layers of this crate are alike in the rest.
pub(super) trait Guard: Send + Sync + 'static {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response>;
}

/// The service of a layer of this crate: a guard before another service. The one service type of
/// all layers here; it keeps their types out of the signatures of users.
#[derive(Clone)]
pub struct Guarded {
    guard: Arc<dyn Guard>,
    inner: ErasedService,
}

impl Guarded {
    pub(super) fn new<S>(guard: impl Guard, inner: S) -> Self
    where
        S: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        Self { guard: Arc::new(guard), inner: ErasedService::new(inner, Fault::Server) }
    }
}

impl Service<Request> for Guarded {
    always_ready!();

    fn call(&mut self, request: Request) -> Self::Future {
        let served = self.guard.clone().serve(request, Next(self.inner.clone()));
        Box::pin(async move { Ok(served.await) })
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guarded")
    }
}

/// Implements `Layer` for a type; the expression makes the guard that it puts before a service.
macro_rules! guards {
    ($layer:ty, $guard:expr) => {
        impl<S> tower_layer::Layer<S> for $layer
        where
            S: tower_service::Service<
                    bowline_proto::request::Request,
                    Response = bowline_proto::request::Response,
                > + Clone
                + Send
                + Sync
                + 'static,
            S::Error: Into<crate::error::BoxError>,
            S::Future: Send,
        {
            type Service = super::Guarded;

            fn layer(&self, inner: S) -> super::Guarded {
                let guard: fn(&Self) -> _ = $guard;
                super::Guarded::new(guard(self), inner)
            }
        }
    };
}

pub(super) use guards;

/// The method and revision of a request, kept after the request was passed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallHead {
    pub(crate) method: Method,
    pub(crate) revision: Revision,
}

impl CallHead {
    pub(crate) fn of(request: &Request) -> Self {
        Self { method: request.parts.method, revision: request.parts.revision }
    }

    /// Refuses the call: with an error result for the model if it is a tool call, or else with a
    /// JSON-RPC error.
    pub(crate) fn refuse(self, error: ErrorObject) -> Response {
        match self.method {
            Method::ToolsCall => tool_error(error.message, self.revision),
            _ => Err(error),
        }
    }
}

/// The method that the client sent. `initialize` reaches layers as the `server/discover` of the
/// connection. `None` for the `subscriptions/listen` that the connection opens for a session, because the
/// client did not send it.
pub(super) fn sent(request: &Request) -> Option<Method> {
    let attached = &request.parts.extensions;
    if attached.get::<EveryResource>().is_some() {
        return None;
    }
    let is_handshake = attached.get::<Handshake>().is_some();
    Some(if is_handshake { Method::Initialize } else { request.parts.method })
}

/// The most characters of a name that is kept or reported. Clients may send any name.
const LONGEST_NAME: usize = 256;

/// The name of the tool or prompt, or the URI of the resource, if the method has one. Cut, because
/// the name goes into logs and into tables of counters.
pub(super) fn name(request: &Request) -> Option<String> {
    let member = request.parts.method.named_by()?;
    let name: String = request.params.parse(member).ok().flatten()?;
    Some(name.chars().take(LONGEST_NAME).collect())
}

/// What is called, for messages: the name of the tool, or else the method.
pub(super) fn subject(request: &Request) -> String {
    let method = sent(request).unwrap_or(request.parts.method);
    format!("`{}`", name(request).unwrap_or_else(|| method.name().to_owned()))
}
