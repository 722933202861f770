//! A server behind HTTP at a loopback socket, spoken to as a client of the revision speaks.
//!
//! Every message is a POST on a connection of its own.
//!
//! | revision | how it is spoken |
//! |---|---|
//! | 2026-07-28 | the headers repeat the message; closing a POST cancels its request |
//! | from 2025-03-26 | `initialize` opens a session; `notifications/initialized` is followed by the GET stream |
//! | 2024-11-05 | a GET stream carries all that the server says, and names where to post |
//!
//! Streams keep their order. Between streams HTTP promises none, so the transcript has to be one of
//! the orders in which the messages of all streams can come.
//!
//! The next line is played when the server has taken up the one before: it has answered, or the
//! call has reached the service. Without that, requests on two connections could overtake each
//! other.

mod calls;
mod events;
mod exchange;
mod inbox;
mod message;

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bowline_http::server::{Endpoint, HttpConfig, Listener};
use bowline_types::revision::Revision;
use http::StatusCode;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

use self::calls::{Calls, Watched};
use self::exchange::{Exchange, Purpose};
use self::inbox::Inbox;
use self::message::{Message, Session};
use super::stage::{Heard, Stage};
use crate::clock::{self, hold_still};
use crate::subject::Subject;

/// The path of the endpoint.
const PATH: &str = "/mcp";

/// How often everything else may run before it is taken for quiet.
const QUIET: usize = 32;

/// A server behind HTTP. Wants paused time that is held still.
pub(crate) struct Http {
    address: SocketAddr,
    endpoint: Endpoint,
    revision: Revision,
    /// How long to wait in real time for what is expected.
    patience: Duration,
    calls: Calls,
    inbox: Inbox,
    posts: Vec<Post>,
    session: Option<Session>,
    /// The GET stream.
    stream: Option<Exchange>,
    /// Where messages are posted.
    target: String,
    /// The beginning of a message whose end was not told yet.
    line: Vec<u8>,
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
}

/// A POST with a request in it.
struct Post {
    exchange: Exchange,
    message: Message,
    /// The first call that it led to.
    call: Option<u64>,
}

