//! A server behind HTTP at a loopback socket. The play acts as an HTTP client of the revision.
//!
//! Every message is a POST on its own connection.
//!
//! | revision | what the client does |
//! |---|---|
//! | 2026-07-28 | repeats parts of the message in headers; closes a POST to cancel its request |
//! | from 2025-03-26 | opens a session by `initialize`; opens the GET stream after `notifications/initialized` |
//! | 2024-11-05 | opens a GET stream for all messages of the server, and posts to the URL that it names |
//!
//! The messages of one stream keep their order. HTTP defines no order between streams, so the
//! transcript has to be one of the orders in which the messages of all streams can arrive.
//!
//! The next line is played when the server has handled the line before: it has sent a response, or the
//! call has reached the service. Otherwise requests on two connections could overtake each other.

mod calls;
mod client_message;
mod exchange;
mod inbox;
mod sse;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bowline_http::server::{Endpoint, HttpConfig, Listener};
use bowline_types::revision::Revision;
use http::StatusCode;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

use self::calls::{CallCounter, CountingService};
use self::client_message::{ClientMessage, ClientSession, PATH};
use self::exchange::{HttpExchange, Purpose};
use self::inbox::StreamInbox;
use super::side_under_test::{Output, SideUnderTest};
use crate::clock::{self, with_frozen_time};
use crate::server_under_test::ServerUnderTest;

/// How often other tasks are polled before the server counts as silent.
const POLLS: usize = 32;

/// A server behind HTTP. Needs frozen time. It is client and server in one: it serves an endpoint
/// through a real listener and talks to it over sockets.
pub(crate) struct HttpServer {
    address: SocketAddr,
    endpoint: Endpoint,
    revision: Revision,
    /// How long to wait for an expected message, in real time.
    patience: Duration,
    /// Shows when a message has led to a call, which is how the play knows that it may go on.
    calls: CallCounter,
    inbox: StreamInbox,
    /// POSTs whose answers are still open.
    posts: Vec<Post>,
    session: Option<ClientSession>,
    /// The GET stream.
    stream: Option<HttpExchange>,
    /// The request target of POSTs.
    target: String,
    /// The beginning of a message whose end was not sent yet.
    line: Vec<u8>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// A POST with a request in it.
struct Post {
    exchange: HttpExchange,
    message: ClientMessage,
    /// The number of its first call, if it has led to one.
    call: Option<u64>,
}

impl HttpServer {
    /// Serves on a free port.
    ///
    /// # Errors
    ///
    /// If no port is free, or the GET stream of 2024-11-05 does not open.
    pub(crate) async fn open(
        server: ServerUnderTest,
        revision: Revision,
        patience: Duration,
    ) -> Result<Self, String> {
        let calls = CallCounter::default();
        let (config, http) = (server.config().clone(), HttpConfig::new().with_sse2024());
        let endpoint = Endpoint::new(CountingService::new(server, &calls), config, http);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(address, PATH).await.map_err(|error| error.to_string())?;
        let address = listener.address().map_err(|error| error.to_string())?;
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let serving = tokio::spawn(listener.serve(endpoint.clone(), stopped));
        let mut http = Self {
            address,
            endpoint,
            revision,
            patience,
            calls,
            inbox: StreamInbox::default(),
            posts: Vec::new(),
            session: None,
            stream: None,
            target: PATH.to_owned(),
            line: Vec::new(),
            stop: Some(stop),
            serving,
        };
        if !revision.has_streamable_http() {
            http.open_stream().await?;
        }
        Ok(http)
    }

