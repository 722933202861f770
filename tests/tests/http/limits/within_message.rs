//! The limits of messages that apply over HTTP.

use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use super::{SHORT, bites};
use crate::test_server::{
    NEIGHBOUR, Session, TestServer, call, listen, request, sample_server, text_of, within,
};
use crate::wire::Wire;

async fn limited(change: impl FnOnce(&mut Limits)) -> TestServer {
    let mut limits = Limits::default();
    limits.logs_per_minute = 1_000_000;
    change(&mut limits);
    let (server, handlers) = sample_server();
    TestServer::of((server.limits(limits), handlers), |http| http).await
}

/// A session with a call that waits, and another request after it.
async fn held(server: &TestServer) -> (Session, Wire) {
    let session = server.session(Revision::V2025_11_25).await;
    let wire = Wire::send(server.address, &session.call("hold", json!({}))).await;
    server.handlers.running(1).await;
    (session, wire)
}

bites! {
    frame {
        let server = limited(|it| it.frame = 10_000).await;
        let fits = call("echo", json!({ "text": "x".repeat(9000) }));
        assert_eq!(server.ask(&fits).await.status(), 200);
        let longer = call("echo", json!({ "text": "x".repeat(11_000) }));
        assert_eq!(server.ask(&longer).await.status(), 413);
        // A `Content-Length` over the limit is refused before the body arrives.
        for length in ["10001", "99999999999", "9999999999999999999"] {
            let mut wire = Wire::open(server.address).await;
            let claimed = call("echo", json!({})).with("Content-Length", length);
            wire.write(&claimed.head()).await;
            let answer = within(wire.answer()).await;
            assert_eq!(answer.status(), 413, "{length}");
            assert!(answer.reason().contains("10000"), "{answer:?}");
        }
        // A body without a length is refused as soon as it is over the limit.
        let mut wire = Wire::open(server.address).await;
        let endless = call("echo", json!({})).set("Transfer-Encoding", "chunked");
        let head = String::from_utf8(endless.head()).unwrap();
        let head: String = head.split_inclusive("\r\n").filter(|line| !line.starts_with("Content-Length")).collect();
        wire.write(head.as_bytes()).await;
        let chunk = format!("3e8\r\n{}\r\n", "x".repeat(1000));
        for _ in 0..11 {
            wire.write(chunk.as_bytes()).await;
        }
        assert_eq!(within(wire.answer()).await.status(), 413);
    }

    depth {
        let server = limited(|it| it.depth = 20).await;
        let nested = |levels: usize| {
            let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
            call("echo", json!({ "text": "a", "nested": serde_json::from_str::<Value>(&text).unwrap() }))
        };
        assert_eq!(server.ask(&nested(10)).await.status(), 200);
        let answer = server.ask(&nested(30)).await;
        assert_eq!(answer.status(), 400, "{answer:?}");
    }

    batch {
        let server = limited(|it| it.batch = 3).await;
        let session = server.session(Revision::V2025_03_26).await;
        let batch = |count: u32| {
            let ping = |id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            session.post(Value::from((0..count).map(ping).collect::<Vec<_>>()).to_string())
        };
        assert_eq!(server.ask(&batch(3)).await.status(), 200);
        assert_eq!(server.ask(&batch(4)).await.status(), 400);
    }

    in_flight {
        let server = limited(|it| it.in_flight = 1).await;
        let (session, mut first) = held(&server).await;
        let mut second = Wire::send(server.address, &session.call("hold", json!({}))).await;
        // The ping is answered at once, since it is not a call; by then the second call has arrived too.
        for _ in 0..20 {
            server.ask(&session.post(request(2, "ping", json!({})))).await;
        }
        server.handlers.running(1).await;
        server.handlers.step(2);
        for wire in [&mut first, &mut second] {
            assert_eq!(text_of(&within(wire.answer()).await.json()), "held");
        }
    }

    backlog {
        let server = limited(|it| (it.in_flight, it.backlog) = (1, 2)).await;
        let (session, mut first) = held(&server).await;
        let mut waiting = Vec::new();
        let refused = loop {
            let mut wire = Wire::send(server.address, &session.call("hold", json!({}))).await;
            // The call is refused or waits; the ping after it shows which.
            server.ask(&session.post(request(2, "ping", json!({})))).await;
            match tokio::time::timeout(SHORT, wire.stream.readable()).await {
                Ok(_) => break wire.answer().await,
                Err(_) => waiting.push(wire),
            }
        };
        assert_eq!((refused.status(), waiting.len()), (503, 2), "{refused:?}");
        server.handlers.step(3);
        for wire in waiting.iter_mut().chain([&mut first]) {
            assert_eq!(text_of(&within(wire.answer()).await.json()), "held");
        }
    }

    requests_per_minute {
        let server = limited(|it| it.requests_per_minute = 10).await;
        let session = server.session(Revision::V2025_11_25).await;
        let ping = session.post(request(2, "ping", json!({})));
        let mut served = 0;
        let refused = loop {
            let answer = server.ask(&ping).await;
            if answer.json().get("error").is_some() {
                break answer;
            }
            served += 1;
            assert!(served < 20);
        };
        assert_eq!(refused.json()["id"], 2);
        assert!(served >= 8, "{served}");
    }

    result {
        let server = limited(|it| it.result = 5000).await;
        let long = |bytes: usize| call("long", json!({ "bytes": bytes }));
        assert!(server.ask(&long(1000)).await.json().get("result").is_some());
        let answer = server.ask(&long(6000)).await;
        assert!(answer.body.len() < 1000, "{answer:?}");
    }

    logs_per_minute {
        let server = limited(|it| it.logs_per_minute = 5).await;
        let session = server.session(Revision::V2025_11_25).await;
        let arguments = json!({ "count": 50, "bytes": 1 });
        for request in [call("burst", arguments.clone()), session.call("burst", arguments)] {
            let mut wire = server.stream(&request).await;
            assert_eq!(within(wire.messages()).await.len(), 5 + 1);
        }
    }

    subscriptions {
        let server = limited(|it| it.subscriptions = 2).await;
        let listen = listen(json!({ "toolsListChanged": true }));
        let open = [server.stream(&listen).await, server.stream(&listen).await];
        let answer = server.ask(&listen).await;
        assert_eq!((answer.status(), answer.code()), (400, -32600), "{answer:?}");
        assert_eq!(answer.reason(), "no more than 2 subscriptions at a time; end one first");
        let mut other = Wire::send_from(NEIGHBOUR, server.address, &listen).await;
        assert!(within(other.head()).await.is_stream(), "another caller has its own");
        drop(open);
        within(async { while server.ask_head(&listen).await.status != 200 {} }).await;
    }

    subscribed_resources {
        let server = limited(|it| it.subscribed_resources = 1).await;
        let session = server.session(Revision::V2025_11_25).await;
        let subscribe = |uri: &str| session.post(request(1, "resources/subscribe", json!({ "uri": uri })));
        assert!(server.ask(&subscribe("note://a")).await.json().get("result").is_some());
        assert!(server.ask(&subscribe("note://b")).await.json().get("error").is_some());
        let both = listen(json!({ "resourceSubscriptions": ["note://a", "note://b"] }));
        let mut wire = server.stream(&both).await;
        let acknowledged = within(wire.message()).await.unwrap().json();
        let honoured = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(honoured, &json!(["note://a"]));
    }

    subscribed_bytes {
        let server = limited(|it| it.subscribed_bytes = "note://a".len()).await;
        let session = server.session(Revision::V2025_11_25).await;
        let subscribe = |uri: &str| session.post(request(1, "resources/subscribe", json!({ "uri": uri })));
        assert!(server.ask(&subscribe("note://a")).await.json().get("result").is_some());
        let second = server.ask(&subscribe("note://b")).await;
        assert!(second.reason().contains("no more than 8 bytes"), "{second:?}");
        let both = listen(json!({ "resourceSubscriptions": ["note://a", "note://b"] }));
        let mut wire = server.stream(&both).await;
        let acknowledged = within(wire.message()).await.unwrap().json();
        let honoured = &acknowledged["params"]["notifications"]["resourceSubscriptions"];
        assert_eq!(honoured, &json!(["note://a"]));
    }

    questions {
        let server = limited(|it| it.questions = 1).await;
        let session = server.session(Revision::V2025_11_25).await;
        let mut first = server.stream(&session.call("ask", json!({}))).await;
        within(first.message()).await.unwrap();
        let second = server.ask(&session.call("ask", json!({}))).await;
        assert_eq!(second.json()["result"]["isError"], true, "{second:?}");
    }

    question_timeout {
        let server = limited(|it| it.question_timeout = Duration::from_millis(100)).await;
        let session = server.session(Revision::V2025_11_25).await;
        let mut wire = server.stream(&session.call("ask", json!({}))).await;
        let messages = within(wire.messages()).await;
        let methods: Vec<_> = messages.iter().map(|it| it.json()["method"].clone()).collect();
        assert_eq!(methods[..2], ["elicitation/create", "notifications/cancelled"]);
        assert_eq!(messages[2].json()["result"]["isError"], true);
    }
}
