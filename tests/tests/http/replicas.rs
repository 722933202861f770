//! Several endpoints on one store, when the store or an endpoint fails.

mod broadcasts;
mod last_event;
mod outage;
mod rates;
mod refused_settings;
mod replica;
mod slow_store;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bowline_http::server::HttpLimits;
use bowline_http::store::backend::{Backend, Expect, Key};
use bowline_http::store::wrapper::{OperationKind, Wrapped};
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::{Instant, advance, sleep, timeout};

use self::replica::{Events, Replica, store};
use crate::faulty_store::{Fault, FaultyStore};
use crate::sessions::answer_to;
use crate::test_server::{Session, TestServer, call, listen, request, text_of, within};
use crate::wire::{Request, Wire};

fn echo(session: &Session) -> Request {
    session.call("echo", json!({ "text": "hello" }))
}

/// A server with this store, and a session of it.
async fn served_on(store: &Arc<Wrapped<FaultyStore>>) -> (TestServer, Session) {
    let server = TestServer::with(|http| http.store(store.clone())).await;
    let session = server.session(Revision::V2025_11_25).await;
    (server, session)
}

/// The stream of a call that sends three messages, and the id of its first event.
async fn first_of_three(server: &TestServer, session: &Session) -> (Wire, String) {
    let mut wire = server.stream(&session.call("tell", json!({ "count": 3 }))).await;
    let first = within(wire.message()).await.unwrap().id.unwrap();
    (wire, first)
}

// spec: RESUME-2, RESUME-5
#[tokio::test]
async fn an_id_is_never_used_twice_even_if_the_store_loses_the_end_of_a_log() {
    let store = FaultyStore::new();
    let (server, session) = served_on(&store).await;
    server.handlers.step(2);
    let (mut wire, first) = first_of_three(&server, &session).await;
    let second = within(wire.message()).await.unwrap().id.unwrap();
    let stream = first.split_once('.').unwrap().0;
    let log = Key::new(["events", &session.id, stream]);
    assert!(store.delete(&log).await.unwrap(), "the store has lost the log");
    server.handlers.step(2);
    let rest = within(wire.messages()).await;
    let ids: Vec<_> = rest.iter().map(|event| event.id.clone().unwrap()).collect();
    assert_eq!(ids, [format!("{stream}.3"), format!("{stream}.4")]);
    let answer = server.ask(&session.resume(&first)).await;
    assert_eq!(answer.status(), 400, "the second event is lost: {answer:?}");
    let mut again = server.stream(&session.resume(&second)).await;
    assert_eq!(within(again.messages()).await, rest, "no event after the second is lost");
}

