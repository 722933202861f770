//! Several endpoints that share a store serve the same sessions.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bowline_http::server::HttpLimits;
use bowline_http::store::MemoryBackend;
use bowline_http::store::backend::{Backend, Expect, Key};
use bowline_http::store::events::EventLog;
use bowline_proto::request::Owner;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::faulty_store::{Fault, FaultyStore, bytes_beside_leases};
use crate::sessions::{answer_to, asked};
use crate::test_server::{
    Session, TestServer, initialize, limits, request, sample_server, text_of, within,
};
use crate::wire::{Request, Wire};

const HOUR: Duration = Duration::from_secs(3600);

/// Two equal servers on one store.
struct Pair {
    a: TestServer,
    b: TestServer,
    store: Arc<MemoryBackend>,
}

impl Pair {
    async fn open() -> Self {
        Self::on(Arc::new(MemoryBackend::default())).await
    }

    async fn on(store: Arc<MemoryBackend>) -> Self {
        Self::limited(store, |_| ()).await
    }

    /// The first server has other limits.
    async fn limited(store: Arc<MemoryBackend>, change: impl FnOnce(&mut HttpLimits)) -> Self {
        let limits = limits(|it| {
            // The tests have no balancer that would have to notice.
            it.lame_duck = Duration::ZERO;
            change(it);
        });
        let a = TestServer::with(|http| http.store(store.clone()).limits(limits)).await;
        let b = TestServer::with(|http| http.store(store.clone())).await;
        Self { a, b, store }
    }

    /// The entries of a session in the store.
    async fn record(&self, session: &Session) -> Option<Value> {
        let entry = self.store.get(&record(session)).await.unwrap()?;
        Some(serde_json::from_slice(&entry.value).unwrap())
    }
}

fn record(session: &Session) -> Key {
    Key::new(["session", &session.id])
}

fn echo(session: &Session) -> Request {
    session.call("echo", json!({ "text": "hello" }))
}

fn method(session: &Session, id: u32, method: &str, params: Value) -> Request {
    session.post(request(id, method, params))
}

fn cancel(session: &Session) -> Request {
    let params = json!({ "requestId": 1 });
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    session.post(body.to_string())
}

/// Announces changes until a stream gets one, since it takes a moment until the stream is
/// registered.
async fn heard(server: &TestServer, get: &mut Wire) -> Value {
    let mut told = std::pin::pin!(get.message());
    within(async {
        loop {
            server.notify.tools_changed();
            tokio::select! {
                biased;
                event = &mut told => return event.expect("a message").json(),
                () = tokio::task::yield_now() => {}
            }
        }
    })
    .await
}

// spec: SESS-5
#[tokio::test]
async fn every_endpoint_that_shares_the_store_serves_a_session() {
    let Pair { a, b, .. } = Pair::open().await;
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = a.session(revision).await;
        for server in [&b, &a, &b] {
            assert_eq!(text_of(&server.ask(&echo(&session)).await.json()), "hello", "{revision}");
        }
    }
    assert_eq!((a.endpoint.sessions(), b.endpoint.sessions()), (3, 3));
}

#[tokio::test]
async fn a_client_can_finish_its_handshake_at_another_endpoint() {
    let pair = Pair::open().await;
    let answer = pair.a.ask(&Request::post(initialize(Revision::V2025_11_25))).await;
    let id = answer.header("mcp-session-id").unwrap().to_owned();
    let session = Session { id, revision: Revision::V2025_11_25 };
    assert_eq!(pair.record(&session).await.unwrap()["session"]["isInitialized"], false);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(pair.b.ask(&session.post(initialized)).await.status(), 202);
    assert_eq!(pair.record(&session).await.unwrap()["session"]["isInitialized"], true);
}

#[tokio::test]
async fn settings_of_a_client_at_one_endpoint_hold_at_the_other() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    // Both endpoints know the session, so each has to take over the changes of the other.
    assert_eq!(b.ask(&echo(&session)).await.status(), 200);
    let level = |level: &str| method(&session, 2, "logging/setLevel", json!({ "level": level }));
    let tell = session.call("tell", json!({ "count": 1 }));
    for (here, there) in [(&a, &b), (&b, &a)] {
        assert_eq!(here.ask(&level("error")).await.status(), 200);
        there.handlers.step(2);
        let answer = there.ask(&tell).await;
        assert_eq!(text_of(&answer.json()), "told 1", "an info is not told, so this is no stream");
        assert_eq!(here.ask(&level("info")).await.status(), 200);
        there.handlers.step(2);
        let told = within(there.stream(&tell).await.messages()).await;
        assert_eq!(told[0].json()["method"], "notifications/message");
    }
}

