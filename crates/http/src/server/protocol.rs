//! HTTP as we speak it: HTTP/1.1, and HTTP/2 beside it where a server asks for that.

use std::convert::Infallible;
use std::sync::Arc;

use bowline_transport::BoxFuture;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

use super::body::Body;
use super::config::HttpConfig;
use super::connections::{Used, drive};
use super::stall::Stall;

/// Bytes that HTTP itself may hold of one connection, in either direction: the head of a request,
/// and what was written but not sent.
const BUFFER: usize = 64 * 1024;

/// Serves a connection to its end, and holds something until then.
pub(super) fn serve<S>(
    config: &HttpConfig,
    io: TokioIo<Stall<TcpStream>>,
    service: S,
    used: Arc<Used>,
    held: impl Send + 'static,
) -> BoxFuture<()>
where
    S: Service<Request<Incoming>, Response = Response<Body>, Error = Infallible> + Send + 'static,
    S::Future: Send + 'static,
{
    #[cfg(feature = "http2")]
    if config.http2 {
        let connection = http2::builder(config).serve_connection(io, service).into_owned();
        return Box::pin(drive(Box::pin(connection), used, held));
    }
    #[cfg(not(feature = "http2"))]
    let _ = config;
    let mut protocol = http1::Builder::new();
    // How long a head may take is for `Connections` to watch.
    protocol.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER);
    // The connection in a place of its own: it is large, and what takes it as an argument has room
    // for it twice.
    Box::pin(drive(Box::pin(protocol.serve_connection(io, service)), used, held))
}

/// Either protocol, as the client chooses.
#[cfg(feature = "http2")]
mod http2 {
    use hyper_util::rt::{TokioExecutor, TokioTimer};
    use hyper_util::server::conn::auto;

    use super::{BUFFER, HttpConfig};

    pub(super) fn builder(config: &HttpConfig) -> auto::Builder<TokioExecutor> {
        let limits = config.limits();
        let mut protocol = auto::Builder::new(TokioExecutor::new());
        protocol.http1().timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(BUFFER);
        protocol
            .http2()
            .timer(TokioTimer::new())
            .max_send_buf_size(BUFFER)
            .max_concurrent_streams(limits.requests_per_connection)
            .keep_alive_interval(limits.keep_alive)
            .keep_alive_timeout(limits.stall);
        protocol
    }
}
