//! POST, GET, DELETE and OPTIONS to the right place.

use std::convert::Infallible;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use bowline_proto::callers::CallerId;
use bowline_proto::frame::{Frame, MalformedKind, Message};
use bowline_proto::members::Members;
use bowline_proto::mirror::Field;
use bowline_proto::request::{ExchangeId, Extensions, Owner, Peer, Request, Response as Outcome};
use bowline_proto::server::ServerConfig;
use bowline_proto::wire::{self, Acquaintance, Lifted};
use bowline_transport::BoxFuture;
use bowline_types::error::ErrorObject;
use bowline_types::meta::key;
use bowline_types::revision::Revision;
use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};
use tokio::sync::watch;

use super::bodies::{self, Bodies};
use super::body::Body;
use super::callers::{Caller, Callers, Slots};
use super::config::{self, HttpConfig};
use super::head::{EVENTS, JSON};
use super::legacy::{self, Sessions};
use super::read::{self, Bounds, TooMuch};
use super::{cors, head, modern, reply};

/// Serves the protocol over HTTP, both eras on one path: a plain tower service to mount in any
/// HTTP server. Cheap to clone; all clones share their sessions.
///
/// Whatever outer layers put into the extensions of a request reaches handlers within its
/// [`http::request::Parts`]; an [`Owner`] there says on whose behalf the request is made.
#[derive(Clone)]
pub struct Endpoint(Arc<Shared>);

/// What all clones of an endpoint share.
pub(super) struct Shared {
    pub(super) core: Arc<Core>,
    pub(super) sessions: Sessions,
}

/// What every request needs, be there sessions or not.
pub(super) struct Core {
    serve: Box<dyn Fn(Request) -> BoxFuture<Outcome> + Send + Sync>,
    pub(super) server: Arc<ServerConfig>,
    pub(super) config: HttpConfig,
    /// Calls under way.
    pub(super) calls: Slots,
    /// Subscriptions that are open.
    pub(super) streams: Slots,
    pub(super) callers: Callers,
    bodies: Arc<Bodies>,
    last: AtomicU64,
    phase: watch::Sender<Phase>,
}

/// How far the end of an endpoint has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    /// What would never end by itself is ended.
    Stopping,
    /// Nothing is waited for any more.
    Over,
}

/// A request at the door: everything of it but its body, and what is known of where it comes from.
///
/// Lent, not handed on, until somebody attaches it to a call: it is large.
pub(super) struct Knock(pub(super) Parts, Extensions, Caller);

