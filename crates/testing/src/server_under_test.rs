//! The server that a transcript is played against: any service, and its configuration.
//!
//! Any tower service will do, so a transcript can also be played against a server without the
//! framework. The service is cloned for each call, as a driver does.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline::{BuildError, Server};
use bowline_proto::limits::Limits;
use bowline_proto::request::{Request, Response};
use bowline_proto::server::ServerConfig;
use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;
use tower_service::Service;

/// A server for [`Transcript::play`](crate::transcript::Transcript::play); cheap to clone. A play
/// changes nothing in it, except what the service itself keeps; tests that need a fresh state make
/// a new one.
#[derive(Clone)]
pub struct ServerUnderTest {
    call: Arc<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>,
    config: Arc<ServerConfig>,
}

impl ServerUnderTest {
    /// A server from a tower service and a configuration.
    pub fn new<S>(service: S, config: impl Into<Arc<ServerConfig>>) -> Self
    where
        S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
        S::Future: Send,
    {
        let service = Mutex::new(service);
        let call = move |request| -> BoxFuture<'static, Response> {
            let mut service = lock(&service).clone();
            Box::pin(async move {
                let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
                let Ok(response) = service.call(request).await;
                response
            })
        };
        Self { call: Arc::new(call), config: config.into() }
    }

    /// Builds a [`Server`].
    ///
    /// # Errors
    ///
    /// As [`Server::build`].
    pub fn build(server: &Server) -> Result<Self, BuildError> {
        Ok(Self::new(server.build()?, server.config()))
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        let config = ServerConfig::clone(&self.config).with_limits(limits);
        Self { call: self.call, config: Arc::new(config) }
    }

    /// Returns the configuration.
    pub fn config(&self) -> &Arc<ServerConfig> {
        &self.config
    }
}

impl Service<Request> for ServerUnderTest {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let response = (self.call)(request);
        Box::pin(async move { Ok(response.await) })
    }
}

impl fmt::Debug for ServerUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerUnderTest").field("config", &self.config).finish_non_exhaustive()
    }
}
