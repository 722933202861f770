//! The server under test, its limits, and control over its handlers.

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bowline::{
    Args, Ask, Context, Log, Notify, Progress, Resource, Server, State, Tool, tool, tools,
};
use bowline_http::server::{Endpoint, HttpLimits};
use bowline_proto::limits::Limits;
use bowline_server::http::Http;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, oneshot, watch};
use tokio::task::JoinHandle;

use crate::wire::{Answer, Head, Request, Wire};

/// Longer than any step of a test takes; a test that waits so long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Another loopback address than the default one of clients.
pub(crate) const NEIGHBOUR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Waits for a future, and panics after [`PATIENCE`].
pub(crate) async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens in time")
}

/// A server that listens on a free port.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    pub(crate) handlers: Handlers,
    pub(crate) notify: Notify,
    pub(crate) endpoint: Endpoint,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// Counts running handlers, and tells them when to go on.
#[derive(Clone)]
pub(crate) struct Handlers(Arc<HandlerState>);

struct HandlerState {
    /// The number of running handlers.
    running: watch::Sender<usize>,
    /// The number of handlers that have finished.
    ended: watch::Sender<usize>,
    /// Permits of the handlers that wait.
    steps: Semaphore,
}

/// Counts a handler as running until it is dropped.
pub(crate) struct RunningHandler(Handlers);

impl Handlers {
    pub(crate) fn new() -> Self {
        let (running, _) = watch::channel(0);
        let (ended, _) = watch::channel(0);
        Self(Arc::new(HandlerState { running, ended, steps: Semaphore::new(0) }))
    }

    pub(crate) fn run(&self) -> RunningHandler {
        self.0.running.send_modify(|running| *running += 1);
        RunningHandler(self.clone())
    }

    /// Waits until exactly `count` handlers run.
    pub(crate) async fn running(&self, count: usize) {
        let mut running = self.0.running.subscribe();
        within(running.wait_for(|running| *running == count)).await.unwrap();
    }

    /// Waits until exactly `count` handlers have finished.
    pub(crate) async fn ended(&self, count: usize) {
        let mut ended = self.0.ended.subscribe();
        within(ended.wait_for(|ended| *ended == count)).await.unwrap();
    }

    /// Lets handlers take `count` more steps.
    pub(crate) fn step(&self, count: usize) {
        self.0.steps.add_permits(count);
    }

    /// Removes the steps that no handler took.
    pub(crate) fn take_back(&self) {
        while let Ok(step) = self.0.steps.try_acquire() {
            step.forget();
        }
    }

    /// Counts a handler as finished.
    pub(crate) fn finish(&self) {
        self.0.ended.send_modify(|ended| *ended += 1);
    }

    pub(crate) async fn may_step(&self) {
        self.0.steps.acquire().await.unwrap().forget();
    }
}

impl Drop for RunningHandler {
    fn drop(&mut self) {
        self.0.0.running.send_modify(|running| *running -= 1);
    }
}

/// Say it again, after others had so many turns
#[tool]
async fn echo(text: String, #[arg(default)] turns: u32) -> String {
    for _ in 0..turns {
        tokio::task::yield_now().await;
    }
    text
}

/// Never end
#[tool]
async fn forever(State(handlers): State<Handlers>) {
    let _running = handlers.run();
    std::future::pending::<()>().await;
}

/// Wait for a step
#[tool]
async fn hold(State(handlers): State<Handlers>, #[arg(default)] text: String) -> &'static str {
    let _running = handlers.run();
    handlers.may_step().await;
    drop(text);
    handlers.finish();
    "held"
}

/// Say a number at each step, and how many there were in the end
#[tool]
async fn tell(State(handlers): State<Handlers>, log: Log, count: usize) -> String {
    let _running = handlers.run();
    for number in 1..=count {
        handlers.may_step().await;
        log.info(number);
    }
    handlers.may_step().await;
    handlers.finish();
    format!("told {count}")
}

