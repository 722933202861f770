//! An upstream around another one: a layer answers the calls, and everything else is that of the other.

use std::convert::Infallible;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use bowline_proto::upstream::Upstream;
use bowline_types::capability::ServerCapabilities;
use bowline_types::implementation::Implementation;
use futures_core::future::BoxFuture;
use tower_service::Service;

/// What stands between the callers of an upstream and the upstream. Cheap to clone.
pub(crate) trait UpstreamLayer: Clone + Send + Sync + 'static {
    /// Answers a call.
    fn answer(
        self,
        upstream: impl Upstream,
        request: Request,
    ) -> impl Future<Output = Response> + Send;

    /// What callers read of the instructions of the upstream.
    fn instructions(&self, instructions: String) -> Option<String> {
        Some(instructions)
    }
}

/// An upstream behind a layer. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Layered<L, U> {
    layer: L,
    upstream: U,
}

impl<L: UpstreamLayer, U: Upstream> Layered<L, U> {
    pub(crate) fn new(layer: L, upstream: U) -> Self {
        Self { layer, upstream }
    }
}

/// Makes a call.
pub(crate) async fn call(upstream: &mut impl Upstream, request: Request) -> Response {
    let Ok(()) = std::future::poll_fn(|cx| upstream.poll_ready(cx)).await;
    let Ok(response) = upstream.call(request).await;
    response
}

impl<L: UpstreamLayer, U: Upstream> Service<Request> for Layered<L, U> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { layer, upstream } = self.clone();
        Box::pin(async move { Ok(layer.answer(upstream, request).await) })
    }
}

impl<L: UpstreamLayer, U: Upstream> Upstream for Layered<L, U> {
    fn capabilities(&self) -> ServerCapabilities {
        self.upstream.capabilities()
    }

    fn info(&self) -> Option<Implementation> {
        self.upstream.info()
    }

    fn instructions(&self) -> Option<String> {
        self.layer.instructions(self.upstream.instructions()?)
    }

    fn needs_authorization(&self) -> Option<String> {
        self.upstream.needs_authorization()
    }
}
