//! The tracer and the instruments of one side, server or client.

use std::fmt;
use std::sync::{Arc, OnceLock};

use bowline_types::error::code;
use bowline_types::text::excerpt;
use opentelemetry::global::{self, BoxedTracer, ObjectSafeTracerProvider};
use opentelemetry::metrics::{Histogram, Meter, MeterProvider};
use opentelemetry::trace::SpanKind;
use opentelemetry::{InstrumentationScope, KeyValue};

use crate::attribute;
use crate::known::Known;

/// The most names of tools and prompts that become attributes.
const MOST_NAMES: usize = 500;

/// The most error codes outside of those that JSON-RPC reserves.
const MOST_CODES: usize = 50;

/// The bounds of the buckets in seconds, as the conventions name them.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The bounds that sessions have beside those of the conventions: half an hour, two hours, a day.
const LONG: [f64; 3] = [1_800.0, 7_200.0, 86_400.0];

/// Which side of a connection is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Server,
    Client,
}

/// What all connections of one layer share.
pub(crate) struct Telemetry {
    side: Side,
    /// Set with the first span, so that the program may set its global provider after it has made
    /// the layer.
    tracer: OnceLock<BoxedTracer>,
    instruments: OnceLock<Instruments>,
    pub(crate) names: Known<String>,
    codes: Known<i64>,
    /// The configured name of the server, if it is one of several.
    upstream: Option<KeyValue>,
}

struct Instruments {
    operation: Histogram<f64>,
    session: Histogram<f64>,
}

impl Telemetry {
    pub(crate) fn new(side: Side) -> Self {
        Self {
            side,
            tracer: OnceLock::new(),
            instruments: OnceLock::new(),
            names: Known::new(MOST_NAMES),
            codes: Known::new(MOST_CODES),
            upstream: None,
        }
    }

    /// Changes what no service has a share of yet: the methods that call this take the layer itself.
    pub(crate) fn change(telemetry: &mut Arc<Self>, change: impl FnOnce(&mut Self)) {
        if let Some(telemetry) = Arc::get_mut(telemetry) {
            change(telemetry);
        }
    }

    /// Uses this provider of tracers instead of the global one.
    pub(crate) fn set_tracer(&mut self, provider: &dyn ObjectSafeTracerProvider) {
        self.tracer = OnceLock::from(BoxedTracer::new(provider.boxed_tracer(scope())));
    }

    /// Uses this provider of meters instead of the global one.
    pub(crate) fn set_meter(&mut self, provider: &dyn MeterProvider) {
        let instruments = Instruments::new(&provider.meter_with_scope(scope()), self.side);
        self.instruments = OnceLock::from(instruments);
    }

    /// Names the server in spans and metrics.
    pub(crate) fn set_upstream(&mut self, name: &str) {
        self.upstream = Some(KeyValue::new(attribute::UPSTREAM, excerpt(name)));
    }

    /// The attribute that names the server, if it is one of several.
    pub(crate) fn upstream(&self) -> Option<KeyValue> {
        self.upstream.clone()
    }

    pub(crate) fn tracer(&self) -> &BoxedTracer {
        self.tracer.get_or_init(|| global::tracer_with_scope(scope()))
    }

    pub(crate) fn span_kind(&self) -> SpanKind {
        match self.side {
            Side::Server => SpanKind::Server,
            Side::Client => SpanKind::Client,
        }
    }

    /// Whether a code may become an attribute: those that JSON-RPC reserves, and a bounded number of
    /// others.
    pub(crate) fn counts_code(&self, code: i64) -> bool {
        code::OF_JSON_RPC.contains(&code) || self.codes.add(code)
    }

    pub(crate) fn record_operation(&self, seconds: f64, attributes: &[KeyValue]) {
        self.instruments().operation.record(seconds, attributes);
    }

    pub(crate) fn record_session(&self, seconds: f64, attributes: &[KeyValue]) {
        self.instruments().session.record(seconds, attributes);
    }

    fn instruments(&self) -> &Instruments {
        let global = || Instruments::new(&global::meter_with_scope(scope()), self.side);
        self.instruments.get_or_init(global)
    }
}

impl Instruments {
    fn new(meter: &Meter, side: Side) -> Self {
        let (operation, session) = match side {
            Side::Server => ("mcp.server.operation.duration", "mcp.server.session.duration"),
            Side::Client => ("mcp.client.operation.duration", "mcp.client.session.duration"),
        };
        let histogram = |name, description, bounds| {
            let histogram = meter.f64_histogram(name).with_unit("s");
            histogram.with_description(description).with_boundaries(bounds).build()
        };
        let of_sessions = [SECONDS.as_slice(), LONG.as_slice()].concat();
        Self {
            operation: histogram(operation, "How long requests took.", SECONDS.to_vec()),
            session: histogram(session, "How long sessions were open.", of_sessions),
        }
    }
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telemetry").field("side", &self.side).finish_non_exhaustive()
    }
}

/// The name under which everything here is exported.
pub(crate) fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("bowline").with_version(env!("CARGO_PKG_VERSION")).build()
}
