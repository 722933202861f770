//! The scripted server, which expects and sends lines, and functions to connect to it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{Client, ClientBuilder, ToolOutcome};
use bowline_transport::lines::Lines;
use futures_util::future::BoxFuture;
use futures_util::poll;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, duplex, split,
};
use tokio::time::timeout;

/// The `server/discover` result of a server with tools and logging.
pub(crate) const DISCOVERED: &str = concat!(
    r#"{"resultType":"complete","ttlMs":0,"cacheScope":"public","#,
    r#""supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"logging":{}},"#,
    r#""instructions":"Ask first.","#,
    r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"2"}}}"#
);

/// The client's end of a channel in memory.
pub(crate) type Near = Lines<ReadHalf<DuplexStream>, WriteHalf<DuplexStream>>;

/// The server's end.
pub(crate) struct Peer {
    lines: tokio::io::Lines<BufReader<ReadHalf<DuplexStream>>>,
    sink: WriteHalf<DuplexStream>,
}

/// A request that the client sent.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) id: i64,
    pub(crate) params: Value,
}

pub(crate) fn pair() -> (Near, Peer) {
    let (near, far) = duplex(1024 * 1024);
    let (source, sink) = split(near);
    let near = Lines::new(source, sink);
    let (source, sink) = split(far);
    (near, Peer { lines: BufReader::new(source).lines(), sink })
}

impl Peer {
    /// The next line, which must be there.
    pub(crate) async fn line(&mut self) -> String {
        let line = self.lines.next_line().await.unwrap();
        line.expect("the client closed the channel")
    }

    pub(crate) async fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    /// The next line, which must be a request of this method.
    pub(crate) async fn request(&mut self, method: &str) -> Request {
        let line = self.line().await;
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        assert_eq!(message["method"], method, "{line}");
        let id = message["id"].as_i64().expect("a request has an integer for an id");
        Request { id, params: message["params"].clone() }
    }

