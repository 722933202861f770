//! What all exchanges with one server share: its address, the session, and how to send requests.
//!
//! A client has one origin and at most one session at a time. Tasks of exchanges read the session
//! here before each POST. While a handshake runs, other requests and notifications wait for it,
//! because the server would refuse them.

mod authorized;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bowline_proto::client::{Delivery, Report};
use bowline_proto::limits::Limits;
use bowline_proto::mirror::{Mirror, PROTOCOL_VERSION};
use bowline_proto::secrets::Secrets;
use bowline_proto::sync::lock;
use bowline_proto::transmit::SendFailure;
use bowline_types::method::Method as McpMethod;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::timeout;

use self::authorized::Credentials;
use super::address::Address;
use super::authorize::Authorize;
use super::connector::CutOff;
use super::events::BodyLimits;
use super::failure::RequestLine;
use super::fetch::{Fetch, RequestBody};
use super::limits::HttpClientLimits;
use super::reply::{BusyPauses, Reply, redirected};
use super::secrets;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How many headers a message adds: those that repeat parts of it.
const OWN_HEADERS: usize = 3;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// What all exchanges with one server share. Lives until the last task ends, so that a message
/// under way can still be delivered or fail.
pub(super) struct Shared {
    pub(super) address: Address,
    /// Of every request: those of the caller, and `Host` where the connector needs it.
    pub(super) headers: HeaderMap,
    pub(super) limits: HttpClientLimits,
    /// The limits of one message.
    pub(super) messages: Limits,
    pub(super) fetch: Arc<dyn Fetch>,
    pub(super) authorize: Option<Arc<dyn Authorize>>,
    pub(super) secrets: Secrets,
    /// Bounds the requests that are in flight, except for subscriptions.
    pub(super) permits: Semaphore,
    /// Bounds the open subscriptions.
    pub(super) subscription_permits: Semaphore,
    /// To the reader; `None` ends the connection.
    deliveries: mpsc::Sender<Option<Delivery>>,
    /// False during a handshake; exchanges wait until it is true.
    open: watch::Sender<bool>,
    session: Mutex<ClientSession>,
    /// Saves building a map of headers for each message.
    session_headers: Mutex<SessionHeaders>,
}

/// The session of a server with a handshake; empty for a server of 2026-07-28. Cloned by each
/// exchange, which thereby notices later that the session was replaced.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientSession {
    /// `Mcp-Session-Id` as the server sent it; some servers have none.
    pub(super) id: Option<HeaderValue>,
    /// Known after the handshake.
    revision: Option<Revision>,
    /// Where messages are posted, if the server speaks the transport of 2024-11-05.
    pub(super) post_to: Option<Address>,
    /// Whether the handshake is under way.
    is_beginning: bool,
    /// The number of the handshake.
    handshake: u64,
}

/// The headers that all messages of a session have in common, made once.
#[derive(Default)]
struct SessionHeaders {
    revision: Option<Revision>,
    session: Option<HeaderValue>,
    headers: HeaderMap,
}

/// An HTTP request without its headers.
struct OutgoingRequest<'a> {
    method: Method,
    address: &'a Address,
    /// Empty for GET and DELETE.
    message: &'a Bytes,
    /// Whether sending it twice has the same effect as sending it once.
    is_idempotent: bool,
    /// How long the server may take to answer; `None` if the call has a timeout of its own.
    patience: Option<Duration>,
    /// What the message is; `None` for GET and DELETE.
    mirror: Option<&'a Mirror>,
}

