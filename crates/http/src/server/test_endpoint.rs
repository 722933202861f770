//! An endpoint for unit tests. Its service answers every request with the result of `server/discover`.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_proto::server::ServerConfig;
use bowline_types::capability::ServerCapabilities;
use bowline_types::discover::DiscoverResult;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

use super::{Endpoint, HttpConfig};

/// An endpoint with such a service.
pub(super) fn endpoint(config: HttpConfig) -> Endpoint {
    let server = Arc::new(ServerConfig::new(Implementation::new("test", "1")));
    Endpoint::new(Describing, server, config)
}

#[derive(Clone)]
struct Describing;

impl tower_service::Service<Request> for Describing {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let described = DiscoverResult::new(Revision::ALL, ServerCapabilities::new());
        ready(Ok(Success::complete(described, request.parts.revision)))
    }
}