impl Http {
    /// Serves on a port of its own.
    ///
    /// # Errors
    ///
    /// If no port can be had, or the stream of 2024-11-05 does not open.
    pub(crate) async fn open(
        subject: Subject,
        revision: Revision,
        patience: Duration,
    ) -> Result<Self, String> {
        let calls = Calls::default();
        let (server, config) = (subject.config().clone(), HttpConfig::new().with_sse2024());
        let endpoint = Endpoint::new(Watched::new(subject, &calls), server, config);
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
            inbox: Inbox::default(),
            posts: Vec::new(),
            session: None,
            stream: None,
            target: PATH.to_owned(),
            line: Vec::new(),
            stop: Some(stop),
            serving,
        };
        if !revision.has_streamable_http() {
            http.listen().await?;
        }
        Ok(http)
    }

    /// Opens the GET stream, and waits until it is open.
    async fn listen(&mut self) -> Result<(), String> {
        let request = message::listen(self.session.as_ref());
        let purpose = Purpose::Stream { answers: !self.revision.has_streamable_http() };
        let mut stream = Exchange::send(self.address, request, purpose, &self.inbox).await?;
        let (status, endpoint) = stream.begun().await;
        if status != Some(StatusCode::OK.as_u16()) {
            return Err(format!("the GET stream does not open: status {status:?}"));
        }
        if !self.revision.has_streamable_http() {
            self.target = endpoint.ok_or("the stream does not begin with its endpoint")?;
        }
        self.stream = Some(stream);
        Ok(())
    }

    /// Says one message.
    async fn say(&mut self, body: &[u8]) -> Result<(), String> {
        let message = Message::parse(body, self.revision);
        if self.hang_up(&message).await {
            return Ok(());
        }
        let before = self.calls.started();
        let request = message.post(&self.target, self.session.as_ref());
        let purpose = Purpose::Post { is_modern: message.is_modern(), ids: message.request_ids() };
        let mut exchange = Exchange::send(self.address, request, purpose, &self.inbox).await?;
        // All but a request in a session or of its own is answered at once, and so is a handshake.
        let waits = message.has_request() && self.answers_in_place() && !message.is_handshake();
        if !waits {
            exchange.over().await;
            self.shaken(&message, &exchange).await?;
            return Ok(());
        }
        tokio::select! {
            biased;
            () = self.calls.started_after(before) => {}
            () = exchange.answered() => {}
        }
        let call = (self.calls.started() > before).then_some(before + 1);
        self.posts.push(Post { exchange, message, call });
        Ok(())
    }

    /// Whether the answer to a POST comes as the answer to that POST.
    fn answers_in_place(&self) -> bool {
        self.revision.has_streamable_http()
    }

    /// Takes note of how far a handshake has come.
    async fn shaken(&mut self, message: &Message, exchange: &Exchange) -> Result<(), String> {
        if !self.answers_in_place() || message.is_modern() {
            return Ok(());
        }
        if let Some(id) = exchange.session() {
            self.session = Some(Session::opened(id, &self.inbox.last(exchange.number())));
        }
        let is_new = self.session.is_some() && self.stream.is_none();
        if message.is_initialized() && is_new {
            self.listen().await?;
        }
        Ok(())
    }

    /// Closes the POST of a request of 2026-07-28 that a message cancels; gives whether there was
    /// exactly one. Otherwise the message is posted like any other.
    async fn hang_up(&mut self, message: &Message) -> bool {
        let Some(id) = message.cancels() else { return false };
        let is_meant = |post: &Post| !post.exchange.is_over() && post.message.asks(id);
        let mut meant = (0..self.posts.len()).filter(|place| is_meant(&self.posts[*place]));
        let (Some(place), None) = (meant.next(), meant.next()) else { return false };
        let post = self.posts.remove(place);
        post.exchange.cut();
        if let Some(call) = post.call {
            self.calls.ended(call).await;
        }
        true
    }

    /// The client ends: it deletes its session, or closes the stream that is its session.
    async fn leave(&mut self) -> Result<(), String> {
        if let Some(session) = self.session.take() {
            let request = message::delete(&session);
            let mut exchange =
                Exchange::send(self.address, request, Purpose::Delete, &self.inbox).await?;
            exchange.over().await;
            if exchange.status() != Some(StatusCode::NO_CONTENT.as_u16()) {
                return Err(format!("the session is not deleted: {:?}", exchange.status()));
            }
        }
        match self.stream.take() {
            Some(mut stream) if self.answers_in_place() => stream.over().await,
            Some(stream) => stream.cut(),
            None => {}
        }
        Ok(())
    }

    /// Every stream ends with its answer, and the server ends when it is stopped.
    async fn close(&mut self) -> Result<(), String> {
        for mut post in std::mem::take(&mut self.posts) {
            if post.exchange.has_answer() {
                post.exchange.over().await;
            }
            post.exchange.cut();
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        (&mut self.serving).await.map_err(|error| format!("the server broke down: {error}"))?;
        match self.endpoint.sessions() {
            0 => Ok(()),
            count => Err(format!("{count} sessions outlive their client")),
        }
    }
}

impl Stage for Http {
    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.line.extend_from_slice(bytes);
        while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.line.drain(..=end).take(end).collect();
            // A blank line is no message.
            if !line.trim_ascii().is_empty() {
                self.say(&line).await?;
            }
        }
        Ok(())
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        if action != "stop" {
            return Err(format!("nobody knows how to `{action}`; a server can `stop`"));
        }
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        Ok(())
    }

    async fn pass(&mut self, time: Duration) {
        clock::pass(time).await;
    }

    async fn end(&mut self) -> Result<(), String> {
        let line = std::mem::take(&mut self.line);
        if !line.trim_ascii().is_empty() {
            self.say(&line).await?;
        }
        self.leave().await
    }

    async fn next(&mut self, mut fits: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        let come = hold_still(self.patience, self.inbox.next(&mut fits)).await;
        match come {
            Ok(heard) => heard,
            // What came instead says more than that nothing came.
            Err(_) => self.inbox.take(|_| true),
        }
    }

    async fn spare(&mut self) -> Option<Heard> {
        for _ in 0..QUIET {
            if let Some(heard) = self.inbox.take(|_| true) {
                return Some(heard);
            }
            yield_now().await;
        }
        None
    }

    async fn finish(&mut self) -> Result<Vec<Heard>, String> {
        let patience = self.patience;
        let ending = async {
            let mut rest: Vec<_> = self.spare().await.into_iter().collect();
            self.end().await?;
            rest.extend(self.spare().await);
            self.close().await?;
            Ok(rest)
        };
        let ended = hold_still(patience, ending).await;
        ended.unwrap_or_else(|stuck| Err(format!("the end of the play: {stuck}")))
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
