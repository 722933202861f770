//! One line of JSON for each request, on standard error.

use std::time::SystemTime;

use bowline::layer::{Audit, AuditOutcome, AuditRecord};
use bowline_types::time::{iso, since_1970};
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;
use serde::Serialize;

use crate::print::json;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// A JSON object, with the ids of the trace
    Json,
}

/// A layer that writes a line when a request has ended.
pub(super) fn layer(LogFormat::Json: LogFormat) -> Audit {
    Audit::new(|record| {
        json::note_line(&Line::of(&record));
    })
}

/// A line. It holds neither arguments nor results.
#[derive(Debug, Serialize)]
struct Line<'r> {
    time: String,
    method: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'r str>,
    revision: &'static str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<i64>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
}

impl<'r> Line<'r> {
    fn of(record: &'r AuditRecord) -> Self {
        let (outcome, code) = match record.outcome {
            AuditOutcome::Completed => ("completed", None),
            AuditOutcome::Failed => ("tool_error", None),
            AuditOutcome::Asked => ("asked", None),
            AuditOutcome::Refused(code) => ("refused", Some(code)),
            AuditOutcome::Cancelled => ("cancelled", None),
            _ => ("other", None),
        };
        let context = Context::current();
        let span = context.span();
        let span = Some(span.span_context()).filter(|span| span.is_valid());
        Self {
            time: iso(since_1970(SystemTime::now())),
            method: record.method.name(),
            // The name of a resource is its URI, whose query may hold secrets.
            name: record.name.as_deref().map(bowline::otel::shown_uri),
            client: record.client.as_deref(),
            revision: record.revision.as_str(),
            outcome,
            code,
            seconds: record.duration.as_secs_f64(),
            trace_id: span.map(|span| span.trace_id().to_string()),
            span_id: span.map(|span| span.span_id().to_string()),
        }
    }
}
