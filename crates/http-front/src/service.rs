//! What serves the requests of a connection.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use tower_service::Service;

use crate::arriving_body::ArrivingBody;

/// A tower service that answers the requests of a connection. It is implemented by every service of
/// the right types, such as a router of axum; a program does not implement it.
///
/// The service is cloned for each request. Its futures are stored in the connection, so a large one
/// is better boxed.
pub trait ConnectionService:
    Service<
        Request<ArrivingBody>,
        Response = Response<Self::Body>,
        Error = Infallible,
        Future: Send + 'static,
    > + Clone
    + Send
    + 'static
{
    /// The body of its answers.
    type Body: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static;
}

impl<S, B> ConnectionService for S
where
    S: Service<Request<ArrivingBody>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    type Body = B;
}

/// Any error of an answer.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A future on the heap.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
