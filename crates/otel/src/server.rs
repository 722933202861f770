//! The layer of a server.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::task::{self, Poll};

use bowline_proto::request::{EveryResource, Handshake, Peer, Request, Response, SuccessKind};
use bowline_types::meta::key;
use bowline_types::method::Method;
use futures_core::future::BoxFuture;
use http::Version;
use opentelemetry::global::ObjectSafeTracerProvider;
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::{FutureExt as _, SpanContext, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};
use serde::Deserialize;
use tower_layer::Layer;
use tower_service::Service;

use crate::attribute;
use crate::operation::{Operation, Outcome, Session, Start, named_by};
use crate::propagation::{span_context, with_baggage};
use crate::telemetry::{Side, Telemetry};

/// A layer that makes a span of each request of a server, and measures how long it takes.
///
/// It uses the global providers of OpenTelemetry, unless others are set here. Add it last, so that
/// it sees what the other layers refuse.
///
/// ```
/// use bowline::Server;
///
/// let server = Server::new("weather", "1.0.0").layer(bowline_otel::server());
/// ```
pub fn server() -> ServerTelemetry {
    let settings = Settings { network: "pipe", takes_baggage: true };
    ServerTelemetry { telemetry: Telemetry::new(Side::Server).into(), settings }
}

/// The layer that [`server`] makes.
#[derive(Debug)]
#[must_use = "give it to `Server::layer`"]
pub struct ServerTelemetry {
    telemetry: Arc<Telemetry>,
    settings: Settings,
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    network: &'static str,
    takes_baggage: bool,
}

impl ServerTelemetry {
    /// Makes spans with this provider instead of the global one.
    pub fn tracer_provider(mut self, provider: &impl ObjectSafeTracerProvider) -> Self {
        Telemetry::change(&mut self.telemetry, |it| it.set_tracer(provider));
        self
    }

    /// Measures with this provider instead of the global one.
    pub fn meter_provider(mut self, provider: &impl MeterProvider) -> Self {
        Telemetry::change(&mut self.telemetry, |it| it.set_meter(provider));
        self
    }

    /// Sets `network.transport` of requests that do not come over HTTP: `pipe` (stdio) unless set,
    /// or `unix` for a server on a socket.
    pub fn network(mut self, network: &'static str) -> Self {
        self.settings.network = network;
        self
    }

    /// Ignores the `baggage` of callers. Without this, handlers find it in the context of
    /// OpenTelemetry, and [clients](crate::client) that they call pass it on.
    pub fn without_baggage(mut self) -> Self {
        self.settings.takes_baggage = false;
        self
    }
}

impl<S> Layer<S> for ServerTelemetry {
    type Service = TracedService<S>;

    fn layer(&self, inner: S) -> TracedService<S> {
        TracedService { telemetry: self.telemetry.clone(), settings: self.settings, inner }
    }
}

/// The service of [`ServerTelemetry`].
#[derive(Clone)]
pub struct TracedService<S> {
    telemetry: Arc<Telemetry>,
    settings: Settings,
    inner: S,
}

impl<S> Service<Request> for TracedService<S>
where
    S: Service<Request, Response = Response>,
    S::Error: Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        if request.parts.extensions.get::<EveryResource>().is_some() {
            // The connection makes this call when a session opens, and drops it when it ends. The
            // call does not say how messages travel.
            let session = Session::begin(&self.telemetry, request.parts.revision, Vec::new());
            let listening = self.inner.call(request);
            return Box::pin(async move {
                let _session = session;
                listening.await
            });
        }
        let method = request.parts.method;
        let operation = Operation::begin(&self.telemetry, start(&request, self.settings));
        let answer = {
            let _entered = operation.context().clone().attach();
            self.inner.call(request)
        };
        let answer = answer.with_context(operation.context().clone());
        Box::pin(async move {
            let answer = answer.await;
            if let Ok(Ok(success)) = &answer {
                operation.note_result(success.body().as_str());
            }
            operation.end(
                answer.as_ref().map_or(Outcome::Failed(attribute::OTHER), |response| {
                    outcome(response, method)
                }),
            );
            answer
        })
    }
}

impl<S> fmt::Debug for TracedService<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TracedService")
    }
}