// spec: RSRC-8
#[tokio::test]
async fn an_endpoint_sends_changes_for_a_subscription_made_at_the_other() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut get = b.stream(&session.get()).await;
    for (id, subscribe) in [(2, "note://a"), (3, "note://b")] {
        let subscribe = method(&session, id, "resources/subscribe", json!({ "uri": subscribe }));
        assert_eq!(a.ask(&subscribe).await.status(), 200);
    }
    let unsubscribe = method(&session, 4, "resources/unsubscribe", json!({ "uri": "note://a" }));
    assert_eq!(a.ask(&unsubscribe).await.status(), 200);
    // The next request at the other endpoint reads the new record, and updates the copy there.
    assert_eq!(b.ask(&echo(&session)).await.status(), 200);
    b.notify.resource_updated("note://a");
    b.notify.resource_updated("note://b");
    let told = within(get.message()).await.unwrap().json();
    assert_eq!(told["params"]["uri"], "note://b", "{told}");
}

#[tokio::test]
async fn settings_made_at_both_endpoints_at_once_both_hold() {
    let store = FaultyStore::new();
    let server = TestServer::with(|http| http.store(store.clone())).await;
    let session = server.session(Revision::V2025_11_25).await;
    let key = record(&session);
    store.set_fault(Fault::ConcurrentWrite(key.clone()));
    let level = method(&session, 2, "logging/setLevel", json!({ "level": "alert" }));
    assert_eq!(server.ask(&level).await.status(), 200);
    let kept = store.memory.get(&key).await.unwrap().unwrap();
    let kept: Value = serde_json::from_slice(&kept.value).unwrap();
    assert_eq!(kept["session"]["followed"], json!(["note://a"]));
    assert_eq!(kept["session"]["logLevel"], "alert");
    let mut get = server.stream(&session.get()).await;
    server.notify.resource_updated("note://a");
    let told = within(get.message()).await.unwrap().json();
    assert_eq!(told["params"]["uri"], "note://a");
}

// spec: RESUME-5, RESUME-7
#[tokio::test]
async fn a_client_resumes_a_stream_at_another_endpoint_during_and_after_its_call() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    a.handlers.step(1);
    let mut wire = a.stream(&session.call("tell", json!({ "count": 2 }))).await;
    let first = within(wire.message()).await.unwrap().id.unwrap();
    drop(wire);
    let mut wire = b.stream(&session.resume(&first)).await;
    a.handlers.step(1);
    let second = within(wire.message()).await.unwrap();
    assert_eq!(second.json()["params"]["data"], "2");
    a.handlers.step(1);
    let rest = within(wire.messages()).await;
    assert_eq!(text_of(&rest[0].json()), "told 2");
    assert!(wire.is_whole());
    let mut again = b.stream(&session.resume(&first)).await;
    assert_eq!(within(again.messages()).await, [vec![second], rest].concat());
}

// spec: RESUME-5, HTTP-17
#[tokio::test]
async fn a_client_that_was_asked_to_resume_later_resumes_at_another_endpoint() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut wire = a.stream(&session.call("pause", json!({ "milliseconds": 1 }))).await;
    let place = within(wire.event()).await.unwrap().id.unwrap();
    within(wire.messages()).await;
    // Nothing has been sent yet, and still the other endpoint knows that the stream is open.
    let mut wire = b.stream(&session.resume(&place)).await;
    a.handlers.step(1);
    assert_eq!(text_of(&within(wire.messages()).await[0].json()), "back again");
}

