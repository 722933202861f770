//! Streams on a store that has taken an event and not replied, or whose news are late. In virtual time.

use std::time::Duration;

use bowline_http::store::backend::{Backend, Key, NewItem};
use bowline_http::store::wrapper::OperationKind;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::replica::{Events, Replica, settle, store};
use crate::test_server::{request, text_of};

/// Whether a stream stays silent for a second.
async fn is_silent(stream: &mut Events) -> bool {
    timeout(Duration::from_secs(1), stream.message()).await.is_err()
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_event_of_a_call_is_stored_once_although_its_client_hangs_up_meanwhile() {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    let (mut stream, first) = replica.first_of(3, &session).await;
    replica.link.hold_replies(OperationKind::Append);
    replica.handlers.step(1);
    assert!(is_silent(&mut stream).await, "the event is not sent before it is stored");
    drop(stream);
    replica.link.hold_replies(None);
    replica.handlers.step(2);
    let rest = replica.stream(&session.resume(&first)).await.messages().await;
    let told: Vec<_> = rest.iter().map(|event| event.json()["params"]["data"].clone()).collect();
    assert_eq!(told[..2], ["2", "3"], "{rest:?}");
    assert_eq!(text_of(&rest[2].json()), "told 3");
    assert_eq!(rest.len(), 3);
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_event_of_the_get_stream_is_stored_once_although_its_client_hangs_up_meanwhile() {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    let mut get = replica.stream(&session.get()).await;
    replica.notify.tools_changed();
    let first = get.message().await.unwrap().id.unwrap();
    replica.link.hold_replies(OperationKind::Append);
    replica.notify.tools_changed();
    assert!(is_silent(&mut get).await, "the event is not sent before it is stored");
    drop(get);
    replica.link.hold_replies(None);
    let mut get = replica.stream(&session.resume(&first)).await;
    let second = get.message().await.unwrap();
    assert_eq!(second.json()["method"], "notifications/tools/list_changed");
    assert!(is_silent(&mut get).await, "no second one");
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_event_of_the_get_stream_that_the_store_refuses_after_its_client_left_is_sent_to_the_next()
 {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    let mut get = replica.stream(&session.get()).await;
    replica.notify.tools_changed();
    let first = get.message().await.unwrap().id.unwrap();
    replica.link.refuse([OperationKind::Append]);
    replica.link.hold_replies(OperationKind::Append);
    replica.notify.tools_changed();
    assert!(is_silent(&mut get).await);
    drop(get);
    replica.link.refuse(None);
    replica.link.hold_replies(None);
    let mut get = replica.stream(&session.resume(&first)).await;
    let second = get.message().await.unwrap();
    assert_eq!(second.json()["method"], "notifications/tools/list_changed");
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn a_resumed_stream_has_the_last_event_although_it_sees_the_end_before_the_event() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (_stream, first) = a.first_of(2, &session).await;
    let mut resumed = b.stream(&session.resume(&first)).await;
    let number = first.split_once('.').unwrap().0;
    let key = |part: &str| Key::new([part, &session.id, number]);
    let (log, mark, news) = (key("events"), key("stream"), key("news"));
    let last = NewItem::new(&b"\x01{}"[..], Duration::from_secs(60));
    let shared = store.clone();
    b.link.before_look(async move {
        shared.append(&log, last).await.unwrap();
        shared.delete(&mark).await.unwrap();
    });
    let wake = async { store.publish(&news, "".into()).await.unwrap() };
    let (rest, ()) = tokio::join!(resumed.messages(), wake);
    assert_eq!(rest.len(), 1, "the last event");
}

// spec: RESUME-5, RPC-4
#[tokio::test(start_paused = true)]
async fn each_request_of_a_batch_of_a_killed_endpoint_gets_one_error() {
    let store = store();
    let (a, b, c) = (Replica::on(&store), Replica::on(&store), Replica::on(&store));
    let session = a.session_of(Revision::V2025_03_26).await;
    let call = |id| {
        let params = json!({ "name": "tell", "arguments": { "count": 2 } });
        serde_json::from_str::<Value>(&request(id, "tools/call", params)).unwrap()
    };
    a.handlers.step(1);
    let batch = session.post(json!([call(1), call(2)]).to_string());
    let first = a.stream(&batch).await.message().await.unwrap().id.unwrap();
    a.link.cut(true);
    sleep(Duration::from_secs(15)).await;
    // The first endpoint is slow, and another one comes in between.
    b.link.hold_replies(OperationKind::Append);
    let at_b = async { b.stream(&session.resume(&first)).await.messages().await };
    let at_c = async {
        let rest = c.stream(&session.resume(&first)).await.messages().await;
        b.link.hold_replies(None);
        rest
    };
    let (at_b, at_c) = tokio::join!(at_b, at_c);
    let [errors] = &at_b[..] else { panic!("{at_b:?}") };
    let of = |error: &Value| (error["id"].clone(), error["error"]["code"].clone());
    let errors: Vec<_> = errors.json().as_array().unwrap().iter().map(of).collect();
    assert_eq!(errors, [(json!(1), json!(-32603)), (json!(2), json!(-32603))]);
    assert_eq!(at_c, at_b);
}

#[tokio::test(start_paused = true)]
async fn a_record_that_changes_often_is_read_once_at_a_time() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let echo = session.call("echo", json!({ "text": "hello" }));
    assert_eq!(b.ask(&echo).await.0, 200);
    b.link.hold_replies(OperationKind::Renew);
    b.link.take();
    for id in 0..20 {
        let level = if id % 2 == 0 { "error" } else { "info" };
        let params = json!({ "level": level });
        assert_eq!(a.ask(&session.post(request(id, "logging/setLevel", params))).await.0, 200);
        settle().await;
    }
    b.link.hold_replies(None);
    settle().await;
    assert_eq!(b.link.kinds(), [OperationKind::Renew; 2], "at the first change and after the last");
}

#[tokio::test(start_paused = true)]
async fn records_are_read_again_once_at_a_time_however_often_messages_were_missed() {
    let store = store();
    let replica = Replica::on(&store);
    replica.session().await;
    replica.link.hold_replies(OperationKind::Renew);
    replica.link.take();
    for _ in 0..20 {
        store.publish(&Key::new(["sessions"]), "".into()).await.unwrap();
        settle().await;
    }
    replica.link.hold_replies(None);
    settle().await;
    assert_eq!(replica.link.kinds(), [OperationKind::Renew; 2], "one pass more after the first");
}

// spec: RPC-4, HTTP-47
#[tokio::test(start_paused = true)]
async fn a_get_stream_goes_on_although_two_requests_took_a_number_for_its_copy() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    assert_eq!(b.ask(&session.call("echo", json!({ "text": "hello" }))).await.0, 200);
    b.handlers.step(1);
    b.link.hold_replies(OperationKind::Put);
    let call = session.call("tell", json!({ "count": 2 }));
    let (opened, first) = (session.get(), b.stream(&call));
    let second = async {
        settle().await;
        // The reply to the first stays away, and those to others come.
        b.link.hold_replies(OperationKind::Scan);
        let get = b.stream(&opened).await;
        b.link.hold_replies(None);
        get
    };
    let (_post, mut get) = tokio::join!(first, second);
    settle().await;
    b.notify.tools_changed();
    let told = get.message().await.unwrap();
    assert_eq!(told.json()["method"], "notifications/tools/list_changed");
}
