//! Serves an rmcp server with the fastest settings that rmcp's documentation describes.
//!
//! Every choice here is in rmcp's favour and names its source in rmcp's documentation.

use std::env;
use std::error::Error;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::stdio_pipes;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt};
use tokio::net::TcpListener;

/// Any error that ends a server.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Serves as the first arguments of the program say: `stdio`, or `http ADDRESS`.
///
/// # Errors
///
/// If they say neither, or if the transport cannot be opened or breaks.
pub async fn serve<S: ServerHandler>(server: S) -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("stdio"), _) => serve_stdio(server).await,
        (Some("http"), Some(address)) => serve_http(server, &address).await,
        _ => Err("say how to serve: `stdio` or `http 127.0.0.1:3000`")?,
    }
}

/// The docs of `rmcp::transport::stdio`: "When both standard streams are pipes, prefer
/// `stdio_pipes`, which avoids the per-operation thread hand-off on Linux".
async fn serve_stdio<S: ServerHandler>(server: S) -> Result<(), Failure> {
    server.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}

/// Straight on hyper, which is leaner than a router of axum with one route: rmcp's own example
/// `counter_hyper_streamable_http.rs`, without HTTP/2, which the generator does not speak.
async fn serve_http<S: ServerHandler>(server: S, address: &str) -> Result<(), Failure> {
    // One server for all: `StreamableHttpService` calls this for each session and for each request
    // without one (`get_service`), and it may return the same server each time.
    let server = Arc::new(server);
    let service =
        StreamableHttpService::new(move || Ok(Arc::clone(&server)), sessions(), configuration());
    let listener = TcpListener::bind(address).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = TowerToHyperService::new(service.clone());
        tokio::spawn(async move {
            // An error of one connection does not affect the others.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Answers of 2026-07-28 are plain JSON. That has no effect on sessions, whose answers are always
/// streams of events (the docs of `StreamableHttpServerConfig::json_response`); those are made as
/// short as the fields `sse_retry` and `sse_keep_alive` allow: no event before the answer, and no
/// timer beside it.
///
/// Sessions stay on, because with them 2025-11-25 is measured, and without them a server cannot
/// notify clients of changes. The check of `Host` stays on, as it does for the others.
fn configuration() -> StreamableHttpServerConfig {
    StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_sse_retry(None)
        .with_sse_keep_alive(None)
}

/// `SessionConfig::sse_retry`: without it, no event goes before the answer to a request.
fn sessions() -> Arc<LocalSessionManager> {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.sse_retry = None;
    Arc::new(sessions)
}
