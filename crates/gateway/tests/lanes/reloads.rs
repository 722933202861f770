//! What a new load of the configuration changes.

use std::time::Duration;

use bowline_client::Change;
use bowline_gateway::{GatewayLimits, bridge};
use bowline_server::{Resource, Tool};
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::sleep;

use crate::support::{
    BOTH, Fake, Heard, agreeing, connect, echo, file, gateway, limited, next, ways,
};

fn with(gateway: &str) -> String {
    format!(r#"{{ "mcpServers": {{ "far": {{ "command": "x" }} }}, "gateway": {gateway} }}"#)
}

#[tokio::test(start_paused = true)]
async fn a_changed_time_without_calls_counts_from_the_load_on() {
    let fake = Fake::new(echo());
    let gateway = gateway(&with("{}"), [("far", fake.clone())]);
    let server = bridge(gateway.clone(), None);
    let caller = connect(&server, ways().next().unwrap(), |builder| builder).await;
    let say = || caller.call("far__say", json!({ "message": "hi" }));
    say().await.unwrap();
    let reloaded = gateway.reload(&file(&with("{}"))).unwrap();
    assert_eq!(reloaded, Default::default());
    let reloaded = gateway.reload(&file(&with(r#"{ "idleMinutes": 2 }"#))).unwrap();
    assert_eq!((reloaded.started, reloaded.stopped), (vec!["far".into()], vec!["far".into()]));
    say().await.unwrap();
    sleep(Duration::from_secs(130)).await;
    assert_eq!(fake.running().await, 0);
}

#[tokio::test(start_paused = true)]
async fn baggage_is_dropped_from_the_load_on_that_forbids_it() {
    use bowline::{Context, tools};
    #[bowline::tool]
    async fn carried(context: Context) -> String {
        format!("{:?}", context.baggage())
    }
    let far = bowline_server::Server::new("far", "1.0.0").tools(tools![carried]);
    let gateway = gateway(&with(r#"{ "baggage": true }"#), [("far", Fake::new(far))]);
    let server = bridge(gateway.clone(), None);
    let caller = connect(&server, ways().next().unwrap(), |builder| builder).await;
    let call = || caller.call("far__carried", ()).meta("baggage", "user=ann");
    assert_eq!(call().await.unwrap().text(), "Some(\"user=ann\")");
    gateway.reload(&file(&with(r#"{ "baggage": false }"#))).unwrap();
    assert_eq!(call().await.unwrap().text(), "None");
}

#[tokio::test(start_paused = true)]
async fn sessions_go_on_following_the_resources_of_a_server_whose_entry_changed() {
    let sessions = || ways().filter(|way| way.revision == Revision::LATEST_LEGACY);
    for (upstream, way) in BOTH.into_iter().flat_map(|it| sessions().map(move |way| (it, way))) {
        let far = echo().resource(Resource::new("board:///", || async { "text" }));
        let fake = Fake::speaking(upstream, far.clone());
        let gateway = gateway(&with("{}"), [("far", fake.clone())]);
        let server = bridge(gateway.clone(), None);
        let caller = connect(&server, way, |builder| builder).await;
        let mut changes = caller.subscribe().resource("board:///").open().await.unwrap();
        let board = || Some(Change::Resource("board:///".to_owned()));
        for minutes in 2..4 {
            while next(&mut changes).await.is_some() {}
            let config = with(&format!(r#"{{ "idleMinutes": {minutes} }}"#));
            gateway.reload(&file(&config)).unwrap();
            // It may have changed meanwhile.
            assert_eq!(next(&mut changes).await, board(), "{way:?} {upstream}");
            while next(&mut changes).await.is_some() {}
            far.notify().resource_updated("board:///");
            assert_eq!(next(&mut changes).await, board(), "{way:?} {upstream}");
            assert_eq!(fake.running().await, 1, "{way:?} {upstream}");
        }
        drop(changes);
        sleep(Duration::from_secs(200)).await;
        assert_eq!(fake.running().await, 0, "{way:?} {upstream}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_running_call_ends_well_although_a_load_changed_the_time_without_calls() {
    for upstream in BOTH {
        let slow = Tool::new("slow", || async {
            sleep(Duration::from_secs(5)).await;
            "done"
        });
        let fake = Fake::speaking(upstream, echo().tool(slow));
        let gateway = gateway(&with("{}"), [("far", fake.clone())]);
        let server = bridge(gateway.clone(), None);
        let caller = connect(&server, ways().next().unwrap(), |builder| builder).await;
        let running = tokio::spawn(caller.call("far__slow", ()).into_future());
        sleep(Duration::from_secs(1)).await;
        gateway.reload(&file(&with(r#"{ "idleMinutes": 2 }"#))).unwrap();
        assert_eq!(running.await.unwrap().unwrap().text(), "done", "{upstream}");
        sleep(Duration::from_secs(1)).await;
        assert_eq!((fake.starts(), fake.running().await), (1, 0), "{upstream}");
    }
}

/// A server that asks serves one caller at a time.
#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_lane_goes_to_the_server_of_the_next_load() {
    let asking = |minutes: u64| {
        let server = json!({ "command": "x", "asks": true });
        json!({ "mcpServers": { "far": server }, "gateway": { "idleMinutes": minutes } })
            .to_string()
    };
    for way in ways() {
        let slow = Tool::new("slow", || async {
            sleep(Duration::from_secs(5)).await;
            "done"
        });
        let fake = Fake::speaking(Revision::LATEST_LEGACY, echo().tool(slow));
        let mut limits = GatewayLimits::default();
        limits.process_lanes = 1;
        let gateway = limited(&asking(1), [("far", fake)], limits);
        let server = bridge(gateway.clone(), None);
        let caller = async || connect(&server, way, |it| agreeing(it, &Heard::default())).await;
        let (first, second) = (caller().await, caller().await);
        let slow = tokio::spawn(first.call("far__slow", ()).into_future());
        sleep(Duration::from_secs(1)).await;
        let say = second.call("far__say", json!({ "message": "hi" }));
        let waiting = tokio::spawn(say.into_future());
        sleep(Duration::from_secs(1)).await;
        for minutes in [2, 3] {
            gateway.reload(&file(&asking(minutes))).unwrap();
        }
        assert_eq!(slow.await.unwrap().unwrap().text(), "done", "{way:?}");
        assert_eq!(waiting.await.unwrap().unwrap().text(), "hi", "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_that_is_closed_ends_the_calls_of_its_earlier_loads_too() {
    let fake = Fake::new(echo());
    let gateway = gateway(&with("{}"), [("far", fake.clone())]);
    let server = bridge(gateway.clone(), None);
    let caller = connect(&server, ways().next().unwrap(), |builder| builder).await;
    let hanging = tokio::spawn(caller.call("far__hang", ()).into_future());
    sleep(Duration::from_secs(1)).await;
    gateway.reload(&file(&with(r#"{ "idleMinutes": 2 }"#))).unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(fake.running().await, 1);
    gateway.close().await;
    // The server gives its call a moment.
    sleep(Duration::from_secs(5)).await;
    assert_eq!(fake.running().await, 0);
    hanging.await.unwrap().unwrap_err();
}
