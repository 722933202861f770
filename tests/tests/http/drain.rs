//! A server that stops: running calls finish, or are answered with an error.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_http::store::MemoryBackend;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::task::JoinHandle;

use crate::test_server::{TestServer, call, initialize, limits, listen, request, text_of, within};
use crate::wire::{Request, Wire};

/// A drain time that no test should have to wait for.
const LONG: Duration = Duration::from_secs(15);
const SHORT: Duration = Duration::from_millis(300);

async fn draining(drain: Duration) -> TestServer {
    TestServer::limited(|it| it.drain = drain).await
}

/// Waits for a server that stops, and checks how long that takes.
async fn ended(stopping: JoinHandle<()>, most: Duration) {
    let begun = Instant::now();
    within(stopping).await.unwrap();
    assert!(begun.elapsed() < most + Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_server_without_open_calls_stops_at_once() {
    let server = draining(LONG).await;
    let idle = Wire::open(server.address).await;
    let mut used = Wire::send(server.address, &call("echo", json!({ "text": "a" }))).await;
    within(used.answer()).await;
    ended(server.stopping(), Duration::ZERO).await;
    within(used.closed()).await;
    drop(idle);
}

// spec: HTTP-44
#[tokio::test]
async fn a_server_that_stops_ends_idle_session_streams_at_once() {
    let server = draining(LONG).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut wire = server.stream(&session.get()).await;
    ended(server.stopping(), Duration::ZERO).await;
    assert_eq!(within(wire.messages()).await, []);
    assert!(wire.is_whole());
}

// spec: SUB-13
#[tokio::test]
async fn a_server_that_stops_answers_subscriptions_at_once() {
    let server = draining(LONG).await;
    let mut wire = server.stream(&listen(json!({ "toolsListChanged": true }))).await;
    ended(server.stopping(), Duration::ZERO).await;
    let messages = within(wire.messages()).await;
    assert_eq!(messages.last().unwrap().json()["result"]["resultType"], "complete");
    assert!(wire.is_whole());
}

#[tokio::test]
async fn a_server_that_stops_answers_a_call_that_ends_within_the_drain_time() {
    let server = draining(LONG).await;
    let session = server.session(Revision::V2025_11_25).await;
    let handlers = server.handlers.clone();
    handlers.step(1);
    let mut told = server.stream(&session.call("tell", json!({ "count": 1 }))).await;
    let held = [call("hold", json!({})), session.call("hold", json!({}))];
    let mut wires = Vec::new();
    for request in &held {
        wires.push(Wire::send(server.address, request).await);
    }
    handlers.running(3).await;
    let stopping = server.stopping();
    handlers.step(10);
    for wire in &mut wires {
        assert_eq!(text_of(&within(wire.answer()).await.json()), "held");
    }
    let last = within(told.messages()).await;
    assert_eq!(text_of(&last.last().unwrap().json()), "told 1");
    ended(stopping, Duration::ZERO).await;
}

#[tokio::test]
async fn a_server_that_stops_answers_a_call_that_does_not_end_with_an_error() {
    let server = draining(SHORT).await;
    let session = server.session(Revision::V2025_11_25).await;
    let handlers = server.handlers.clone();
    let mut modern = Wire::send(server.address, &call("forever", json!({}))).await;
    let mut legacy = Wire::send(server.address, &session.call("forever", json!({}))).await;
    handlers.running(2).await;
    let mut streams = Vec::new();
    let said = json!({ "count": 1, "bytes": 1 });
    for request in [call("flood", said.clone()), session.call("flood", said)] {
        let mut wire = server.stream(&request).await;
        within(wire.message()).await.unwrap();
        streams.push(wire);
    }
    ended(server.stopping(), SHORT).await;
    let answer = within(modern.answer()).await;
    assert_eq!((answer.status(), answer.code()), (503, -32603), "{answer:?}");
    assert_eq!(answer.json()["id"], 1);
    let answer = within(legacy.answer()).await;
    assert_eq!(answer.status(), 503, "{answer:?}");
    let last = within(streams[0].messages()).await;
    assert_eq!(last.last().unwrap().json()["error"]["code"], -32603, "{last:?}");
    within(streams[1].messages()).await;
    assert!(streams.iter().all(Wire::is_whole), "nothing is cut in the middle");
    handlers.running(0).await;
}

// spec: HTTP-25
#[tokio::test]
async fn an_open_question_does_not_delay_the_stop_of_the_server() {
    let server = draining(SHORT).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut wire = server.stream(&session.call("ask", json!({}))).await;
    let question = within(wire.message()).await.unwrap().json();
    assert_eq!(question["method"], "elicitation/create");
    ended(server.stopping(), SHORT).await;
    within(wire.messages()).await;
    assert!(wire.is_whole());
}

#[tokio::test]
async fn a_client_of_2024_gets_its_answer_before_the_server_stops() {
    let limits = crate::test_server::limits(|it| it.drain = LONG);
    let server = TestServer::with(|http| http.limits(limits).sse2024()).await;
    let mut wire = server.stream(&Request::get()).await;
    let target = within(wire.event()).await.unwrap().data.unwrap();
    let hold = request(1, "tools/call", json!({ "name": "hold", "arguments": {} }));
    for body in [initialize(Revision::V2024_11_05), hold] {
        assert_eq!(server.ask(&Request::post(body).target(&target)).await.status(), 202);
    }
    let handlers = server.handlers.clone();
    handlers.running(1).await;
    let stopping = server.stopping();
    handlers.step(1);
    let messages = within(wire.messages()).await;
    assert_eq!(text_of(&messages.last().unwrap().json()), "held");
    ended(stopping, Duration::ZERO).await;
}

#[tokio::test]
async fn a_stopped_server_refuses_connections() {
    let server = draining(SHORT).await;
    let address = server.address;
    let mut wire = Wire::send(address, &call("forever", json!({}))).await;
    server.handlers.running(1).await;
    ended(server.stopping(), SHORT).await;
    within(wire.answer()).await;
    within(wire.closed()).await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the port is closed");
}

/// A replica: a server with a shared store.
async fn replica(lame_duck: Duration) -> TestServer {
    let limits = limits(|it| it.lame_duck = lame_duck);
    let store = Arc::new(MemoryBackend::default());
    TestServer::with(|http| http.store(store).limits(limits)).await
}

fn probe(path: &str) -> Request {
    Request::get().target(path).set("host", "10.0.0.7:8080")
}

/// A balancer sends requests on connections that it has open, and on new ones, until it has noticed.
#[tokio::test]
async fn a_replica_that_is_about_to_stop_serves_on_and_asks_clients_to_close() {
    let server = replica(LONG).await;
    let (address, endpoint) = (server.address, server.endpoint.clone());
    let echo = call("echo", json!({ "text": "a" }));
    let mut used = Wire::send(address, &echo).await;
    assert_eq!(within(used.answer()).await.header("connection"), None);
    assert_eq!(server.ask(&probe("/readyz")).await.status(), 200);
    let mut subscribed = server.stream(&listen(json!({ "toolsListChanged": true }))).await;
    let notify = server.notify.clone();
    let stopping = server.stopping();
    within(async {
        while endpoint.is_ready() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    used.write(&echo.bytes()).await;
    let mut new = Wire::send(address, &echo).await;
    for wire in [&mut used, &mut new] {
        let answer = within(wire.answer()).await;
        assert_eq!(text_of(&answer.json()), "a");
        assert_eq!(answer.header("connection"), Some("close"));
        within(wire.closed()).await;
    }
    for (path, status) in [("/readyz", 503), ("/livez", 200), ("/other", 403)] {
        let answer = within(async { Wire::send(address, &probe(path)).await.answer().await });
        assert_eq!(answer.await.status(), status, "{path}");
    }
    notify.tools_changed();
    while within(subscribed.message()).await.unwrap().json()["method"]
        != "notifications/tools/list_changed"
    {}
    endpoint.stop();
    ended(stopping, Duration::ZERO).await;
}

#[tokio::test]
async fn a_replica_without_open_calls_stops_after_the_time_of_a_lame_duck() {
    let begun = Instant::now();
    ended(replica(SHORT).await.stopping(), SHORT).await;
    assert!(begun.elapsed() >= SHORT);
}

/// Sends a request on one new connection after the other, as a balancer does that keeps none open, until
/// it gets no connection, and returns why. Each request is answered.
#[cfg(target_os = "linux")]
fn calls_until_closed(address: SocketAddr, request: &[u8]) -> ErrorKind {
    const PATIENCE: Duration = Duration::from_millis(500);
    loop {
        let mut stream = match std::net::TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => stream,
            Err(error) => return error.kind(),
        };
        let mut answer = [0; 12];
        let exchanged = stream.write_all(request).and_then(|()| stream.read_exact(&mut answer));
        exchanged.expect("each connection is served");
        assert_eq!(&answer, b"HTTP/1.1 200");
    }
}

/// A balancer does not repeat a call that it has sent, and answers 502. So the last attempt to connect is
/// ignored: a connection that the system opened and reset might have carried a request.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_replica_that_stops_answers_on_every_connection_that_the_system_has_opened() {
    for _ in 0..3 {
        let server = replica(Duration::from_millis(50)).await;
        let (address, request) = (server.address, call("echo", json!({ "text": "a" })).bytes());
        let calls = tokio::task::spawn_blocking(move || calls_until_closed(address, &request));
        within(server.stopping()).await.unwrap();
        assert_eq!(within(calls).await.unwrap(), ErrorKind::TimedOut);
    }
}