/// Say how far it is
#[tool]
async fn advance(progress: Progress) -> &'static str {
    progress.report(1, None, "on the way");
    "arrived"
}

/// Say much, and wait for a step in the end
#[tool]
async fn flood(State(handlers): State<Handlers>, log: Log, count: usize, bytes: usize) -> String {
    let _running = handlers.run();
    for _ in 0..count {
        log.info("x".repeat(bytes));
        tokio::task::yield_now().await;
    }
    handlers.may_step().await;
    format!("said {count}")
}

/// Say much in one breath
#[tool]
async fn burst(log: Log, count: usize, bytes: usize) -> String {
    for _ in 0..count {
        log.info("x".repeat(bytes));
    }
    format!("burst {count}")
}

/// Answer at length
#[tool]
async fn long(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// Ask the user
#[tool]
async fn ask(State(handlers): State<Handlers>, ask: Ask) -> bowline::Result<&'static str> {
    let _running = handlers.run();
    Ok(if ask.confirm("Sure?").await? { "sure" } else { "not sure" })
}

/// Ask the user, and take the question back at the next step
#[tool]
async fn withdraw(State(handlers): State<Handlers>, ask: Ask) -> &'static str {
    let _running = handlers.run();
    tokio::select! {
        _ = ask.confirm("Sure?") => "answered",
        () = handlers.may_step() => "withdrawn",
    }
}

/// Send the client away, and wait for a step
#[tool]
async fn pause(
    State(handlers): State<Handlers>,
    context: Context,
    milliseconds: u64,
) -> &'static str {
    let _running = handlers.run();
    context.pause(Duration::from_millis(milliseconds));
    handlers.may_step().await;
    "back again"
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    #[serde(default)]
    #[schemars(extend("x-mcp-header" = "Zone"))]
    zone: i64,
}

async fn place(Args(Place { region, zone }): Args<Place>) -> String {
    format!("{region} {zone}")
}

/// A server with all of these tools, and the control over its handlers.
pub(crate) fn sample_server() -> (Server, Handlers) {
    let handlers = Handlers::new();
    let mut limits = Limits::default();
    limits.logs_per_minute = 1_000_000;
    let server = Server::new("stage", "1.0.0")
        .limits(limits)
        .state(handlers.clone())
        .tools(tools![echo, forever, hold, tell, advance, flood, burst, long, ask, withdraw, pause])
        .tool(Tool::new("place", place))
        .resource(Resource::new("note://a", || async { "a" }))
        .resource(Resource::new("note://b", || async { "b" }));
    (server, handlers)
}

/// The default limits with a change.
pub(crate) fn limits(change: impl FnOnce(&mut HttpLimits)) -> HttpLimits {
    let mut limits = HttpLimits::default();
    change(&mut limits);
    limits
}

impl TestServer {
    /// Starts the server with default settings.
    pub(crate) async fn open() -> Self {
        Self::with(|http| http).await
    }

    /// Starts the server with other limits.
    pub(crate) async fn limited(change: impl FnOnce(&mut HttpLimits)) -> Self {
        let limits = limits(change);
        Self::with(|http| http.limits(limits)).await
    }

    /// Starts the server with other HTTP settings.
    pub(crate) async fn with(change: impl FnOnce(Http) -> Http) -> Self {
        Self::of(sample_server(), change).await
    }

    /// Starts another server.
    pub(crate) async fn of(
        (server, handlers): (Server, Handlers),
        change: impl FnOnce(Http) -> Http,
    ) -> Self {
        let notify = server.notify();
        let bound = change(server.http()).listen("127.0.0.1:0").await.unwrap();
        let address = bound.address().unwrap();
        let endpoint = bound.endpoint().clone();
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(bound.serve_until(async {
            let _ = stopped.await;
        }));
        Self { address, handlers, notify, endpoint, stop, serving }
    }

