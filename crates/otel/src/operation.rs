//! One request, from its begin to its end: a span, and a measurement of its duration.

use std::sync::Arc;
use std::time::Instant;

use bowline_types::error::code;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use opentelemetry::trace::{
    Link, SpanBuilder, SpanContext, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue};

use crate::attribute;
use crate::known::is_presentable;
use crate::telemetry::Telemetry;
use crate::uri;

/// What is known of a request when it begins.
pub(crate) struct Start {
    pub(crate) method: Method,
    pub(crate) revision: Revision,
    /// The name of the tool or prompt, or the URI of the resource.
    pub(crate) name: Option<String>,
    /// Attributes of spans and metrics: how the message travels.
    pub(crate) route: Vec<KeyValue>,
    /// Attributes of spans alone.
    pub(crate) details: Vec<KeyValue>,
    /// The context that holds the parent.
    pub(crate) parent: Context,
    /// The span of the transport, if the parent is another one.
    pub(crate) transport: Option<SpanContext>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// With a result.
    Answered,
    /// With the result of a tool that failed.
    ToolFailed,
    /// With a JSON-RPC error of this code.
    Refused(i64),
    /// Without an answer; the word is for `error.type`.
    Failed(&'static str),
}

/// A request under way. If it is dropped before `end`, it was cancelled.
pub(crate) struct Operation {
    telemetry: Arc<Telemetry>,
    context: Context,
    begun: Instant,
    method: Method,
    /// The tool or prompt, with the name of its attribute.
    target: Option<(&'static str, String)>,
    /// Whether the span has the name of the target already.
    is_named: bool,
    /// Attributes of the metric.
    attributes: Vec<KeyValue>,
    outcome: Outcome,
}

impl Operation {
    pub(crate) fn begin(telemetry: &Arc<Telemetry>, start: Start) -> Self {
        let Start { method, revision, name, route, details, parent, transport } = start;
        let mut attributes = vec![
            KeyValue::new(attribute::METHOD, method.name()),
            KeyValue::new(attribute::REVISION, revision.as_str()),
        ];
        attributes.extend(telemetry.upstream());
        attributes.extend(route);
        if method == Method::ToolsCall {
            attributes.push(KeyValue::new(attribute::OPERATION, attribute::EXECUTE_TOOL));
        }
        let mut of_span = attributes.clone();
        of_span.extend(details);
        if let Some(name) = name.as_deref().filter(|_| names_resource(method)) {
            of_span.push(KeyValue::new(attribute::RESOURCE, uri::shown(name)));
        }
        let target = target_attribute(method).zip(name);
        let known = target.as_ref().filter(|(_, name)| telemetry.names.has(name.as_str()));
        let span_name = match known {
            Some((key, name)) => {
                of_span.push(KeyValue::new(*key, name.clone()));
                format!("{method} {name}").into()
            }
            None => method.name().into(),
        };
        let is_named = known.is_some();
        let mut builder = SpanBuilder::from_name::<std::borrow::Cow<'static, str>>(span_name)
            .with_kind(telemetry.span_kind())
            .with_attributes(of_span);
        if let Some(transport) = transport {
            builder = builder.with_links(vec![Link::with_context(transport)]);
        }
        let span = telemetry.tracer().build_with_context(builder, &parent);
        let context = parent.with_span(span);
        let (telemetry, outcome) = (telemetry.clone(), Outcome::Failed(attribute::CANCELLED));
        let begun = Instant::now();
        Self { telemetry, context, begun, method, target, is_named, attributes, outcome }
    }

    /// The context with the span of this request, in which its work is done.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Learns the names of tools and prompts, if this request asked for a list of them.
    pub(crate) fn note_result(&self, result: &str) {
        self.telemetry.names.add_listed(self.method, result);
    }

