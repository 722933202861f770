//! Sends each HTTP request to the place that serves it: POST by the era of its message, GET and
//! DELETE to the sessions, OPTIONS to the answers that browsers and proxies ask for.
//!
//! The order of a request is the order of the functions here. [`Endpoint::answer_to`] lets the gate
//! check `Host` and `Origin`. `pass` has the credential verified, if the endpoint has
//! authorization. `serve` finds the caller and looks at the HTTP method. `post` checks the headers,
//! reads the body and decides the era. A check that costs less, or that protects what follows,
//! comes first: no body is read for a request that the gate or the authorization refuses, and no
//! slot is taken for a message that is malformed.
//!
//! Errors before the message is known are HTTP statuses with a JSON-RPC error without an id
//! (HTTP-12). As soon as the id of the request is known, the error carries it.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bowline_proto::admission;
use bowline_proto::callers::CallerId;
use bowline_proto::classify::{Claim, LegacyFrame, classify, era_of};
use bowline_proto::frame::{Frame, MalformedKind, Message};
use bowline_proto::request::{Owner, Peer, Request, Response as Outcome};
use bowline_proto::server::ServerConfig;
use bowline_proto::wire;
use bowline_transport::BoxFuture;
use bowline_types::implementation::Implementation;
use bowline_types::revision::{Era, Revision};
use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::body::Body;
use super::callers::Caller;
use super::config::HttpConfig;
use super::core::{Core, Phase};
use super::counts::EndpointCounts;
use super::head::{EVENTS, JSON};
use super::inbound::{Inbound, Sender};
use super::legacy::{self, OpenSessions};
use super::read::{self, BodyError, Bounds};
use super::{admitted, bodies, cors, head, modern, reply};

/// Serves the protocol over HTTP, both eras on one path: a plain tower service to mount in any
/// HTTP server. Cheap to clone; all clones share their sessions.
///
/// What outer layers put into the extensions of a request reaches handlers within its
/// [`http::request::Parts`]. An [`Owner`] there says on whose behalf the request is made, and a
/// [`Peer`] which address it comes from.
///
/// An endpoint lives as long as its last clone. Its sessions are closed when the last clone is
/// dropped and no stream of 2024-11-05 is open. A [`Listener`](super::Listener) calls
/// [`stop`](Self::stop) when it ends. A program that mounts the service elsewhere calls it itself,
/// or else open streams keep the HTTP server from stopping.
#[derive(Clone)]
pub struct Endpoint {
    core: Arc<Core>,
    sessions: Arc<OpenSessions>,
}

impl Endpoint {
    /// An endpoint whose requests `service` answers.
    ///
    /// `server` says which revisions are spoken and how long messages may be. `config` has the
    /// settings of HTTP. Nothing is started here: tasks begin with the first session.
    pub fn new<S>(service: S, server: Arc<ServerConfig>, config: HttpConfig) -> Self
    where
        S: tower_service::Service<Request, Response = Outcome, Error = Infallible>
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send,
    {
        let serve = move |request| -> BoxFuture<Outcome> {
            let mut service = service.clone();
            Box::pin(async move {
                let Ok(()) = std::future::poll_fn(|cx| service.poll_ready(cx)).await;
                let Ok(response) = service.call(request).await;
                response
            })
        };
        let core = Arc::new(Core::new(Box::new(serve), server, config));
        Self { sessions: Arc::new(OpenSessions::new(core.clone())), core }
    }

    /// How many sessions are open at this endpoint.
    ///
    /// Sessions that serve a single request ([`Sessions::None`](super::Sessions::None)) are not
    /// counted. With a shared store, a session that other endpoints serve counts here only while
    /// this endpoint has a copy.
    pub fn sessions(&self) -> usize {
        self.sessions.count()
    }

    /// The counts of this endpoint, for metrics.
    pub fn counts(&self) -> EndpointCounts {
        EndpointCounts::of(&self.core, &self.sessions)
    }

