//! Layers: code around calls, of the whole server or of one tool.
//!
//! A layer is any [`tower_layer::Layer`] whose service answers a [`Request`] with a [`Response`]:
//! one of the `tower` crate, a function made into one by [`from_fn`], or one of these:
//!
//! | layer | what it does |
//! |---|---|
//! | [`RateLimit`] | lets each caller call so often |
//! | [`ConcurrencyLimit`] | lets so many calls run at the same time |
//! | [`Timeout`] | ends calls that take too long |
//! | [`ResultSizeLimit`] | refuses results that are too long |
//! | [`Audit`] | gives a record of each call to a function |
//!
//! If they refuse a tool call, the model gets an error result; any other request gets a JSON-RPC
//! error. Some limits hold without any layer: [`Limits`](bowline_proto::limits::Limits) names them.
//!
//! Up to 2025-11-25 layers see requests that the connection makes itself. For `initialize` it
//! makes a `server/discover` with the extension
//! [`Handshake`](bowline_proto::request::Handshake), which [`RateLimit`] counts and [`Audit`]
//! records as `initialize`. For each session it makes one `subscriptions/listen` with the extension
//! [`EveryResource`](bowline_proto::request::EveryResource), which both ignore. A
//! `resources/unsubscribe` is passed on after the connection has answered it.
//!
//! A layer can also ask the user without [`Ask`](crate::Ask) (2026-07-28):
//! [`Success::input_required`] answers a call with questions, and `request.parts.input` has the
//! answers of the retry. Take them out before passing the request on, and do not trust them.
//!
//! [`Success::input_required`]: bowline_proto::request::Success::input_required

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;

pub use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tower_layer::Layer;
use tower_service::Service;

use crate::error::{BoxError, chain};
use crate::tool_response::tool_error;

mod audit;
mod concurrency;
mod guard;
mod rate;
mod ready;
mod size;
mod timeout;

pub use audit::{Audit, AuditOutcome, AuditRecord};
pub use concurrency::ConcurrencyLimit;
pub(crate) use guard::CallHead;
pub use guard::Guarded;
pub use rate::RateLimit;
pub(crate) use ready::always_ready;
pub use size::ResultSizeLimit;
pub use timeout::Timeout;

/// Makes a layer of a function that gets each request and [`Next`], the rest of the layers.
///
/// ```
/// use bowline_proto::request::{Request, Response};
/// use bowline_server::Server;
/// use bowline_server::layer::{self, Next};
///
/// async fn audit(request: Request, next: Next) -> Response {
///     let method = request.parts.method;
///     let response = next.run(request).await;
///     eprintln!("{method}: {}", if response.is_ok() { "answered" } else { "refused" });
///     response
/// }
///
/// let server = Server::new("audited", "1.0.0").layer(layer::from_fn(audit));
/// ```
pub fn from_fn<F, Answer>(function: F) -> FromFn<F>
where
    F: Fn(Request, Next) -> Answer + Clone + Send + Sync + 'static,
    Answer: Future<Output = Response> + Send + 'static,
{
    FromFn(function)
}

/// A layer made of a function; see [`from_fn`].
#[derive(Clone, Copy, Debug)]
pub struct FromFn<F>(F);

/// The service of [`FromFn`].
#[derive(Clone, Debug)]
pub struct FromFnService<F> {
    function: F,
    inner: ErasedService,
}

/// What comes after a layer: further layers, and in the end the handler.
#[derive(Clone, Debug)]
pub struct Next(ErasedService);

impl Next {
    /// Passes the request on, and waits for the response.
    pub async fn run(self, request: Request) -> Response {
        self.0.serve(request).await
    }
}

impl<F, S> Layer<S> for FromFn<F>
where
    F: Clone,
    S: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
{
    type Service = FromFnService<F>;

    fn layer(&self, inner: S) -> FromFnService<F> {
        FromFnService { function: self.0.clone(), inner: ErasedService::new(inner, Fault::Server) }
    }
}

impl<F, Answer> Service<Request> for FromFnService<F>
where
    F: Fn(Request, Next) -> Answer,
    Answer: Future<Output = Response> + Send + 'static,
{
    always_ready!();

    fn call(&mut self, request: Request) -> Self::Future {
        let answer = (self.function)(request, Next(self.inner.clone()));
        Box::pin(async move { Ok(answer.await) })
    }
}

/// A service with its type erased, around which layers are put.
///
/// Each call waits until the service is ready for it, so a limit delays calls and not the reading of
/// further requests.
#[derive(Clone)]
pub struct ErasedService(Arc<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>);

/// Whether an error of a layer goes to the model or to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The model, as with any failure of a tool.
    Tool,
    /// The client.
    Server,
}

impl ErasedService {
    pub(crate) fn new<S>(service: S, fault: Fault) -> Self
    where
        S: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        Self(Arc::new(move |request| {
            let mut service = service.clone();
            let revision = request.parts.revision;
            Box::pin(async move {
                let ready = poll_fn(|cx| service.poll_ready(cx).map_err(Into::<BoxError>::into));
                let answered = match ready.await {
                    Ok(()) => service.call(request).await.map_err(Into::into),
                    Err(error) => Err(error),
                };
                answered.unwrap_or_else(|error| fault.response(&*error, revision))
            })
        }))
    }

    /// Serves one request.
    pub(crate) fn serve(&self, request: Request) -> BoxFuture<'static, Response> {
        (self.0)(request)
    }
}

impl Service<Request> for ErasedService {
    always_ready!();

    fn call(&mut self, request: Request) -> Self::Future {
        let answer = self.serve(request);
        Box::pin(async move { Ok(answer.await) })
    }
}

impl fmt::Debug for ErasedService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ErasedService")
    }
}

/// Layers to be put around a service, the outermost last.
#[derive(Clone, Default)]
pub(crate) struct Layers(Vec<Arc<dyn Fn(ErasedService) -> ErasedService + Send + Sync>>);

impl Layers {
    pub(crate) fn add<L>(&mut self, layer: L)
    where
        L: Layer<ErasedService> + Send + Sync + 'static,
        L::Service: Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        <L::Service as Service<Request>>::Error: Into<BoxError>,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        let wrap = move |inner| ErasedService::new(layer.layer(inner), Fault::Server);
        self.0.push(Arc::new(wrap));
    }

    /// The service with the layers around it; `None` if there are no layers.
    pub(crate) fn around(
        &self,
        innermost: impl FnOnce() -> ErasedService,
    ) -> Option<ErasedService> {
        let wrapped = || self.0.iter().fold(innermost(), |inner, wrap| wrap(inner));
        (!self.0.is_empty()).then(wrapped)
    }
}

impl Fault {
    fn response(self, error: &(dyn std::error::Error + 'static), revision: Revision) -> Response {
        match self {
            Self::Tool => tool_error(chain(error), revision),
            Self::Server => Err(ErrorObject::internal(chain(error))),
        }
    }
}
