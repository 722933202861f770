//! The layer of a client.

use std::sync::{Arc, Mutex, PoisonError};

use bowline_proto::client::{CallAnswer, CallError, CallRequest, ServerProfile};
use bowline_proto::request::SuccessKind;
use bowline_transport::connect::{CallEnd, ClientLayer, ConnectionLayer};
use bowline_transport::error::Error;
use bowline_transport::transport::Destination;
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use opentelemetry::global::ObjectSafeTracerProvider;
use opentelemetry::metrics::MeterProvider;
use opentelemetry::trace::TraceContextExt as _;
use opentelemetry::{Context, KeyValue};
use serde::Deserialize;

use crate::attribute;
use crate::operation::{Operation, Outcome, Session, Start, named_by};
use crate::propagation::{baggage, span_context, traceparent};
use crate::server::ToolResult;
use crate::telemetry::{Side, Telemetry};

/// A layer that makes a span of each call of a client, measures how long it takes, and puts the
/// span into `_meta` of the request, so that the trace goes on in the server.
///
/// It uses the global providers of OpenTelemetry, unless others are set here.
///
/// ```
/// use bowline::Client;
///
/// let client = Client::builder("my-app", "1.0.0").layer(bowline_otel::client());
/// ```
pub fn client() -> ClientTelemetry {
    ClientTelemetry(Telemetry::new(Side::Client).into())
}

/// The layer that [`client`] makes.
#[derive(Debug)]
#[must_use = "give it to `ClientBuilder::layer`"]
pub struct ClientTelemetry(Arc<Telemetry>);

impl ClientTelemetry {
    /// Makes spans with this provider instead of the global one.
    pub fn tracer_provider(mut self, provider: &impl ObjectSafeTracerProvider) -> Self {
        Telemetry::change(&mut self.0, |it| it.set_tracer(provider));
        self
    }

    /// Measures with this provider instead of the global one.
    pub fn meter_provider(mut self, provider: &impl MeterProvider) -> Self {
        Telemetry::change(&mut self.0, |it| it.set_meter(provider));
        self
    }

    /// Adds the attribute `bowline.upstream` with this name to spans and metrics. Give each server of
    /// a gateway a layer with its own name: then the tools of one server cannot use up the number of
    /// names that metrics record for the others.
    pub fn upstream(mut self, name: &str) -> Self {
        Telemetry::change(&mut self.0, |it| it.set_upstream(name));
        self
    }
}

impl ClientLayer for ClientTelemetry {
    fn connected(
        &self,
        server: &ServerProfile,
        destination: &Destination,
    ) -> Arc<dyn ConnectionLayer> {
        let (telemetry, revision, route) = (self.0.clone(), server.revision, route(destination));
        let session = revision.has_handshake();
        let session = session.then(|| Session::begin(&telemetry, revision, route.clone()));
        Arc::new(Connection { telemetry, revision, route, session: Mutex::new(session) })
    }
}

/// One connection to a server.
struct Connection {
    telemetry: Arc<Telemetry>,
    revision: Revision,
    route: Vec<KeyValue>,
    /// Since 2026-07-28 there are no sessions.
    session: Mutex<Option<Session>>,
}

impl ConnectionLayer for Connection {
    fn begin(&self, request: &mut CallRequest) -> Option<Box<dyn CallEnd>> {
        let method = request.method;
        let start = Start {
            method,
            revision: self.revision,
            name: named_by(method).and_then(|_| Names::of(request)),
            route: self.route.clone(),
            details: Vec::new(),
            parent: parent(&request.meta),
            transport: None,
        };
        let operation = Operation::begin(&self.telemetry, start);
        inject(operation.context(), &mut request.meta);
        Some(Box::new(Call { operation, method }))
    }

    fn ended(&self, error: Option<&Error>) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let (Some(mut session), Some(_)) = (session, error) {
            session.fail("closed");
        }
    }
}

/// A call under way.
struct Call {
    operation: Operation,
    method: Method,
}

impl CallEnd for Call {
    fn end(self: Box<Self>, outcome: &Result<CallAnswer, CallError>) {
        let Self { operation, method } = *self;
        if let Ok(answer) = outcome {
            operation.note_result(answer.result.as_str());
        }
        operation.end(match outcome {
            Ok(answer) => {
                let is_result = method == Method::ToolsCall && answer.kind == SuccessKind::Complete;
                ToolResult::outcome(is_result.then(|| answer.result.parse().ok()).flatten())
            }
            Err(CallError::Refused(error)) => Outcome::Refused(error.code),
            Err(error) => Outcome::Failed(reason(error)),
        });
    }
}

/// Why a call has no answer, in a word.
fn reason(error: &CallError) -> &'static str {
    match error {
        CallError::TimedOut(_) => "timeout",
        CallError::Closed => "closed",
        CallError::NotOffered { .. } => "not_offered",
        CallError::Invalid(_) => "invalid_answer",
        CallError::TooLong(_) => "answer_too_long",
        CallError::TaskCancelled(_) => attribute::CANCELLED,
        CallError::Unanswered(_) | CallError::TooManyRounds(_) => "unanswered_question",
        CallError::Failed { .. } => "failed",
        _ => attribute::OTHER,
    }
}

/// The members of params that name what a call is about.
#[derive(Deserialize)]
struct Names {
    name: Option<String>,
    uri: Option<String>,
}

impl Names {
    fn of(request: &CallRequest) -> Option<String> {
        let Self { name, uri } = request.params.parse().ok()?;
        name.or(uri)
    }
}

/// The context that holds the parent: the current span, or else the one that `_meta` names already,
/// as it does if a program or a relay has set it.
fn parent(meta: &Meta) -> Context {
    let current = Context::current();
    if current.span().span_context().is_valid() {
        return current;
    }
    let text = |name| meta.parse::<String>(name);
    let named = text(key::TRACEPARENT)
        .and_then(|parent| span_context(&parent, text(key::TRACESTATE).as_deref()));
    match named {
        Some(named) => current.with_remote_span_context(named),
        None => current,
    }
}

/// Writes the span and the baggage of a context into `_meta`. What the context lacks stays as it is.
fn inject(context: &Context, meta: &mut Meta) {
    // These keys are none of the protocol's, and the values follow W3C, so `set` does not fail.
    let span = context.span();
    let span = span.span_context();
    if span.is_valid() {
        _ = meta.set(key::TRACEPARENT, &traceparent(span));
        match span.trace_state().header() {
            state if state.is_empty() => _ = meta.remove(key::TRACESTATE),
            state => _ = meta.set(key::TRACESTATE, &state),
        }
    }
    if let Some(baggage) = baggage(context) {
        _ = meta.set(key::BAGGAGE, &baggage);
    }
}

/// Where the server is.
fn route(destination: &Destination) -> Vec<KeyValue> {
    let Destination { network, protocol, address, port, .. } = destination;
    let mut route = Vec::new();
    route.extend(network.map(|network| KeyValue::new(attribute::NETWORK, network)));
    route.extend(protocol.map(|protocol| KeyValue::new(attribute::PROTOCOL, protocol)));
    route.extend(address.clone().map(|it| KeyValue::new(attribute::SERVER_ADDRESS, it)));
    route.extend(port.map(|port| KeyValue::new(attribute::SERVER_PORT, i64::from(port))));
    route
}
