//! When a server is started, stopped and restarted.

use std::time::Duration;

use bowline_gateway::{GatewayLimits, UpstreamFailure};
use bowline_server::Server;
use bowline_types::error::code;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{BOTH, Fake, Way, client, connect, echo, next};

#[tokio::test(start_paused = true)]
async fn a_server_is_started_by_the_first_list_or_call_and_once_for_all_callers() {
    for revision in BOTH {
        let fake = Fake::new(echo());
        let lanes = fake.lanes(GatewayLimits::default());
        let callers = [client(&lanes, revision).await, client(&lanes, Revision::LATEST).await];
        assert_eq!(fake.starts(), 0);
        for caller in &callers {
            let tools = caller.tools().all().await.unwrap();
            assert_eq!(tools[0].name, "fake__say");
            let said = caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
            assert_eq!(said.text(), "hi");
        }
        assert_eq!(fake.starts(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_server_is_stopped_and_started_again_on_demand() {
    let fake = Fake::new(echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    caller.tools().all().await.unwrap();
    sleep(Duration::from_secs(590)).await;
    assert_eq!(fake.running().await, 1);
    sleep(Duration::from_secs(20)).await;
    assert_eq!(fake.running().await, 0);
    caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
    assert_eq!((fake.running().await, fake.starts()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_server_with_a_running_call_is_not_idle() {
    let fake = Fake::new(echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    let hanging = caller.call("fake__hang", json!({})).timeout(Duration::from_secs(3000));
    let hanging = tokio::spawn(async move { hanging.await });
    sleep(Duration::from_secs(1500)).await;
    assert_eq!(fake.running().await, 1);
    hanging.abort();
    sleep(Duration::from_secs(601)).await;
    assert_eq!(fake.running().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_have_run_fails_when_the_server_dies_and_is_not_repeated() {
    for revision in BOTH {
        let fake = Fake::new(echo());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        let running = caller.clone();
        let hanging = tokio::spawn(async move { running.call("fake__hang", json!({})).await });
        while fake.running().await == 0 {}
        fake.kill().await;
        let error = hanging.await.unwrap().unwrap_err();
        let error = error.rpc().unwrap();
        assert_eq!(error.code, code::INTERNAL_ERROR);
        assert_eq!(error.message, "the server `fake` ended before it answered");
        let failure: UpstreamFailure = error.parse_data().unwrap();
        assert_eq!((failure.server.as_str(), failure.may_have_run), ("fake", true));
        assert_eq!(fake.starts(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_died_is_started_again_at_once_the_first_time() {
    let fake = Fake::new(echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    caller.tools().all().await.unwrap();
    fake.kill().await;
    caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
    assert_eq!(fake.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn while_a_server_fails_calls_fail_at_once_and_starts_are_rare() {
    let fake = Fake::new(echo());
    fake.set_failing(true);
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    let (begin, mut failures) = (Instant::now(), 0);
    while begin.elapsed() < Duration::from_secs(300) {
        let asked = Instant::now();
        let error = caller.call("fake__say", json!({ "message": "hi" })).await.unwrap_err();
        let failure: UpstreamFailure = error.rpc().unwrap().parse_data().unwrap();
        assert!(!failure.may_have_run);
        assert!(asked.elapsed() < Duration::from_millis(10));
        failures += 1;
        sleep(Duration::from_millis(100)).await;
    }
    // With full jitter the mean pause is half of the longest: about 6 starts to get there, then one
    // in 15 seconds.
    assert!(fake.starts() < 80, "{} starts for {failures} calls", fake.starts());
    assert!(lanes.problem().is_some());
    fake.set_failing(false);
    sleep(Duration::from_secs(30)).await;
    caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
    assert_eq!(lanes.problem(), None);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_given_up() {
    let fake = Fake::new(echo());
    fake.set_hanging();
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    let begin = Instant::now();
    caller
        .call("fake__say", json!({ "message": "hi" }))
        .timeout(Duration::from_secs(600))
        .await
        .unwrap_err();
    assert!(begin.elapsed() <= Duration::from_secs(61), "{:?}", begin.elapsed());
}

/// A server that reads the probe only after the client gave up waiting also finds a handshake, which
/// a modern server refuses.
#[tokio::test(start_paused = true)]
async fn a_server_that_starts_slowly_serves_the_callers_that_waited() {
    for revisions in [&[Revision::LATEST][..], &[Revision::LATEST_LEGACY], &BOTH] {
        for caller in BOTH {
            let server = echo().revisions(revisions.iter().copied());
            let fake = Fake::slow(Duration::from_secs(25), server);
            let lanes = fake.lanes(GatewayLimits::default());
            let caller = client(&lanes, caller).await;
            let said = caller.call("fake__say", json!({ "message": "hi" })).await;
            assert_eq!(said.unwrap().text(), "hi", "{revisions:?}");
            assert_eq!(fake.starts(), 1);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_tells_a_server_that_is_too_slow_from_one_that_does_not_run() {
    let limits = GatewayLimits::default();
    for (start, expected) in [(55, None), (65, Some("the server `fake` did not start within 60 s"))]
    {
        let fake = Fake::slow(Duration::from_secs(start), echo());
        let caller = client(&fake.lanes(limits.clone()), Revision::LATEST).await;
        let call = caller.call("fake__say", json!({ "message": "hi" }));
        let outcome = call.timeout(Duration::from_secs(600)).await;
        let error = outcome.err().map(|error| error.rpc().unwrap().message.clone());
        assert_eq!(error.as_deref(), expected, "{start}");
    }
}

#[tokio::test(start_paused = true)]
async fn callers_that_wait_for_one_start_share_it_even_if_the_first_goes_away() {
    let fake = Fake::new(echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let first = client(&lanes, Revision::LATEST).await;
    let second = client(&lanes, Revision::LATEST).await;
    let going = tokio::spawn(async move { first.tools().all().await });
    let staying = tokio::spawn(async move { second.tools().all().await });
    while fake.starts() == 0 {
        tokio::task::yield_now().await;
    }
    going.abort();
    assert_eq!(staying.await.unwrap().unwrap().len(), 2);
    assert_eq!(fake.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn lists_are_without_a_server_that_is_down_and_are_not_cached() {
    let fake = Fake::new(echo());
    fake.set_failing(true);
    let lanes = fake.lanes(GatewayLimits::default());
    let both = Server::new("gateway", "1.0.0").mount("fake", lanes).mount("near", echo());
    let way = Way { revision: Revision::LATEST, http: false };
    let caller = connect(&both, way, |builder| builder).await;
    assert_eq!(caller.tools().all().await.unwrap().len(), 2);
    fake.set_failing(false);
    sleep(Duration::from_secs(1)).await;
    assert_eq!(caller.tools().all().await.unwrap().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_closed_upstream_has_no_connection_and_opens_none() {
    let fake = Fake::new(echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    caller.tools().all().await.unwrap();
    lanes.close().await;
    assert_eq!(fake.running().await, 0);
    caller.call("fake__say", json!({ "message": "hi" })).await.unwrap_err();
    assert_eq!(fake.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn failures_before_an_idle_stop_are_forgotten() {
    let fake = Fake::new(echo());
    fake.set_failing(true);
    let mut limits = GatewayLimits::default();
    limits.idle = Duration::from_secs(10);
    limits.first_pause = Duration::from_secs(600);
    limits.longest_pause = Duration::from_secs(6000);
    let lanes = fake.lanes(limits);
    let caller = client(&lanes, Revision::LATEST).await;
    let say = || caller.call("fake__say", json!({ "message": "hi" }));
    for _ in 0..3 {
        say().await.unwrap_err();
        sleep(Duration::from_secs(6000)).await;
    }
    fake.set_failing(false);
    say().await.unwrap();
    sleep(Duration::from_secs(11)).await;
    assert_eq!(fake.running().await, 0);
    say().await.unwrap();
    fake.kill().await;
    // It is the first failure in a row.
    say().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_closed_upstream_starts_no_server_for_other_callers_either() {
    for revision in BOTH {
        let fake = Fake::new(echo());
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = client(&lanes, revision).await;
        lanes.close().await;
        let error = caller.call("fake__say", json!({ "message": "hi" })).await.unwrap_err();
        assert_eq!(
            error.rpc().unwrap().message,
            "the server `fake` is not running: it was stopped"
        );
        assert_eq!(lanes.start().await.unwrap_err(), "it was stopped");
        let mut changes = caller.subscribe().tools().open().await.unwrap();
        assert_eq!(next(&mut changes).await, None, "{revision}");
        assert_eq!(fake.starts(), 0, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_start_ends_when_its_upstream_is_closed() {
    let fake = Fake::slow(Duration::from_secs(25), echo());
    let lanes = fake.lanes(GatewayLimits::default());
    let caller = client(&lanes, Revision::LATEST).await;
    let waiting = tokio::spawn(caller.call("fake__say", json!({ "message": "hi" })).into_future());
    while fake.starts() == 0 {
        tokio::task::yield_now().await;
    }
    let begin = Instant::now();
    lanes.close().await;
    waiting.await.unwrap().unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(1));
    sleep(Duration::from_secs(26)).await;
    assert_eq!(fake.running().await, 0);
}