// spec: RESUME-5, RESUME-6
#[tokio::test]
async fn resuming_a_removed_stream_is_an_error_at_another_endpoint_too() {
    let Pair { a, b, .. } =
        Pair::limited(Arc::default(), |it| it.resumption = Duration::ZERO).await;
    let session = a.session(Revision::V2025_11_25).await;
    a.handlers.step(2);
    let mut wire = a.stream(&session.call("tell", json!({ "count": 1 }))).await;
    let told = within(wire.messages()).await;
    let stream = told[0].id.as_deref().unwrap().split_once('.').unwrap().0;
    for place in [format!("{stream}.0"), format!("{stream}.1"), "77.0".to_owned()] {
        let answer = b.ask(&session.resume(&place)).await;
        assert_eq!(answer.status(), 400, "{place}: {answer:?}");
    }
}

// spec: RESUME-5, HTTP-25
#[tokio::test]
async fn a_stream_resumed_at_another_endpoint_ends_when_its_own_endpoint_stops() {
    let Pair { a, b, .. } = Pair::limited(Arc::default(), |it| it.drain = Duration::ZERO).await;
    let session = a.session(Revision::V2025_11_25).await;
    a.handlers.step(2);
    let mut wire = a.stream(&session.call("tell", json!({ "count": 3 }))).await;
    let first = within(wire.message()).await.unwrap().id.unwrap();
    let second = within(wire.message()).await.unwrap();
    drop(wire);
    let mut wire = b.stream(&session.resume(second.id.as_deref().unwrap())).await;
    within(a.stopping()).await.unwrap();
    assert_eq!(within(wire.messages()).await, []);
    assert!(wire.is_whole());
    let mut wire = b.stream(&session.resume(&first)).await;
    assert_eq!(within(wire.messages()).await, [second], "sent events are kept");
    assert!(wire.is_whole());
    assert_eq!(b.ask(&echo(&session)).await.status(), 200);
}

// spec: RESUME-5
#[tokio::test]
async fn a_stream_resumed_at_another_endpoint_ends_when_its_own_endpoint_is_gone() {
    let store = Arc::new(MemoryBackend::default());
    let limits = limits(|it| it.session_idle = Duration::from_millis(100));
    let server = TestServer::with(|http| http.store(store.clone()).limits(limits)).await;
    let session = server.session(Revision::V2025_11_25).await;
    // Entries of an endpoint that ended without closing its streams.
    let stream = (7 << 32) + 1;
    let log = EventLog::new(store.clone(), &session.id, stream, Duration::from_secs(60));
    log.append(b"{}", false).await.unwrap();
    let mark = Key::new(["stream", &session.id, &stream.to_string()]);
    let moment = Duration::from_millis(100);
    store.put(&mark, Bytes::new(), moment, Expect::Anything).await.unwrap();
    let mut wire = server.stream(&session.resume(&format!("{stream}.0"))).await;
    assert_eq!(within(wire.messages()).await.len(), 1);
    assert!(wire.is_whole(), "it ends when no endpoint renews it");
}

// spec: SESS-8, SESS-10
#[tokio::test]
async fn a_deleted_session_ends_at_every_endpoint() {
    let pair = Pair::open().await;
    let session = pair.a.session(Revision::V2025_11_25).await;
    let mut call = Wire::send(pair.b.address, &session.call("forever", json!({}))).await;
    pair.b.handlers.running(1).await;
    let mut get = pair.b.stream(&session.get()).await;
    heard(&pair.b, &mut get).await;
    assert_eq!(pair.a.ask(&session.delete()).await.status(), 204);
    pair.b.handlers.running(0).await;
    assert_eq!(within(call.head()).await.status, 404);
    within(get.messages()).await;
    assert!(get.is_whole());
    for server in [&pair.a, &pair.b] {
        let requests = [echo(&session), session.get(), session.resume("0.0"), session.delete()];
        for request in requests {
            assert_eq!(server.ask(&request).await.status(), 404, "{request:?}");
        }
    }
    within(async {
        while bytes_beside_leases(&pair.store).await > 0 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!((pair.a.endpoint.sessions(), pair.b.endpoint.sessions()), (0, 0));
}

// spec: HTTP-22, ELIC-1
#[tokio::test]
async fn a_client_answers_a_question_of_one_endpoint_through_the_other() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    for (here, there) in [(&a, &b), (&b, &a)] {
        let mut post = here.stream(&session.call("ask", json!({}))).await;
        let question = within(post.message()).await.unwrap().json();
        let content = json!({ "action": "accept", "content": answer_to(&question) });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
        assert_eq!(there.ask(&session.post(answer.to_string())).await.status(), 202);
        assert_eq!(text_of(&within(post.messages()).await[0].json()), "sure");
    }
}

// spec: CANC-1, CANC-3
#[tokio::test]
async fn a_client_cancels_a_call_through_another_endpoint() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut wire = Wire::send(a.address, &session.call("forever", json!({}))).await;
    a.handlers.running(1).await;
    assert_eq!(b.ask(&cancel(&session)).await.status(), 202);
    a.handlers.running(0).await;
    assert!(within(wire.head()).await.is_stream());
    assert_eq!(within(wire.messages()).await, []);
    assert_eq!(a.ask(&echo(&session)).await.status(), 200, "nothing else ended");
}

