//! Limits of one caller: request rate, concurrent calls, subscriptions.

use std::future::ready;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Instant;

use axum::Router;
use axum::extract::{self, ConnectInfo};
use axum::middleware::map_request;
use bowline_http::server::Sessions;
use bowline_proto::limits::Limits;
use bowline_proto::request::{Owner, Peer};
use bowline_server::Server;
use bowline_server::http::Http;
use bowline_server::layer::RateLimit;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::sessions::asked;
use crate::test_server::{
    NEIGHBOUR, TestServer, call, initialize, limits, listen, modern, request, sample_server,
    text_of, within,
};
use crate::wire::{Answer, Request, Wire};

/// A server with a limit of ten requests per minute and caller.
async fn paced(change: impl FnOnce(Http) -> Http) -> TestServer {
    let mut limits = Limits::default();
    limits.requests_per_minute = 10;
    let (server, handlers) = sample_server();
    TestServer::of((server.limits(limits), handlers), change).await
}

fn echo() -> Request {
    call("echo", json!({ "text": "a" }))
}

fn changes() -> Request {
    listen(json!({ "toolsListChanged": true }))
}

/// Checks the refusal of a request over the limit.
fn assert_too_soon(answer: &Answer, id: &Value) {
    assert_eq!((answer.status(), answer.code()), (429, 429), "{answer:?}");
    let body = answer.json();
    assert_eq!(&body["id"], id, "{body}");
    let wait = body["error"]["data"]["retryAfterMs"].as_u64().unwrap();
    assert!((1..=6001).contains(&wait), "one more request after a tenth of a minute: {body}");
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!(seconds * 1000 >= wait && seconds * 1000 < wait + 1000, "{answer:?}");
}

/// Sends twenty requests where ten are allowed, of which `used` were sent before.
async fn ask_too_often(server: &TestServer, used: usize, request: &Request, id: &Value) {
    let begun = Instant::now();
    let mut served = used;
    for _ in 0..20 {
        let answer = server.ask(request).await;
        match answer.status() {
            200 => served += 1,
            _ => assert_too_soon(&answer, id),
        }
    }
    // Meanwhile one more is allowed every six seconds.
    let more = begun.elapsed().as_secs() as usize / 6 + 1;
    assert!((10..=10 + more).contains(&served), "{served}");
}

/// Sends a request over the limit, and again if six seconds have passed in between.
async fn refusal(server: &TestServer, request: &Request) -> Answer {
    for _ in 0..20 {
        let answer = server.ask(request).await;
        if answer.status() != 200 {
            return answer;
        }
    }
    panic!("{request:?} is never refused");
}

// spec: TOOL-44, COMP-15
#[tokio::test]
async fn a_modern_caller_over_the_rate_limit_gets_429() {
    let server = paced(|http| http).await;
    ask_too_often(&server, 0, &echo(), &json!(1)).await;
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "none" },
        "argument": { "name": "a", "value": "b" },
    });
    let complete = modern("c", "completion/complete", complete);
    assert_too_soon(&refusal(&server, &complete).await, &json!("c"));
    let answer = server.ask_from(NEIGHBOUR, &echo()).await;
    assert_eq!(text_of(&answer.json()), "a", "another caller has a pace of its own");
}

// spec: TOOL-44, COMP-15
#[tokio::test]
async fn without_sessions_a_caller_over_the_rate_limit_gets_429() {
    let server = paced(|http| http.sessions(Sessions::None)).await;
    let list = Request::post(request(7, "tools/list", json!({})))
        .with("MCP-Protocol-Version", "2025-11-25");
    ask_too_often(&server, 0, &list, &json!(7)).await;
}

// spec: TOOL-44, COMP-15
#[tokio::test]
async fn the_sessions_of_one_caller_share_a_rate_limit_which_ignores_notifications() {
    let server = paced(|http| http).await;
    let one = server.session(Revision::V2025_11_25).await;
    let other = server.session(Revision::V2025_11_25).await;
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    for _ in 0..20 {
        assert_eq!(server.ask(&one.post(notice)).await.status(), 202, "not a request");
    }
    let list = |id: u64| request(id, "tools/list", json!({}));
    for id in 0..4 {
        assert_eq!(
            server.ask(&one.post(list(id))).await.status(),
            200,
            "two handshakes came first"
        );
    }
    ask_too_often(&server, 6, &other.post(list(8)), &json!(8)).await;
    // Neither another session nor the other era avoids the limit.
    assert_too_soon(&refusal(&server, &one.post(list(9))).await, &json!(9));
    assert_too_soon(&refusal(&server, &echo()).await, &json!(1));
    let handshake = Request::post(initialize(Revision::V2025_11_25));
    assert_too_soon(&refusal(&server, &handshake).await, &json!(0));
    // A request that frees something is always accepted.
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    for body in [notice, cancel, answer] {
        assert_eq!(server.ask(&one.post(body)).await.status(), 202, "{body}");
    }
    assert_eq!(server.ask(&one.delete()).await.status(), 204);
}

// spec: TOOL-44
#[tokio::test]
async fn the_rate_limit_counts_each_request_of_a_batch() {
    let server = paced(|http| http).await;
    let session = server.session(Revision::V2025_03_26).await;
    let ping = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
    let batch = |most: u64| session.post(Value::from_iter((0..most).map(ping)).to_string());
    assert_eq!(server.ask(&batch(5)).await.status(), 200);
    let refused = server.ask(&batch(9)).await;
    assert_eq!((refused.status(), refused.code()), (429, 429), "{refused:?}");
    assert!(refused.header("retry-after").is_some());
    assert_eq!(server.ask(&batch(4)).await.status(), 200, "those refused did not count");
}