impl Shared {
    /// The limits of the bodies of answers.
    pub(super) fn body_limits(&self) -> BodyLimits<'_> {
        let Limits { frame, long_messages, .. } = &self.messages;
        BodyLimits { frame: *frame, long_messages, http: &self.limits }
    }

    pub(super) fn new(
        (address, headers, fetch): (Address, HeaderMap, Arc<dyn Fetch>),
        messages: Limits,
        limits: HttpClientLimits,
        deliveries: mpsc::Sender<Option<Delivery>>,
    ) -> Self {
        Self {
            secrets: secrets::of(&address, &headers),
            address,
            headers,
            messages,
            fetch,
            authorize: None,
            permits: Semaphore::new(limits.exchanges),
            subscription_permits: Semaphore::new(limits.subscriptions),
            limits,
            deliveries,
            open: watch::channel(true).0,
            session: Mutex::default(),
            session_headers: Mutex::default(),
        }
    }

    /// Delivers a message to the [`HttpReader`](super::transport::HttpReader). Waits while the
    /// queue is full, so a client that reads slowly slows down the server.
    pub(super) async fn deliver(&self, delivery: impl Into<Delivery>) {
        let delivery = self.secrets.redact_delivery(delivery.into(), &self.messages);
        // If the channel is closed, the reader was dropped.
        if let Err(TrySendError::Full(delivery)) = self.deliveries.try_send(Some(delivery)) {
            // Boxed to keep this future small, because there is nearly always room.
            let _ = Box::pin(self.deliveries.send(delivery)).await;
        }
    }

    /// Reports that a message failed.
    pub(super) async fn fail(&self, failure: SendFailure) {
        self.deliver(Report::Failed(Box::new(failure))).await;
    }

    /// Reports the end of the connection.
    pub(super) async fn end(&self) {
        let _ = self.deliveries.send(None).await;
    }

    /// Begins a handshake: drops the old session, and holds all other messages back until its end.
    pub(super) fn begin_handshake(&self) {
        let mut session = self.session();
        self.open.send_replace(false);
        let handshake = session.handshake + 1;
        *session = ClientSession { is_beginning: true, handshake, ..ClientSession::default() };
    }

    /// Ends the handshake of this session, after the GET stream was tried. Does nothing if a newer
    /// handshake has begun.
    pub(super) fn begin(&self, session: &ClientSession) {
        let mut current = self.session();
        if current.handshake == session.handshake {
            current.is_beginning = false;
            self.open.send_replace(true);
        }
    }

    /// Waits for the end of a handshake, if one is in progress; returns the session.
    pub(super) async fn opened(&self) -> ClientSession {
        loop {
            let session = self.current();
            if !session.is_beginning {
                return session;
            }
            // Fails only if the sender is dropped, and `self` holds it.
            let _ = Box::pin(self.open.subscribe().wait_for(|open| *open)).await;
        }
    }

    /// The current session, also during its handshake.
    pub(super) fn current(&self) -> ClientSession {
        self.session().clone()
    }

    /// Takes the session id from the answer to a handshake. The id is a secret (SESS-4), so it is
    /// marked as sensitive.
    pub(super) fn set_session(&self, headers: &HeaderMap) {
        let mut id = headers.get(&SESSION_ID).cloned();
        if let Some(id) = &mut id {
            id.set_sensitive(true);
            self.secrets.add_session(id.to_str().unwrap_or_default().to_owned());
        }
        self.session().id = id;
    }

    /// Remembers the revision, for requests without a message (GET and DELETE).
    pub(super) fn set_revision(&self, revision: Option<Revision>) {
        self.session().revision = revision;
    }

    pub(super) fn session_id(&self) -> Option<HeaderValue> {
        self.session().id.clone()
    }

    /// Sends all further messages to another address. For servers of 2024-11-05, whose first event
    /// names it. It is within the origin.
    pub(super) fn post_to(&self, address: Address) {
        self.session().post_to = Some(address);
    }

    /// Sends a message; if the server is busy, sends it again after the time that the server names.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, answers too late, or redirects somewhere else. Any other
    /// status is a [`Reply`], which the caller judges.
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
        let sending = OutgoingRequest {
            method,
            address,
            message,
            is_idempotent,
            patience,
            mirror: Some(mirror),
        };
        let headers = || self.headers_of(mirror, session, message.len());
        let mut pauses = BusyPauses::default();
        loop {
            let reply = self.send(&sending, headers).await?;
            match pauses.next(&reply, &self.limits, self.longest_wait(mirror)) {
                Some(pause) => Box::pin(reply.wait(pause, self.body_limits())).await,
                None => return Ok(reply),
            }
        }
    }

    /// How long a message may wait for a busy server. A probe waits less, because a server that does
    /// not answer it in time is taken for an old one.
    fn longest_wait(&self, mirror: &Mirror) -> Duration {
        match mirror.method {
            Some(McpMethod::ServerDiscover) => {
                self.limits.busy_wait.min(self.messages.probe_timeout / 2)
            }
            _ => self.limits.busy_wait,
        }
    }

    /// Sends a GET for a stream; resumes after an event, if its id is given.
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
            // A server may refuse DELETE. The client disconnects in any case.
            let _ = self.send(&self.without_message(Method::DELETE), headers).await;
        }
    }

    /// A GET or DELETE.
    fn without_message(&self, method: Method) -> OutgoingRequest<'_> {
        static NONE: Bytes = Bytes::new();
        let (address, patience) = (&self.address, Some(self.limits.answer));
        let (message, mirror) = (&NONE, None);
        OutgoingRequest { method, address, message, is_idempotent: true, patience, mirror }
    }

    /// The headers of a GET or DELETE: the session id and the revision (SESS-5, PV-1).
    fn headers_without_message(&self) -> HeaderMap {
        let ClientSession { id, revision, .. } = self.current();
        self.headers_of_session(revision, id.as_ref())
    }

    /// The headers of a message with `length` bytes.
    fn headers_of(
        &self,
        mirror: &Mirror,
        session: Option<&HeaderValue>,
        length: usize,
    ) -> HeaderMap {
        let mut headers = self.session_headers(mirror.revision, session);
        headers.insert(header::CONTENT_LENGTH, length.into());
        for (name, value) in mirror.headers() {
            if name == PROTOCOL_VERSION {
                continue;
            }
            let name = match name {
                Cow::Borrowed(name) => Ok(HeaderName::from_static(name)),
                Cow::Owned(name) => HeaderName::try_from(name),
            };
            // Mirrored values are encoded so that every header can hold them.
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(&value)) {
                headers.insert(name, value);
            }
        }
        headers
    }

    /// The headers that all messages of a session have in common.
    fn session_headers(
        &self,
        revision: Option<Revision>,
        session: Option<&HeaderValue>,
    ) -> HeaderMap {
        let mut cached = lock(&self.session_headers);
        let is_same = cached.revision == revision && cached.session.as_ref() == session;
        if !is_same || cached.headers.is_empty() {
            let mut headers = self.headers_of_session(revision, session);
            headers.insert(header::CONTENT_TYPE, JSON);
            headers.insert(header::ACCEPT, BOTH);
            // A placeholder: every message replaces it, and the cloned map need not grow for it.
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from_static("0"));
            headers.reserve(OWN_HEADERS);
            *cached = SessionHeaders { revision, session: session.cloned(), headers };
        }
        cached.headers.clone()
    }

    /// The caller's own headers, and those that name the revision and the session.
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

    /// Sends a request, with credentials if there are any.
    async fn send(
        &self,
        sending: &OutgoingRequest<'_>,
        headers: impl Fn() -> HeaderMap + Send + Sync,
    ) -> Result<Reply, SendFailure> {
        match &self.authorize {
            None => self.attempt(sending, &headers, None).await,
            // Boxed to keep this future small, because many clients need none.
            Some(authorize) => {
                Box::pin(self.send_authorized(&**authorize, sending, &headers)).await
            }
        }
    }

    fn asked<'a>(&'a self, method: &'a Method, address: &'a Address) -> RequestLine<'a> {
        RequestLine { method, address, secrets: &self.secrets }
    }

    /// Sends a request. Follows redirects within the origin. Sends it again if a reused connection
    /// was cut, provided that the request is idempotent or the server has not seen it.
    ///
    /// Redirects to another origin are refused, because the request carries credentials. A request
    /// that is not idempotent, such as a tool call, is sent again only if the server is known not
    /// to have seen it.
    async fn attempt(
        &self,
        sending: &OutgoingRequest<'_>,
        headers: &(impl Fn() -> HeaderMap + Send + Sync),
        mut credentials: Option<&mut Credentials>,
    ) -> Result<Reply, SendFailure> {
        let OutgoingRequest { method, message, .. } = sending;
        let mut address = sending.address.clone();
        let (mut redirects, mut repeats) = (0, 0);
        loop {
            let headers = match &mut credentials {
                None => headers(),
                Some(credentials) => {
                    let asked = self.asked(method, &address);
                    Box::pin(self.authorized(credentials, sending, asked, headers())).await?
                }
            };
            let request = request(method, &address, headers, message);
            let fetched = self.fetch.clone().fetch(request);
            let fetched = match sending.patience {
                // Boxed to keep this future small, because calls do not need it.
                Some(patience) => Box::pin(timeout(patience, fetched)).await.map_err(|_| patience),
                None => Ok(fetched.await),
            };
            // Not before the request, since this future would have to keep it.
            let asked = self.asked(method, &address);
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
                return Err(asked.not_followed(response.status(), &target.to_string(), &why));
            }
            redirects += 1;
            address = target;
        }
    }

    fn session(&self) -> MutexGuard<'_, ClientSession> {
        lock(&self.session)
    }
}

/// A request with these headers. The message is shared and not copied, so that sending it again is
/// cheap.
fn request(
    method: &Method,
    address: &Address,
    headers: HeaderMap,
    message: &Bytes,
) -> Request<RequestBody> {
    let mut request = Request::new(RequestBody::new(message.clone()));
    *request.method_mut() = method.clone();
    *request.uri_mut() = address.uri().clone();
    *request.headers_mut() = headers;
    request
}

#[cfg(test)]
mod tests;
