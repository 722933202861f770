//! A server that the test plays, request by request, and the user of the client.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_http::client::{HttpTransport, RequestBody};
use bowline_proto::client::{CallRequest, ClientConfig};
use bowline_transport::BoxFuture;
use bowline_transport::connect::{ConnectError, Host, Link, connect};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

pub(crate) const URL: &str = "http://server.example/mcp";

/// A server that the test plays.
pub(crate) struct FakeServer(mpsc::UnboundedReceiver<ReceivedRequest>);

/// A request that the client has sent and that is not answered yet.
pub(crate) struct ReceivedRequest {
    pub(crate) method: http::Method,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    answer: oneshot::Sender<Response<Pieces>>,
}

/// A stream of events that the test writes.
pub(crate) struct Events(mpsc::UnboundedSender<io::Result<Bytes>>);

/// The body of an answer.
pub(crate) struct Pieces(mpsc::UnboundedReceiver<io::Result<Bytes>>);

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<http_body::Frame<Bytes>>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|it| it.map(http_body::Frame::data)))
    }
}

/// A transport to a server that the test plays.
pub(crate) fn fake() -> (HttpTransport, FakeServer) {
    fake_at(URL)
}

/// The same at another address.
pub(crate) fn fake_at(url: &str) -> (HttpTransport, FakeServer) {
    let (sender, requests) = mpsc::unbounded_channel();
    (HttpTransport::with_service(url, Wire(sender)).unwrap(), FakeServer(requests))
}

#[derive(Clone)]
struct Wire(mpsc::UnboundedSender<ReceivedRequest>);

impl tower_service::Service<Request<RequestBody>> for Wire {
    type Response = Response<Pieces>;
    type Error = io::Error;
    type Future = BoxFuture<io::Result<Response<Pieces>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let sender = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.unwrap_or_else(|never: Infallible| match never {});
            let text = String::from_utf8(body.to_bytes().to_vec()).unwrap();
            let (answer, answered) = oneshot::channel();
            let uri = parts.uri.to_string();
            let received =
                ReceivedRequest { method: parts.method, uri, headers: parts.headers, text, answer };
            let gone = || io::Error::new(io::ErrorKind::ConnectionReset, "the server is gone");
            sender.send(received).map_err(|_| gone())?;
            answered.await.map_err(|_| gone())
        })
    }
}

impl FakeServer {
    /// The next request.
    pub(crate) async fn next(&mut self) -> ReceivedRequest {
        tokio::time::timeout(Duration::from_secs(24 * 3600), self.0.recv()).await.unwrap().unwrap()
    }

    /// The next request, which is a POST of this method.
    pub(crate) async fn expect(&mut self, method: &str) -> ReceivedRequest {
        let received = self.next().await;
        assert_eq!(
            (received.method.as_str(), received.rpc_method()),
            ("POST", method),
            "{}",
            received.text
        );
        received
    }

    /// The next request, which is a GET.
    pub(crate) async fn expect_get(&mut self) -> ReceivedRequest {
        let received = self.next().await;
        assert_eq!(received.method, http::Method::GET, "{}", received.text);
        received
    }

    /// Whether the test has taken every request that the client sent.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.0.try_recv().is_err()
    }

    /// Shakes hands, gives a session if one is named, and has no stream of its own.
    pub(crate) async fn shake_hands(&mut self, session: Option<&str>) {
        self.shake_hands_until_get(session).await.status(405);
    }

    /// Shakes hands, and returns the GET by which the client then asks for the server's own stream.
    async fn shake_hands_until_get(&mut self, session: Option<&str>) -> ReceivedRequest {
        let received = self.expect("initialize").await;
        assert!(received.header("mcp-session-id").is_none());
        let revision = received.json()["params"]["protocolVersion"].clone();
        received.initialize(&revision, session);
        self.expect("notifications/initialized").await.status(202);
        self.expect_get().await
    }

    /// Answers the probe of a client that asks in a modern revision.
    pub(crate) async fn discover(&mut self) {
        self.expect("server/discover").await.result(&json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {}, "logging": {} },
        }));
    }
}

