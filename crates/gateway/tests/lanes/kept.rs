//! Lists that a gateway keeps, and how long its callers may keep theirs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_client::Change;
use bowline_gateway::bridge;
use bowline_proto::request::Request;
use bowline_server::layer::{self, Next};
use bowline_server::{Server, Tool};
use bowline_types::cache::{CacheHint, CacheScope};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use tokio::time::sleep;

use crate::support::{Fake, Heard, connect, echo, gateway, next, ways};

const ONE: &str = r#"{ "mcpServers": { "far": { "command": "x" } } }"#;
const TWO: &str = r#"{ "mcpServers": { "far": { "command": "x" }, "near": { "command": "y" } } }"#;

/// The hint with which a gateway to two servers answers a list of tools.
async fn hint(far: Fake, near: Fake) -> CacheHint {
    let seen: Arc<Mutex<Vec<CacheHint>>> = Arc::default();
    let noted = seen.clone();
    let server = bridge(gateway(TWO, [("far", far), ("near", near)]), None);
    let server = server.layer(layer::from_fn(move |request: Request, next: Next| {
        let (noted, method) = (noted.clone(), request.parts.method);
        let answer = next.run(request);
        async move {
            let answer = answer.await;
            if let (Method::ToolsList, Ok(success)) = (method, &answer) {
                noted.lock().unwrap().push(success.cache());
            }
            answer
        }
    }));
    let way = ways().find(|way| way.revision == Revision::LATEST).unwrap();
    let caller = connect(&server, way, |builder| builder).await;
    caller.tools().all().await.unwrap();
    let hints = seen.lock().unwrap();
    hints[0]
}

#[tokio::test(start_paused = true)]
async fn a_merged_list_may_be_kept_as_long_as_its_least_part() {
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    let good_for = |time: Duration| Fake::speaking(Revision::LATEST, echo().ttl(time));
    let seen = hint(good_for(minutes(5)), good_for(minutes(1))).await;
    assert_eq!((seen.ttl, seen.scope), (minutes(1), CacheScope::Public));
    let of_some = echo().ttl(minutes(5)).tool(Tool::new("some", || async {}).visible(|_| true));
    let seen = hint(Fake::speaking(Revision::LATEST, of_some), good_for(minutes(2))).await;
    assert_eq!((seen.ttl, seen.scope), (minutes(2), CacheScope::Private));
    let legacy = Fake::speaking(Revision::LATEST_LEGACY, echo());
    let seen = hint(good_for(minutes(5)), legacy).await;
    assert_eq!(seen.ttl, Duration::ZERO);
    // A list without a server that is down may be complete soon.
    let down = Fake::new(echo());
    down.set_failing(true);
    assert_eq!(hint(down, good_for(minutes(5))).await.ttl, Duration::ZERO);
}

/// A server that notes how often its tools are listed.
fn noting(heard: &Heard) -> Server {
    let heard = heard.clone();
    let server = echo().ttl(Duration::from_secs(300));
    server.layer(layer::from_fn(move |request: Request, next: Next| {
        if request.parts.method == Method::ToolsList {
            heard.note("listed");
        }
        next.run(request)
    }))
}

#[tokio::test(start_paused = true)]
async fn a_gateway_keeps_a_list_for_its_time_and_drops_it_on_a_change() {
    for way in ways() {
        let heard = Heard::default();
        let far = noting(&heard);
        let server = bridge(gateway(ONE, [("far", Fake::new(far.clone()))]), None);
        let caller = connect(&server, way, |builder| builder).await;
        for _ in 0..3 {
            assert_eq!(caller.tools().all().await.unwrap().len(), 2, "{way:?}");
        }
        assert_eq!(heard.take(), ["listed"], "{way:?}");
        sleep(Duration::from_secs(301)).await;
        caller.tools().all().await.unwrap();
        assert_eq!(heard.take(), ["listed"], "{way:?}");
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        while next(&mut changes).await.is_some() {}
        caller.tools().all().await.unwrap();
        heard.take();
        far.registry().insert(Tool::new("new", || async { "new" })).unwrap();
        assert_eq!(next(&mut changes).await, Some(Change::Tools), "{way:?}");
        assert_eq!(caller.tools().all().await.unwrap().len(), 3, "{way:?}");
        assert_eq!(heard.take(), ["listed"], "{way:?}");
    }
}