    /// Opens the GET stream, and waits until it is open.
    async fn open_stream(&mut self) -> Result<(), String> {
        let request = client_message::open_stream(self.session.as_ref());
        let purpose = Purpose::Stream { answers: !self.revision.has_streamable_http() };
        let mut stream = HttpExchange::send(self.address, request, purpose, &self.inbox).await?;
        let (status, endpoint) = stream.first_event().await;
        if status != Some(StatusCode::OK.as_u16()) {
            return Err(format!("the GET stream does not open: status {status:?}"));
        }
        if !self.revision.has_streamable_http() {
            self.target = endpoint.ok_or("the stream does not begin with an `endpoint` event")?;
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Posts one message. Returns when the server has handled the message as far as it can without
    /// another one.
    async fn post(&mut self, body: &[u8]) -> Result<(), String> {
        let message = ClientMessage::parse(body, self.revision);
        if self.close_cancelled_post(&message).await {
            return Ok(());
        }
        let before = self.calls.started();
        let request = message.post(&self.target, self.session.as_ref());
        let purpose = Purpose::Post { is_modern: message.is_modern(), ids: message.request_ids() };
        let mut exchange = HttpExchange::send(self.address, request, purpose, &self.inbox).await?;
        // The response to a notification, an answer or a handshake comes at once.
        let waits = message.has_request() && self.answers_in_place() && !message.is_handshake();
        if !waits {
            exchange.ended().await;
            self.note_handshake(&message, &exchange).await?;
            return Ok(());
        }
        tokio::select! {
            biased;
            () = self.calls.wait_for_start_after(before) => {}
            () = exchange.head() => {}
        }
        let call = (self.calls.started() > before).then_some(before + 1);
        self.posts.push(Post { exchange, message, call });
        Ok(())
    }

    /// Whether the answer to a request comes in the response to its POST.
    fn answers_in_place(&self) -> bool {
        self.revision.has_streamable_http()
    }

    /// Remembers the session after `initialize`, and opens the GET stream after the handshake.
    async fn note_handshake(
        &mut self,
        message: &ClientMessage,
        exchange: &HttpExchange,
    ) -> Result<(), String> {
        if !self.answers_in_place() || message.is_modern() {
            return Ok(());
        }
        if let Some(id) = exchange.session() {
            self.session = Some(ClientSession::opened(id, &self.inbox.last(exchange.number())));
        }
        let is_new = self.session.is_some() && self.stream.is_none();
        if message.is_initialized() && is_new {
            self.open_stream().await?;
        }
        Ok(())
    }

    /// Closes the POST of the request of 2026-07-28 that a message cancels; returns whether there
    /// was exactly one. Otherwise the message is posted like any other. On 2026-07-28 a client
    /// cancels over HTTP by closing the connection (CANC-16), so the line of the transcript becomes
    /// that.
    async fn close_cancelled_post(&mut self, message: &ClientMessage) -> bool {
        let Some(id) = message.cancels() else { return false };
        let is_cancelled = |post: &Post| !post.exchange.is_over() && post.message.is_request(id);
        let mut cancelled = (0..self.posts.len()).filter(|place| is_cancelled(&self.posts[*place]));
        let (Some(place), None) = (cancelled.next(), cancelled.next()) else { return false };
        let post = self.posts.remove(place);
        post.exchange.abort();
        if let Some(call) = post.call {
            self.calls.wait_for_end(call).await;
        }
        true
    }

    /// Deletes the session, or in 2024-11-05 closes the stream that is the session.
    async fn end_session(&mut self) -> Result<(), String> {
        if let Some(session) = self.session.take() {
            let request = client_message::delete(&session);
            let mut exchange =
                HttpExchange::send(self.address, request, Purpose::Delete, &self.inbox).await?;
            exchange.ended().await;
            if exchange.status() != Some(StatusCode::NO_CONTENT.as_u16()) {
                return Err(format!("the session is not deleted: {:?}", exchange.status()));
            }
        }
        match self.stream.take() {
            Some(mut stream) if self.answers_in_place() => stream.ended().await,
            Some(stream) => stream.abort(),
            None => {}
        }
        Ok(())
    }

    /// Waits until every answered POST ends, stops the server and checks that no session is left. A
    /// session that is left would be a leak, which no message shows.
    async fn shut_down(&mut self) -> Result<(), String> {
        for mut post in std::mem::take(&mut self.posts) {
            if post.exchange.has_answer() {
                post.exchange.ended().await;
            }
            post.exchange.abort();
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        (&mut self.serving).await.map_err(|error| format!("the server failed: {error}"))?;
        match self.endpoint.sessions() {
            0 => Ok(()),
            count => Err(format!("{count} sessions are left after the client")),
        }
    }
}

impl SideUnderTest for HttpServer {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).take(end).collect();
            // A blank line is not a message.
            if !line.trim_ascii().is_empty() {
                self.post(&line).await?;
            }
        }
        Ok(())
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        if action != "stop" {
            return Err(format!("unknown action `{action}`; a server can `stop`"));
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        Ok(())
    }

    async fn advance(&mut self, time: Duration) {
        clock::advance(time).await;
    }

    async fn close(&mut self) -> Result<(), String> {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.post(&line).await?;
        }
        self.end_session().await
    }

    async fn next(&mut self, mut fits: impl FnMut(&Output) -> bool) -> Option<Output> {
        let received = with_frozen_time(self.patience, self.inbox.next(&mut fits)).await;
        match received {
            Ok(output) => output,
            // A message that does not fit makes a better error than none.
            Err(_) => self.inbox.take(|_| true),
        }
    }

    async fn try_next(&mut self) -> Option<Output> {
        for _ in 0..POLLS {
            if let Some(output) = self.inbox.take(|_| true) {
                return Some(output);
            }
            yield_now().await;
        }
        None
    }

    async fn finish(&mut self) -> Result<Vec<Output>, String> {
        let patience = self.patience;
        let ending = async {
            let mut rest: Vec<_> = self.try_next().await.into_iter().collect();
            self.close().await?;
            rest.extend(self.try_next().await);
            self.shut_down().await?;
            Ok(rest)
        };
        let ended = with_frozen_time(patience, ending).await;
        ended.unwrap_or_else(|error| Err(format!("the end of the play: {error}")))
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
