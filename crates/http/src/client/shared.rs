//! What all exchanges with one server share: its address, the session, how requests are sent.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bowline_proto::codec::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::mirror::{Mirror, PROTOCOL_VERSION};
use bowline_proto::transmit::SendFailure;
use bowline_types::method::Method as McpMethod;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

use super::address::Address;
use super::connector::CutOff;
use super::failure::Asked;
use super::fetch::{Body, Fetch};
use super::limits::HttpClientLimits;
use super::reply::{BusyPauses, Reply, redirected};

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Headers that a message has of its own: what it mirrors of itself.
const OWN_HEADERS: usize = 3;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// What all exchanges with one server share.
pub(super) struct Shared {
    pub(super) address: Address,
    pub(super) headers: HeaderMap,
    pub(super) limits: HttpClientLimits,
    /// The bounds of one message.
    pub(super) messages: Limits,
    pub(super) fetch: Arc<dyn Fetch>,
    /// Whose turn it is to be on the way.
    pub(super) turns: Semaphore,
    units: mpsc::Sender<Option<Unit>>,
    /// Tells those who wait when something else than a handshake may be sent.
    open: watch::Sender<bool>,
    session: Mutex<Session>,
    standing: Mutex<Standing>,
}

/// What a handshake leads to.
#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    revision: Option<Revision>,
    /// Where messages go, if the server speaks the transport of 2024-11-05.
    pub(super) post_to: Option<Address>,
    /// Whether the handshake is under way.
    is_beginning: bool,
    /// Which handshake it is.
    handshake: u64,
}

/// Headers that all messages of a session bear alike, made once.
#[derive(Default)]
struct Standing {
    revision: Option<Revision>,
    session: Option<HeaderValue>,
    headers: HeaderMap,
}

/// A request before it has its headers.
struct Sending<'a> {
    method: Method,
    address: &'a Address,
    message: &'a Bytes,
    /// Whether a server that gets it twice does no more than one that gets it once.
    is_idempotent: bool,
    /// How long the server may take to answer, if nobody else sees to that.
    patience: Option<Duration>,
}

impl Shared {
    pub(super) fn new(
        (address, headers, fetch): (Address, HeaderMap, Arc<dyn Fetch>),
        messages: Limits,
        limits: HttpClientLimits,
        units: mpsc::Sender<Option<Unit>>,
    ) -> Self {
        Self {
            address,
            headers,
            messages,
            fetch,
            turns: Semaphore::new(limits.exchanges),
            limits,
            units,
            open: watch::channel(true).0,
            session: Mutex::default(),
            standing: Mutex::default(),
        }
    }

    /// Hands something to whoever reads.
    pub(super) async fn give(&self, unit: Unit) {
        // Otherwise nobody reads any more.
        if let Err(TrySendError::Full(unit)) = self.units.try_send(Some(unit)) {
            // In a box, because there nearly always is room.
            let _ = Box::pin(self.units.send(unit)).await;
        }
    }

    /// Says that a message came to nothing.
    pub(super) async fn fail(&self, failure: SendFailure) {
        self.give(Unit::Failed(Box::new(failure))).await;
    }

    /// Says that nothing will come any more.
    pub(super) async fn end(&self) {
        let _ = self.units.send(None).await;
    }

    /// A handshake begins: whatever stood is forgotten, and all else waits for its end.
    pub(super) fn shake_hands(&self) {
        let mut session = self.session();
        self.open.send_replace(false);
        let handshake = session.handshake + 1;
        *session = Session { is_beginning: true, handshake, ..Session::default() };
    }

    /// The handshake of this session is over, and it is known as far as can be whether the server has
    /// a stream of its own. Does nothing once a newer handshake has begun.
    pub(super) fn begin(&self, session: &Session) {
        let mut current = self.session();
        if current.handshake == session.handshake {
            current.is_beginning = false;
            self.open.send_replace(true);
        }
    }

    /// Waits until a handshake under way is over, and gives the session that stands then.
    pub(super) async fn opened(&self) -> Session {
        loop {
            let session = self.current();
            if !session.is_beginning {
                return session;
            }
            // Fails only if there is no sender, and we hold it.
            let _ = Box::pin(self.open.subscribe().wait_for(|open| *open)).await;
        }
    }

    /// The session that stands, or is about to.
    pub(super) fn current(&self) -> Session {
        self.session().clone()
    }

    /// Takes the session of an answer to a handshake.
    pub(super) fn enter(&self, headers: &HeaderMap) {
        let mut id = headers.get(&SESSION_ID).cloned();
        if let Some(id) = &mut id {
            id.set_sensitive(true);
        }
        self.session().id = id;
    }

    /// Remembers what is spoken, for requests that carry no message.
    pub(super) fn speak(&self, revision: Option<Revision>) {
        self.session().revision = revision;
    }

    pub(super) fn session_id(&self) -> Option<HeaderValue> {
        self.session().id.clone()
    }

    /// Sends all further messages to another address.
    pub(super) fn post_to(&self, address: Address) {
        self.session().post_to = Some(address);
    }

    /// Sends a message, and again when the server says if it is busy.
    pub(super) async fn post(
        &self,
        address: &Address,
        mirror: &Mirror,
        session: Option<&HeaderValue>,
        message: &Bytes,
    ) -> Result<Reply, SendFailure> {
        let is_idempotent = mirror.method.is_none_or(McpMethod::is_idempotent);
        let is_timed = mirror.id.is_some() && !mirror.method.is_some_and(McpMethod::streams);
        let patience = (!is_timed).then_some(self.limits.answer);
        let method = Method::POST;
        let sending = Sending { method, address, message, is_idempotent, patience };
        let headers = || self.headers_of(mirror, session, message.len());
        let mut pauses = BusyPauses::default();
        loop {
            let reply = self.send(&sending, headers).await?;
            match pauses.next(&reply, &self.limits, self.longest_wait(mirror)) {
                Some(pause) => Box::pin(reply.wait(pause, self)).await,
                None => return Ok(reply),
            }
        }
    }

