//! A sans-IO client and a sans-IO server, joined in memory, in virtual time.
//!
//! Messages move only during [`Pair::drive`], and calls stay open until the test completes them. So a
//! test can set up every race by hand.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CallRequest, ClientConfig, ClientConnection, ClientEvent};
use bowline_proto::codec::Received;
use bowline_proto::request::{
    EveryResource, ExchangeId, Outgoing, Owner, Request, Response, Success,
};
use bowline_proto::server::{ServerConfig, ServerConnection, ServerEvent};
use bowline_types::capability::{ClientCapabilities, ServerCapabilities};
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::Value;

use crate::clock::Clock;
use crate::outgoing_queue::OutgoingQueue;

/// A client and a server that are joined in memory.
///
/// Both ends are plain fields, so a test may look into them, drop a message between two calls of
/// [`drive`](Self::drive), or complete calls in any order.
///
/// ```
/// use bowline_testing::pair::{Pair, text};
/// use bowline_types::method::Method;
/// use serde_json::json;
///
/// let mut pair = Pair::modern();
/// let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
/// pair.drive();
/// let exchange = pair.server.requests[0].parts.exchange;
/// pair.client.cancel(call);
/// pair.drive();
/// pair.server.complete(exchange, text("late"));
/// assert_eq!(pair.drive(), [""; 0]);
/// ```
pub struct Pair {
    /// The client.
    pub client: ClientEnd,
    /// The server.
    pub server: ServerEnd,
    clock: Clock,
}

impl Pair {
    /// A pair in the newest revision.
    pub fn modern() -> Self {
        Self::in_revision(Revision::LATEST)
    }

    /// A pair in the newest revision with a handshake.
    pub fn legacy() -> Self {
        Self::in_revision(Revision::LATEST_LEGACY)
    }

    /// A pair in a revision, after the handshake if it has one.
    pub fn in_revision(revision: Revision) -> Self {
        let capabilities = ClientCapabilities::new().with_form_elicitation();
        let client = ClientConfig::new(Implementation::new("client", "1.0.0"), capabilities);
        let server = ServerConfig::new(Implementation::new("server", "1.0.0"));
        Self::new(client.with_revisions([revision]), server)
    }

    /// A pair with these configurations, after the handshake or discovery.
    pub fn new(client: ClientConfig, server: ServerConfig) -> Self {
        let clock = Clock::new();
        let mut pair = Self {
            client: ClientEnd::new(client, clock),
            server: ServerEnd::new(server, clock),
            clock,
        };
        pair.client.connection.begin(clock.now());
        pair.drive();
        pair
    }

    /// Delivers messages in both directions until there are none; returns them as lines of a transcript.
    pub fn drive(&mut self) -> Vec<String> {
        let mut messages = Vec::new();
        loop {
            let before = messages.len();
            self.server.work();
            for frame in self.client.outgoing() {
                messages.push(format!("> {}", String::from_utf8_lossy(&frame)));
                self.server.connection.receive(Received::Message(frame), self.clock.now());
            }
            self.server.work();
            for frame in self.server.outgoing() {
                messages.push(format!("< {}", String::from_utf8_lossy(&frame)));
                self.client.connection.receive(Received::Message(frame), self.clock.now());
            }
            self.client.work();
            if messages.len() == before {
                return messages;
            }
        }
    }

    /// Advances the time of both ends, then drives.
    pub fn advance(&mut self, time: Duration) -> Vec<String> {
        self.clock.advance(time);
        self.client.clock = self.clock;
        self.server.clock = self.clock;
        self.client.connection.handle_timeout(self.clock.now());
        self.server.connection.handle_timeout(self.clock.now());
        self.drive()
    }
}

/// The client end of a [`Pair`]. It has no host: questions stay among the events until the test
/// answers them.
pub struct ClientEnd {
    /// The sans-IO connection.
    pub connection: ClientConnection,
    /// The events of the connection, until the test takes them out.
    pub events: Vec<ClientEvent>,
    clock: Clock,
    last: u64,
}

impl ClientEnd {
    fn new(config: ClientConfig, clock: Clock) -> Self {
        Self {
            connection: ClientConnection::new(Arc::new(config)),
            events: Vec::new(),
            clock,
            last: 0,
        }
    }

    /// Makes a call that asks for progress.
    ///
    /// # Panics
    ///
    /// Panics if `params` is not an object.
    pub fn call(&mut self, method: Method, params: &Value) -> ExchangeId {
        let params = RawJson::from_value(params).ok().and_then(|params| Object::new(params).ok());
        let mut request = CallRequest::new(method, params.expect("params are an object"));
        request.progress = true;
        self.last += 1;
        let call = ExchangeId(self.last);
        self.connection.call(call, request, self.clock.now());
        call
    }