    /// Sends a request on its own connection, and reads the whole response.
    pub(crate) async fn ask(&self, request: &Request) -> Answer {
        within(async { Wire::send(self.address, request).await.answer().await }).await
    }

    /// The same, from another address of this machine.
    pub(crate) async fn ask_from(&self, from: IpAddr, request: &Request) -> Answer {
        within(async { Wire::send_from(from, self.address, request).await.answer().await }).await
    }

    /// Sends a request on its own connection, and reads the head of the response.
    pub(crate) async fn ask_head(&self, request: &Request) -> Head {
        within(async { Wire::send(self.address, request).await.head().await }).await
    }

    /// Sends a request, and reads the head of the response, which must be a stream.
    pub(crate) async fn stream(&self, request: &Request) -> Wire {
        let mut wire = Wire::send(self.address, request).await;
        let head = within(wire.head()).await;
        assert!(head.status == 200 && head.is_stream(), "{head:?}");
        wire
    }

    /// Opens a session by a handshake.
    pub(crate) async fn session(&self, revision: Revision) -> Session {
        let answer = self.ask(&Request::post(initialize(revision))).await;
        assert_eq!(answer.status(), 200, "{answer:?}");
        let id = answer.header("mcp-session-id").expect("a session id").to_owned();
        let session = Session { id, revision };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.ask(&session.post(initialized)).await.status(), 202);
        session
    }

    /// Stops the server; the returned task ends when it has stopped.
    pub(crate) fn stopping(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.serving
    }
}

/// A session of a client.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    pub(crate) id: String,
    pub(crate) revision: Revision,
}

impl Session {
    pub(crate) fn post(&self, body: impl Into<String>) -> Request {
        self.named(Request::post(body))
    }

    pub(crate) fn call(&self, name: &str, arguments: impl Into<Value>) -> Request {
        let params = json!({ "name": name, "arguments": arguments.into() });
        self.post(request(1, "tools/call", params))
    }

    pub(crate) fn get(&self) -> Request {
        self.named(Request::get())
    }

    pub(crate) fn resume(&self, id: &str) -> Request {
        self.get().with("Last-Event-ID", id)
    }

    pub(crate) fn delete(&self) -> Request {
        self.named(Request::delete())
    }

    /// Adds the headers of this session to a request.
    pub(crate) fn named(&self, request: Request) -> Request {
        let request = request.with("Mcp-Session-Id", &self.id);
        match self.revision.has_version_header() {
            true => request.with("MCP-Protocol-Version", self.revision.to_string()),
            false => request,
        }
    }
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: impl Into<Value>) -> String {
    let (id, params) = (id.into(), params.into());
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

pub(crate) fn initialize(revision: Revision) -> String {
    let capabilities = json!({ "elicitation": {} });
    let client = json!({ "name": "test", "version": "1" });
    let version = revision.to_string();
    let params =
        json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
    request(0, "initialize", params)
}

/// The `_meta` of a modern request.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/logLevel": "info",
    })
}

/// A modern request with its mirrored headers.
pub(crate) fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Request {
    params["_meta"] = meta();
    let named = ["name", "uri", "taskId"].iter().find_map(|member| params[member].as_str());
    let named = named.map(str::to_owned);
    let request = Request::post(request(id, method, params))
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", method);
    match named {
        Some(name) => request.with("Mcp-Name", name),
        None => request,
    }
}

/// A modern call of a tool.
pub(crate) fn call(name: &str, arguments: impl Into<Value>) -> Request {
    modern(1, "tools/call", json!({ "name": name, "arguments": arguments.into() }))
}

/// A modern subscription.
pub(crate) fn listen(filter: impl Into<Value>) -> Request {
    modern("sub", "subscriptions/listen", json!({ "notifications": filter.into() }))
}

/// The text of a tool's result.
pub(crate) fn text_of(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}

/// Pseudo-random numbers that are the same in every run.
#[derive(Clone, Copy)]
pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }
}