// spec: RESUME-2
#[tokio::test(start_paused = true)]
async fn an_id_is_never_used_twice_even_if_the_store_loses_the_number_of_a_copy() {
    let store = store();
    let (a, b, c) = (Replica::on(&store), Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let key = Key::new(["session", &session.id]);
    let before = store.get(&key).await.unwrap().unwrap().value;
    b.handlers.step(2);
    let of_b = b.stream(&session.call("tell", json!({ "count": 1 }))).await.messages().await;
    // As after a failover: the log is lost, and the record does not count the copy at `b` any more.
    let first = of_b[0].id.as_deref().unwrap();
    let log = Key::new(["events", &session.id, first.split_once('.').unwrap().0]);
    assert!(store.delete(&log).await.unwrap());
    let hour = Duration::from_secs(3600);
    store.put(&key, before, hour, Expect::Anything).await.unwrap();
    c.handlers.step(2);
    let of_c = c.stream(&session.call("tell", json!({ "count": 1 }))).await.messages().await;
    assert_ne!(of_c[0].id, of_b[0].id);
    for replica in [&a, &b, &c] {
        assert_eq!(replica.ask(&session.resume(first)).await.0, 400, "its events are lost");
        let mut known = replica.stream(&session.resume(of_c[0].id.as_deref().unwrap())).await;
        assert_eq!(known.messages().await, of_c[1..], "each finds the stream of `c`");
    }
}

// After a failover two copies have the same number. The client does not answer twice: it got a 202.
// spec: HTTP-22
#[tokio::test(start_paused = true)]
async fn an_answer_finds_its_question_even_if_the_store_loses_the_number_of_a_copy() {
    let store = store();
    let (a, b, c) = (Replica::on(&store), Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let key = Key::new(["session", &session.id]);
    let before = store.get(&key).await.unwrap().unwrap().value;
    let mut of_b = b.stream(&session.call("ask", json!({}))).await;
    let question = of_b.message().await.unwrap().json();
    let hour = Duration::from_secs(3600);
    store.put(&key, before, hour, Expect::Anything).await.unwrap();
    let mut of_c = c.stream(&session.call("ask", json!({}))).await;
    assert_ne!(of_c.message().await.unwrap().json()["id"], question["id"]);
    let result = json!({ "action": "accept", "content": answer_to(&question) });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(c.ask(&session.post(answer.to_string())).await.0, 202);
    let last = timeout(Duration::from_secs(1), of_b.messages()).await.expect("an answer");
    assert_eq!(text_of(&last[0].json()), "sure");
}

// spec: RESUME-5
#[tokio::test]
async fn an_event_that_the_store_refused_is_a_gap_for_a_client_that_resumes_before_it() {
    let store = FaultyStore::new();
    let (server, session) = served_on(&store).await;
    server.handlers.step(1);
    let (mut wire, first) = first_of_three(&server, &session).await;
    store.set_fault(Fault::RefusesEvents);
    server.handlers.step(1);
    let refused = within(wire.message()).await.unwrap();
    assert_eq!(refused.json()["params"]["data"], "2");
    assert_eq!(refused.id, None, "the client cannot resume after it");
    store.set_fault(None);
    server.handlers.step(2);
    let rest = within(wire.messages()).await;
    assert_eq!(text_of(&rest[1].json()), "told 3");
    let answer = server.ask(&session.resume(&first)).await;
    assert_eq!(answer.status(), 400, "the second event is not stored: {answer:?}");
    let mut again = server.stream(&session.resume(rest[0].id.as_deref().unwrap())).await;
    assert_eq!(within(again.messages()).await, rest[1..]);
}

// spec: SESS-7
#[tokio::test(start_paused = true)]
async fn an_open_stream_keeps_its_session_and_its_log() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (mut stream, first) = a.first_of(2, &session).await;
    sleep(Duration::from_secs(3600)).await;
    a.handlers.step(2);
    assert_eq!(stream.messages().await.len(), 2);
    let again = b.stream(&session.resume(&first)).await.messages().await;
    assert_eq!(text_of(&again[1].json()), "told 2", "{again:?}");
}

// spec: SESS-7, SESS-8, SESS-15
#[tokio::test(start_paused = true)]
async fn a_session_expires_unless_some_endpoint_uses_it() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let (used, idle) = (a.session().await, a.session().await);
    let forever = used.call("forever", json!({}));
    tokio::select! {
        _ = b.send(&forever) => panic!("the call runs on"),
        () = sleep(HttpLimits::default().session_idle * 2) => {}
    }
    for replica in [&a, &b] {
        assert_eq!(replica.ask(&echo(&idle)).await.0, 404);
        assert_eq!(replica.ask(&echo(&used)).await.0, 200, "a running call is use");
    }
}