    /// Cancels a call.
    pub fn cancel(&mut self, call: ExchangeId) {
        self.connection.cancel(call, "not wanted any more");
    }

    /// Takes the outcome of a call out of the events; `None` if it is still open.
    pub fn answer(&mut self, call: ExchangeId) -> Option<Result<String, String>> {
        let ended = |event: &ClientEvent| matches!(event, ClientEvent::Answered(number, _) if *number == call);
        let place = self.events.iter().position(ended)?;
        match self.events.remove(place) {
            ClientEvent::Answered(_, Ok(answer)) => Some(Ok(answer.result.to_string())),
            ClientEvent::Answered(_, Err(error)) => Some(Err(error.to_string())),
            _ => None,
        }
    }

    fn work(&mut self) {
        self.events.extend(std::iter::from_fn(|| self.connection.poll_event()));
    }

    fn outgoing(&mut self) -> Vec<Bytes> {
        std::iter::from_fn(|| self.connection.poll_transmit())
            .map(|transmit| transmit.frame)
            .collect()
    }
}

/// The server end of a [`Pair`]. It answers `server/discover`; the test completes every other call.
pub struct ServerEnd {
    /// The sans-IO connection.
    pub connection: ServerConnection,
    /// Open calls in the order of arrival.
    pub requests: Vec<Request>,
    /// Cancelled calls, in the order of their cancellation.
    pub cancelled: Vec<ExchangeId>,
    queue: Arc<OutgoingQueue>,
    config: Arc<ServerConfig>,
    clock: Clock,
}

impl ServerEnd {
    fn new(config: ServerConfig, clock: Clock) -> Self {
        let config = Arc::new(config);
        let queue = Arc::new(OutgoingQueue::new(config.limits().outbox));
        Self {
            connection: ServerConnection::new(config.clone(), Owner::anonymous(), queue.clone()),
            requests: Vec::new(),
            cancelled: Vec::new(),
            queue,
            config,
            clock,
        }
    }

    /// Sends the response of a call.
    pub fn complete(&mut self, call: ExchangeId, response: Response) {
        self.connection.complete(call, response);
    }

    /// Sends a message of a call before its response.
    pub fn emit(&mut self, call: ExchangeId, outgoing: Outgoing) {
        self.connection.emit(call, outgoing, self.clock.now());
    }

    /// Hands in what outboxes have sent, then acts on the events of the connection.
    fn work(&mut self) {
        for (number, outgoing) in self.queue.take() {
            self.connection.emit(number, outgoing, self.clock.now());
        }
        let mut events: VecDeque<_> = std::iter::from_fn(|| self.connection.poll_event()).collect();
        while let Some(event) = events.pop_front() {
            match event {
                ServerEvent::Call(request) => self.serve(*request),
                ServerEvent::Cancelled(number) => {
                    self.requests.retain(|request| request.parts.exchange != number);
                    self.cancelled.push(number);
                }
            }
        }
    }

    /// Discovery is answered at once, so that a test begins after it; every other call waits for
    /// the test.
    fn serve(&mut self, request: Request) {
        if request.parts.method == Method::ServerDiscover {
            let response = self.describe(request.parts.revision);
            return self.connection.complete(request.parts.exchange, response);
        }
        // A legacy session opens a subscription for itself, which tests do not see.
        if request.parts.extensions.get::<EveryResource>().is_none() {
            self.requests.push(request);
        }
    }

    /// A server with tools and logging, which is all that tests of races need.
    fn describe(&self, revision: Revision) -> Response {
        let capabilities = ServerCapabilities::new().with_tools_list_changed().with_logging();
        let revisions = self.config.revisions().iter().copied();
        Success::complete(DiscoverResult::new(revisions, capabilities), revision)
    }

    fn outgoing(&mut self) -> Vec<Bytes> {
        std::iter::from_fn(|| self.connection.poll_transmit())
            .map(|transmit| transmit.frame)
            .collect()
    }
}

/// A tool result with one text.
pub fn text(text: &str) -> Response {
    let body = serde_json::json!({ "content": [{ "type": "text", "text": text }] });
    let body =
        RawJson::from_value(&body).map_err(|error| ErrorObject::internal(error.to_string()))?;
    Ok(Success::raw(body, Default::default()))
}
