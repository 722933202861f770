//! Cases without a server: text to messages, calls to exchanges, results to text.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use bowline_proto::codec::Received;
use bowline_proto::codec::sse::{SseReader, write_event};
use bowline_proto::frame::{Frame, Message};
use bowline_proto::limits::Limits;
use bowline_proto::request::{Owner, Request, Response, Success};
use bowline_proto::server::{ServerConfig, ServerConnection, ServerEvent};
use bowline_transport::mailbox::mailbox;
use bowline_types::content::Content;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;
use bytes::{Bytes, BytesMut};

use crate::messages::{self, MESSAGE, PROGRESS};
use crate::{Run, always};

pub(crate) fn frame_legacy() -> Run {
    frame(messages::legacy_call(MESSAGE))
}

pub(crate) fn frame_modern() -> Run {
    frame(messages::modern_call(MESSAGE))
}

pub(crate) fn frame_large() -> Run {
    frame(messages::modern_call(&MESSAGE.repeat(1024)))
}

fn frame(text: Bytes) -> Run {
    let limits = Limits::default();
    Box::new(move || {
        let frame = black_box(Frame::parse(black_box(&text), &limits));
        assert!(matches!(frame, Ok(Frame::Message(Message::Request(_)))), "{frame:?}");
    })
}

pub(crate) fn sse_write() -> Run {
    let answer = messages::answer();
    always(MESSAGE, move || {
        let mut out = BytesMut::new();
        write_event(&mut out, Some("7.1"), black_box(&answer));
        out.freeze()
    })
}

pub(crate) fn sse_read() -> Run {
    let mut stream = BytesMut::new();
    write_event(&mut stream, Some("7.1"), PROGRESS.as_bytes());
    write_event(&mut stream, Some("7.2"), &messages::answer());
    let limit = Limits::default().frame;
    always(MESSAGE, move || {
        let mut reader = SseReader::new(limit);
        reader.feed(black_box(&stream));
        black_box(reader.next().expect("the notification has come"));
        match reader.next().expect("the answer has come").data {
            Received::Message(text) => text,
            other => panic!("no text: {other:?}"),
        }
    })
}

pub(crate) fn projection() -> Run {
    let mut result = CallToolResult::structured(MESSAGE).expect("a text is JSON");
    result.content.push(Content::resource_link("file:///project/readme.md", "readme"));
    always(MESSAGE, move || {
        let success = Success::complete(black_box(&result).clone(), Revision::V2024_11_05);
        Bytes::copy_from_slice(success.expect("it can be written").body().as_str().as_bytes())
    })
}

pub(crate) fn exchange_legacy() -> Run {
    exchange(Connection::legacy(config()), messages::legacy_call(MESSAGE))
}

pub(crate) fn exchange_modern() -> Run {
    exchange(Connection::new(config()), messages::modern_call(MESSAGE))
}

fn exchange(mut connection: Connection, call: Bytes) -> Run {
    let response = Success::complete(CallToolResult::from_text(MESSAGE), Revision::LATEST);
    always(MESSAGE, move || connection.answer(&call, |_| response.clone()))
}

fn config() -> ServerConfig {
    let info = Implementation::new("hot-paths", "1.0.0");
    ServerConfig::new(info).with_limits(without_pace())
}

/// Limits without a rate: a case is repeated far more often than a client
/// may call.
pub(crate) fn without_pace() -> Limits {
    let mut limits = Limits::default();
    limits.requests_per_minute = usize::MAX;
    limits
}

/// A connection whose clock does not advance.
pub(crate) struct Connection {
    machine: ServerConnection,
    now: Instant,
}

impl Connection {
    /// A new connection, for 2026-07-28.
    pub(crate) fn new(config: ServerConfig) -> Self {
        // Calls send nothing but their answers.
        let (_, sender) = mailbox(0);
        let machine = ServerConnection::new(Arc::new(config), Owner::anonymous(), sender);
        Self { machine, now: Instant::now() }
    }

    /// A connection after the handshake of 2025-11-25.
    pub(crate) fn legacy(config: ServerConfig) -> Self {
        let mut connection = Self::new(config);
        connection.machine.open_without_handshake(Revision::LATEST_LEGACY);
        // Takes the subscription that a session opens for itself.
        while connection.machine.poll_event().is_some() {}
        connection
    }

    /// Returns the answer to a message; `serve` answers the call.
    pub(crate) fn answer(
        &mut self,
        text: &Bytes,
        serve: impl FnOnce(Request) -> Response,
    ) -> Bytes {
        let request = self.request(text);
        let number = request.parts.exchange;
        self.machine.complete(number, serve(request));
        self.machine.poll_transmit().expect("the call is answered").frame
    }

    /// Returns the call of a message.
    pub(crate) fn request(&mut self, text: &Bytes) -> Request {
        self.machine.receive(Received::Message(text.clone()), self.now);
        match self.machine.poll_event() {
            Some(ServerEvent::Call(request)) => *request,
            other => panic!("no call: {other:?}, {:?}", self.machine.poll_transmit()),
        }
    }
}
