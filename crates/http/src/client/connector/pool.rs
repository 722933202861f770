//! A pool of connections to one server.
//!
//! A client has one origin. Over HTTP/1.1 a request takes the connection that was returned last, and
//! returns it when the response body has been read. Over HTTP/2 requests share a connection, up to the
//! number that its server allows at a time.
//!
//! A server may close a connection just when it is reused. So a connection is kept for a short time,
//! checked before reuse, and a request that hyper returns unsent takes another one. A request that
//! was sent and not answered fails with [`CutOff`], which says whether the server has seen it. The
//! caller decides whether it may be sent again.

mod idle;
mod streams;

#[cfg(test)]
mod tests;

use futures_core::future::BoxFuture;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_transport::task;
use bytes::Bytes;
use http::header::{HOST, HeaderValue};
use http::{Request, Response, Uri};
use http_body::Frame;
use hyper::body::Incoming as Received;
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::Connection;
use hyper_util::rt::TokioExecutor;
use tokio::task::{AbortHandle, yield_now};
use tokio::time::timeout;
use tower_service::Service;

pub(super) use self::idle::Idle;
use self::streams::{StreamPermit, Streams};
use super::super::fetch::{BoxError, Fetch, Incoming, RequestBody};

/// A connection that was unused for longer is checked before reuse. The runtime learns that a
/// connection was closed only when it polls the system; under load that may be too late.
const FRESH: Duration = Duration::from_millis(10);

/// How long a request waits for a connection whose response has been read. It is ready at once,
/// unless the server answered before it had read the whole request; then it is closed.
const SETTLING: Duration = Duration::from_millis(10);

/// Connections to one server.
pub(super) struct Pool<C> {
    /// Opens streams to the server, with TLS and through a proxy where needed.
    pub(super) connector: C,
    /// Scheme, host and port of the server.
    pub(super) server: Uri,
    /// The `Host` for requests without one.
    pub(super) host: Option<HeaderValue>,
    /// How long it may take to reach the server.
    pub(super) patience: Duration,
    pub(super) http1: http1::Builder,
    pub(super) http2: http2::Builder<TokioExecutor>,
    pub(super) idle: Arc<Idle>,
}

/// The sending side of a connection. Dropping the first kind closes the connection; the second is
/// one of many handles to it.
enum PooledConnection {
    /// HTTP/1.1: one request at a time.
    Single { sender: http1::SendRequest<RequestBody>, is_forwarded: bool, _driver: ConnectionTask },
    /// HTTP/2: many requests at a time.
    Shared { sender: http2::SendRequest<RequestBody>, _permit: StreamPermit },
}

/// The task that reads and writes a connection; aborted when this is dropped.
struct ConnectionTask(AbortHandle);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Repeats only what hyper hands back unsent, and only on connections that were used before: on a
/// new one the same failure would come again.
impl<C> Fetch for Pool<C>
where
    C: Service<Uri, Error = BoxError> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Unpin + Send + 'static,
    C::Future: Send,
{
    // Passing `Request` by value into an inner `async fn` would store it twice in the future, so
    // everything is inlined here.
    fn fetch(
        self: Arc<Self>,
        mut request: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        Box::pin(async move {
            let address = mem::take(request.uri_mut());
            loop {
                let (mut link, is_used) = self.link().await?;
                self.address(&mut request, &address, &link);
                let sent = match &mut link {
                    PooledConnection::Single { sender, .. } => {
                        sender.try_send_request(request).await
                    }
                    PooledConnection::Shared { sender, .. } => {
                        sender.try_send_request(request).await
                    }
                };
                match sent {
                    Ok(response) => return Ok(response.map(|body| self.idle.lend(link, body))),
                    Err(mut error) => match error.take_message() {
                        // The server closed the connection before the request was sent.
                        Some(unsent) if is_used => request = unsent,
                        Some(_) => return Err(Unreachable(error.into_error().into()).into()),
                        None => return Err(self.unanswered(error.into_error(), is_used)),
                    },
                }
            }
        })
    }
}