/// What is known of a request when it arrives.
fn start(request: &Request, settings: Settings) -> Start {
    let parts = &request.parts;
    // The connection turns `initialize` into a `server/discover` of its own.
    let is_handshake = parts.extensions.get::<Handshake>().is_some();
    let method = if is_handshake { Method::Initialize } else { parts.method };
    let name = named_by(method).and_then(|member| request.params.string(member).ok().flatten());
    let name = name.map(Cow::into_owned);
    let (parent, transport) = parent(request, settings);
    let (route, details) = (route(request, settings), details(request));
    Start { method, revision: parts.revision, name, route, details, parent, transport }
}

/// The context of the parent, and the span of the transport if that is another one.
///
/// The caller's span is in `_meta`. The span of the transport is the current one, if code around the
/// endpoint made one, or that of the HTTP client. Without a span in `_meta` it is the parent.
fn parent(request: &Request, settings: Settings) -> (Context, Option<SpanContext>) {
    let meta = |name| request.parts.meta.string(name).ok().flatten();
    let ambient = Context::current();
    let transport = Some(ambient.span().span_context().clone()).filter(SpanContext::is_valid);
    let transport = transport.or_else(|| sent_with_http(request));
    let caller = meta(key::TRACEPARENT)
        .and_then(|parent| span_context(&parent, meta(key::TRACESTATE).as_deref()));
    let context = match (&caller, &transport) {
        (Some(caller), _) => ambient.with_remote_span_context(caller.clone()),
        (None, Some(transport)) if transport.is_remote() => {
            ambient.with_remote_span_context(transport.clone())
        }
        (None, _) => ambient,
    };
    let context = match meta(key::BAGGAGE).filter(|_| settings.takes_baggage) {
        Some(text) => with_baggage(context, &text),
        None => context,
    };
    (context, transport.filter(|transport| caller.is_some_and(|it| it != *transport)))
}

/// The span that an HTTP client named in its headers.
fn sent_with_http(request: &Request) -> Option<SpanContext> {
    let headers = &request.parts.extensions.get::<http::request::Parts>()?.headers;
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    span_context(header(key::TRACEPARENT)?, header(key::TRACESTATE))
}

/// How the request came.
fn route(request: &Request, settings: Settings) -> Vec<KeyValue> {
    let Some(http) = request.parts.extensions.get::<http::request::Parts>() else {
        return vec![KeyValue::new(attribute::NETWORK, settings.network)];
    };
    let mut route =
        vec![KeyValue::new(attribute::NETWORK, "tcp"), KeyValue::new(attribute::PROTOCOL, "http")];
    let version = match http.version {
        Version::HTTP_10 => Some("1.0"),
        Version::HTTP_11 => Some("1.1"),
        Version::HTTP_2 => Some("2"),
        _ => None,
    };
    route.extend(version.map(|version| KeyValue::new(attribute::PROTOCOL_VERSION, version)));
    route
}

/// The characters of a session's id that spans hold. The id is a credential, so not all of them.
const OF_SESSION: usize = 8;

/// The session and the address of the client.
fn details(request: &Request) -> Vec<KeyValue> {
    let parts = &request.parts;
    let mut details = Vec::new();
    let http = parts.extensions.get::<http::request::Parts>();
    let session = http.filter(|_| parts.revision.has_sessions());
    let session = session.and_then(|http| http.headers.get("mcp-session-id")?.to_str().ok());
    // Of a short id, eight characters would be too much.
    if let Some(id) = session.filter(|id| id.len() >= 2 * OF_SESSION) {
        let begin: String = id.chars().take(OF_SESSION).collect();
        details.push(KeyValue::new(attribute::SESSION, begin));
    }
    let peer = parts.extensions.get::<Peer>().filter(|Peer(address)| !address.is_unspecified());
    if let Some(Peer(address)) = peer {
        details.push(KeyValue::new(attribute::CLIENT_ADDRESS, address.to_string()));
    }
    details
}

fn outcome(response: &Response, method: Method) -> Outcome {
    match response {
        Err(error) => Outcome::Refused(error.code),
        Ok(success) => {
            let is_result = method == Method::ToolsCall && success.kind() == SuccessKind::Complete;
            let result = is_result.then(|| success.body().parse::<ToolResult>().ok()).flatten();
            ToolResult::outcome(result)
        }
    }
}

/// What of the result of a tool says whether it failed.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct ToolResult {
    #[serde(rename = "isError", default)]
    is_error: bool,
}

impl ToolResult {
    /// How a request with this result ended; `None` if the result is not one of a tool.
    pub(crate) fn outcome(result: Option<Self>) -> Outcome {
        match result {
            Some(Self { is_error: true }) => Outcome::ToolFailed,
            _ => Outcome::Answered,
        }
    }
}
