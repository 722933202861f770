//! Connections to one server, kept for the next request.
//!
//! A client speaks to one origin only, so there is nothing to look up: over HTTP/1.1 a request takes
//! the connection that was put back last, and puts it back when its answer has been read; over
//! HTTP/2 all requests share one.
//!
//! A server may close a connection at the moment that it is used again. So a connection is not kept
//! for long, it is looked at before it is used again, and a request that hyper gives back unwritten
//! takes another. A request that was written and not answered ends as [`CutOff`], which says whether
//! the server has seen it, if that is known; only the sender knows whether it may be sent twice.

mod idle;

#[cfg(test)]
mod tests;

use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_transport::{BoxFuture, task};
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
use super::super::fetch::{Body, BoxError, Fetch, Incoming};

/// How long a connection may be unused before it is looked at. The runtime hears of a connection that
/// was closed only when it next asks the system; under load that may be after the next request.
const FRESH: Duration = Duration::from_millis(10);

/// How long a request waits for a connection whose answer has been read. That one is free at once,
/// unless the server answered before it had read the request: then it is closed, for the rest of that
/// request would have to be written first.
const SETTLING: Duration = Duration::from_millis(10);

/// Connections to one server.
pub(super) struct Pool<C> {
    pub(super) connector: C,
    /// Scheme, host and port of the server.
    pub(super) server: Uri,
    /// What requests name as their host, if they name none.
    pub(super) host: Option<HeaderValue>,
    /// How long it may take to reach the server.
    pub(super) patience: Duration,
    pub(super) http1: http1::Builder,
    pub(super) http2: http2::Builder<TokioExecutor>,
    pub(super) idle: Arc<Idle>,
}

/// A way to send requests over a connection.
enum Link {
    /// HTTP/1.1: one at a time.
    Single { sender: http1::SendRequest<Body>, is_forwarded: bool, _driver: Driver },
    /// HTTP/2: all at once.
    Shared(http2::SendRequest<Body>),
}

/// The task that reads and writes a connection. It ends with its link, also if the server takes no
/// more bytes.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<C> Fetch for Pool<C>
where
    C: Service<Uri, Error = BoxError> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Unpin + Send + 'static,
    C::Future: Send,
{
    // Each function that takes a request and waits has room for it twice, so this one calls none.
    fn fetch(
        self: Arc<Self>,
        mut request: Request<Body>,
    ) -> BoxFuture<Result<Response<Incoming>, BoxError>> {
        Box::pin(async move {
            let address = mem::take(request.uri_mut());
            loop {
                let (mut link, is_used) = self.link().await?;
                self.address(&mut request, &address, &link);
                let sent = match &mut link {
                    Link::Single { sender, .. } => sender.try_send_request(request).await,
                    Link::Shared(sender) => sender.try_send_request(request).await,
                };
                match sent {
                    Ok(response) => return Ok(response.map(|body| self.idle.lend(link, body))),
                    Err(mut error) => match error.take_message() {
                        // The server has hung up meanwhile, and this was not sent.
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
    /// A connection, and whether it was used before.
    async fn link(&self) -> Result<(Link, bool), BoxError> {
        while let Some((mut link, since)) = self.idle.take() {
            if link.is_single() && since.elapsed() > FRESH {
                // Lets the runtime ask the system, and the connection's task hear that it is closed.
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
        // Those that were put back before are as old, and likely to be closed too.
        self.idle.clear();
        CutOff { cause: error.into(), is_unseen }.into()
    }

    async fn connect(&self) -> Result<Link, Unreachable> {
        match timeout(self.patience, self.try_connect()).await {
            Ok(connected) => connected.map_err(Unreachable),
            Err(_) => Err(Unreachable(format!("it takes longer than {:?}", self.patience).into())),
        }
    }

    async fn try_connect(&self) -> Result<Link, BoxError> {
        let mut connector = self.connector.clone();
        poll_fn(|cx| connector.poll_ready(cx)).await?;
        let stream = connector.call(self.server.clone()).await?;
        let connected = stream.connected();
        if !connected.is_negotiated_h2() {
            let (sender, connection) = self.http1.handshake(stream).await?;
            // Whoever waits for an answer hears why there is none.
            let driver = task::spawn(async { drop(connection.await) });
            let (is_forwarded, _driver) = (connected.is_proxied(), Driver(driver.abort_handle()));
            return Ok(Link::Single { sender, is_forwarded, _driver });
        }
        let (sender, connection) = self.http2.handshake(stream).await?;
        let (sender, is_new) = self.idle.share(sender);
        if is_new {
            task::spawn(async { drop(connection.await) });
        }
        Ok(Link::Shared(sender))
    }

    /// Names the server as is the custom on this connection.
    fn address(&self, request: &mut Request<Body>, address: &Uri, link: &Link) {
        let Link::Single { is_forwarded, .. } = link else {
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

impl Link {
    fn is_single(&self) -> bool {
        matches!(self, Self::Single { .. })
    }

    /// Whether a request would be sent at once.
    fn is_ready(&self) -> bool {
        match self {
            Self::Single { sender, .. } => sender.is_ready(),
            Self::Shared(sender) => sender.is_ready(),
        }
    }

    async fn ready(&mut self) -> hyper::Result<()> {
        match self {
            Self::Single { sender, .. } => sender.ready().await,
            Self::Shared(sender) => sender.ready().await,
        }
    }
}

/// The body of an answer, which takes up a connection until it has been read.
struct Lent {
    body: Received,
    link: Option<Link>,
    idle: Arc<Idle>,
}

impl http_body::Body for Lent {
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

/// Whether an error of HTTP/2 says that the server has done nothing with the request: it refused the
/// stream, or ended the connection and named an earlier stream as the last one that it saw.
fn is_unseen(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|it| it.downcast_ref::<h2::Error>());
    cause.filter(|it| it.is_remote()).is_some_and(|it| {
        it.is_go_away() || (it.is_reset() && it.reason() == Some(h2::Reason::REFUSED_STREAM))
    })
}

/// A connection ended before the answer, either one that had served other requests, or without
/// having seen this one.
///
/// In the first case the server usually closed it while the request was on its way; but it may have
/// seen the request.
#[derive(Debug)]
pub(in super::super) struct CutOff {
    pub(in super::super) cause: BoxError,
    /// Whether the server said that it has not seen the request.
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