impl<C> Pool<C>
where
    C: Service<Uri, Error = BoxError> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Unpin + Send + 'static,
    C::Future: Send,
{
    /// A connection, and whether it was used before. A used one counts as ready only if its task
    /// has seen no close; the others are dropped on the way.
    async fn link(&self) -> Result<(PooledConnection, bool), BoxError> {
        while let Some((mut link, since)) = self.idle.take() {
            if link.is_single() && since.elapsed() > FRESH {
                // Lets the runtime poll the system, so that the connection's task sees a close.
                yield_now().await;
            }
            if link.is_ready() {
                return Ok((link, true));
            }
            if let Ok(Ok(())) = Box::pin(timeout(SETTLING, link.ready())).await {
                return Ok((link, true));
            }
        }
        Ok((Box::pin(self.connect()).await?, false))
    }

    /// Why there is no answer to a request that was written.
    fn unanswered(&self, error: hyper::Error, is_used: bool) -> BoxError {
        let is_unseen = is_unseen(&error);
        if !is_unseen && (!is_used || error.is_parse() || error.is_user()) {
            return error.into();
        }
        // The connections that were returned before are as old, and probably closed too.
        self.idle.clear();
        CutOff { cause: error.into(), is_unseen }.into()
    }

    /// TCP, proxy, TLS and the HTTP handshake together have `patience`.
    async fn connect(&self) -> Result<PooledConnection, Unreachable> {
        match timeout(self.patience, self.try_connect()).await {
            Ok(connected) => connected.map_err(Unreachable),
            Err(_) => Err(Unreachable(format!("it takes longer than {:?}", self.patience).into())),
        }
    }

    /// Two requests may connect at the same time. If both get HTTP/2, the first connection is
    /// shared, and the second is dropped unused.
    async fn try_connect(&self) -> Result<PooledConnection, BoxError> {
        let mut connector = self.connector.clone();
        poll_fn(|cx| connector.poll_ready(cx)).await?;
        let stream = connector.call(self.server.clone()).await?;
        let connected = stream.connected();
        if !connected.is_negotiated_h2() {
            let (sender, connection) = self.http1.handshake(stream).await?;
            // Its error is dropped here, because the request that waits gets it too.
            let driver = task::spawn(async { drop(connection.await) });
            let (is_forwarded, _driver) =
                (connected.is_proxied(), ConnectionTask(driver.abort_handle()));
            return Ok(PooledConnection::Single { sender, is_forwarded, _driver });
        }
        let (sender, connection) = self.http2.handshake(stream).await?;
        let (streams, driving) = Streams::of(connection);
        let (link, is_new) = self.idle.share(sender, &streams);
        if is_new {
            task::spawn(driving);
        }
        Ok(link)
    }

    /// Sets the request target and `Host` as this kind of connection needs them.
    fn address(&self, request: &mut Request<RequestBody>, address: &Uri, link: &PooledConnection) {
        let PooledConnection::Single { is_forwarded, .. } = link else {
            *request.uri_mut() = address.clone();
            return;
        };
        if let Some(host) = self.host.as_ref().filter(|_| !request.headers().contains_key(HOST)) {
            request.headers_mut().insert(HOST, host.clone());
        }
        *request.uri_mut() = match address.path_and_query() {
            Some(path) if !is_forwarded => Uri::from(path.clone()),
            _ => address.clone(),
        };
    }
}

impl PooledConnection {
    fn is_single(&self) -> bool {
        matches!(self, Self::Single { .. })
    }

    /// Whether a request would be sent at once.
    fn is_ready(&self) -> bool {
        match self {
            Self::Single { sender, .. } => sender.is_ready(),
            Self::Shared { sender, .. } => sender.is_ready(),
        }
    }

    /// Waits until the connection can take a request. Fails if it was closed.
    async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::Single { sender, .. } => sender.ready().await,
            Self::Shared { sender, .. } => sender.ready().await,
        }
    }
}

/// The body of a response; returns its connection to the pool when it has been read. A body that is
/// dropped before its end drops the connection with it: what follows on HTTP/1.1 would be the rest
/// of that body.
struct LentBody {
    body: Received,
    /// `None` once it has been returned.
    link: Option<PooledConnection>,
    idle: Arc<Idle>,
}

impl http_body::Body for LentBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let is_read = frame.is_none() || self.body.is_end_stream();
        if let Some(link) = self.link.take_if(|_| is_read) {
            self.idle.put(link);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Whether an HTTP/2 error says that the server has not processed the request: it refused the
/// stream, or sent GOAWAY with an earlier stream as the last one.
fn is_unseen(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|it| it.downcast_ref::<h2::Error>());
    cause.filter(|it| it.is_remote()).is_some_and(|it| {
        it.is_go_away() || (it.is_reset() && it.reason() == Some(h2::Reason::REFUSED_STREAM))
    })
}

/// A connection ended before the response: a reused one, or one whose server has not seen the
/// request.
///
/// In the first case the server usually closed the connection while the request was on its way, but
/// it may have processed the request.
#[derive(Debug)]
pub(in super::super) struct CutOff {
    pub(in super::super) cause: BoxError,
    /// Whether the server reported that it has not processed the request.
    pub(in super::super) is_unseen: bool,
}

impl fmt::Display for CutOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.is_unseen {
            true => "the server ended the connection before it saw the request",
            false => "the connection, which had been used before, ended before the answer",
        })
    }
}

impl std::error::Error for CutOff {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

/// The server could not be reached, so nothing was sent.
#[derive(Debug)]
pub(in super::super) struct Unreachable(pub(super) BoxError);

impl fmt::Display for Unreachable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot connect")
    }
}

impl std::error::Error for Unreachable {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}
