//! One connection: each of its requests goes to the service, and the answers back.
//!
//! How a connection becomes an answer: [`tcp::prepare`] sets its options, [`WatchedSocket`] watches
//! that the client reads, [`protocol::serve`] speaks HTTP on it, and for each request the service
//! runs.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::Arc;

use http::Request;
use http::header::{CONNECTION, HeaderValue};
use hyper::body::Incoming;
use hyper::service::service_fn;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;

use crate::answer::Answer;
use crate::arriving_body::ArrivingBody;
use crate::config::FrontConfig;
use crate::connection_use::ConnectionUse;
use crate::connections::TableEntry;
use crate::read_pace::MinimumPace;
use crate::service::{BoxFuture, ConnectionService};
use crate::socket::WatchedSocket;
use crate::{protocol, tcp};

/// What the task of a connection needs, moved into it when it begins.
pub(crate) struct Connection<S> {
    pub(crate) config: Arc<FrontConfig>,
    pub(crate) service: S,
    pub(crate) used: Arc<ConnectionUse>,
    /// Its entry in the table and its permit; both are released when it ends.
    pub(crate) held: (TableEntry, OwnedSemaphorePermit),
}

impl<S: ConnectionService> Connection<S> {
    pub(crate) fn serve(self, stream: TcpStream) -> BoxFuture<()> {
        let Self { config, service, used, held } = self;
        tcp::prepare(&stream, &config.limits);
        let pace = MinimumPace::new(&config.limits);
        let socket = WatchedSocket::new(stream, used.traffic.clone(), pace);
        let connection = used.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let in_flight = connection.begin();
            #[cfg(feature = "http2")]
            let is_http2 = request.version() == http::Version::HTTP_2;
            let request = request.map(|body| ArrivingBody::new(body, in_flight.shared()));
            let mut service = service.clone();
            async move {
                let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
                let Ok(response) = service.call(request).await;
                in_flight.connection().traffic.answered();
                let is_last =
                    in_flight.connection().is_leaving() || in_flight.connection().has_left_body();
                let mut response = response.map(|body| Answer::new(body, in_flight));
                #[cfg(feature = "http2")]
                if is_http2 {
                    return Ok(response.map(Answer::flowing));
                }
                // hyper closes the connection after an answer with this header, and without a word
                // after one to a request whose body is still to come.
                if is_last {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(response)
            }
        });
        protocol::serve(&config, socket, service, used, held)
    }
}
