//! The transport of 2024-11-05: a GET opens one stream for everything that the server sends, and
//! names the address to post messages to.
//!
//! It is served only if [`HttpConfig::with_sse2024`](super::super::HttpConfig::with_sse2024) asks
//! for it, on the same path as everything else: a GET without `Mcp-Session-Id` opens the stream,
//! and a POST whose query names the session belongs to it (BC-1). The session ends with the stream,
//! and there is no resumption, so nothing is logged.

use std::sync::Arc;

use bowline_proto::classify::LegacyFrame;
use bowline_proto::codec::sse;
use bytes::{BufMut, Bytes, BytesMut};
use http::Response;

use super::super::body::{Body, EventStream, StreamSource};
use super::super::inbound::Inbound;
use super::super::places::Places;
use super::super::{random_id, reply};
use super::driver::{Driver, ToClient};
use super::refusals::{self, STOPPING};
use super::session::{HttpSession, Listener, SessionKind, SessionUse};
use super::sessions::OpenSessions;

/// The refusal of a call beyond what may wait, or of which the client reads no answers.
const UNREAD: &str = "too many calls wait for their turn, or too many answers to be read from the \
                      stream; try again";

/// The part of the query that names a session. A secret in a query may end up in logs of proxies;
/// this transport has no other place for it.
const QUERY: &str = "session=";

/// Answers a GET: opens a session and its one stream.
///
/// The session is made before its handshake, because the client needs the address to send
/// `initialize` to. It lasts as long as its stream, with or without a handshake.
pub(super) fn open(sessions: &Arc<OpenSessions>, inbound: &Inbound) -> Response<Body> {
    let core = &sessions.core;
    if core.is_stopping() {
        return reply::busy(None, STOPPING);
    }
    let Some(id) = random_id::new_id() else { return refusals::no_session_id() };
    let session = HttpSession::new(id, inbound.owner(), SessionKind::Sse2024, core);
    // In use before it is in the table: no other session can take its place as an idle one.
    let driver = Driver::of_line(SessionUse::new(session.clone()), session.standalone());
    let address = format!("{}?{QUERY}{}", inbound.parts.uri.path(), session.id);
    let open = OpenUntilDropped { sessions: sessions.clone(), session };
    let stream = Sse2024Stream { open, driver, address: Some(address) };
    if let Err(why) = sessions.insert(&stream.open.session, &inbound.caller) {
        return refusals::unavailable(core, None, &why);
    }
    reply::events(StreamSource::new(stream), core.limits().keep_alive)
}

/// The session that a POST names in its query, if this transport is served.
pub(super) fn named_session<'a>(sessions: &OpenSessions, inbound: &'a Inbound) -> Option<&'a str> {
    let query = inbound.parts.uri.query().filter(|_| sessions.core.config.sse2024)?;
    query.split('&').find_map(|part| part.strip_prefix(QUERY))
}

/// Answers a POST with 202; the answer to its message comes on the stream. The slots of its calls
/// stay with the session until each call ends, since this answer does not wait for them.
pub(super) fn post(
    session: &Arc<HttpSession>,
    message: LegacyFrame,
    inbound: &mut Inbound,
) -> Response<Body> {
    let places = match Places::of_frame(&session.core, &inbound.caller, &message.frame) {
        Ok(places) => places.map(Arc::new),
        Err(error) => return reply::refuse(message.frame.id(), &error),
    };
    match session.receive(message, inbound.attach(), places.as_ref()) {
        Ok(_) => reply::accepted(),
        Err(frame) => reply::busy(frame.id(), UNREAD),
    }
}

/// The one stream of a session. It drives all calls of the session, not only those of one POST.
struct Sse2024Stream {
    /// Declared, and so dropped, before the driver: the session is closed by then, so the driver
    /// leaves its calls to no task.
    open: OpenUntilDropped,
    driver: Driver,
    /// Where to post to. Sent first.
    address: Option<String>,
}

impl Sse2024Stream {
    /// The next thing to send. `None` when the session ends.
    async fn next(&mut self) -> Option<ToClient> {
        let Self { open, driver, .. } = self;
        std::future::poll_fn(|cx| {
            open.session.poll_subscription(Listener::Sse2024, cx);
            driver.poll_next(cx)
        })
        .await
    }
}

impl EventStream for Sse2024Stream {
    async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        let mut text = BytesMut::new();
        if let Some(address) = self.address.take() {
            text.put_slice(format!("event: endpoint\ndata: {address}\n\n").as_bytes());
            return Some((text.freeze(), self));
        }
        let mut stopped = self.open.session.core.stopped();
        let mut is_stopping = false;
        loop {
            // Calls that run when the server stops come to their end first.
            if is_stopping && self.driver.is_quiet() {
                return None;
            }
            let next = tokio::select! {
                next = self.next() => next?,
                () = &mut stopped, if !is_stopping => {
                    is_stopping = true;
                    continue;
                }
            };
            if let ToClient::Message(_, message) = next {
                text.put_slice(b"event: message\n");
                sse::write_event(&mut text, None, &message);
                return Some((text.freeze(), self));
            }
        }
    }
}

/// A session that ends with its stream, also if the stream is refused. A client that closes its
/// stream cannot read answers any more, so its calls are cancelled.
struct OpenUntilDropped {
    sessions: Arc<OpenSessions>,
    session: Arc<HttpSession>,
}

impl Drop for OpenUntilDropped {
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
    }
}
