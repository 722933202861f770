//! Our own server over real sockets.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_http::client::{HttpTransport, RequestBody};
use bowline_http::server::{Endpoint, HttpConfig, Listener};
use bowline_proto::request::{Outgoing, ProgressUpdate, Request, Response, Success};
use bowline_proto::server::ServerConfig;
use bowline_transport::connect::{Link, connect};
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use tokio::net::TcpListener;
use tokio::sync::{Notify, oneshot};

use crate::support::{User, config, link, tool};

/// Three tools: one answers, one reports progress first, one never ends.
#[derive(Clone, Default)]
struct Tools {
    started: Arc<Notify>,
    dropped: Arc<Notify>,
}

/// Reports when it is dropped.
struct Alarm(Arc<Notify>);

impl Drop for Alarm {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

async fn serve(tools: Tools, request: Request) -> Response {
    let success = |body: &str| Ok(Success::raw(RawJson::from_text(body).unwrap(), Meta::new()));
    let name: Option<String> = request.params.parse("name").unwrap();
    match (request.parts.method, name.as_deref()) {
        (Method::ServerDiscover, _) => {
            success(r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#)
        }
        (_, Some("echo")) => success(r#"{"content":[]}"#),
        (_, Some("talk")) => {
            let advance = ProgressUpdate { progress: 1.0, total: None, message: None };
            request.parts.outbox.emit(Outgoing::Progress(advance)).unwrap();
            success(r#"{"content":[]}"#)
        }
        (_, Some("hang")) => {
            let _alarm = Alarm(tools.dropped);
            tools.started.notify_one();
            std::future::pending().await
        }
        _ => Err(ErrorObject::invalid_params("no such tool")),
    }
}

impl tower_service::Service<Request> for Tools {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let tools = self.clone();
        Box::pin(async { Ok(serve(tools, request).await) })
    }
}

/// Serves until the sender is dropped.
async fn served(tools: Tools, config: HttpConfig) -> (String, oneshot::Sender<()>) {
    let server = Arc::new(ServerConfig::new(Implementation::new("few-lines", "1.0.0")));
    let endpoint = Endpoint::new(tools, server, config);
    let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0)), "/mcp").await.unwrap();
    let url = format!("http://{}/mcp", listener.address().unwrap());
    let (stop, stopped) = oneshot::channel();
    tokio::spawn(listener.serve(endpoint, async move {
        let _ = stopped.await;
    }));
    (url, stop)
}

async fn connected(url: &str, revision: Revision) -> Link {
    let transport = HttpTransport::new(url).unwrap();
    link(transport, revision, &Arc::new(User::default())).await.unwrap()
}

// spec: HTTP-14
#[tokio::test]
async fn every_revision_is_spoken_with_our_own_server() {
    let (url, _stop) = served(Tools::default(), HttpConfig::new()).await;
    for revision in &Revision::ALL {
        let link = connected(&url, *revision).await;
        assert_eq!(link.profile().revision, *revision);
        link.call(tool("echo"), None).await.unwrap();
        let mut talk = tool("talk");
        talk.progress = true;
        link.call(talk, None).await.unwrap();
        link.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_run_at_the_same_time() {
    let (url, _stop) = served(Tools::default(), HttpConfig::new()).await;
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let link = connected(&url, revision).await;
        let calls: Vec<_> = (0..200).map(|_| link.call(tool("echo"), None)).collect();
        for call in calls {
            call.await.unwrap();
        }
        link.close().await;
    }
}

// spec: CANC-16, HTTP-28
#[tokio::test]
async fn a_dropped_call_ends_on_the_server() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let tools = Tools::default();
        let (url, _stop) = served(tools.clone(), HttpConfig::new()).await;
        let link = connected(&url, revision).await;
        let call = link.call(tool("hang"), None);
        tools.started.notified().await;
        drop(call);
        tools.dropped.notified().await;
        link.call(tool("echo"), None).await.unwrap();
        link.close().await;
    }
}

/// An endpoint that takes POSTs only at the address that its stream names, as servers did in 2024.
#[derive(Clone)]
struct Old(Endpoint);

impl tower_service::Service<http::Request<RequestBody>> for Old {
    type Response = http::Response<bowline_http::server::Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: http::Request<RequestBody>) -> Self::Future {
        let endpoint = self.0.clone();
        Box::pin(async move {
            let headers = request.headers_mut();
            headers.insert("host", http::HeaderValue::from_static("localhost"));
            if request.method() == http::Method::POST && request.uri().query().is_none() {
                *request.method_mut() = http::Method::PUT;
            }
            Ok(endpoint.answer(request).await)
        })
    }
}

// spec: SSE1-3, BC-6
#[tokio::test]
async fn the_transport_of_2024_is_spoken_with_our_own_server() {
    let server = Arc::new(ServerConfig::new(Implementation::new("few-lines", "1.0.0")));
    let endpoint = Endpoint::new(Tools::default(), server, HttpConfig::new().with_sse2024());
    let transport = HttpTransport::with_service("http://localhost/sse", Old(endpoint)).unwrap();
    let user = Arc::new(User::default());
    let link = link(transport, Revision::V2024_11_05, &user).await.unwrap();
    link.call(tool("echo"), None).await.unwrap();
    let mut talk = tool("talk");
    talk.progress = true;
    link.call(talk, None).await.unwrap();
    link.close().await;
}

#[tokio::test]
async fn a_wrong_path_is_reported_with_address_and_status_and_what_to_do() {
    let (url, _stop) = served(Tools::default(), HttpConfig::new()).await;
    let url = url.replace("/mcp", "/wrong");
    let modern = [Revision::V2026_07_28];
    for revisions in [&Revision::ALL[..], &modern, &[Revision::V2025_11_25]] {
        let transport = HttpTransport::new(&url).unwrap();
        let error = connect(transport, config(revisions), Arc::new(User::default())).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(&format!("POST {url}: 404 Not Found: ")), "{error}");
        assert!(error.contains("check the path"), "{error}");
    }
}

#[tokio::test]
async fn a_request_to_an_unreachable_server_was_not_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let user = Arc::new(User::default());
    let transport = HttpTransport::new(&url).unwrap();
    let error = link(transport, Revision::V2026_07_28, &user).await.unwrap_err().to_string();
    assert!(error.contains(&format!("POST {url}: ")), "{error}");
    assert!(error.contains("refused"), "{error}");
}
