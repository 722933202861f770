//! Rates of callers, of which each endpoint on a store grants its part.

use std::time::Duration;

use bowline::layer::RateLimit;
use bowline::{Server, Tool};
use bowline_http::store::wrapper::OperationKind;
use bowline_proto::limits::Limits;
use serde_json::json;
use tokio::time::sleep;

use super::replica::{Replica, store};
use crate::test_server::{Handlers, call};

/// The limit of a minute, and the time in which it is whole again.
const MOST: usize = 12;
const WHOLE: Duration = Duration::from_secs(60);

/// A server with the limit as a layer, and one with the limit of all servers.
fn servers() -> [Server; 2] {
    let mut limits = Limits::default();
    limits.requests_per_minute = MOST;
    let plain = || Server::new("rates", "1").tool(Tool::new("echo", async || "hello"));
    [plain().layer(RateLimit::per_minute(MOST)), plain().limits(limits)]
}

/// Calls until the caller is refused; returns how many calls were served.
async fn granted(replica: &Replica) -> usize {
    for number in 0.. {
        let (_, answer) = replica.ask(&call("echo", json!({}))).await;
        if answer.contains("more than 12 ") {
            return number;
        }
        assert!(answer.contains("hello"), "{answer}");
    }
    unreachable!("the limit was never reached")
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn each_of_three_endpoints_grants_a_third_and_each_of_two_a_half() {
    for server in servers() {
        let store = store();
        let on_store = |server: &Server| Replica::of(server, Handlers::new(), &store);
        // Layers of one server would count together.
        let [a, b, c] = [(); 3].map(|()| on_store(&server.clone().title("one of several")));
        for replica in [&a, &b, &c] {
            assert_eq!(replica.ask(&call("echo", json!({}))).await.0, 200);
        }
        sleep(WHOLE).await;
        for replica in [&a, &b, &c] {
            assert_eq!(granted(replica).await, 4);
        }
        c.link.cut(true);
        sleep(WHOLE).await;
        assert_eq!((granted(&a).await, granted(&b).await), (6, 6));
        assert_eq!(granted(&c).await, 4, "it cannot know that it counts no more");
        drop(b);
        sleep(WHOLE).await;
        assert_eq!(granted(&a).await, MOST);
        c.link.cut(false);
        sleep(WHOLE).await;
        assert_eq!((granted(&a).await, granted(&c).await), (6, 6));
    }
}

// spec: TOOL-44
#[tokio::test(start_paused = true)]
async fn while_the_store_fails_the_last_known_number_counts() {
    for server in servers() {
        let store = store();
        let [a, b] = [(); 2]
            .map(|()| Replica::of(&server.clone().title("one of two"), Handlers::new(), &store));
        for replica in [&a, &b] {
            assert_eq!(replica.ask(&call("echo", json!({}))).await.0, 200);
        }
        sleep(WHOLE).await;
        a.link.cut(true);
        b.link.cut(true);
        sleep(10 * WHOLE).await;
        assert_eq!((granted(&a).await, granted(&b).await), (6, 6));
    }
}

#[tokio::test(start_paused = true)]
async fn beats_need_one_operation_in_three_seconds_and_store_nothing() {
    let store = store();
    let [server, _] = servers();
    let replica = Replica::of(&server, Handlers::new(), &store);
    sleep(WHOLE).await;
    let beats = || replica.link.take().into_iter().filter(|(_, key)| key == "replicas");
    assert_eq!(beats().count(), 0, "nothing before the first request");
    assert_eq!(replica.ask(&call("echo", json!({}))).await.0, 200);
    sleep(WHOLE).await;
    let mut kinds = beats().map(|(kind, _)| kind);
    assert_eq!(kinds.next(), Some(OperationKind::Listen));
    let published: Vec<_> = kinds.collect();
    assert!((20..=21).contains(&published.len()), "{published:?}");
    assert!(published.iter().all(|kind| *kind == OperationKind::Publish), "{published:?}");
    assert_eq!(store.bytes(), 0);
}
