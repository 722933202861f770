//! One line of JSON for each request, on standard error.

use std::time::{SystemTime, UNIX_EPOCH};

use bowline::layer::{Audit, AuditOutcome, AuditRecord};
use bowline::types::json::RawJson;
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt as _;
use serde::Serialize;

use crate::print;

/// The form of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// A JSON object, with the ids of the trace
    Json,
}

/// A layer that writes a line when a request has ended.
pub(super) fn layer(LogFormat::Json: LogFormat) -> Audit {
    Audit::new(|record| {
        print::note(RawJson::from_value(&Line::of(&record)).unwrap_or_default().as_str());
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
            time: utc(SystemTime::now()),
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

/// A time as RFC 3339 writes it, in UTC and milliseconds.
fn utc(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (since.as_secs(), since.subsec_millis());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The date so many days after 1970-01-01. Years begin in March here, so that a leap day is the last
/// day of its year.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_in_utc() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_825_600_000, "2000-02-29T12:00:00.000Z"),
            (1_785_240_000_123, "2026-07-28T12:00:00.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (millis, expected) in cases {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_millis(millis)), expected);
        }
    }
}