impl Endpoint {
    /// An endpoint that answers by a service.
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
        let server = match config.sessions {
            config::Sessions::Kept => server,
            config::Sessions::None => Arc::new(ServerConfig::clone(&server).without_sessions()),
        };
        let core = Arc::new(Core {
            serve: Box::new(serve),
            calls: Slots::new(config.limits().calls),
            streams: Slots::new(config.limits().streams),
            callers: Callers::new(server.limits(), config.limits()),
            server,
            bodies: Bodies::new(config.limits()),
            config,
            last: AtomicU64::new(0),
            phase: watch::channel(Phase::Serving).0,
        });
        Self(Arc::new(Shared { sessions: Sessions::new(core.clone()), core }))
    }

    /// How many sessions stand.
    pub fn sessions(&self) -> usize {
        self.0.sessions.count()
    }

    /// How many bytes of request bodies are in memory, as far as they count against
    /// [`HttpLimits::bodies`](super::HttpLimits::bodies).
    pub fn body_bytes(&self) -> usize {
        self.0.core.bodies.bytes()
    }

    /// Ends what would never end by itself: subscriptions are answered, streams of sessions are
    /// closed. Calls go on to their end.
    pub fn stop(&self) {
        self.0.core.enter(Phase::Stopping);
    }

    /// Ends everything that still goes on: calls are answered with an error, sessions are closed.
    pub(super) fn give_up(&self) {
        self.0.core.enter(Phase::Over);
        self.0.sessions.close();
    }

    pub(super) fn config(&self) -> &HttpConfig {
        &self.0.core.config
    }

    /// The counts of a caller without credentials, known by its address.
    pub(super) fn caller(&self, peer: Peer) -> Caller {
        self.0.core.callers.find(peer.into())
    }

    /// Answers one request. If an outer layer knows the [`Peer`] that it comes from, it is among
    /// the extensions.
    pub async fn answer<B>(&self, request: http::Request<B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: fmt::Display,
    {
        // Where the address is not known, all who have no credentials are taken for one.
        let unknown = Peer(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let (parts, body) = request.into_parts();
        let mut origin = Extensions::default();
        let peer = parts.extensions.get::<Peer>().copied().unwrap_or(unknown);
        origin.insert(peer);
        let mut knock = Knock::new(parts, origin, self.caller(peer));
        self.answer_to(&mut knock, pin!(body)).await
    }

    /// Answers one request.
    ///
    /// Every connection has room for what this waits for, as long as it lasts. So whatever is large
    /// is lent, what needs no waiting is done before, and what is rare is boxed.
    pub(super) async fn answer_to<B>(&self, knock: &mut Knock, body: Pin<&mut B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: fmt::Display,
    {
        let origin = match self.config().gate.check(&knock.0) {
            Ok(None) => return self.serve(knock, body).await,
            Ok(Some(origin)) => origin.clone(),
            Err(refusal) => return refusal.into(),
        };
        if cors::is_preflight(&knock.0) {
            return self.preflight(knock, origin);
        }
        // Boxed: few requests come from pages, and every connection would have room for the origin.
        Box::pin(async move {
            let mut response = self.serve(knock, body).await;
            cors::expose(&mut response, origin);
            response
        })
        .await
    }

    /// Answers a request that may call.
    async fn serve<B>(&self, knock: &mut Knock, body: Pin<&mut B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: fmt::Display,
    {
        let callers = &self.0.core.callers;
        if let Some(id) = knock.0.extensions.get::<Owner>().and_then(CallerId::known) {
            knock.2 = callers.find(id);
        } else if callers.is_newcomer(&knock.2)
            && let Some(peer) = knock.1.get::<Peer>()
        {
            knock.2 = callers.find((*peer).into());
        }
        match knock.0.method {
            Method::POST => self.post(knock, body).await,
            Method::GET if self.has_sessions(knock) => Box::pin(legacy::get(&self.0, knock)).await,
            Method::DELETE if self.has_sessions(knock) => {
                Box::pin(legacy::delete(&self.0, knock)).await
            }
            Method::OPTIONS => reply::options(self.methods()),
            _ => reply::method_not_allowed(self.methods()),
        }
    }

    /// Tells a browser what a page of this origin may send.
    fn preflight(&self, knock: &Knock, origin: HeaderValue) -> Response<Body> {
        let mut response = cors::preflight(&knock.0.headers, self.methods());
        cors::expose(&mut response, origin);
        response
    }

    /// The methods that messages and streams need.
    fn methods(&self) -> &'static str {
        if self.0.core.keeps_sessions() { "GET, POST, DELETE" } else { "POST" }
    }

    /// Whether a GET or DELETE can be about a session. There are none since 2026-07-28.
    fn has_sessions(&self, knock: &Knock) -> bool {
        let version = head::version(&knock.0.headers).required("MCP-Protocol-Version");
        let version = version.ok().and_then(|version| version.parse::<Revision>().ok());
        self.0.core.keeps_sessions() && !version.is_some_and(Revision::is_modern)
    }

    /// Answers a request for another path. Gated like all others, so that it tells nothing to
    /// whoever may not ask.
    pub(super) fn not_here(&self, knock: &Knock) -> Response<Body> {
        let origin = match self.config().gate.check(&knock.0) {
            Ok(origin) => origin.cloned(),
            Err(refusal) => return refusal.into(),
        };
        let mut response =
            reply::refused(StatusCode::NOT_FOUND, "there is nothing under this path");
        match origin {
            // Otherwise the browser would not send the page's request, and the page could not read
            // that the path is wrong.
            Some(origin) if cors::is_preflight(&knock.0) => return self.preflight(knock, origin),
            Some(origin) => cors::expose(&mut response, origin),
            None => {}
        }
        response
    }

    async fn post<B>(&self, knock: &mut Knock, body: Pin<&mut B>) -> Response<Body>
    where
        B: http_body::Body,
        B::Error: fmt::Display,
    {
        let core = &self.0.core;
        if let Err(refusal) = check_types(knock) {
            return *refusal;
        }
        let most = core.server.limits().frame;
        let bounds = Bounds {
            most,
            within: core.limits().body,
            bodies: &core.bodies,
            free: bodies::free(knock.0.version, core.limits()),
            caller: knock.caller(),
        };
        let text = match read::whole(body, bounds).await {
            Ok(text) => text,
            Err(TooMuch::Bytes) => {
                let reason = format!("the body is longer than {most} bytes");
                return reply::refused(StatusCode::PAYLOAD_TOO_LARGE, reason);
            }
            Err(TooMuch::Time) => {
                let reason = "the body did not arrive in time";
                return reply::refused(StatusCode::REQUEST_TIMEOUT, reason);
            }
            Err(TooMuch::Room) => {
                return reply::busy(None, "too many bytes of requests are in memory; try again");
            }
            Err(TooMuch::Broken(why)) => {
                let reason = format!("the body could not be read: {why}");
                return reply::refused(StatusCode::BAD_REQUEST, reason);
            }
        };
        let frame = match self.begin(knock, &text) {
            Begun::Answered(response) => return response,
            Begun::Modern(mut talk) => {
                let first = talk.next().await;
                return talk.answer(first);
            }
            Begun::Legacy(frame) => frame,
        };
        legacy::post(&self.0, frame, &text, knock).await
    }

    /// Finds out which era a message belongs to, and begins to serve it there.
    fn begin(&self, knock: &mut Knock, text: &Bytes) -> Begun {
        let core = &self.0.core;
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
        let (id, params) = match &frame {
            Frame::Message(Message::Request(request)) => (Some(&request.id), Some(&request.params)),
            Frame::Message(Message::Notification(notification)) => {
                (None, Some(&notification.params))
            }
            Frame::Message(Message::Response(_)) | Frame::Batch(_) => (None, None),
        };
        if let Err(error) = knock.caller().hold_pace(frame.requests(), core.server.limits()) {
            return Begun::Answered(reply::refuse(id, &error));
        }
        let meta = params.map(|params| params.object("_meta")).transpose();
        let meta = meta.map_err(ErrorObject::misread_params).map(Option::unwrap_or_default);
        let claimed = meta.and_then(|meta| Ok((core.is_modern(knock, &meta)?, meta)));
        match claimed {
            Ok((true, meta)) => self.modern(knock, frame, meta),
            Ok((false, _)) => Begun::Legacy(frame),
            Err(error) => Begun::Answered(reply::refuse(id, &error)),
        }
    }

    fn modern(&self, knock: &mut Knock, frame: Frame, meta: Members) -> Begun {
        Begun::Answered(match frame {
            Frame::Message(Message::Request(request)) => {
                match modern::open(&self.0.core, request, meta, knock) {
                    Ok(talk) => return Begun::Modern(talk),
                    Err(refusal) => *refusal,
                }
            }
            Frame::Message(Message::Notification(notification)) => {
                let config = &self.0.core.server;
                match modern::check_notification(&notification, &knock.0.headers, config) {
                    Ok(()) => reply::accepted(),
                    Err(error) => reply::refusal(StatusCode::BAD_REQUEST, &error),
                }
            }
            Frame::Message(Message::Response(_)) => {
                let reason = "no answers are taken: 2026-07-28 has no requests of servers";
                reply::refused(StatusCode::BAD_REQUEST, reason)
            }
            Frame::Batch(_) => {
                let reason = "a message is one object; only 2025-03-26 has batches";
                reply::refused(StatusCode::BAD_REQUEST, reason)
            }
        })
    }
}

/// How far a message gets without waiting for anything.
enum Begun {
    Answered(Response<Body>),
    Modern(modern::Talk),
    Legacy(Frame),
}

/// A POST carries JSON, as it is, and its sender takes both kinds of answers.
fn check_types(knock: &Knock) -> Result<(), Box<Response<Body>>> {
    let headers = &knock.0.headers;
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

impl Core {
    pub(super) fn limits(&self) -> &super::HttpLimits {
        self.config.limits()
    }

    /// Starts a call.
    pub(super) fn call(&self, request: Request) -> BoxFuture<Outcome> {
        (self.serve)(request)
    }

    /// A number for a call that belongs to no session.
    pub(super) fn number(&self) -> ExchangeId {
        ExchangeId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Resolves when what would never end by itself has to.
    pub(super) fn stopped(&self) -> BoxFuture<()> {
        self.reached(Phase::Stopping)
    }

    /// Resolves when nothing is waited for any more.
    pub(super) fn given_up(&self) -> BoxFuture<()> {
        self.reached(Phase::Over)
    }

    pub(super) fn is_stopping(&self) -> bool {
        *self.phase.borrow() >= Phase::Stopping
    }

    /// Whether clients that shake hands get a session.
    pub(super) fn keeps_sessions(&self) -> bool {
        self.config.sessions == config::Sessions::Kept && self.server.newest_legacy().is_some()
    }

    fn reached(&self, wanted: Phase) -> BoxFuture<()> {
        let mut phase = self.phase.subscribe();
        Box::pin(async move {
            // The sender lives as long as anything that could wait here.
            let _ = phase.wait_for(|phase| *phase >= wanted).await;
        })
    }

    fn enter(&self, next: Phase) {
        self.phase.send_if_modified(|phase| {
            let is_later = *phase < next;
            *phase = next.max(*phase);
            is_later
        });
    }

    /// Which era a message belongs to: what it says itself counts, then what its header says.
    fn is_modern(&self, knock: &Knock, meta: &Members) -> Result<bool, ErrorObject> {
        if meta.value(key::PROTOCOL_VERSION).is_some() {
            return Ok(true);
        }
        let spoken = self.server.revisions();
        let version = head::version(&knock.0.headers);
        let speaks_legacy = spoken.iter().any(|revision| !revision.is_modern());
        if version == Field::Absent && speaks_legacy {
            return Ok(false);
        }
        let version = version.required("MCP-Protocol-Version")?;
        match version.parse::<Revision>() {
            Ok(revision) if revision.is_modern() || spoken.contains(&revision) => {
                Ok(revision.is_modern())
            }
            _ => Err(ErrorObject::unsupported_version(version, spoken)),
        }
    }
}

impl Knock {
    /// A request whose origin is attached to whatever it asks, of a caller whose credentials, if it
    /// has any, are yet to be looked at.
    pub(super) fn new(parts: Parts, origin: Extensions, caller: Caller) -> Self {
        Self(parts, origin, caller)
    }

    /// The caller that it is counted for.
    pub(super) fn caller(&self) -> &Caller {
        &self.2
    }

    /// On whose behalf it comes.
    pub(super) fn owner(&self) -> Owner {
        self.0.extensions.get::<Owner>().cloned().unwrap_or_default()
    }

    /// Reads what a request of 2026-07-28 says beside its params.
    pub(super) fn lift(
        &self,
        method: bowline_types::method::Method,
        params: &Members,
        meta: Members,
        revision: Revision,
    ) -> Result<Lifted, ErrorObject> {
        match self.1.get::<Acquaintance>() {
            Some(known) => wire::modern::lift(method, params, meta, revision, known),
            // Whoever serves us does not say which requests share a connection.
            None => wire::modern::lift(method, params, meta, revision, &Acquaintance::default()),
        }
    }

    /// What it brings along for handlers, taken out.
    pub(super) fn attach(&mut self) -> Extensions {
        let (nothing, ()) = http::Request::new(()).into_parts();
        let mut extensions = std::mem::take(&mut self.1);
        extensions.insert(std::mem::replace(&mut self.0, nothing));
        extensions
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