// spec: RESUME-2, RPC-4
#[tokio::test]
async fn stream_and_question_ids_of_two_endpoints_differ() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut seen = HashSet::new();
    for server in [&a, &b, &a, &b] {
        let mut wire = server.stream(&session.call("ask", json!({}))).await;
        let place = within(wire.event()).await.unwrap().id.unwrap();
        assert!(seen.insert(place.split_once('.').unwrap().0.to_owned()), "{place}");
        let question = within(wire.message()).await.unwrap().json();
        let id = question["id"].as_u64().unwrap();
        assert!(id < 1 << 53 && seen.insert(format!("question {id}")), "{question}");
        assert_eq!(server.ask(&cancel(&session)).await.status(), 202);
        within(wire.messages()).await;
    }
}

// spec: HTTP-47, HTTP-48
#[tokio::test]
async fn only_the_newest_get_stream_of_all_endpoints_gets_changes() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut first = a.stream(&session.get()).await;
    heard(&a, &mut first).await;
    let mut second = b.stream(&session.get()).await;
    within(first.messages()).await;
    assert!(first.is_whole(), "the other one ends");
    heard(&b, &mut second).await;
    let mut third = a.stream(&session.get()).await;
    within(second.messages()).await;
    heard(&a, &mut third).await;
}

// spec: HTTP-41, HTTP-47
#[tokio::test]
async fn messages_of_one_endpoint_go_to_the_get_stream_at_the_other() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut get = b.stream(&session.get()).await;
    let told = heard(&a, &mut get).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let told = heard(&b, &mut get).await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
}

// spec: RESUME-5, HTTP-44
#[tokio::test]
async fn a_client_resumes_the_get_stream_at_another_endpoint() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let mut get = a.stream(&session.get()).await;
    a.notify.tools_changed();
    let first = within(get.message()).await.unwrap();
    assert_eq!(first.id.as_deref(), Some("0.1"));
    a.notify.tools_changed();
    let second = within(get.message()).await.unwrap();
    drop(get);
    let mut get = b.stream(&session.resume("0.1")).await;
    assert_eq!(within(get.message()).await, Some(second));
}

// spec: SESS-7
#[tokio::test]
async fn a_session_outlives_the_endpoint_that_opened_it() {
    let Pair { a, b, .. } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    within(a.stopping()).await.unwrap();
    assert_eq!(text_of(&b.ask(&echo(&session)).await.json()), "hello");
}

// spec: SESS-7
#[tokio::test]
async fn an_endpoint_that_evicts_a_session_keeps_it_in_the_store() {
    let store = Arc::new(MemoryBackend::default());
    let limits = limits(|it| it.sessions = 1);
    let server = TestServer::with(|http| http.store(store).limits(limits)).await;
    let first = server.session(Revision::V2025_11_25).await;
    let second = server.session(Revision::V2025_11_25).await;
    for session in [first, second] {
        assert_eq!(server.ask(&echo(&session)).await.status(), 200);
        assert_eq!(server.endpoint.sessions(), 1);
    }
}

