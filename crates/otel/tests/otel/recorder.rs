//! Records what an exporter gets.

use bowline::Server;
use bowline::client::ClientBuilder;
use opentelemetry::Value;
use opentelemetry_sdk::metrics::data::{
    AggregatedMetrics, GaugeDataPoint, HistogramDataPoint, MetricData, ScopeMetrics, SumDataPoint,
};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};

/// Providers of OpenTelemetry whose exporters keep everything in memory.
pub(crate) struct Recorder {
    pub(crate) tracers: SdkTracerProvider,
    meters: SdkMeterProvider,
    spans: InMemorySpanExporter,
    metrics: InMemoryMetricExporter,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
        let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
        let meters = SdkMeterProvider::builder().with_periodic_exporter(metrics.clone()).build();
        Self { tracers, meters, spans, metrics }
    }

    /// Observes a server.
    pub(crate) fn server(&self, server: Server) -> Server {
        let layer = bowline_otel::server();
        server.layer(layer.tracer_provider(&self.tracers).meter_provider(&self.meters))
    }

    /// Observes a client.
    pub(crate) fn client(&self, client: ClientBuilder) -> ClientBuilder {
        let layer = bowline_otel::client();
        client.layer(layer.tracer_provider(&self.tracers).meter_provider(&self.meters))
    }

    pub(crate) fn meters(&self) -> &SdkMeterProvider {
        &self.meters
    }

    /// The number that a metric shows.
    pub(crate) fn number(&self, metric: &str) -> Option<u64> {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let mut metrics = exported.last()?.scope_metrics().flat_map(ScopeMetrics::metrics);
        match metrics.find(|it| it.name() == metric)?.data() {
            AggregatedMetrics::U64(MetricData::Gauge(gauge)) => {
                gauge.data_points().next().map(GaugeDataPoint::value)
            }
            AggregatedMetrics::U64(MetricData::Sum(sum)) => {
                sum.data_points().next().map(SumDataPoint::value)
            }
            other => panic!("`{metric}` is no number: {other:?}"),
        }
    }

    /// The spans that have ended.
    pub(crate) fn spans(&self) -> Vec<SpanData> {
        self.spans.get_finished_spans().unwrap()
    }

    /// The span of this name that ended last.
    pub(crate) fn span(&self, kind: &opentelemetry::trace::SpanKind, name: &str) -> SpanData {
        let mut spans = self.spans();
        spans.retain(|span| span.span_kind == *kind && span.name == name);
        let names: Vec<_> =
            self.spans().into_iter().map(|span| (span.span_kind, span.name)).collect();
        spans.pop().unwrap_or_else(|| panic!("no {kind:?} span `{name}` among {names:?}"))
    }

    /// The measurements of a metric: attributes, bounds of the buckets, count. Sorted.
    pub(crate) fn measured(&self, metric: &str) -> Vec<Measured> {
        self.meters.force_flush().unwrap();
        let exported = self.metrics.get_finished_metrics().unwrap();
        let Some(last) = exported.last() else { return Vec::new() };
        let metrics = last.scope_metrics().flat_map(ScopeMetrics::metrics);
        let mut found = Vec::new();
        for metric in metrics.filter(|it| it.name() == metric) {
            assert_eq!(metric.unit(), "s");
            let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else {
                panic!("`{}` is no histogram", metric.name());
            };
            found.extend(histogram.data_points().map(Measured::of));
        }
        found.sort_by(|one, other| one.attributes.cmp(&other.attributes));
        found
    }

    /// Everything that was exported, as text.
    pub(crate) fn everything(&self) -> String {
        self.meters.force_flush().unwrap();
        format!("{:?} {:?}", self.spans(), self.metrics.get_finished_metrics().unwrap())
    }
}

/// One row of a metric.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) attributes: Vec<String>,
    pub(crate) bounds: Vec<f64>,
    pub(crate) count: u64,
}

impl Measured {
    fn of(point: &HistogramDataPoint<f64>) -> Self {
        let attributes = point.attributes().map(|it| format!("{}={}", it.key, it.value));
        let mut attributes: Vec<_> = attributes.collect();
        attributes.sort();
        Self { attributes, bounds: point.bounds().collect(), count: point.count() }
    }

    pub(crate) fn value(&self, key: &str) -> Option<&str> {
        self.attributes.iter().find_map(|it| it.strip_prefix(key)?.strip_prefix('='))
    }
}

/// An attribute of a span.
pub(crate) fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let found = span.attributes.iter().filter(|it| it.key.as_str() == key);
    let mut found = found.map(|it| match &it.value {
        Value::String(text) => text.to_string(),
        other => other.to_string(),
    });
    let value = found.next();
    assert_eq!(found.next(), None, "`{key}` occurs twice");
    value
}