    /// How long a message may wait for a busy server: a probe not for so long that the server would
    /// be taken for an old one.
    fn longest_wait(&self, mirror: &Mirror) -> Duration {
        match mirror.method {
            Some(McpMethod::ServerDiscover) => {
                self.limits.busy_wait.min(self.messages.probe_timeout / 2)
            }
            _ => self.limits.busy_wait,
        }
    }

    /// Asks for a stream; the one after an event, if that is named.
    pub(super) async fn get(&self, last_event: Option<&str>) -> Result<Reply, SendFailure> {
        let headers = || {
            let mut headers = self.headers_without_message();
            headers.insert(header::ACCEPT, EVENTS);
            if let Some(id) = last_event.and_then(|id| HeaderValue::from_str(id).ok()) {
                headers.insert(LAST_EVENT_ID, id);
            }
            headers
        };
        self.send(&self.without_message(Method::GET), headers).await
    }

    /// Ends the session, if there is one.
    pub(super) async fn delete(&self) {
        if self.session_id().is_some() {
            let headers = || self.headers_without_message();
            // A server need not let clients end sessions, and whatever it says, we are gone.
            let _ = self.send(&self.without_message(Method::DELETE), headers).await;
        }
    }

    fn without_message(&self, method: Method) -> Sending<'_> {
        static NONE: Bytes = Bytes::new();
        let (address, patience) = (&self.address, Some(self.limits.answer));
        Sending { method, address, message: &NONE, is_idempotent: true, patience }
    }

    fn headers_without_message(&self) -> HeaderMap {
        let Session { id, revision, .. } = self.current();
        self.headers_of_session(revision, id.as_ref())
    }

    /// The headers of a message of so many bytes.
    fn headers_of(
        &self,
        mirror: &Mirror,
        session: Option<&HeaderValue>,
        length: usize,
    ) -> HeaderMap {
        let mut headers = self.standing(mirror.revision, session);
        headers.insert(header::CONTENT_LENGTH, length.into());
        for (name, value) in mirror.headers() {
            if name == PROTOCOL_VERSION {
                continue;
            }
            let name = match name {
                Cow::Borrowed(name) => Ok(HeaderName::from_static(name)),
                Cow::Owned(name) => HeaderName::try_from(name),
            };
            // What is mirrored is encoded, so that any header can hold it.
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// What all messages of a session bear.
    fn standing(&self, revision: Option<Revision>, session: Option<&HeaderValue>) -> HeaderMap {
        let mut standing = self.standing.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = standing.revision == revision && standing.session.as_ref() == session;
        if !is_same || standing.headers.is_empty() {
            let mut headers = self.headers_of_session(revision, session);
            headers.insert(header::CONTENT_TYPE, JSON);
            headers.insert(header::ACCEPT, BOTH);
            // Every message replaces it by its own, so that a copy does not grow for that.
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
            headers.reserve(OWN_HEADERS);
            *standing = Standing { revision, session: session.cloned(), headers };
        }
        standing.headers.clone()
    }

    fn headers_of_session(
        &self,
        revision: Option<Revision>,
        session: Option<&HeaderValue>,
    ) -> HeaderMap {
        let mut headers = self.headers.clone();
        if let Some(revision) = revision.filter(|revision| revision.has_version_header()) {
            headers.insert(PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
        }
        if let Some(session) = session {
            headers.insert(SESSION_ID, session.clone());
        }
        headers
    }

    /// Sends a request, and again where the server says, as long as that is within its origin; and
    /// again if a connection was cut that had been used before, as far as that does no harm.
    async fn send(
        &self,
        sending: &Sending<'_>,
        headers: impl Fn() -> HeaderMap,
    ) -> Result<Reply, SendFailure> {
        let Sending { method, message, .. } = sending;
        let mut address = sending.address.clone();
        let (mut redirects, mut repeats) = (0, 0);
        loop {
            let asked = Asked { method, address: &address };
            let request = request(method, &address, headers(), message);
            let fetched = self.fetch.clone().fetch(request);
            let fetched = match sending.patience {
                // In a box, because calls do not need it.
                Some(patience) => Box::pin(timeout(patience, fetched)).await.map_err(|_| patience),
                None => Ok(fetched.await),
            };
            let response = match fetched {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    let cut_off = error.downcast_ref::<CutOff>();
                    let is_safe = cut_off.is_some_and(|it| it.is_unseen || sending.is_idempotent);
                    if is_safe && repeats < self.limits.repeats {
                        repeats += 1;
                        continue;
                    }
                    return Err(asked.unanswered(&error));
                }
                Err(after) => return Err(asked.lost(format_args!("no answer within {after:?}"))),
            };
            if !response.status().is_redirection() {
                return Ok(Reply { method: method.clone(), address, response });
            }
            let target = redirected(asked, &response)?;
            if redirects == self.limits.redirects {
                let why = format!("more than {redirects} redirects in a row");
                return Err(asked.sent_away(response.status(), &target.to_string(), &why));
            }
            redirects += 1;
            address = target;
        }
    }

    /// Nothing that runs under the lock can panic half-way.
    fn session(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn request(
    method: &Method,
    address: &Address,
    headers: HeaderMap,
    message: &Bytes,
) -> Request<Body> {
    let mut request = Request::new(Body::new(message.clone()));
    *request.method_mut() = method.clone();
    *request.uri_mut() = address.uri().clone();
    *request.headers_mut() = headers;
    request
}

#[cfg(test)]
mod tests;