    /// The params of the next line, which must be a notification of this method.
    pub(crate) async fn notification(&mut self, method: &str) -> Value {
        let message = self.message().await;
        assert_eq!(message["method"], method, "{message}");
        assert_eq!(message.get("id"), None, "{message}");
        message["params"].clone()
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.sink.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn send_json(&mut self, message: Value) {
        self.send(&message.to_string()).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: &Value) {
        self.send_json(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    pub(crate) async fn answer(&mut self, request: &Request, result: &str) {
        let id = request.id;
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).await;
    }

    pub(crate) async fn answer_text(&mut self, request: &Request, text: &str) {
        let result =
            json!({ "resultType": "complete", "content": [{ "type": "text", "text": text }] });
        self.answer(request, &result.to_string()).await;
    }

    pub(crate) async fn refuse(&mut self, request: &Request, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.send_json(json!({ "jsonrpc": "2.0", "id": request.id, "error": error })).await;
    }

    pub(crate) async fn report(&mut self, token: &Value, progress: f64) {
        let params = json!({ "progressToken": token, "progress": progress });
        self.notify("notifications/progress", &params).await;
    }

    /// Takes part in a handshake, and answers with this revision.
    pub(crate) async fn shake(&mut self, revision: &str) -> Request {
        let request = self.request("initialize").await;
        self.answer(&request, &initialized(revision)).await;
        request
    }

    /// Lets virtual time pass, in which the client must not send anything.
    pub(crate) async fn gets_nothing(&mut self) {
        let line = timeout(Duration::from_millis(1), self.lines.next_line()).await;
        assert!(line.is_err(), "{line:?}");
    }

    /// Expects that the client closes the channel and sends nothing before.
    pub(crate) async fn hears_the_end(&mut self) {
        assert_eq!(self.lines.next_line().await.unwrap(), None);
    }
}

/// These capabilities, with the extension that the client of [`builder`] declares on 2026-07-28.
pub(crate) fn with_tasks(capabilities: &Value) -> Value {
    let mut capabilities = capabilities.clone();
    capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
    capabilities
}

/// These capabilities, with the tasks that a client of 2025-11-25 declares for its questions.
pub(crate) fn with_question_tasks(capabilities: &Value) -> Value {
    let mut requests = json!({});
    for (feature, method) in [("elicitation", "create"), ("sampling", "createMessage")] {
        if capabilities.get(feature).is_some() {
            requests[feature] = json!({ method: {} });
        }
    }
    let mut capabilities = capabilities.clone();
    if requests != json!({}) {
        capabilities["tasks"] = json!({ "list": {}, "cancel": {}, "requests": requests });
    }
    capabilities
}

/// Tools and logs.
fn basic() -> Value {
    json!({ "tools": {}, "logging": {} })
}

/// The `server/discover` result of a server with these capabilities.
fn offering(result: &str, capabilities: &Value) -> String {
    let mut result: Value = serde_json::from_str(result).unwrap();
    result["capabilities"] = capabilities.clone();
    result.to_string()
}

/// The `initialize` result of a server with tools and logging.
pub(crate) fn initialized(revision: &str) -> String {
    json!({
        "protocolVersion": revision,
        "capabilities": { "tools": {}, "logging": {} },
        "serverInfo": { "name": "scripted", "version": "1" },
        "instructions": "Ask first.",
    })
    .to_string()
}

pub(crate) fn builder() -> ClientBuilder {
    Client::builder("tester", "0.1.0").tasks()
}

/// A connected client and server of 2026-07-28.
pub(crate) async fn modern(builder: ClientBuilder) -> (Client, Peer) {
    modern_with(builder, &basic()).await
}

/// The same, whose server can do this.
pub(crate) async fn modern_with(builder: ClientBuilder, capabilities: &Value) -> (Client, Peer) {
    let (near, mut peer) = pair();
    let serve = async {
        let request = peer.request("server/discover").await;
        peer.answer(&request, &offering(DISCOVERED, capabilities)).await;
    };
    let (client, ()) = tokio::join!(builder.connect(near), serve);
    (client.unwrap(), peer)
}

/// A connected client and server of a revision with a handshake.
pub(crate) async fn legacy(builder: ClientBuilder, revision: Revision) -> (Client, Peer) {
    legacy_with(builder, revision, &basic()).await
}

/// The same, whose server can do this.
pub(crate) async fn legacy_with(
    builder: ClientBuilder,
    revision: Revision,
    capabilities: &Value,
) -> (Client, Peer) {
    let (near, mut peer) = pair();
    let serve = async {
        let request = peer.request("server/discover").await;
        peer.refuse(&request, -32601, "Method not found").await;
        let request = peer.request("initialize").await;
        peer.answer(&request, &offering(&initialized(revision.as_str()), capabilities)).await;
        peer.notification("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(builder.connect(near), serve);
    (client.unwrap(), peer)
}

/// A connected client and server of each era.
pub(crate) async fn both(builder: ClientBuilder) -> [(Client, Peer); 2] {
    both_with(builder, &basic()).await
}

/// The same, whose servers can do this.
pub(crate) async fn both_with(builder: ClientBuilder, capabilities: &Value) -> [(Client, Peer); 2] {
    [
        modern_with(builder.clone(), capabilities).await,
        legacy_with(builder, Revision::LATEST_LEGACY, capabilities).await,
    ]
}

/// Begins to call a tool. The call stays open until the server answers the request.
pub(crate) async fn begin_call(
    client: &Client,
    peer: &mut Peer,
) -> (BoxFuture<'static, bowline_client::Result<ToolOutcome>>, Request) {
    let mut call = client.call("work", ()).into_future();
    assert!(poll!(&mut call).is_pending());
    (call, peer.request("tools/call").await)
}

/// Calls a tool, and expects its answer: the connection works.
pub(crate) async fn assert_call_works(client: &Client, peer: &mut Peer) {
    let serve = async {
        let request = peer.request("tools/call").await;
        peer.answer_text(&request, "done").await;
    };
    let (outcome, ()) = tokio::join!(client.call("work", ()).into_future(), serve);
    assert_eq!(outcome.unwrap().text(), "done");
}

/// Asks a client a question in the way of its era; returns its result, or the text of the error.
pub(crate) async fn put(
    (client, peer): &mut (Client, Peer),
    method: &str,
    params: &Value,
) -> Result<Value, String> {
    let question = json!({ "method": method, "params": params });
    if !client.revision().is_modern() {
        let mut request = question;
        request["jsonrpc"] = "2.0".into();
        request["id"] = "q".into();
        peer.send_json(request).await;
        let mut answer = peer.message().await;
        assert_eq!(answer["id"], "q", "{answer}");
        let error = &answer["error"];
        return match error["code"].as_i64() {
            Some(code) => Err(format!("{} ({code})", error["message"].as_str().unwrap())),
            None => Ok(answer["result"].take()),
        };
    }
    let mut call = client.call("ask", ()).into_future();
    let serve = async {
        let first = peer.request("tools/call").await;
        let required =
            json!({ "resultType": "input_required", "inputRequests": { "q": question } });
        peer.answer(&first, &required.to_string()).await;
        let mut again = peer.request("tools/call").await;
        let response = again.params["inputResponses"]["q"].take();
        peer.answer_text(&again, "done").await;
        response
    };
    tokio::select! {
        response = serve => {
            call.await.unwrap();
            Ok(response)
        }
        outcome = &mut call => Err(outcome.unwrap_err().to_string()),
    }
}

/// Keeps the texts that a handler got.
#[derive(Clone, Default)]
pub(crate) struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    pub(crate) fn hear(&self) -> impl Fn(&str) + Send + Sync + 'static + use<> {
        let heard = self.clone();
        move |what| heard.push(what)
    }

    pub(crate) fn push(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}