impl ReceivedRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no message: {}", self.text))
    }

    pub(crate) fn rpc_method(&self) -> &str {
        let Some((_, rest)) = self.text.split_once(r#""method":""#) else { return "" };
        rest.split('"').next().unwrap_or_default()
    }

    pub(crate) fn id(&self) -> Value {
        self.json()["id"].clone()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn status(self, status: u16) {
        self.respond(status, &[], "");
    }

    /// Answers with a result.
    pub(crate) fn result(self, result: &Value) {
        let body = json!({ "jsonrpc": "2.0", "id": self.id(), "result": result }).to_string();
        self.respond(200, &[("content-type", "application/json")], &body);
    }

    /// Answers a handshake.
    pub(crate) fn initialize(self, revision: &Value, session: Option<&str>) {
        let body = json!({ "jsonrpc": "2.0", "id": self.id(), "result": {
            "protocolVersion": revision,
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": { "name": "fake", "version": "1" },
        }});
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(session.map(|session| ("mcp-session-id", session)));
        self.respond(200, &headers, &body.to_string());
    }

    pub(crate) fn respond(self, status: u16, headers: &[(&str, &str)], body: &str) {
        let events = self.begin(status, headers);
        if !body.is_empty() {
            events.write(body);
        }
    }

    /// Answers with a stream.
    pub(crate) fn events(self) -> Events {
        self.begin(200, &[("content-type", "text/event-stream; charset=utf-8")])
    }

    /// Begins an answer, whose body the test writes.
    pub(crate) fn begin(self, status: u16, headers: &[(&str, &str)]) -> Events {
        let (sender, pieces) = mpsc::unbounded_channel();
        let mut response = Response::new(Pieces(pieces));
        *response.status_mut() = StatusCode::from_u16(status).unwrap();
        for (name, value) in headers {
            let name = name.parse::<http::HeaderName>().unwrap();
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        let _ = self.answer.send(response);
        Events(sender)
    }

    /// Waits until the client hangs up.
    pub(crate) async fn given_up(mut self) {
        self.answer.closed().await;
    }
}

impl Events {
    pub(crate) fn write(&self, text: &str) {
        let _ = self.0.send(Ok(Bytes::copy_from_slice(text.as_bytes())));
    }

    pub(crate) fn message(&self, message: &Value) {
        self.write(&format!("data: {message}\n\n"));
    }

    pub(crate) fn result(&self, id: &Value, result: &Value) {
        self.message(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    /// Fails the stream, as if the connection broke.
    pub(crate) fn cut(self) {
        let _ = self.0.send(Err(io::Error::new(io::ErrorKind::ConnectionReset, "cable pulled")));
    }

    /// Waits until the client hangs up.
    pub(crate) async fn given_up(self) {
        self.0.closed().await;
    }
}

/// The user of the client: collects diagnostics, and notes changes.
#[derive(Default)]
pub(crate) struct User {
    diagnostics: std::sync::Mutex<Vec<String>>,
    pub(crate) changed: tokio::sync::Notify,
    pub(crate) noticed: tokio::sync::Notify,
}

impl User {
    pub(crate) fn diagnostics(&self) -> Vec<String> {
        self.diagnostics.lock().unwrap().clone()
    }
}

impl Host for User {
    fn answer(&self, _: InputRequest) -> BoxFuture<Result<RawJson, ErrorObject>> {
        Box::pin(ready(Err(ErrorObject::internal("this test answers no questions"))))
    }

    fn changed(&self, _: bowline_proto::request::ReportedChange) {
        self.changed.notify_one();
    }

    fn diagnostic(&self, what: &str) {
        self.diagnostics.lock().unwrap().push(what.to_owned());
        self.noticed.notify_one();
    }
}

pub(crate) fn config(revisions: &[Revision]) -> Arc<ClientConfig> {
    let info = Implementation::new("test", "1.0.0");
    let config = ClientConfig::new(info, ClientCapabilities::new());
    Arc::new(config.with_revisions(revisions.iter().copied()))
}

/// Connects in one revision, so that no probe comes before a handshake.
pub(crate) async fn link(
    transport: HttpTransport,
    revision: Revision,
    user: &Arc<User>,
) -> Result<Link, ConnectError> {
    connect(transport, config(&[revision]), user.clone()).await
}

/// A modern connection.
pub(crate) async fn modern() -> (Link, FakeServer, Arc<User>) {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let (link, ()) = tokio::join!(link(transport, Revision::V2026_07_28, &user), fake.discover());
    (link.unwrap(), fake, user)
}

/// A connection with a session, whose server has no stream of its own.
pub(crate) async fn session() -> (Link, FakeServer, Arc<User>) {
    let (link, fake, user, get) = opening().await;
    get.status(405);
    (link, fake, user)
}

/// A connection with a session, and the GET for the server's own stream, which is not answered yet.
pub(crate) async fn opening() -> (Link, FakeServer, Arc<User>, ReceivedRequest) {
    let (transport, mut fake) = fake();
    let user = Arc::new(User::default());
    let shaken = fake.shake_hands_until_get(Some("first"));
    let (link, get) = tokio::join!(link(transport, Revision::V2025_11_25, &user), shaken);
    (link.unwrap(), fake, user, get)
}

/// A call of a tool.
pub(crate) fn tool(name: &str) -> CallRequest {
    let params = RawJson::from_value(&json!({ "name": name, "arguments": {} })).unwrap();
    CallRequest::new(Method::ToolsCall, Object::new(params).unwrap())
}

/// The same, awaited for as long as it takes.
pub(crate) fn patient(name: &str) -> CallRequest {
    let mut call = tool(name);
    call.timeout = Some(Duration::from_secs(24 * 3600));
    call.deadline = call.timeout;
    call
}

/// An empty result of a tool call.
pub(crate) fn done() -> Value {
    json!({ "resultType": "complete", "content": [] })
}
