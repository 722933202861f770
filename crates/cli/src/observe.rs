//! Observation of the commands that serve: traces, metrics, a log of requests, and health.
//!
//! * `admin`: the listener for `/metrics`, `/livez` and `/readyz`.
//! * `log`: one line of JSON for each request.
//! * `otlp`: the export of traces and metrics, as the environment says.
//! * `upstreams`: the servers behind a gateway that fail.

mod admin;
mod log;
mod otlp;
mod upstreams;

use std::net::SocketAddr;
use std::sync::Arc;

use bowline::client::ClientLayer;
use bowline::http::Endpoint;
use bowline::otel::ClientTelemetry;
use bowline::store::Backend;
use bowline::{Server, otel};
use bowline_gateway::UpstreamChange;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prometheus::Registry;

use self::admin::Admin;
use self::log::LogFormat;
use self::upstreams::Failing;
use crate::exit::{Exit, Failure};
use crate::print::{self, text};

/// The options of commands that serve.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Observation")]
pub(crate) struct ObserveArgs {
    /// Serves `/metrics`, `/livez` and `/readyz` at this address, to programs of this machine
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<SocketAddr>,
    /// Writes one line for each request to standard error
    #[arg(long, value_name = "FORMAT")]
    log: Option<LogFormat>,
}

impl ObserveArgs {
    /// Begins to observe. Without these options, and without an endpoint for OTLP in the
    /// environment, that is nothing.
    ///
    /// # Errors
    ///
    /// If the address cannot be used, or other machines would reach it.
    pub(crate) async fn begin(&self) -> Result<Observation, Failure> {
        let registry = self.admin.map(|_| Registry::new());
        let admin = match self.admin.zip(registry.clone()) {
            Some((address, registry)) => Some(Admin::listen(address, registry).await?),
            None => None,
        };
        Ok(Observation { tracers: self.tracers(), meters: meters(registry)?, admin, log: self.log })
    }

    /// What makes spans: for the export, and for the ids in the log.
    fn tracers(&self) -> Option<SdkTracerProvider> {
        let exporter = otlp::spans();
        if exporter.is_none() && self.log.is_none() {
            return None;
        }
        let builder = SdkTracerProvider::builder().with_resource(resource());
        Some(match exporter {
            Some(exporter) => builder.with_batch_exporter(exporter).build(),
            None => builder.build(),
        })
    }
}

/// What measures: for `/metrics`, and for the export.
fn meters(registry: Option<Registry>) -> Result<Option<SdkMeterProvider>, Failure> {
    let exporter = otlp::metrics();
    if registry.is_none() && exporter.is_none() {
        return Ok(None);
    }
    let mut builder = SdkMeterProvider::builder().with_resource(resource());
    if let Some(registry) = registry {
        let reader = opentelemetry_prometheus::exporter().with_registry(registry).build();
        let failed = |error| Failure::new(Exit::Unreachable, text!("no metrics: {error}"));
        builder = builder.with_reader(reader.map_err(failed)?);
    }
    if let Some(exporter) = exporter {
        builder = builder.with_periodic_exporter(exporter);
    }
    Ok(Some(builder.build()))
}

