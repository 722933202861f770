//! The transport of 2024-11-05: one stream for everything that the server says, and a place to post
//! to.

use std::sync::Arc;

use bowline_proto::classify::LegacyFrame;
use bowline_proto::codec::sse;
use bytes::{BufMut, Bytes, BytesMut};
use http::{Response, StatusCode};

use super::super::body::{Body, Tell, Told};
use super::super::inbound::Inbound;
use super::super::places::Places;
use super::super::reply;
use super::drive::{Drive, Said};
use super::session::{Busy, Kind, Session};
use super::sessions::Sessions;

/// Said when no more calls are taken for now.
const UNREAD: &str = "too many calls wait for their turn, or too many answers to be read from the \
                      stream; try again";

/// The part of the query that names a session.
const QUERY: &str = "session=";

/// Opens a stream, and names where to post.
pub(super) fn open(sessions: &Arc<Sessions>, inbound: &Inbound) -> Response<Body> {
    if sessions.core.is_stopping() {
        return reply::busy(None, super::STOPPING);
    }
    let Some(id) = Sessions::new_id() else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "no randomness for a session id");
    };
    let session = Session::new(id, inbound.owner(), Kind::Sse2024, &sessions.core);
    // Begun before anybody could take it for idle.
    let mut drive = Drive::along(Busy::new(session.clone()), session.standalone());
    drive.follow();
    if let Err(why) = sessions.insert(&session, &inbound.caller) {
        return super::not_now(&sessions.core, None, &why);
    }
    let endpoint = format!("{}?{QUERY}{}", inbound.parts.uri.path(), session.id);
    let open = Open { sessions: sessions.clone(), session };
    let stream = Stream { open, drive, endpoint: Some(endpoint) };
    reply::events(Told::by(stream), sessions.core.limits().keep_alive)
}

/// The session that a POST names in its query.
pub(super) fn named<'a>(sessions: &Sessions, inbound: &'a Inbound) -> Option<&'a str> {
    let query = inbound.parts.uri.query().filter(|_| sessions.core.config.sse2024)?;
    query.split('&').find_map(|part| part.strip_prefix(QUERY))
}

/// Takes a message; its answer comes on the stream.
pub(super) fn post(
    session: &Arc<Session>,
    frame: LegacyFrame,
    inbound: &mut Inbound,
) -> Response<Body> {
    let places = match frame.frame.requests() {
        0 => None,
        calls => match Places::of_calls(&session.core, &inbound.caller, calls) {
            Ok(places) => Some(Arc::new(places)),
            Err(error) => return reply::refuse(frame.frame.id(), &error),
        },
    };
    match session.receive_with(frame, inbound.attach(), places.as_ref()) {
        Ok(_) => reply::accepted(),
        Err(frame) => reply::busy(frame.id(), UNREAD),
    }
}

/// The one stream of a session.
struct Stream {
    /// Dropped first: what runs ends with the session.
    open: Open,
    drive: Drive,
    /// Told first.
    endpoint: Option<String>,
}

impl Tell for Stream {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        let mut text = BytesMut::new();
        if let Some(endpoint) = self.endpoint.take() {
            text.put_slice(format!("event: endpoint\ndata: {endpoint}\n\n").as_bytes());
            return Some((text.freeze(), self));
        }
        let mut stopped = self.open.session.core.stopped();
        let mut is_stopping = false;
        loop {
            // What runs comes to its end first.
            if is_stopping && self.drive.is_quiet() {
                return None;
            }
            let said = tokio::select! {
                said = self.drive.next() => said?,
                () = &mut stopped, if !is_stopping => {
                    is_stopping = true;
                    continue;
                }
            };
            if let Said::Message(_, message) = said {
                text.put_slice(b"event: message\n");
                sse::write_event(&mut text, None, &message);
                return Some((text.freeze(), self));
            }
        }
    }
}

/// A session that ends with its stream.
struct Open {
    sessions: Arc<Sessions>,
    session: Arc<Session>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
    }
}