#[tokio::test(start_paused = true)]
async fn the_store_keeps_nothing_of_a_killed_endpoint_for_long() {
    let store = store();
    let replica = Replica::on(&store);
    let session = replica.session().await;
    replica.handlers.step(1);
    let mut stream = replica.stream(&session.call("tell", json!({ "count": 2 }))).await;
    stream.message().await.unwrap();
    replica.link.cut(true);
    assert!(store.bytes() > 0);
    advance(Duration::from_secs(900)).await;
    assert_eq!(store.bytes(), 0);
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn a_call_of_a_killed_endpoint_ends_with_an_error_within_fifteen_seconds() {
    let store = store();
    let (a, b, c) = (Replica::on(&store), Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (_stream, first) = a.first_of(2, &session).await;
    a.link.cut(true);
    let (mut at_b, mut at_c) =
        (b.stream(&session.resume(&first)).await, c.stream(&session.resume(&first)).await);
    let began = Instant::now();
    let rest = at_b.messages().await;
    assert!(began.elapsed() <= Duration::from_secs(15), "{:?}", began.elapsed());
    let [error] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((&error.json()["id"], &error.json()["error"]["code"]), (&json!(1), &json!(-32603)));
    assert_eq!(at_c.messages().await, rest, "one endpoint answers for all");
    let later = b.stream(&session.resume(&first)).await.messages().await;
    assert_eq!(later, rest);
}

// An endpoint may be killed, or lose its store, while it ends the stream of another one.
// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn a_call_of_a_killed_endpoint_gets_its_error_even_if_the_first_that_ends_it_fails() {
    let store = store();
    let (a, b, c) = (Replica::on(&store), Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (_stream, first) = a.first_of(2, &session).await;
    a.link.cut(true);
    sleep(Duration::from_secs(15)).await;
    b.link.refuse([OperationKind::Append]);
    assert_eq!(b.ask(&session.resume(&first)).await.0, 503);
    let rest = c.stream(&session.resume(&first)).await.messages().await;
    let [error] = &rest[..] else { panic!("{rest:?}") };
    assert_eq!((&error.json()["id"], &error.json()["error"]["code"]), (&json!(1), &json!(-32603)));
}

// spec: RESUME-2
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_was_paused_sends_nothing_after_another_has_ended_its_stream() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (mut stream, first) = a.first_of(2, &session).await;
    a.link.cut(true);
    let ended = b.stream(&session.resume(&first)).await.messages().await;
    assert_eq!(ended.len(), 1);
    a.link.cut(false);
    a.handlers.step(2);
    assert_eq!(stream.messages().await, [], "its client has the answer already");
    let again = b.stream(&session.resume(&first)).await.messages().await;
    assert_eq!(again, ended, "nothing follows the end of a stream");
}

// spec: SESS-7
#[tokio::test(start_paused = true)]
async fn requests_renew_a_session_without_writing_its_record() {
    let store = store();
    let replica = Replica::on(&store);
    let session = replica.session().await;
    replica.link.take();
    for _ in 0..20 {
        sleep(Duration::from_secs(300)).await;
        assert_eq!(replica.ask(&echo(&session)).await.0, 200);
        assert_eq!(replica.link.kinds(), [OperationKind::Renew], "the sweep uses no store");
    }
    sleep(Duration::from_secs(900)).await;
    assert_eq!(replica.ask(&echo(&session)).await.0, 404, "it was idle for too long");
}

#[tokio::test(start_paused = true)]
async fn a_copy_is_not_dropped_while_a_request_waits_for_the_store() {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    sleep(Duration::from_millis(29_500)).await;
    replica.link.hold_replies(OperationKind::Renew);
    let release = async {
        sleep(Duration::from_secs(3)).await;
        replica.link.hold_replies(None);
        sleep(Duration::from_secs(1)).await;
        replica.handlers.step(2);
    };
    let call = session.call("tell", json!({ "count": 1 }));
    let (answer, ()) = tokio::join!(replica.send(&call), release);
    assert_eq!(answer.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn an_idle_copy_is_dropped_and_restored_without_a_write() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    assert_eq!(b.ask(&echo(&session)).await.0, 200);
    assert_eq!((a.endpoint.sessions(), b.endpoint.sessions()), (1, 1));
    sleep(Duration::from_secs(32)).await;
    assert_eq!((a.endpoint.sessions(), b.endpoint.sessions()), (0, 0));
    b.link.take();
    assert_eq!(b.ask(&echo(&session)).await.0, 200);
    assert_eq!(b.link.kinds(), [OperationKind::Renew]);
}

#[tokio::test(start_paused = true)]
async fn requests_use_the_store_as_rarely_as_they_can() {
    use OperationKind::{Append, Renew};
    let store = store();
    let replica = Replica::on(&store);
    let session = replica.session().await;
    replica.link.take();
    assert_eq!(replica.ask(&call("echo", json!({ "text": "hello" }))).await.0, 200);
    assert_eq!(replica.link.kinds(), [], "a modern call");
    assert_eq!(replica.ask(&echo(&session)).await.0, 200);
    assert_eq!(replica.link.kinds(), [Renew], "a call in a session");
    replica.handlers.step(3);
    let events =
        replica.stream(&session.call("tell", json!({ "count": 2 }))).await.messages().await;
    assert_eq!(events.len(), 3);
    assert_eq!(replica.link.kinds(), [Renew, Append, Append, Append], "a stream of three events");
    let mut get = replica.stream(&session.get()).await;
    for number in 0..3 {
        replica.link.take();
        replica.notify.tools_changed();
        get.message().await.unwrap();
        if number > 0 {
            assert_eq!(replica.link.kinds(), [Append, Renew], "an event of the GET stream");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_at_one_endpoint_reaches_the_clients_of_the_others_once() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = b.session().await;
    let mut get = b.stream(&session.get()).await;
    assert_eq!(a.ask(&echo(&session)).await.0, 200, "the endpoint has a copy too");
    for is_copied in [true, false] {
        if !is_copied {
            sleep(Duration::from_secs(40)).await;
            assert_eq!(a.endpoint.sessions(), 0);
        }
        a.link.take();
        (0..10).for_each(|_| a.notify.tools_changed());
        let told = timeout(Duration::from_secs(1), get.message()).await.expect("in a moment");
        assert_eq!(told.unwrap().json()["method"], "notifications/tools/list_changed");
        let again = timeout(Duration::from_secs(5), get.message()).await;
        assert!(again.is_err(), "{again:?}");
        let published = a
            .link
            .take()
            .into_iter()
            .filter(|(kind, key)| *kind == OperationKind::Publish && key == "changes");
        let published = published.count();
        assert_eq!(published, 1, "changes within a moment are published together");
    }
}

/// The changes that come on a stream within a second.
async fn changes(get: &mut Events) -> BTreeSet<String> {
    let mut changes = BTreeSet::new();
    while let Ok(Some(event)) = timeout(Duration::from_secs(1), get.message()).await {
        let message = event.json();
        let what = message["params"]["uri"].as_str().or(message["method"].as_str());
        changes.insert(what.unwrap().to_owned());
    }
    changes
}

fn names<const N: usize>(names: [&str; N]) -> BTreeSet<String> {
    names.map(str::to_owned).into()
}

/// The lists that the server has.
const LISTS: [&str; 2] =
    ["notifications/tools/list_changed", "notifications/resources/list_changed"];

// An endpoint that is stopped or killed does not pass on what happens before its clients have come to
// another one, and that one may know nothing of their sessions until then.
#[tokio::test(start_paused = true)]
async fn a_client_that_comes_to_another_endpoint_is_notified_of_all_that_may_have_changed() {
    let store = store();
    let a = Replica::on(&store);
    let session = a.session().await;
    let mut get = a.stream(&session.get()).await;
    assert_eq!(changes(&mut get).await, names([]));
    for (id, uri) in [(2, "note://a"), (3, "note://b")] {
        let subscribe = request(id, "resources/subscribe", json!({ "uri": uri }));
        assert_eq!(a.ask(&session.post(subscribe)).await.0, 200);
    }
    drop(get);
    let b = Replica::on(&store);
    let mut get = b.stream(&session.get()).await;
    let [tools, resources] = LISTS;
    let all = names([tools, resources, "note://a", "note://b"]);
    assert_eq!(changes(&mut get).await, all);
    // From now on this endpoint knows of every change.
    drop(get);
    b.notify.resource_updated("note://b");
    let mut get = b.stream(&session.get()).await;
    assert_eq!(changes(&mut get).await, names(["note://b"]));
}

// A client that opens its first stream has the lists from just before.
#[tokio::test(start_paused = true)]
async fn a_first_stream_at_another_endpoint_begins_with_the_resources_that_may_have_changed() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let mut get = b.stream(&session.get()).await;
    assert_eq!(changes(&mut get).await, names([]), "the session follows nothing yet");
    drop(get);
    let session = a.session().await;
    let subscribe = request(2, "resources/subscribe", json!({ "uri": "note://a" }));
    assert_eq!(a.ask(&session.post(subscribe)).await.0, 200);
    let mut get = b.stream(&session.get()).await;
    assert_eq!(changes(&mut get).await, names(["note://a"]));
}

#[tokio::test(start_paused = true)]
async fn after_messages_may_have_been_missed_followers_are_notified_of_all_that_may_have_changed() {
    let store = store();
    let replica = Replica::on(&store);
    let session = replica.session().await;
    let mut get = replica.stream(&session.get()).await;
    let subscribe = request(2, "resources/subscribe", json!({ "uri": "note://a" }));
    assert_eq!(replica.ask(&session.post(subscribe)).await.0, 200);
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://b"] });
    let mut listening = replica.stream(&listen(filter)).await;
    let acknowledged = listening.message().await.unwrap().json();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(changes(&mut get).await, names([]));
    for topic in ["changes", "sessions"] {
        store.publish(&Key::new([topic]), "".into()).await.unwrap();
    }
    let [tools, resources] = LISTS;
    assert_eq!(changes(&mut get).await, names([tools, resources, "note://a"]));
    assert_eq!(changes(&mut listening).await, names([tools, "note://b"]));
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_reads_the_records_again_after_it_may_have_missed_messages() {
    let store = store();
    let replica = Replica::on(&store);
    let session = replica.session().await;
    let mut get = replica.stream(&session.get()).await;
    // Another endpoint has deleted the session, and its message is lost.
    assert!(store.delete(&Key::new(["session", &session.id])).await.unwrap());
    store.publish(&Key::new(["sessions"]), "".into()).await.unwrap();
    let end = timeout(Duration::from_secs(5), get.message()).await;
    assert_eq!(end, Ok(None), "the session has ended");
}