    pub(crate) fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// Adds the name of the tool or prompt. A metric gets it only if a list had it, since its rows stay
    /// in memory; the span also if the request has a result.
    fn name_target(&mut self) {
        let Some((key, name)) = self.target.take() else { return };
        // A list may have come meanwhile.
        let is_listed = self.is_named || self.telemetry.names.has(name.as_str());
        if !self.is_named {
            let has_result = matches!(self.outcome, Outcome::Answered | Outcome::ToolFailed);
            let span = self.context.span();
            let name = match is_listed || (has_result && is_presentable(&name)) {
                true => {
                    span.update_name(format!("{} {name}", self.method));
                    name.clone()
                }
                false => attribute::OTHER.to_owned(),
            };
            span.set_attribute(KeyValue::new(key, name));
        }
        let name = if is_listed { name } else { attribute::OTHER.to_owned() };
        self.attributes.push(KeyValue::new(key, name));
    }

    /// Adds why the request failed. The text of an error is left out, because it may quote
    /// arguments.
    fn explain_failure(&mut self) {
        let (reason, description) = match self.outcome {
            Outcome::Answered => return,
            Outcome::ToolFailed => (attribute::TOOL_ERROR.to_owned(), "the tool failed"),
            Outcome::Failed(reason) => (reason.to_owned(), reason),
            Outcome::Refused(code) => {
                let exact = KeyValue::new(attribute::STATUS_CODE, code.to_string());
                self.context.span().set_attribute(exact.clone());
                match self.telemetry.counts_code(code) {
                    true => {
                        self.attributes.push(exact);
                        (code.to_string(), meaning(code))
                    }
                    false => (attribute::OTHER.to_owned(), ""),
                }
            }
        };
        let reason = KeyValue::new(attribute::ERROR, reason);
        let span = self.context.span();
        span.set_attribute(reason.clone());
        span.set_status(Status::error(description));
        self.attributes.push(reason);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.name_target();
        self.explain_failure();
        self.context.span().end();
        self.telemetry.record_operation(self.begun.elapsed().as_secs_f64(), &self.attributes);
    }
}

/// A session that is open until this is dropped.
pub(crate) struct Session {
    telemetry: Arc<Telemetry>,
    begun: Instant,
    attributes: Vec<KeyValue>,
}

impl Session {
    pub(crate) fn begin(
        telemetry: &Arc<Telemetry>,
        revision: Revision,
        route: Vec<KeyValue>,
    ) -> Self {
        let mut attributes = vec![KeyValue::new(attribute::REVISION, revision.as_str())];
        attributes.extend(telemetry.upstream());
        attributes.extend(route);
        Self { telemetry: telemetry.clone(), begun: Instant::now(), attributes }
    }

    /// Notes that the session ends with an error.
    pub(crate) fn fail(&mut self, reason: &'static str) {
        self.attributes.push(KeyValue::new(attribute::ERROR, reason));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.telemetry.record_session(self.begun.elapsed().as_secs_f64(), &self.attributes);
    }
}

/// The member of `params` that names what a request is about, if that may be recorded. Ids of tasks
/// may not.
pub(crate) fn named_by(method: Method) -> Option<&'static str> {
    let is_recorded = target_attribute(method).is_some() || names_resource(method);
    method.named_by().filter(|_| is_recorded).or(names_resource(method).then_some("uri"))
}

/// The attribute for the target of a method: tools and prompts have one.
fn target_attribute(method: Method) -> Option<&'static str> {
    match method {
        Method::ToolsCall => Some(attribute::TOOL),
        Method::PromptsGet => Some(attribute::PROMPT),
        _ => None,
    }
}

fn names_resource(method: Method) -> bool {
    use Method::{ResourcesRead, ResourcesSubscribe, ResourcesUnsubscribe};
    matches!(method, ResourcesRead | ResourcesSubscribe | ResourcesUnsubscribe)
}

/// What an error code means, for the status of a span.
fn meaning(code: i64) -> &'static str {
    match code {
        code::PARSE_ERROR => "parse error",
        code::INVALID_REQUEST => "invalid request",
        code::METHOD_NOT_FOUND => "method not found",
        code::INVALID_PARAMS => "invalid params",
        code::INTERNAL_ERROR => "internal error",
        _ => "",
    }
}
