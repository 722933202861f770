//! Serves HTTP/1.1 on a connection, and HTTP/2 too if the server is configured so.
//!
//! hyper speaks the protocol. What this file adds are the bounds: the size of a head, the windows
//! of HTTP/2, the number of streams. How long a head may take, a connection be idle or a client not
//! read is not left to hyper: [`Connections`](crate::connections::Connections) and
//! [`WatchedSocket`] watch that.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use crate::answer::Answer;
use crate::config::FrontConfig;
use crate::connection_use::ConnectionUse;
use crate::connections::drive;
use crate::service::{BoxError, BoxFuture};
use crate::socket::WatchedSocket;

/// How many bytes HTTP itself may hold of one connection, in either direction: the head of a request,
/// and what is written but not sent. A longer head is answered 431.
const BUFFER: usize = 64 * 1024;

/// Serves a connection to its end, and holds `held` until then.
pub(crate) fn serve<S, B>(
    config: &FrontConfig,
    socket: WatchedSocket<TcpStream>,
    service: S,
    used: Arc<ConnectionUse>,
    held: impl Send + 'static,
) -> BoxFuture<()>
where
    S: Service<Request<Incoming>, Response = Response<Answer<B>>, Error = Infallible>
        + Send
        + 'static,
    S::Future: Send + 'static,
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
{
    #[cfg(feature = "http2")]
    if config.http2 {
        return Box::pin(http2::serve(config.limits.clone(), socket, service, used, held));
    }
    #[cfg(not(feature = "http2"))]
    let _ = config;
    // Boxed: passed by value into an `async fn`, the large connection would be stored twice in the
    // future.
    let connection = Box::pin(http1().serve_connection(TokioIo::new(socket), service));
    Box::pin(drive(connection, used, held))
}

/// HTTP/1.1 with bounded heads. Requests on one connection are served one after the other.
fn http1() -> http1::Builder {
    let mut protocol = http1::Builder::new();
    // `Connections` watches how long a head takes.
    protocol.timer(TokioTimer::new()).header_read_timeout(None);
    // hyper's buffer may grow beyond its limit, so it does not bound a head by itself.
    protocol.max_buf_size(BUFFER).max_header_size(BUFFER);
    protocol
}

/// Serves the protocol that the client chooses.
///
/// HTTP/2 without TLS has no negotiation, so the first bytes decide (prior knowledge, RFC 9113,
/// 3.3). Upgrades from HTTP/1.1 are not served; RFC 9113 has removed them.
#[cfg(feature = "http2")]
mod http2 {
    use std::future::poll_fn;
    use std::task::Poll;

    use hyper::server::conn::http2;

    use super::{
        Answer, Arc, BUFFER, Body, BoxError, Bytes, ConnectionUse, Incoming, Infallible, Request,
        Response, Service, TcpStream, TokioIo, TokioTimer, WatchedSocket, drive, http1,
    };
    use crate::config::FrontLimits;
    use crate::flow::Streams;
    use crate::read_pace::MinimumPace;

    /// Waits for the first bytes, then serves HTTP/1.1 or HTTP/2 to the end. A client that sends
    /// nothing is ended like one that sends no head.
    pub(crate) async fn serve<S, B>(
        limits: FrontLimits,
        mut socket: WatchedSocket<TcpStream>,
        service: S,
        used: Arc<ConnectionUse>,
        held: impl Send + 'static,
    ) where
        S: Service<Request<Incoming>, Response = Response<Answer<B>>, Error = Infallible>
            + Send
            + 'static,
        S::Future: Send + 'static,
        B: Body<Data = Bytes, Error: Into<BoxError>> + Send + Unpin + 'static,
    {
        let Some(is_http2) = detect_http2(&mut socket, &used).await else { return };
        let io = TokioIo::new(socket);
        if is_http2 {
            used.speaks_http2();
            let connection = builder(&limits).serve_connection(io, service);
            drive(Box::pin(connection), used, held).await;
        } else {
            drive(Box::pin(http1().serve_connection(io, service)), used, held).await;
        }
    }

    /// Whether the client speaks HTTP/2. `None` if the connection has to end before that is known.
    async fn detect_http2(
        socket: &mut WatchedSocket<TcpStream>,
        used: &ConnectionUse,
    ) -> Option<bool> {
        poll_fn(|cx| {
            used.serve(cx.waker());
            match socket.poll_is_http2(cx) {
                Poll::Ready(version) => Poll::Ready(version.ok()),
                Poll::Pending if used.is_ending() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// The windows bound what a client may send unread, `max_send_buf_size` what is written unsent
    /// for one stream. Pings keep the connection alive while streams are silent, and end it if the
    /// client does not answer for `stall`.
    fn builder(limits: &FrontLimits) -> http2::Builder<Streams> {
        // The window is how many bytes a client may send before the server has read any.
        const WINDOW: u32 = BUFFER as u32;
        let mut protocol = http2::Builder::new(Streams(MinimumPace::new(limits)));
        protocol
            .timer(TokioTimer::new())
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(4 * WINDOW)
            .max_header_list_size(BUFFER as u32)
            .max_send_buf_size(BUFFER)
            .max_concurrent_streams(limits.requests_per_connection)
            .keep_alive_interval(limits.keep_alive)
            .keep_alive_timeout(limits.stall);
        protocol
    }
}
