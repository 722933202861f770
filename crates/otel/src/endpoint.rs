//! The metrics of an HTTP endpoint.

use bowline_http::server::{Endpoint, EndpointCounts};
use opentelemetry::metrics::MeterProvider;

use crate::telemetry::scope;

/// Measures an HTTP endpoint: `bowline.sessions` and `bowline.streams` are the numbers of open ones,
/// `bowline.refused` counts the requests that were answered with an HTTP status of 400 or above.
///
/// The metrics are read whenever they are exported, and cost nothing else. They do not keep the
/// endpoint alive.
///
/// ```
/// # fn observe(endpoint: &bowline_http::server::Endpoint) {
/// bowline_otel::endpoint(endpoint, &*opentelemetry::global::meter_provider());
/// # }
/// ```
pub fn endpoint(endpoint: &Endpoint, meters: &dyn MeterProvider) {
    let meter = meters.meter_with_scope(scope());
    let counts = endpoint.counts();
    let gauge = |name, description, count: fn(&EndpointCounts) -> usize| {
        let counts = counts.clone();
        let gauge = meter.u64_observable_gauge(name).with_description(description);
        gauge.with_callback(move |observer| observer.observe(count(&counts) as u64, &[])).build()
    };
    gauge("bowline.sessions", "How many sessions are open.", EndpointCounts::sessions);
    gauge("bowline.streams", "How many streams wait for changes.", EndpointCounts::streams);
    let refused = meter.u64_observable_counter("bowline.refused");
    let refused = refused.with_description("How many requests HTTP refused.");
    refused.with_callback(move |observer| observer.observe(counts.refused(), &[])).build();
}
