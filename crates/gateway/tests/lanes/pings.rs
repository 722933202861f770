//! Servers that hang are noticed without a call. In virtual time.

use std::time::Duration;

use bowline_gateway::GatewayLimits;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::sleep;

use crate::support::{BOTH, Fake, client, echo};

// spec: PING-7
#[tokio::test(start_paused = true)]
async fn a_server_that_answers_no_ping_is_started_again_by_the_next_call() {
    for upstream in BOTH {
        let fake = Fake::freezable(upstream, echo());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, Revision::LATEST).await;
        caller.tools().all().await.unwrap();
        // A server that answers is kept.
        sleep(Duration::from_secs(300)).await;
        assert_eq!(lanes.problem(), None, "{upstream}");
        fake.freeze();
        sleep(Duration::from_secs(200)).await;
        assert!(lanes.problem().is_some(), "{upstream}");
        fake.thaw();
        caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
        assert_eq!(fake.starts(), 2, "{upstream}");
    }
}

/// It may be busy with the call, and read nothing meanwhile.
#[tokio::test(start_paused = true)]
async fn a_server_with_a_running_call_may_be_silent_for_as_long_as_the_call_may_take() {
    for upstream in BOTH {
        let fake = Fake::freezable(upstream, echo());
        let mut limits = GatewayLimits::default();
        limits.call = Duration::from_secs(2000);
        let lanes = fake.lanes(limits);
        let caller = client(&lanes, Revision::LATEST).await;
        let hanging = caller.call("fake__hang", ()).timeout(Duration::from_secs(9000));
        let hanging = tokio::spawn(hanging.into_future());
        while fake.running().await == 0 {}
        fake.freeze();
        sleep(Duration::from_secs(1900)).await;
        assert_eq!(lanes.problem(), None, "{upstream}");
        sleep(Duration::from_secs(400)).await;
        assert!(lanes.problem().is_some(), "{upstream}");
        hanging.abort();
    }
}
