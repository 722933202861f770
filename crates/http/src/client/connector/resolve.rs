//! The addresses of a host: from the system, or from a resolver that leaves some of them out.

use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec;

use futures_core::future::BoxFuture;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use super::super::connect_failure::UnknownHost;
use super::super::fetch::BoxError;

/// Finds the addresses of a host.
pub(in super::super) trait ResolveHost: Send + Sync + 'static {
    /// The addresses to connect to. Their port is ignored.
    fn resolve(&self, host: Name) -> BoxFuture<'static, Result<Vec<SocketAddr>, BoxError>>;
}

/// Asks the system.
pub(in super::super) struct SystemResolver;

impl ResolveHost for SystemResolver {
    fn resolve(&self, host: Name) -> BoxFuture<'static, Result<Vec<SocketAddr>, BoxError>> {
        let found = GaiResolver::new().call(host);
        Box::pin(async move {
            let found = found.await.map_err(|error| UnknownHost(error.into()))?;
            Ok(found.collect())
        })
    }
}

/// A resolver in the form that hyper wants.
#[derive(Clone)]
pub(super) struct HostResolver(pub(super) Arc<dyn ResolveHost>);

impl Service<Name> for HostResolver {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, host: Name) -> Self::Future {
        let found = self.0.resolve(host);
        Box::pin(async move { Ok(found.await?.into_iter()) })
    }
}