    /// Counts an answer that refuses its request.
    pub(super) fn count(&self, answer: &Response<Body>) {
        if answer.status().as_u16() >= 400 {
            self.core.refused.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many bytes of request bodies are in memory, as far as they count against
    /// [`HttpLimits::bodies`](super::HttpLimits::bodies).
    pub fn body_bytes(&self) -> usize {
        self.core.bodies.bytes()
    }

    /// Whether a balancer may send requests to this endpoint: until it is asked to
    /// [leave](Self::leave) or to [stop](Self::stop). For the path that a balancer looks at; a
    /// [`Listener`](super::Listener) answers `/readyz` with it.
    pub fn is_ready(&self) -> bool {
        self.core.is_ready()
    }

    /// Notes that the endpoint is going to stop. It serves everything as before, and
    /// [`is_ready`](Self::is_ready) is false from now on.
    pub fn leave(&self) {
        self.core.enter(Phase::Leaving);
    }

    /// Ends what would never end by itself: answers subscriptions and closes the streams of
    /// sessions. Calls run on to their end. Requests that arrive later are still answered, but no
    /// session is opened any more. May be called more than once.
    pub fn stop(&self) {
        self.core.enter(Phase::Stopping);
    }

    /// Resolves when [`stop`](Self::stop) was called.
    pub fn stopped(&self) -> BoxFuture<()> {
        self.core.stopped()
    }

    /// Ends everything that still goes on: answers calls with an error and closes sessions. The
    /// listener calls it when [`HttpLimits::drain`](super::HttpLimits::drain) is over.
    pub(super) fn give_up(&self) {
        self.core.enter(Phase::Over);
        self.sessions.close();
    }

    /// The name and version of the server.
    pub(super) fn info(&self) -> &Implementation {
        self.core.server.info()
    }

    pub(super) fn config(&self) -> &HttpConfig {
        &self.core.config
    }

    /// The counters of a caller without credentials, known by its address. A listener asks once for
    /// each connection; [`find_caller`](Self::find_caller) asks again where credentials say more.
    pub(super) fn caller(&self, peer: Peer) -> Caller {
        self.core.callers.find(peer.into())
    }

    /// Answers one request. An outer layer that knows the address that it comes from puts it into
    /// the extensions as a [`Peer`].
    ///
    /// Without one, the request counts for the caller that all requests without address and
    /// credentials share, so they also share its pace and its slots.
    pub async fn answer<B: http_body::Body<Error: fmt::Display>>(
        &self,
        request: http::Request<B>,
    ) -> Response<Body> {
        // All callers without a known address and without credentials count as one.
        let unknown = Peer(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let (parts, body) = request.into_parts();
        let peer = parts.extensions.get::<Peer>().copied().unwrap_or(unknown);
        let mut inbound = Inbound::new(parts, Sender::unconnected(peer), self.caller(peer));
        let answer = self.answer_to(&mut inbound, pin!(body)).await;
        self.count(&answer);
        answer
    }

    /// Answers one request: the gate first, then the rest. A request from a web page that the gate
    /// allows gets the headers that let the page read the answer.
    ///
    /// Every open connection stores this future. So large values are borrowed, work that does not
    /// wait is done in plain functions, and rare work is boxed.
    pub(super) async fn answer_to<B: http_body::Body<Error: fmt::Display>>(
        &self,
        inbound: &mut Inbound,
        body: Pin<&mut B>,
    ) -> Response<Body> {
        let origin = match self.config().gate.check(&inbound.parts) {
            Ok(None) => return self.pass(inbound, body).await,
            Ok(Some(origin)) => origin.clone(),
            Err(refusal) => return refusal.into(),
        };
        if cors::is_preflight(&inbound.parts) {
            return self.preflight(&inbound.parts, origin);
        }
        // Boxed, because few requests come from web pages.
        Box::pin(async move {
            let mut response = self.pass(inbound, body).await;
            cors::expose(&mut response, origin);
            response
        })
        .await
    }

    /// Passes a request on, after its credential was verified if the endpoint does that.
    async fn pass<B: http_body::Body<Error: fmt::Display>>(
        &self,
        inbound: &mut Inbound,
        body: Pin<&mut B>,
    ) -> Response<Body> {
        match self.config().verification.admit() {
            None => self.serve(inbound, body).await,
            // Boxed, so that endpoints without authorization store nothing for it.
            Some(admit) => Box::pin(self.serve_admitted(&**admit, inbound, body)).await,
        }
    }

    /// Answers a request that passed the gate, and was admitted if the endpoint has authorization.
    ///
    /// GET and DELETE exist only with sessions (up to 2025-11-25). Without them both are answered
    /// 405, which the protocol allows (HTTP-40, SESS-11). A browser gets 405 with a page.
    pub(super) async fn serve<B: http_body::Body<Error: fmt::Display>>(
        &self,
        inbound: &mut Inbound,
        body: Pin<&mut B>,
    ) -> Response<Body> {
        self.find_caller(inbound);
        match inbound.parts.method {
            Method::POST => self.post(inbound, body).await,
            Method::GET if head::wants_page(&inbound.parts) => {
                let refused = reply::method_not_allowed(self.methods());
                Box::pin(self.page(inbound, refused)).await
            }
            Method::GET if self.has_sessions(inbound) => {
                Box::pin(legacy::get(&self.sessions, inbound)).await
            }
            Method::DELETE if self.has_sessions(inbound) => {
                Box::pin(legacy::delete(&self.sessions, inbound)).await
            }
            Method::OPTIONS => reply::options(self.methods()),
            _ => reply::method_not_allowed(self.methods()),
        }
    }

    /// Replaces the caller known by address with the one known by credentials, if there are any.
    ///
    /// The caller known by address was found when the connection was opened. If the table was full
    /// at that time, the connection was counted among the newcomers; each request then looks
    /// whether there is room now.
    fn find_caller(&self, inbound: &mut Inbound) {
        let callers = &self.core.callers;
        if let Some(id) = inbound.parts.extensions.get::<Owner>().and_then(CallerId::known) {
            inbound.caller = callers.find(id);
        } else if callers.is_newcomer(&inbound.caller)
            && let Some(peer) = inbound.peer()
        {
            inbound.caller = callers.find(peer.into());
        }
    }

    /// Answers a preflight: what a page of this origin may send.
    fn preflight(&self, head: &Parts, origin: HeaderValue) -> Response<Body> {
        let mut response = cors::preflight(&head.headers, self.methods());
        cors::expose(&mut response, origin);
        response
    }

    /// The HTTP methods that messages and streams need. They go into `Allow` and into the answer to
    /// a preflight.
    fn methods(&self) -> &'static str {
        if self.core.keeps_sessions() { "GET, POST, DELETE" } else { "POST" }
    }

    /// Whether a GET or DELETE can be about a session. 2026-07-28 has none.
    ///
    /// A header that names an unknown revision passes: `legacy::check_version` refuses it with the
    /// list of revisions that the server speaks.
    fn has_sessions(&self, inbound: &Inbound) -> bool {
        let version = head::version(&inbound.parts.headers).required("MCP-Protocol-Version");
        let version = version.ok().and_then(|version| version.parse::<Revision>().ok());
        self.core.keeps_sessions() && !version.is_some_and(Revision::is_modern)
    }

    /// Answers a request for another path: with a document, or with 404.
    pub(super) fn not_here(&self, inbound: &Inbound) -> Response<Body> {
        self.answer_gated(&inbound.parts, || {
            let admit = self.config().verification.admit()?;
            admitted::document(&**admit, &inbound.parts)
        })
    }

    /// Answers a request for another path with what `find` finds there, or with 404. It passes the
    /// gate like all others, so that a refused client does not learn which paths exist.
    pub(super) fn answer_gated(
        &self,
        head: &Parts,
        find: impl FnOnce() -> Option<Response<Body>>,
    ) -> Response<Body> {
        let origin = match self.config().gate.check(head) {
            Ok(origin) => origin.cloned(),
            Err(refusal) => return refusal.into(),
        };
        let nothing = || reply::refused(StatusCode::NOT_FOUND, "there is nothing under this path");
        match origin {
            // Otherwise the browser would not send the page's request, and the page could not read
            // that the path is wrong.
            Some(origin) if cors::is_preflight(head) => self.preflight(head, origin),
            Some(origin) => {
                let mut response = find().unwrap_or_else(nothing);
                cors::expose(&mut response, origin);
                response
            }
            None => find().unwrap_or_else(nothing),
        }
    }

    /// Answers a message: reads it whole, then serves it in its era.
    ///
    /// Everything between the body and the first wait is in `begin`, a plain function, which keeps
    /// this future small.
    async fn post<B: http_body::Body<Error: fmt::Display>>(
        &self,
        inbound: &mut Inbound,
        body: Pin<&mut B>,
    ) -> Response<Body> {
        if let Err(refusal) = check_types(inbound) {
            return *refusal;
        }
        let bounds = self.bounds(inbound);
        let most = bounds.most;
        let text = match read::whole(body, bounds).await {
            Ok(text) => text,
            Err(why) => return unread(&why, most),
        };
        let frame = match self.begin(inbound, &text) {
            Begun::Answered(response) => return response,
            Begun::Modern(mut call) => {
                let first = call.next().await;
                return call.answer(first);
            }
            Begun::Legacy(frame) => frame,
        };
        legacy::post(&self.sessions, frame, &text, inbound).await
    }

    /// What the body of a request may take.
    fn bounds<'a>(&'a self, inbound: &'a Inbound) -> Bounds<'a> {
        let core = &self.core;
        Bounds {
            most: core.server.limits().frame,
            within: core.limits().body,
            bodies: &core.bodies,
            free: bodies::free(inbound.parts.version, core.limits()),
            caller: &inbound.caller,
        }
    }

    /// Decides the era of a message, and begins to serve it there.
    ///
    /// 1. The text is parsed. What is no message is answered 400, with the id if it could be read.
    /// 2. The caller's pace is held, before anything is looked up: calls that are refused later
    ///    count too. A notification of an extension is a call.
    /// 3. A request is classified by its `_meta` and its headers. Every other message has an era
    ///    too ([`era_of`]): `_meta` decides for a notification that names its revision there, and
    ///    otherwise the header `MCP-Protocol-Version`.
    /// 4. A modern request is admitted and takes a slot here. A legacy one goes to its session.
    pub(super) fn begin(&self, inbound: &mut Inbound, text: &Bytes) -> Begun {
        let core = &self.core;
        let frame = match Frame::parse(text, core.server.limits()) {
            Ok(frame) => frame,
            Err(malformed) => {
                let id = match malformed.kind {
                    MalformedKind::Request(id) => id,
                    _ => None,
                };
                let message = wire::refusal(id.as_ref(), &malformed.error);
                return Begun::Answered(reply::json(StatusCode::BAD_REQUEST, message));
            }
        };
        let (limits, share) = (core.server.limits(), core.share());
        if let Err(error) = inbound.caller.hold_pace(frame.calls(), limits, share) {
            return Begun::Answered(reply::refuse(frame.id(), &error));
        }
        let head = head::mirrored(&inbound.parts.headers);
        let spoken = core.server.revisions();
        let request = match frame {
            Frame::Message(Message::Request(request)) => request,
            other => {
                return match era_of(&other, &head, spoken) {
                    Ok(Era::Legacy) => Begun::Legacy(other.into()),
                    Ok(Era::Modern) => {
                        Begun::Answered(modern_without_request(core, other, inbound))
                    }
                    Err(error) => Begun::Answered(reply::refuse(None, &error)),
                };
            }
        };
        match classify(&request, Some(&head), spoken) {
            Ok(Claim::Modern(claim)) => match modern::open(core, request, claim, inbound) {
                Ok(call) => Begun::Modern(call),
                Err(refusal) => Begun::Answered(*refusal),
            },
            Ok(Claim::Legacy(meta)) => {
                let frame = Frame::Message(Message::Request(request));
                Begun::Legacy(LegacyFrame { frame, meta })
            }
            Err(error) => Begun::Answered(reply::refuse(Some(&request.id), &error)),
        }
    }
}

/// Answers a modern message that is no request. A client may send a notification (HTTP-7), which
/// gets 202; it must not send an answer (HTTP-8) or an array (HTTP-9), which get 400.
fn modern_without_request(core: &Arc<Core>, frame: Frame, inbound: &mut Inbound) -> Response<Body> {
    match frame {
        Frame::Message(Message::Notification(notification)) => {
            modern::take_notification(core, notification, inbound)
        }
        Frame::Message(_) => {
            let reason = "no answers are taken: 2026-07-28 has no requests of servers";
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
        Frame::Batch(_) => match admission::check_batch(None) {
            Ok(()) => reply::accepted(),
            Err(error) => reply::refusal(StatusCode::BAD_REQUEST, &error),
        },
    }
}

/// How far a message gets without waiting. The caller of [`Endpoint::begin`] awaits the rest.
pub(super) enum Begun {
    /// Refused, or a notification that needs no further work.
    Answered(Response<Body>),
    /// Admitted, with a slot taken. Its handler has not been polled.
    Modern(modern::ModernCall),
    /// For a session. Nothing but the pace has been counted.
    Legacy(LegacyFrame),
}

/// Refuses a POST that is not plain JSON, or whose client does not take both kinds of answers.
///
/// The protocol obliges clients to send these headers (HTTP-4, HTTP-15). `Content-Type` is also a
/// protection: a web page cannot send JSON to another origin without a preflight.
fn check_types(inbound: &Inbound) -> Result<(), Box<Response<Body>>> {
    let headers = &inbound.parts.headers;
    if !head::is_json(headers) {
        let reason = "send the message as `Content-Type: application/json`";
        return Err(Box::new(reply::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason)));
    }
    if !head::is_plain(headers) {
        return Err(Box::new(reply::coded()));
    }
    if !head::accepts(headers, [JSON, EVENTS]) {
        let reason = "send `Accept: application/json, text/event-stream`; answers may be either";
        return Err(Box::new(reply::refused(StatusCode::NOT_ACCEPTABLE, reason)));
    }
    Ok(())
}

/// The refusal of a request whose body was not read.
///
/// The rest of the body may still be on its way. On a connection of our own listener,
/// `WatchedSocket` reads and discards it, so that the client sees the answer and not a reset.
fn unread(why: &BodyError, most: usize) -> Response<Body> {
    match why {
        BodyError::Bytes => {
            let reason = format!("the body is longer than {most} bytes");
            reply::refused(StatusCode::PAYLOAD_TOO_LARGE, reason)
        }
        BodyError::Time => {
            reply::refused(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")
        }
        BodyError::Room => reply::busy(None, "too many bytes of requests are in memory; try again"),
        BodyError::Broken(why) => {
            let reason = format!("the body could not be read: {why}");
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
    }
}

impl<B> tower_service::Service<http::Request<B>> for Endpoint
where
    B: http_body::Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: fmt::Display,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let endpoint = self.clone();
        Box::pin(async move { Ok(endpoint.answer(request).await) })
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Endpoint")
    }
}
