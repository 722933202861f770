//! The body of a POST: one message, of a kind that the revision lets clients send; and the room that
//! the bodies of long answers share.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::ClientConfig;
use bowline_proto::limits::Limits;
use bowline_proto::limits::long::LongMessages;
use bowline_transport::connect::{Link, connect};
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{FakeServer, User, config, done, fake, link, modern, patient, tool};

/// Plays a server with sessions until the session is deleted: never answers the tool `hold`, pings
/// during other calls, and reports cancellations. Returns every body that was posted.
async fn play(mut fake: FakeServer, revision: Revision, cancelled: Arc<Notify>) -> Vec<Value> {
    let (mut bodies, mut held, mut streams) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let received = fake.next().await;
        match received.method.as_str() {
            "POST" => {}
            "GET" => {
                received.status(405);
                continue;
            }
            _ => {
                received.status(204);
                return bodies;
            }
        }
        let body = received.json();
        match (body["method"].as_str(), body["params"]["name"].as_str()) {
            (Some("initialize"), _) => {
                received.initialize(&json!(revision.as_str()), Some("first"));
            }
            (Some("tools/call"), Some("hold")) => held.push(received),
            (Some("tools/call"), _) => {
                let events = received.events();
                events.message(&json!({ "jsonrpc": "2.0", "id": "p", "method": "ping" }));
                streams.push((events, body["id"].clone()));
            }
            (method, _) => {
                if method == Some("notifications/cancelled") {
                    cancelled.notify_one();
                }
                if let Some((events, id)) = streams.pop().filter(|_| method.is_none()) {
                    events.result(&id, &done());
                }
                received.status(202);
            }
        }
        bodies.push(body);
    }
}

/// What kind of message this is; `None` if it is not exactly one.
fn kind(body: &Value) -> Option<&'static str> {
    let has = |name| body.get(name).is_some();
    match (has("method"), has("id"), has("result") || has("error")) {
        (true, true, false) => Some("request"),
        (true, false, false) => Some("notification"),
        (false, true, true) => Some("response"),
        _ => None,
    }
}

// spec: HTTP-5, HTTP-6
#[tokio::test(start_paused = true)]
async fn each_message_has_a_post_of_its_own() {
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let (transport, fake) = fake();
        let cancelled = Arc::new(Notify::new());
        let playing = tokio::spawn(play(fake, revision, Arc::clone(&cancelled)));
        let link = link(transport, revision, &Arc::new(User::default())).await.unwrap();
        let held = [link.call(patient("hold"), None), link.call(patient("hold"), None)];
        link.call(tool("echo"), None).await.unwrap();
        drop(held);
        cancelled.notified().await;
        link.close().await;
        let bodies = playing.await.unwrap();
        let of_kind = |wanted| bodies.iter().filter(|body| kind(body) == Some(wanted)).count();
        let (requests, responses) = (of_kind("request"), of_kind("response"));
        assert_eq!((requests, responses), (4, 1), "{revision}: {bodies:?}");
        assert_eq!(of_kind("notification"), bodies.len() - 5, "{revision}: {bodies:?}");
    }
}

// spec: HTTP-8, TR-7
#[tokio::test(start_paused = true)]
async fn a_modern_client_answers_no_request_of_a_server() {
    let (link, mut fake, user) = modern().await;
    let call = link.call(tool("echo"), None);
    let received = fake.expect("tools/call").await;
    let id = received.id();
    let events = received.events();
    for method in ["ping", "roots/list", "elicitation/create"] {
        events.message(&json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": {} }));
    }
    events.result(&id, &done());
    call.await.unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(fake.is_idle(), "something was posted");
    let diagnostics = user.diagnostics();
    assert_eq!(diagnostics.len(), 3, "{diagnostics:?}");
}

/// A modern connection whose long messages share this room.
async fn sharing(room: &LongMessages) -> (Link, FakeServer) {
    let mut limits = Limits::for_client();
    limits.long_messages = room.clone();
    let config = ClientConfig::clone(&config(&[Revision::V2026_07_28])).with_limits(limits);
    let (transport, mut fake) = fake();
    let connecting = connect(transport, Arc::new(config), Arc::new(User::default()));
    let (link, ()) = tokio::join!(connecting, fake.discover());
    (link.unwrap(), fake)
}

/// How an answer comes.
#[derive(Clone, Copy, Debug)]
enum Form {
    Body,
    Event,
}

/// How a call ends that is answered with a text of 700 KiB.
async fn long_answer(link: &Link, fake: &mut FakeServer, form: Form) -> Result<(), String> {
    let content = json!([{ "type": "text", "text": "x".repeat(700 * 1024) }]);
    let result = json!({ "resultType": "complete", "content": content });
    let call = link.call(tool("dump"), None);
    let received = fake.expect("tools/call").await;
    let id = received.id();
    match form {
        Form::Body => received.result(&result),
        Form::Event => {
            let message = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
            let (beginning, end) = message.split_at(message.len() - 10);
            // In two pieces, as from a network: room is taken while the end has not arrived.
            let events = received.events();
            events.write(&format!("data: {beginning}"));
            events.write(&format!("{end}\n\n"));
        }
    }
    call.await.map(|_| ()).map_err(|error| error.to_string())
}

/// There is room for one such answer: it takes at most half of the room that the others leave.
#[tokio::test(start_paused = true)]
async fn bodies_and_events_of_all_connections_share_the_room_for_long_messages() {
    let room = LongMessages::new(1 << 20);
    let (first, mut fake_of_first) = sharing(&room).await;
    let (second, mut fake_of_second) = sharing(&room).await;
    let beginning = "x".repeat(700 * 1024);
    for (one, other) in [(Form::Event, Form::Body), (Form::Body, Form::Event)] {
        let call = first.call(patient("dump"), None);
        let received = fake_of_first.expect("tools/call").await;
        let unfinished = match one {
            Form::Event => received.events(),
            Form::Body => received.begin(200, &[("content-type", "application/json")]),
        };
        unfinished.write(&format!("data: {beginning}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(room.held() > 0, "{one:?}");
        let refusal = long_answer(&second, &mut fake_of_second, other).await.unwrap_err();
        assert!(refusal.contains("which have 1 MiB together"), "{other:?}: {refusal}");
        drop(call);
        unfinished.given_up().await;
        assert_eq!(room.held(), 0, "{one:?}");
        long_answer(&second, &mut fake_of_second, other).await.unwrap();
    }
}
