//! The limits of HTTP itself: connections, heads, bodies, calls, queues.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_http::server::HttpLimits;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

use super::{SHORT, bites};
use crate::http2::Http2Client;
use crate::slow::{is_alone, resident};
use crate::test_server::{
    NEIGHBOUR, PATIENCE, Session, TestServer, call, initialize, limits, listen, request, text_of,
    within,
};
use crate::wire::{Request, Wire};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];

bites! {
    calls {
        let server = TestServer::limited(|it| it.calls = 2).await;
        let session = server.session(Revision::V2025_03_26).await;
        let mut held = [call("hold", json!({})), session.call("hold", json!({}))].map(|request| {
            let address = server.address;
            tokio::spawn(async move { Wire::send(address, &request).await.answer().await })
        });
        server.handlers.running(2).await;
        let echo = |text: &str| (call("echo", json!({ "text": text })), session.call("echo", json!({ "text": text })));
        let (modern, legacy) = echo("a");
        for request in [&modern, &legacy] {
            let answer = server.ask(request).await;
            assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
        }
        let notice = session.post(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#);
        assert_eq!(server.ask(&notice).await.status(), 202, "what is no call passes");
        server.handlers.step(2);
        for held in &mut held {
            assert_eq!(text_of(&within(held).await.unwrap().json()), "held");
        }
        within(async { while server.ask(&modern).await.status() != 200 {} }).await;
        within(async { while server.ask(&legacy).await.status() != 200 {} }).await;
        let three = json!([1, 2, 3].map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })));
        assert_eq!(server.ask(&session.post(three.to_string())).await.status(), 503);
    }

    calls_per_caller {
        let server = TestServer::limited(|it| it.calls_per_caller = 1).await;
        let held = Wire::send(server.address, &call("hold", json!({}))).await;
        server.handlers.running(1).await;
        let echo = call("echo", json!({ "text": "a" }));
        assert_eq!(server.ask(&echo).await.status(), 429);
        assert_eq!(server.ask_from(NEIGHBOUR, &echo).await.status(), 200);
        drop(held);
        within(async { while server.ask(&echo).await.status() != 200 {} }).await;
    }

    streams {
        let server = TestServer::limited(|it| (it.streams, it.calls) = (1, 1)).await;
        let listen = listen(json!({ "toolsListChanged": true }));
        let open = server.stream(&listen).await;
        let answer = server.ask_from(NEIGHBOUR, &listen).await;
        assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
        assert_eq!((answer.code(), &answer.json()["id"]), (503, &json!("sub")));
        assert_eq!(server.ask(&call("echo", json!({ "text": "a" }))).await.status(), 200);
        drop(open);
        within(async { while server.ask_head(&listen).await.status != 200 {} }).await;
    }

    callers {
        let limits = limits(|it| (it.callers, it.calls_per_caller) = (1, 1));
        let server = TestServer::with(|http| http.limits(limits)).await;
        // The first caller has its own counts as long as it is connected.
        let mut first = Wire::open(server.address).await;
        let echo = call("echo", json!({ "text": "a" }));
        first.write(&echo.bytes()).await;
        assert_eq!(within(first.answer()).await.status(), 200);
        let held = Wire::send_from(NEIGHBOUR, server.address, &call("hold", json!({}))).await;
        server.handlers.running(1).await;
        let another = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 3));
        assert_eq!(server.ask_from(another, &echo).await.status(), 429, "counted together");
        assert_eq!(server.ask(&echo).await.status(), 200);
        // A caller that came when the table was full has its own counts once there is room, on the
        // same connection.
        let mut waiting = Wire::send_from(another, server.address, &echo).await;
        assert_eq!(within(waiting.answer()).await.status(), 429);
        drop(first);
        within(async {
            loop {
                waiting.write(&echo.bytes()).await;
                if waiting.answer().await.status() == 200 {
                    return;
                }
            }
        })
        .await;
        drop(held);
    }

    sessions_per_caller {
        let server = TestServer::limited(|it| (it.sessions, it.sessions_per_caller) = (3, 1)).await;
        let handshake = Request::post(initialize(Revision::V2025_11_25));
        let answer = server.ask_from(NEIGHBOUR, &handshake).await;
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let neighbour = Session { id, revision: Revision::V2025_11_25 };
        let list = |session: &Session| session.post(request(1, "tools/list", json!({})));
        let mut before = server.session(Revision::V2025_11_25).await;
        for _ in 0..5 {
            let session = server.session(Revision::V2025_11_25).await;
            assert_eq!(server.ask(&list(&before)).await.status(), 404, "its own makes room");
            before = session;
        }
        let stream = server.stream(&before.get()).await;
        let refused = server.ask(&handshake).await;
        assert_eq!((refused.status(), refused.code()), (429, 429), "{refused:?}");
        assert_eq!((refused.header("retry-after"), &refused.json()["id"]), (Some("1"), &json!(0)));
        assert_eq!(server.ask_from(NEIGHBOUR, &list(&neighbour)).await.status(), 200);
        drop(stream);
        within(async { while server.ask(&handshake).await.status() != 200 {} }).await;
    }

    queue {
        let server = TestServer::limited(|it| it.queue = 4000).await;
        let session = server.session(Revision::V2025_11_25).await;
        let arguments = json!({ "count": 100, "bytes": 1000 });
        for request in [call("burst", arguments.clone()), session.call("burst", arguments)] {
            let mut wire = server.stream(&request).await;
            let messages = within(wire.messages()).await;
            let (answer, logs) = messages.split_last().unwrap();
            assert_eq!(text_of(&answer.json()), "burst 100", "an answer is never dropped");
            assert!((2..10).contains(&logs.len()), "{} of 100 fit", logs.len());
        }
    }

    head {
        let server = TestServer::limited(|it| it.head = SHORT).await;
        let both = TestServer::with(|http| http.http2().limits(limits(|it| it.head = SHORT))).await;
        let request = call("echo", json!({ "text": "a" })).head();
        let settled = [PREFACE, SETTINGS].concat();
        let starts: [&[u8]; 4] = [b"", b"P", b"POST /mcp", &request[..40]];
        let cases = [&server, &both].into_iter().flat_map(|server| starts.map(|it| (server, it)));
        for (server, start) in cases.chain([(&both, PREFACE), (&both, &settled)]) {
            let begun = Instant::now();
            let mut wire = Wire::open(server.address).await;
            wire.write(start).await;
            within(wire.closed()).await;
            let elapsed = begun.elapsed();
            assert!(elapsed >= SHORT && elapsed < SHORT * 10, "{elapsed:?} after {start:?}");
        }
        // Sending one byte at a time does not avoid the limit.
        let begun = Instant::now();
        let mut wire = Wire::open(server.address).await;
        let (mut read, mut write) = wire.stream.split();
        let dripping = async {
            let mut pace = tokio::time::interval(SHORT / 10);
            for byte in &request {
                pace.tick().await;
                if write.write_all(&[*byte]).await.is_err() {
                    // The connection was closed, which the reader sees too.
                    std::future::pending::<()>().await;
                }
            }
        };
        let closed = async {
            let mut bytes = Vec::new();
            let _ = read.read_to_end(&mut bytes).await;
        };
        tokio::select! {
            () = dripping => panic!("a head may take as long as it likes"),
            () = closed => {}
        }
        assert!(begun.elapsed() < SHORT * 10);
    }

    body {
        let server = TestServer::limited(|it| it.body = SHORT).await;
        let request = call("echo", json!({ "text": "a" }));
        let mut bytes = request.bytes();
        bytes.pop();
        let begun = Instant::now();
        let mut wire = Wire::open(server.address).await;
        wire.write(&bytes).await;
        assert_eq!(within(wire.answer()).await.status(), 408);
        assert!(begun.elapsed() < SHORT * 10);
        within(wire.closed()).await;
    }

    bodies {
        if !is_alone("limits::around::bodies").await {
            return;
        }
        let server = TestServer::limited(|it| (it.bodies, it.crowded) = (8 << 20, SHORT)).await;
        let before = resident();
        let long = call("echo", json!({ "text": "x".repeat(3 << 20) })).bytes();
        let unfinished = Arc::new(long[..long.len() - 1].to_vec());
        let mut attackers = JoinSet::new();
        for _ in 0..128 {
            let mut wire = Wire::open(server.address).await;
            let unfinished = unfinished.clone();
            attackers.spawn(async move {
                wire.write(&unfinished).await;
                wire.try_head().await
            });
        }
        // Unfinished bodies make room: at once for small requests, soon for others.
        let mut most = 0;
        for bytes in [10, 1_000, 60_000, 500_000, 2_000_000, 3_500_000] {
            let text = "y".repeat(bytes);
            let answer = server.ask(&call("echo", json!({ "text": text }))).await;
            assert_eq!(answer.status(), 200, "{bytes} bytes: {answer:?}");
            most = most.max(server.endpoint.body_bytes());
        }
        assert!((1..=8 << 20).contains(&most), "{most} bytes are held");
        // Each connection may hold a small body that does not count, and hyper its buffers.
        let grown = resident().saturating_sub(before);
        assert!(grown < 192 << 20, "{grown} of 384 MiB are held");
        let mut refused = 0;
        while let Some(head) = attackers.try_join_next() {
            let head = head.unwrap().expect("an answer");
            assert_eq!((head.status, head.header("retry-after")), (503, Some("1")));
            refused += 1;
        }
        assert!(refused > 0, "some had to make room");
        attackers.shutdown().await;
        within(async { while server.endpoint.body_bytes() > 0 { tokio::task::yield_now().await } }).await;
    }

    bodies_per_caller {
        let server = TestServer::limited(|it| it.bodies_per_caller = 1 << 20).await;
        let text = "x".repeat(700_000);
        let mut held = Wire::send(server.address, &call("hold", json!({ "text": text }))).await;
        server.handlers.running(1).await;
        let other = call("echo", json!({ "text": text }));
        let answer = server.ask(&other).await;
        assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
        let mut neighbour = Wire::send_from(NEIGHBOUR, server.address, &other).await;
        assert_eq!(within(neighbour.answer()).await.status(), 200, "another caller has its own");
        let small = call("echo", json!({ "text": "a" }));
        assert_eq!(server.ask(&small).await.status(), 200, "a small one needs no room");
        server.handlers.step(1);
        assert_eq!(within(held.answer()).await.status(), 200);
        within(async { while server.ask(&other).await.status() != 200 {} }).await;
    }

    crowded {
        let server = TestServer::limited(|it| (it.bodies, it.crowded) = (1 << 20, SHORT)).await;
        let text = "x".repeat(1_000_000);
        // A running call is not dropped to make room, so there is none.
        let hold = call("hold", json!({ "text": text }));
        let mut held = Wire::send(server.address, &hold).await;
        server.handlers.running(1).await;
        let begun = Instant::now();
        let other = call("echo", json!({ "text": text }));
        let answer = server.ask(&other).await;
        assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
        assert!(begun.elapsed() >= SHORT && begun.elapsed() < SHORT * 10, "{:?}", begun.elapsed());
        let small = call("echo", json!({ "text": "a" }));
        assert_eq!(server.ask(&small).await.status(), 200, "a small one needs no room");
        server.handlers.step(1);
        assert_eq!(within(held.answer()).await.status(), 200);
        // A session keeps nothing of the body of its `initialize`.
        let mut opening: Value = serde_json::from_str(&initialize(Revision::V2025_11_25)).unwrap();
        opening["params"]["_meta"] = json!({ "padding": text });
        assert_eq!(server.ask(&Request::post(opening.to_string())).await.status(), 200);
        within(async { while server.endpoint.body_bytes() > 0 { tokio::task::yield_now().await } }).await;
        assert_eq!(server.endpoint.sessions(), 1);
        within(async { while server.ask(&other).await.status() != 200 {} }).await;
    }

    pace {
        // Reads eight kilobytes twenty times a second, where the limit demands thousands.
        let limits = limits(|it| (it.stall, it.pace) = (SHORT * 2, 64 << 20));
        let server = TestServer::with(|http| http.limits(limits)).await;
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(server.address).await.unwrap();
        stream.write_all(&call("flood", json!({ "count": 4000, "bytes": 16384 })).bytes()).await.unwrap();
        server.handlers.running(1).await;
        let reading = async {
            let mut pace = tokio::time::interval(Duration::from_millis(50));
            let mut some = [0; 8192];
            loop {
                pace.tick().await;
                let _ = stream.read(&mut some).await;
            }
        };
        tokio::select! {
            () = reading => {}
            () = server.handlers.running(0) => {}
        }
    }

    idle {
        let server = TestServer::limited(|it| (it.head, it.idle) = (SHORT, SHORT * 3)).await;
        let mut wire = Wire::open(server.address).await;
        wire.write(&call("echo", json!({ "text": "a" })).bytes()).await;
        assert_eq!(within(wire.answer()).await.status(), 200);
        let begun = Instant::now();
        within(wire.closed()).await;
        let elapsed = begun.elapsed();
        assert!(elapsed >= SHORT * 3 && elapsed < SHORT * 15, "{elapsed:?}");
    }

    connections {
        let two = |it: &mut HttpLimits| (it.connections, it.crowded) = (2, PATIENCE);
        let server = TestServer::limited(two).await;
        let echo = call("echo", json!({ "text": "a" })).bytes();
        let mut two = [Wire::open(server.address).await, Wire::open(server.address).await];
        for wire in &mut two {
            wire.write(&echo).await;
            assert_eq!(within(wire.answer()).await.status(), 200);
        }
        let mut third = Wire::open(server.address).await;
        third.write(&echo).await;
        for _ in 0..20 {
            two[0].write(&echo).await;
            assert_eq!(within(two[0].answer()).await.status(), 200, "who is served is served");
        }
        let mut byte = [0];
        assert!(third.stream.try_read(&mut byte).is_err(), "the third waits");
        let [_, second] = two;
        drop(second);
        assert_eq!(within(third.answer()).await.status(), 200);
        // When all connections are used, an idle one is closed after the timeout of a head.
        let server = TestServer::limited(|it| (it.connections, it.head) = (1, SHORT)).await;
        let mut idle = Wire::open(server.address).await;
        idle.write(&echo).await;
        assert_eq!(within(idle.answer()).await.status(), 200);
        let mut next = Wire::open(server.address).await;
        next.write(&echo).await;
        assert_eq!(within(next.answer()).await.status(), 200);
        within(idle.closed()).await;
    }

    connections_per_address {
        let two = |it: &mut HttpLimits| (it.connections_per_address, it.crowded) = (2, PATIENCE);
        let server = TestServer::limited(two).await;
        let echo = call("echo", json!({ "text": "a" }));
        let mut two = [Wire::open(server.address).await, Wire::open(server.address).await];
        for wire in &mut two {
            wire.write(&echo.bytes()).await;
            assert_eq!(within(wire.answer()).await.status(), 200);
        }
        within(Wire::send(server.address, &echo).await.closed()).await;
        assert_eq!(server.ask_from(NEIGHBOUR, &echo).await.status(), 200);
        for wire in &mut two {
            wire.write(&echo.bytes()).await;
            assert_eq!(within(wire.answer()).await.status(), 200, "an open one stays");
        }
        // A connection that has ended leaves its place to another.
        let [_, second] = two;
        drop(second);
        within(async {
            loop {
                let mut wire = Wire::send(server.address, &echo).await;
                if wire.try_head().await.is_some() {
                    break;
                }
            }
        })
        .await;
    }

    requests_per_connection {
        let limits = limits(|it| it.requests_per_connection = 1);
        let server = TestServer::with(|http| http.http2().limits(limits)).await;
        let mut client = Http2Client::open(server.address).await;
        let echo = call("echo", json!({ "text": "a" }));
        // By now the client has received the settings of the server.
        assert_eq!(within(client.ask(b"localhost", &echo)).await.unwrap().0, 200);
        let mut other = client.clone();
        let held = tokio::spawn(async move { other.ask(b"localhost", &call("hold", json!({}))).await });
        server.handlers.running(1).await;
        let waiting = tokio::spawn(async move { client.ask(b"localhost", &echo).await });
        for _ in 0..20 {
            server.ask(&call("echo", json!({ "text": "another connection" }))).await;
        }
        assert!(!waiting.is_finished());
        server.handlers.step(1);
        assert_eq!(within(held).await.unwrap().unwrap().0, 200);
        assert_eq!(within(waiting).await.unwrap().unwrap().0, 200);
    }
}
