//! The store is out of reach for all endpoints, and for longer than a lease lasts. In virtual time.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::replica::{Replica, store};
use crate::test_server::{Session, text_of};

/// Two endpoints, a session that both have served, and the id of the first event of a call that runs
/// at the first endpoint. The endpoints are cut off for 30 seconds then.
async fn after_an_outage() -> (Replica, Replica, Session, String) {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    let (stream, first) = a.first_of(2, &session).await;
    drop(stream);
    assert_eq!(b.ask(&session.call("echo", json!({ "text": "hello" }))).await.0, 200);
    for replica in [&a, &b] {
        replica.link.cut(true);
    }
    sleep(Duration::from_secs(30)).await;
    for replica in [&a, &b] {
        replica.link.cut(false);
    }
    (a, b, session, first)
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_runs_a_call_is_not_taken_for_dead_after_an_outage() {
    let (a, b, session, first) = after_an_outage().await;
    let mut at_b = b.stream(&session.resume(&first)).await;
    let steps = async {
        sleep(Duration::from_secs(20)).await;
        a.handlers.step(2);
    };
    let (rest, ()) = tokio::join!(at_b.messages(), steps);
    assert_eq!(text_of(&rest[1].json()), "told 2", "{rest:?}");
}

// spec: RESUME-5
#[tokio::test(start_paused = true)]
async fn an_endpoint_that_dies_in_an_outage_is_noticed_after_it() {
    let (a, b, session, first) = after_an_outage().await;
    a.link.cut(true);
    let began = Instant::now();
    let rest = b.stream(&session.resume(&first)).await.messages().await;
    // A lease, a renewal, and the time between two looks.
    assert!(began.elapsed() <= Duration::from_secs(10 + 3 + 3), "{:?}", began.elapsed());
    assert_eq!(rest[0].json()["error"]["code"], -32603, "{rest:?}");
}