#[tokio::test]
async fn a_caller_with_credentials_is_counted_by_them_and_not_by_address() {
    let mut limits = Limits::default();
    limits.requests_per_minute = 2;
    let endpoint = sample_server().0.limits(limits).http().build().unwrap();
    let (ann, bob) = (Owner::known("issuer", "ann"), Owner::known("issuer", "bob"));
    for owner in [&ann, &bob, &Owner::anonymous()] {
        for status in [200, 200, 429] {
            assert_eq!(asked(&endpoint, owner, &echo()).await.0, status, "{owner:?}");
        }
    }
}

// Mounted as the manual describes it.
#[tokio::test]
async fn a_mounted_endpoint_counts_by_the_address_that_a_layer_names() {
    let mut limits = Limits::default();
    limits.requests_per_minute = 2;
    let paced = sample_server().0.limits(limits);
    let layered = sample_server().0.layer(RateLimit::per_minute(2));
    for (server, refused) in [(paced, 429), (layered, 200)] {
        let address = mount(server).await;
        for from in [IpAddr::V4(Ipv4Addr::LOCALHOST), NEIGHBOUR] {
            for (status, is_served) in [(200, true), (200, true), (refused, false)] {
                let mut wire = Wire::send_from(from, address, &echo()).await;
                let answer = within(wire.answer()).await;
                assert_eq!(answer.status(), status, "{from}");
                let is_echo = status == 200 && text_of(&answer.json()) == "a";
                assert_eq!(is_echo, is_served, "{from}: {answer:?}");
            }
        }
    }
}

/// Serves a server within axum, with a layer that inserts the address of the client.
async fn mount(server: Server) -> SocketAddr {
    let name = |ConnectInfo(from): ConnectInfo<SocketAddr>, mut request: extract::Request| {
        request.extensions_mut().insert(Peer(from.ip()));
        ready(request)
    };
    let app = Router::new()
        .nest_service("/mcp", server.http())
        .layer(map_request(name))
        .into_make_service_with_connect_info::<SocketAddr>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    address
}

// spec: SUB-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_subscriptions_do_not_block_calls() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let (mut open, mut refused) = (Vec::new(), 0);
    for _ in 0..4200 {
        let mut wire = Wire::send(server.address, &changes()).await;
        let head = within(wire.head()).await;
        match head.is_stream() {
            true => open.push(wire),
            false => refused += 1,
        }
    }
    let most = Limits::default().subscriptions;
    assert_eq!((open.len(), refused), (most, 4200 - most));
    let answer = server.ask(&changes()).await;
    assert_eq!((answer.status(), answer.code()), (400, -32600), "{answer:?}");
    assert_eq!(answer.json()["id"], "sub");
    assert!(answer.reason().contains("end one first"), "{answer:?}");
    // The subscriber may call, other callers may call, and other callers may subscribe.
    assert_eq!(text_of(&server.ask(&echo()).await.json()), "a");
    let legacy = session.call("echo", json!({ "text": "b" }));
    assert_eq!(text_of(&server.ask(&legacy).await.json()), "b");
    assert_eq!(server.ask_from(NEIGHBOUR, &echo()).await.status(), 200);
    let mut other = Wire::send_from(NEIGHBOUR, server.address, &changes()).await;
    assert!(within(other.head()).await.is_stream());
    // A caller that ends one subscription may open another.
    drop(open.pop());
    within(async { while server.ask_head(&changes()).await.status != 200 {} }).await;
}

#[tokio::test]
async fn one_caller_cannot_use_up_the_call_limit_of_the_server() {
    let server = TestServer::limited(|it| (it.calls, it.calls_per_caller) = (4, 2)).await;
    let session = server.session(Revision::V2025_03_26).await;
    let mut held = vec![
        Wire::send(server.address, &call("hold", json!({}))).await,
        Wire::send(server.address, &session.call("hold", json!({}))).await,
    ];
    server.handlers.running(2).await;
    for (request, id) in [(echo(), 1), (session.call("echo", json!({ "text": "a" })), 1)] {
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.code()), (429, 429), "{answer:?}");
        assert_eq!((answer.header("retry-after"), &answer.json()["id"]), (Some("1"), &json!(id)));
    }
    for _ in 0..2 {
        let hold = call("hold", json!({}));
        held.push(Wire::send_from(NEIGHBOUR, server.address, &hold).await);
    }
    server.handlers.running(4).await;
    server.handlers.step(4);
    for wire in &mut held {
        assert_eq!(text_of(&within(wire.answer()).await.json()), "held");
    }
    within(async { while server.ask(&echo()).await.status() != 200 {} }).await;
}

#[tokio::test]
async fn a_429_has_the_id_of_the_request_and_retry_after() {
    let server =
        TestServer::with(|http| http.limits(limits(|it| (it.calls, it.sessions) = (1, 1)))).await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut get = server.stream(&session.get()).await;
    within(get.event()).await.unwrap();
    let held = Wire::send(server.address, &call("hold", json!({}))).await;
    server.handlers.running(1).await;
    let legacy = request("seven", "tools/list", json!({}));
    let refused = [
        (modern("m", "tools/list", json!({})), json!("m")),
        (session.post(legacy), json!("seven")),
        (Request::post(initialize(Revision::V2025_11_25)), json!(0)),
    ];
    for (request, id) in refused {
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.code()), (503, 503), "{answer:?}");
        assert_eq!((answer.header("retry-after"), &answer.json()["id"]), (Some("1"), &id));
        assert_eq!(answer.json()["error"]["data"]["retryAfterMs"], 1000);
    }
    drop(held);
}
