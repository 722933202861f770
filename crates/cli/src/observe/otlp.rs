//! The export of traces and metrics by OTLP over HTTP, as the environment says.
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` and its kin turn it on. Threads of the SDK wait for each export;
//! the runtime of the command carries it out.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Response};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use opentelemetry_otlp::{ExporterBuildError, MetricExporter, SpanExporter, WithHttpConfig as _};
use tokio::runtime::Handle;

use crate::print::{self, text};

/// The most bytes of an answer.
const MOST_ANSWER: usize = 64 * 1024;

/// How long an export may take, unless `OTEL_EXPORTER_OTLP_TIMEOUT` says otherwise.
const LONGEST_EXPORT: Duration = Duration::from_secs(10);

/// Exports spans, if the environment names an endpoint for them.
pub(super) fn spans() -> Option<SpanExporter> {
    exporter("TRACES", |client| {
        SpanExporter::builder().with_http().with_http_client(client).build()
    })
}

/// Exports metrics, if the environment names an endpoint for them.
pub(super) fn metrics() -> Option<MetricExporter> {
    exporter("METRICS", |client| {
        MetricExporter::builder().with_http().with_http_client(client).build()
    })
}

/// Makes the exporter for `TRACES` or `METRICS`. A command without traces is still of use, so an
/// error is only reported.
fn exporter<E>(
    signal: &str,
    build: impl FnOnce(OtlpClient) -> Result<E, ExporterBuildError>,
) -> Option<E> {
    let of_signal = |name: &str| variable(&format!("OTEL_EXPORTER_OTLP_{signal}_{name}"));
    let either = |name| of_signal(name).or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{name}")));
    let is_off = variable("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"))
        || variable(&format!("OTEL_{signal}_EXPORTER")).is_some_and(|it| it == "none");
    if is_off || either("ENDPOINT").is_none() {
        return None;
    }
    let protocol = either("PROTOCOL").unwrap_or_else(|| "http/protobuf".to_owned());
    if protocol != "http/protobuf" {
        print::note(text!(
            "no export of {}: `{protocol}` is not supported, only `http/protobuf`",
            signal.to_lowercase()
        ));
        return None;
    }
    let millis = either("TIMEOUT").and_then(|it| it.parse().ok());
    let longest = millis.map_or(LONGEST_EXPORT, Duration::from_millis);
    let exporter = OtlpClient::new(longest).and_then(|client| Ok(build(client)?));
    let report = |error: HttpError| {
        print::note(text!("no export of {}: {error}", signal.to_lowercase()));
    };
    exporter.map_err(report).ok()
}

/// A variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Sends exports with the HTTP client that the rest of this program uses.
#[derive(Clone)]
struct OtlpClient {
    runtime: Handle,
    http: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    longest: Duration,
    /// Whether the last export failed. Only the first of several failures is reported.
    is_failing: Arc<AtomicBool>,
}

impl OtlpClient {
    fn new(longest: Duration) -> Result<Self, HttpError> {
        let provider = rustls::crypto::ring::default_provider();
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(provider)?
            .https_or_http()
            .enable_http1()
            .build();
        let http = Client::builder(TokioExecutor::new()).build(connector);
        let is_failing = Arc::new(AtomicBool::new(false));
        Ok(Self { runtime: Handle::try_current()?, http, longest, is_failing })
    }

    async fn send(self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (scheme, authority) = (request.uri().scheme_str(), request.uri().authority());
        let place =
            format!("{}://{}", scheme.unwrap_or("http"), authority.map_or("", |it| it.as_str()));
        let sending = async {
            let response = self.http.request(request.map(Full::new)).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, MOST_ANSWER).collect().await?.to_bytes();
            Ok::<_, HttpError>(Response::from_parts(head, body))
        };
        let outcome = tokio::time::timeout(self.longest, sending).await;
        let outcome =
            outcome.unwrap_or_else(|_| Err(format!("no answer within {:?}", self.longest).into()));
        let failure = match &outcome {
            Ok(response) if response.status().is_success() => None,
            Ok(response) => Some(response.status().to_string()),
            Err(error) => Some(error.to_string()),
        };
        let was_failing = self.is_failing.swap(failure.is_some(), Ordering::Relaxed);
        if let Some(reason) = failure.filter(|_| !was_failing) {
            print::note(text!("cannot export traces or metrics to {place}: {reason}"));
        }
        outcome
    }
}

impl HttpClient for OtlpClient {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        // A thread of the SDK awaits this, which has no runtime of its own.
        let sending = self.runtime.spawn(self.clone().send(request));
        Box::pin(async move { sending.await? })
    }
}

impl fmt::Debug for OtlpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OtlpClient")
    }
}