// spec: SESS-16
#[tokio::test]
async fn a_session_of_another_owner_is_unknown_at_every_endpoint() {
    let store = Arc::new(MemoryBackend::default());
    let endpoint = || sample_server().0.http().store(store.clone()).build().unwrap();
    let (a, b) = (endpoint(), endpoint());
    let (ann, bob) = (Owner::known("issuer", "ann"), Owner::known("issuer", "bob"));
    let handshake = Request::post(initialize(Revision::V2025_11_25));
    let (_, _, id) = asked(&a, &ann, &handshake).await;
    let session = Session { id: id.unwrap(), revision: Revision::V2025_11_25 };
    for stranger in [bob, Owner::anonymous()] {
        for request in [echo(&session), session.get(), session.delete()] {
            assert_eq!(asked(&b, &stranger, &request).await.0, 404, "{request:?}");
        }
    }
    assert_eq!(asked(&b, &ann, &echo(&session)).await.0, 200);
}

#[tokio::test]
async fn a_stored_session_in_an_older_format_counts_as_unknown() {
    let Pair { a, b, store } = Pair::open().await;
    let session = a.session(Revision::V2025_11_25).await;
    let other = Bytes::from_static(br#"{"format":0}"#);
    let key = record(&session);
    store.put(&key, other.clone(), HOUR, Expect::Anything).await.unwrap();
    for server in [&a, &b] {
        assert_eq!(server.ask(&echo(&session)).await.status(), 404);
    }
    let kept = store.get(&key).await.unwrap().unwrap();
    assert_eq!(kept.value, other, "the endpoint does not change it");
}

#[tokio::test]
async fn a_stored_session_in_a_newer_format_is_refused_for_now() {
    let pair = Pair::open().await;
    let session = pair.a.session(Revision::V2025_11_25).await;
    let before = pair.store.get(&record(&session)).await.unwrap().unwrap().value;
    let newer = r#"{"format":2,"session":"in another form"}"#;
    let put = async |value| {
        pair.store.put(&record(&session), value, HOUR, Expect::Anything).await.unwrap();
    };
    put(newer.into()).await;
    // One has a copy, and the other would have to make one.
    for server in [&pair.a, &pair.b] {
        let answer = server.ask(&echo(&session)).await;
        assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
        let text = answer.json().to_string();
        assert!(text.contains("has format 2, and this server reads up to 1"), "{text}");
    }
    put(before).await;
    for server in [&pair.a, &pair.b] {
        assert_eq!(text_of(&server.ask(&echo(&session)).await.json()), "hello");
    }
}

#[tokio::test]
async fn the_server_does_not_look_up_an_invalid_session_id() {
    let store = FaultyStore::new();
    store.set_fault(Fault::Everything);
    let server = TestServer::with(|http| http.store(store)).await;
    for id in ["x", "../../../../../../../..", "session/AAAAAAAAAAAAAA"] {
        let session = Session { id: id.into(), revision: Revision::V2025_11_25 };
        assert_eq!(server.ask(&echo(&session)).await.status(), 404, "{id}");
    }
}

#[tokio::test]
async fn a_request_is_503_when_the_store_fails() {
    let store = FaultyStore::new();
    let server = TestServer::with(|http| http.store(store.clone())).await;
    let session = server.session(Revision::V2025_11_25).await;
    store.set_fault(Fault::Everything);
    let handshake = Request::post(initialize(Revision::V2025_11_25));
    for request in [echo(&session), session.get(), session.delete(), handshake] {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status(), 503, "{answer:?}");
        let reason = answer.reason();
        assert!(reason.contains("the store of sessions and events failed"), "{reason}");
        assert!(!reason.contains("out of order"), "the operator's reason is not for clients");
    }
    store.set_fault(None);
    assert_eq!(server.ask(&echo(&session)).await.status(), 200);
    assert_eq!(server.endpoint.sessions(), 1, "the handshake that failed left nothing");
}

#[tokio::test]
async fn a_call_that_has_run_is_not_answered_as_retryable_when_the_store_fails() {
    let store = FaultyStore::new();
    let server = TestServer::with(|http| http.store(store.clone())).await;
    let session = server.session(Revision::V2025_11_25).await;
    let subscribe = method(&session, 7, "resources/subscribe", json!({ "uri": "note://a" }));
    store.set_fault(Fault::RefusesValues);
    let answer = server.ask(&subscribe).await;
    assert_eq!((answer.status(), answer.code()), (503, -32603), "{answer:?}");
    assert_eq!((answer.header("retry-after"), &answer.json()["id"]), (None, &json!(7)));
    assert!(answer.reason().contains("may have run"), "{answer:?}");
}
