//! A built server, as the service that transports drive.
//!
//! It stands at the waist: a transport calls it with a request, and it answers. Inside come the
//! layers of the server, the router, the layers of a feature, and its handler. Around all of them
//! it does two things for every call: it hands sealed state of an earlier round to the code that
//! opens it, and it refuses results that are too large.

use std::any::Any;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use bowline_proto::sync::{Panicked, catch_poll};
use bowline_proto::upstream::Upstream;
use bowline_types::capability::ServerCapabilities;
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;

use crate::call::ServerShared;
use crate::layer::{CallHead, ErasedService, ResultSizeLimit};
use crate::mount::HasTasks;
use crate::router::{Routed, Router};
use crate::seal::{Opener, Sealer};

/// A built server: what every transport drives. Cheap to clone.
///
/// Made by [`Server::build`](crate::Server::build). Nothing of it changes afterwards except the
/// registry, whose features may come and go.
#[derive(Clone)]
pub struct Service(Arc<Built>);

/// Shared by all clones, so that a clone for each call is cheap.
struct Built {
    router: Router,
    /// The router inside of the server's layers, if there are any.
    layered: Option<ErasedService>,
    sealer: Arc<Sealer>,
    result_limit: ResultSizeLimit,
}

impl Service {
    pub(crate) fn new(
        router: Router,
        layered: Option<ErasedService>,
        shared: &ServerShared,
    ) -> Self {
        let result_limit = ResultSizeLimit::new(shared.limits.result);
        let sealer = shared.sealer.clone();
        Self(Arc::new(Built { router, layered, sealer, result_limit }))
    }

    /// Sets the store for tasks, unless there is one.
    #[cfg(feature = "http")]
    pub(crate) fn offer_store(&self, store: Arc<dyn bowline_store::Backend>) {
        self.0.router.tasks().offer_store(store);
    }

    /// Waits until no task runs here that other processes know of.
    #[cfg(feature = "http")]
    pub(crate) async fn tasks_ended(&self) {
        self.0.router.tasks().ended().await;
    }

    /// Tells whether an upstream has tools that run as tasks, if it is a built server.
    pub(crate) fn task_watch(upstream: &dyn Any) -> Option<HasTasks> {
        let service = upstream.downcast_ref::<Self>()?.clone();
        Some(Arc::new(move || service.0.router.has_tasks()))
    }

    /// Begins what a server does for its tasks while it serves.
    pub(crate) fn begin(&self) {
        self.0.router.sweep_tasks();
    }

    pub(crate) fn sealer(&self) -> &Sealer {
        &self.0.sealer
    }
}

impl tower_service::Service<Request> for Service {
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    /// Always ready: limits hold for each call, and none of them keeps others from being read.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request) -> ResponseFuture {
        let head = CallHead::of(&request);
        let Built { router, layered, sealer, result_limit } = &*self.0;
        if request.parts.input.as_ref().is_some_and(|input| input.state.is_some()) {
            request.parts.extensions.insert(Opener(sealer.clone()));
        }
        let serving = match layered {
            None => Serving::Plain(router.route(request)),
            Some(route) => Serving::Layered(route.serve(request)),
        };
        ResponseFuture { serving, head, result_limit: *result_limit }
    }
}

impl Upstream for Service {
    fn capabilities(&self) -> ServerCapabilities {
        self.0.router.capabilities()
    }

    fn instructions(&self) -> Option<String> {
        self.0.router.instructions()
    }

    fn needs_authorization(&self) -> Option<String> {
        self.0.router.needs_authorization()
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service")
    }
}

/// An answer under way. Dropping it cancels the call. A panic of a layer becomes an error of this
/// call; panics of handlers are caught further inside.
#[must_use = "nothing is answered unless this is awaited"]
pub struct ResponseFuture {
    serving: Serving,
    head: CallHead,
    result_limit: ResultSizeLimit,
}

/// A server without layers needs no box for each call.
enum Serving {
    Plain(Routed),
    Layered(BoxFuture<'static, Response>),
}

impl Future for ResponseFuture {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { serving, head, result_limit } = &mut *self;
        let poll = match serving {
            Serving::Plain(routed) => Pin::new(routed).poll(cx),
            Serving::Layered(future) => match catch_poll(future, cx) {
                Ok(poll) => poll,
                Err(Panicked) => {
                    let message = format!("a layer panicked while it served `{}`", head.method);
                    Poll::Ready(Err(ErrorObject::internal(message)))
                }
            },
        };
        poll.map(|response| Ok(result_limit.limit_response(*head, response)))
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ResponseFuture")
    }
}
