//! Events of `tracing`, as log messages of the call that they belong to (feature `tracing`).
//!
//! An event belongs to the call whose handler is being polled on this thread. What a handler does in
//! a task of its own belongs to no call; log there with [`Log`](crate::Log).

use std::fmt;

use bowline_proto::request::Outgoing;
use bowline_proto::secrets::names_a_secret;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::json::RawJson;
use serde_json::{Map, Value};
use tracing_core::field::{Field, Visit};
use tracing_core::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

use crate::call::Call;
use crate::call::polled::current;
use crate::registry::Registry;
use crate::secret::REDACTED;
use crate::server::Server;

impl Server {
    /// A layer for `tracing_subscriber` that sends the events of this server's calls to their
    /// callers, at the level that each caller asked for; see [`TraceLayer`]. It declares that the
    /// server logs, so make the layer before serving.
    pub fn trace_layer(&self) -> TraceLayer {
        let registry = self.registry();
        registry.declare_logging();
        TraceLayer(registry)
    }
}

/// Sends `tracing` events as log messages to the client whose call they belong to.
///
/// The target of an event becomes the name of the logger, and its fields become the data. `TRACE`
/// is sent as `debug`, the lowest level of the protocol. Clients read these messages, so log nothing
/// secret. Fields with the name of a secret (`password`, `api_key`, `token` …) are redacted.
///
/// ```
/// use bowline_server::{Server, Tool};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// let build = Tool::new("build", || async { tracing::info!(step = 1, "building") });
/// let server = Server::new("ci", "1.0.0").tool(build);
/// let subscriber = tracing_subscriber::registry().with(server.trace_layer());
/// ```
#[derive(Debug)]
pub struct TraceLayer(Registry);

impl<S: Subscriber> Layer<S> for TraceLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let is_ours = |call: &Call| call.handle::<Registry>().is_some_and(|own| own.is(&self.0));
        let Some(call) = current().filter(is_ours) else { return };
        let level = level(*event.metadata().level());
        if !call.wants_log(level) {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message =
            LogMessageParams::new(level, fields.data()).with_logger(event.metadata().target());
        call.send_if_room(Outgoing::Log(message));
    }
}

fn level(level: Level) -> LoggingLevel {
    match level {
        Level::ERROR => LoggingLevel::Error,
        Level::WARN => LoggingLevel::Warning,
        Level::INFO => LoggingLevel::Info,
        _ => LoggingLevel::Debug,
    }
}

/// The name that `tracing` gives the text of an event.
const MESSAGE: &str = "message";

/// The fields of an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn add(&mut self, field: &Field, value: Value) {
        let value = if names_a_secret(field.name()) { REDACTED.into() } else { value };
        self.0.insert(field.name().to_owned(), value);
    }

    /// The text if there is nothing else, or all fields.
    fn data(&self) -> RawJson {
        let json = match self.0.get(MESSAGE) {
            Some(message) if self.0.len() == 1 => RawJson::from_value(message),
            _ => RawJson::from_value(&self.0),
        };
        json.unwrap_or_default()
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field, format!("{value:?}").into());
    }
}