/// What the exported data say of this process: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`,
/// or else the name of this command.
fn resource() -> Resource {
    let attributes = std::env::var("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
    let is_named = std::env::var_os("OTEL_SERVICE_NAME").is_some()
        || attributes.split(',').any(|it| it.trim_start().starts_with("service.name="));
    let builder = Resource::builder();
    if is_named { builder } else { builder.with_service_name("bowline") }.build()
}

/// The layer of a client, if anything is observed.
fn client(
    tracers: Option<&SdkTracerProvider>,
    meters: Option<&SdkMeterProvider>,
) -> Option<ClientTelemetry> {
    if tracers.is_none() && meters.is_none() {
        return None;
    }
    let layer = otel::client();
    let layer = tracers.into_iter().fold(layer, ClientTelemetry::tracer_provider);
    Some(meters.into_iter().fold(layer, ClientTelemetry::meter_provider))
}

/// What a command observes while it serves.
pub(crate) struct Observation {
    tracers: Option<SdkTracerProvider>,
    meters: Option<SdkMeterProvider>,
    admin: Option<Admin>,
    log: Option<LogFormat>,
}

impl Observation {
    /// Observes the requests of a server.
    pub(crate) fn server(&self, server: Server) -> Server {
        let server = match self.log {
            Some(format) => server.layer(log::layer(format)),
            None => server,
        };
        if self.tracers.is_none() && self.meters.is_none() {
            return server;
        }
        let mut layer = otel::server();
        if let Some(tracers) = &self.tracers {
            layer = layer.tracer_provider(tracers);
        }
        if let Some(meters) = &self.meters {
            layer = layer.meter_provider(meters);
        }
        server.layer(layer)
    }

    /// Measures the operations of a store, if metrics are wanted.
    pub(crate) fn store(&self, store: Arc<dyn Backend>) -> Arc<dyn Backend> {
        match &self.meters {
            Some(meters) => Arc::new(otel::store(store).meter_provider(meters)),
            None => store,
        }
    }

    /// Measures an endpoint of HTTP, if metrics are wanted.
    pub(crate) fn endpoint(&self, endpoint: &Endpoint) {
        if let Some(meters) = &self.meters {
            otel::endpoint(endpoint, meters);
        }
    }

    /// The layer of a client that calls another server, if anything is observed.
    pub(crate) fn client(&self) -> Option<Arc<dyn ClientLayer>> {
        Some(Arc::new(client(self.tracers.as_ref(), self.meters.as_ref())?))
    }

    /// Makes the layers of clients that call several servers, each by its name.
    pub(crate) fn upstream_layers(
        &self,
    ) -> impl Fn(&str) -> Option<Arc<dyn ClientLayer>> + Send + Sync + 'static + use<> {
        let (tracers, meters) = (self.tracers.clone(), self.meters.clone());
        move |name| {
            let layer = client(tracers.as_ref(), meters.as_ref())?;
            Some(Arc::new(layer.upstream(name)) as Arc<dyn ClientLayer>)
        }
    }

    /// Reports servers behind this process that begin to fail, and that work again.
    pub(crate) fn upstream_reporter(
        &self,
    ) -> impl Fn(&str, UpstreamChange<'_>) + Send + Sync + 'static + use<> {
        let format = self.log;
        move |name, change| upstreams::report(format, name, change)
    }

    /// Shows in `/readyz` and in the metrics which servers behind this process fail.
    pub(crate) fn watch(
        &self,
        failing: impl Fn() -> Vec<(String, String)> + Send + Sync + 'static,
    ) {
        let failing: Failing = Arc::new(failing);
        if let Some(meters) = &self.meters {
            upstreams::measure(meters, failing.clone());
        }
        if let Some(admin) = &self.admin {
            admin.watch(failing);
        }
    }

    /// The URL of the listener for metrics and health.
    pub(crate) fn admin_url(&self) -> Option<&str> {
        self.admin.as_ref().map(Admin::url)
    }

    /// Sets whether `/readyz` says that the command serves.
    pub(crate) fn set_ready(&self, is_ready: bool) {
        if let Some(admin) = &self.admin {
            admin.set_ready(is_ready);
        }
    }

    /// The exporters send what they still hold. The caller waits for them a few seconds at most.
    pub(crate) async fn end(self) {
        let Self { tracers, meters, .. } = self;
        // Both wait for the export, which this thread carries out.
        let flushing = tokio::task::spawn_blocking(move || {
            let within = std::time::Duration::from_secs(5);
            let traced = tracers.map(|it| it.shutdown_with_timeout(within));
            let measured = meters.map(|it| it.shutdown_with_timeout(within));
            [traced, measured].into_iter().flatten().find_map(Result::err)
        });
        if let Ok(Some(error)) = flushing.await {
            print::note(text!("the last traces or metrics were not exported: {error}"));
        }
    }
}
