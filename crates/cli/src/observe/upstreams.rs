//! The servers behind a gateway that fail: as notes or lines of the log, and as a metric.

use std::sync::Arc;
use std::time::SystemTime;

use bowline_gateway::UpstreamChange;
use bowline_types::text::excerpt;
use bowline_types::time::{iso, since_1970};
use opentelemetry::KeyValue;
use opentelemetry::metrics::MeterProvider as _;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use serde::Serialize;

use super::log::LogFormat;
use crate::print::{self, TerminalText, json, text};

/// Tells which servers fail now, each with the cause.
pub(super) type Failing = Arc<dyn Fn() -> Vec<(String, String)> + Send + Sync>;

/// A line of the log.
#[derive(Debug, Serialize)]
struct Line<'a> {
    time: String,
    event: &'static str,
    upstream: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<&'a str>,
}

/// Reports a server that begins to fail, or that works again.
pub(super) fn report(format: Option<LogFormat>, upstream: &str, change: UpstreamChange<'_>) {
    let (event, cause) = match change {
        UpstreamChange::Failing(cause) => ("upstream_failing", Some(cause)),
        _ => ("upstream_working", None),
    };
    if format == Some(LogFormat::Json) {
        let line = Line { time: iso(since_1970(SystemTime::now())), event, upstream, cause };
        return json::note_line(&line);
    }
    print::note(match cause {
        Some(cause) => failure(upstream, cause),
        None => text!("`{upstream}` works again"),
    });
}

/// Measures which servers fail: `bowline.upstream.failing` has a row for each that does.
pub(super) fn measure(meters: &SdkMeterProvider, failing: Failing) {
    let meter = meters.meter("bowline");
    let gauge = meter.u64_observable_gauge("bowline.upstream.failing");
    let gauge = gauge.with_description("Which servers behind the gateway do not work.");
    gauge
        .with_callback(move |observer| {
            for (name, _) in failing() {
                observer.observe(1, &[KeyValue::new("bowline.upstream", excerpt(&name))]);
            }
        })
        .build();
}

/// The servers that fail as lines for people.
pub(super) fn shown(failing: &Failing) -> String {
    let failing = failing().into_iter();
    failing.map(|(name, cause)| failure(&name, &cause).as_str().to_owned() + "\n").collect()
}

/// A server that fails, in one line: the cause may be several lines that it wrote.
fn failure(name: &str, cause: &str) -> TerminalText {
    print::paragraph(format!("`{name}` fails: {cause}"))
}
