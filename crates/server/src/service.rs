//! A built server, as the service that transports drive.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;

use crate::layer::{BoxFuture, Route};
use crate::panic::{Panicked, catch_poll};
use crate::router::{Routed, Router};

/// A built server: what every transport drives. Cheap to clone.
#[derive(Clone)]
pub struct Service(Kind);

#[derive(Clone)]
enum Kind {
    Plain(Router),
    Layered(Route),
}

impl Service {
    pub(crate) fn plain(router: Router) -> Self {
        Self(Kind::Plain(router))
    }

    pub(crate) fn layered(route: Route) -> Self {
        Self(Kind::Layered(route))
    }
}

impl tower_service::Service<Request> for Service {
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    /// Always ready: limits hold for each call, and none of them keeps others from being read.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Answer {
        Answer(match &self.0 {
            Kind::Plain(router) => Answering::Plain(router.route(request)),
            Kind::Layered(route) => {
                let method = request.parts.method;
                Answering::Layered { method, future: route.serve(request) }
            }
        })
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Service")
    }
}

/// An answer under way. Dropping it cancels the call.
#[must_use = "nothing is answered unless this is awaited"]
pub struct Answer(Answering);

enum Answering {
    Plain(Routed),
    Layered { method: Method, future: BoxFuture<Response> },
}

impl Future for Answer {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let poll = match &mut self.0 {
            Answering::Plain(routed) => Pin::new(routed).poll(cx),
            Answering::Layered { method, future } => match catch_poll(future, cx) {
                Ok(poll) => poll,
                Err(Panicked) => {
                    let message = format!("a layer panicked while it served `{}`", method.name());
                    Poll::Ready(Err(ErrorObject::internal(message)))
                }
            },
        };
        poll.map(Ok)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}
