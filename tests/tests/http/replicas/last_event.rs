//! The last event of a stream, when the store refuses it. In virtual time.

use std::sync::Arc;
use std::time::Duration;

use bowline_http::server::HttpLimits;
use bowline_http::store::MemoryBackend;
use bowline_http::store::wrapper::OperationKind;
use serde_json::json;
use tokio::time::{Instant, sleep, timeout};

use super::replica::{Events, Replica, store};
use crate::test_server::{Session, text_of};

/// How soon after the store works again the last event is in it.
const SOON: Duration = Duration::from_secs(2);

/// Two endpoints, and a call that has sent its first event at the first.
struct Begun {
    store: Arc<MemoryBackend>,
    a: Replica,
    b: Replica,
    session: Session,
    stream: Events,
    first: String,
}

async fn begun() -> Begun {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (stream, first) = a.first_of(1, &session).await;
    Begun { store, a, b, session, stream, first }
}

/// The store forgets everything once the endpoints are gone.
async fn nothing_is_left(store: &MemoryBackend, replicas: &[Replica]) {
    replicas.iter().for_each(|replica| replica.link.cut(true));
    sleep(HttpLimits::default().session_idle * 2).await;
    assert_eq!(store.bytes(), 0);
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_answer_that_the_store_refused_after_its_client_left_is_stored_when_the_store_works_again()
 {
    let Begun { a, b, session, stream, first, .. } = begun().await;
    drop(stream);
    a.link.refuse([OperationKind::Append]);
    a.handlers.step(1);
    let mut waiting = b.stream(&session.resume(&first)).await;
    sleep(Duration::from_secs(10)).await;
    a.link.refuse(None);
    let rest = timeout(SOON, waiting.messages()).await.expect("the answer is stored soon");
    assert_eq!(text_of(&rest[0].json()), "told 1", "{rest:?}");
    for replica in [&a, &b] {
        let again = replica.stream(&session.resume(&first)).await.messages().await;
        assert_eq!(again, rest, "stored once, and the stream has ended");
    }
}

// The client may have lost its connection before the answer came.
// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_answer_that_was_sent_although_the_store_refused_it_is_stored_later() {
    let Begun { a, b, session, mut stream, first, .. } = begun().await;
    a.link.cut(true);
    a.handlers.step(1);
    let last = stream.message().await.unwrap();
    assert_eq!((text_of(&last.json()), last.id), ("told 1", None));
    assert!(stream.message().await.is_none(), "the stream ends although the store is away");
    drop(stream);
    let mut waiting = b.stream(&session.resume(&first)).await;
    sleep(Duration::from_secs(5)).await;
    a.link.cut(false);
    let rest = timeout(SOON, waiting.messages()).await.expect("the answer is stored soon");
    assert_eq!(text_of(&rest[0].json()), "told 1", "{rest:?}");
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn the_end_of_a_cancelled_call_that_the_store_refused_is_stored_later() {
    let Begun { a, b, session, stream, first, .. } = begun().await;
    drop(stream);
    a.link.refuse([OperationKind::Append]);
    let params = json!({ "requestId": 1 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    assert_eq!(a.ask(&session.post(cancel.to_string())).await.0, 202);
    let mut waiting = b.stream(&session.resume(&first)).await;
    sleep(Duration::from_secs(10)).await;
    a.link.refuse(None);
    assert_eq!(timeout(SOON, waiting.messages()).await.expect("it ends"), []);
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn a_last_event_that_the_store_refuses_for_too_long_is_a_gap() {
    let Begun { store, a, b, session, stream, first } = begun().await;
    drop(stream);
    a.link.refuse([OperationKind::Append]);
    a.handlers.step(1);
    let began = Instant::now();
    let mut at_a = a.stream(&session.resume(&first)).await;
    let mut at_b = b.stream(&session.resume(&first)).await;
    assert_eq!(tokio::join!(at_a.messages(), at_b.messages()), (vec![], vec![]));
    let (took, resumption) = (began.elapsed(), HttpLimits::default().resumption);
    assert!(resumption <= took && took <= resumption + SOON, "{took:?}");
    a.link.refuse(None);
    for replica in [&a, &b] {
        let (status, text) = replica.ask(&session.resume(&first)).await;
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("open a new stream"), "{text}");
    }
    nothing_is_left(&store, &[a, b]).await;
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn a_last_event_of_a_long_outage_is_a_gap_soon_after_it() {
    let Begun { a, b, session, stream, first, .. } = begun().await;
    drop(stream);
    for replica in [&a, &b] {
        replica.link.cut(true);
    }
    a.handlers.step(1);
    sleep(HttpLimits::default().resumption + Duration::from_secs(10)).await;
    for replica in [&a, &b] {
        replica.link.cut(false);
    }
    sleep(SOON).await;
    for replica in [&a, &b] {
        let resumed = timeout(SOON, replica.ask(&session.resume(&first))).await;
        assert_eq!(resumed.expect("no stream").0, 400);
    }
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_answer_is_stored_later_although_it_is_not_known_whether_its_stream_has_begun() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    a.link.lose_appended(true);
    a.handlers.step(1);
    let mut stream = a.stream(&session.call("tell", json!({ "count": 1 }))).await;
    assert_eq!(stream.message().await.unwrap().id, None, "the reply of the store is lost");
    a.link.cut(true);
    a.handlers.step(1);
    assert_eq!(text_of(&stream.message().await.unwrap().json()), "told 1");
    drop(stream);
    // The first stream of the first copy, before its first event.
    let mut waiting = b.stream(&session.resume("1.0")).await;
    sleep(Duration::from_secs(5)).await;
    a.link.cut(false);
    a.link.lose_appended(false);
    let rest = timeout(SOON, waiting.messages()).await.expect("the answer is stored soon");
    assert_eq!(text_of(&rest[1].json()), "told 1", "{rest:?}");
    sleep(HttpLimits::default().resumption * 2).await;
    assert_eq!(b.ask(&session.resume("1.0")).await.0, 400, "nothing says that it is open");
}

#[tokio::test(start_paused = true)]
async fn a_session_that_ends_does_not_wait_for_its_last_events() {
    let Begun { store, a, b, session, stream, .. } = begun().await;
    drop(stream);
    a.link.refuse([OperationKind::Append]);
    a.handlers.step(1);
    sleep(Duration::from_secs(5)).await;
    assert_eq!(a.ask(&session.delete()).await.0, 204);
    a.link.refuse(None);
    a.link.take();
    sleep(Duration::from_secs(5)).await;
    assert!(!a.link.kinds().contains(&OperationKind::Append));
    nothing_is_left(&store, &[a, b]).await;
}
