//! `subscriptions/listen` over HTTP: acknowledged first, filtered, ended by either side.

use serde_json::json;

use crate::test_server::{TestServer, listen, within};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

// spec: SUB-3, SUB-4, SUB-6, SUB-8
#[tokio::test]
async fn a_subscription_gets_its_acknowledgement_first_and_then_every_change() {
    let server = TestServer::open().await;
    let filter = json!({ "toolsListChanged": true, "resourceSubscriptions": ["note://a"] });
    let mut wire = server.stream(&listen(filter.clone())).await;
    let first = within(wire.event()).await.unwrap().json();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], filter);
    server.notify.tools_changed();
    let second = within(wire.message()).await.unwrap().json();
    assert_eq!(second["method"], "notifications/tools/list_changed");
    server.notify.resource_updated("note://a");
    let third = within(wire.message()).await.unwrap().json();
    assert_eq!(third["method"], "notifications/resources/updated");
    assert_eq!(third["params"]["uri"], "note://a");
    for message in [first, second, third] {
        assert_eq!(message["params"]["_meta"][ID], "sub", "{message}");
        assert!(message.get("id").is_none(), "{message}");
    }
}

// spec: SUB-2, SUB-12
#[tokio::test]
async fn a_subscription_does_not_get_changes_outside_of_its_filter() {
    let server = TestServer::open().await;
    let filter = json!({ "toolsListChanged": false, "resourceSubscriptions": ["note://b"] });
    let mut wire = server.stream(&listen(filter)).await;
    within(wire.message()).await.unwrap();
    server.notify.tools_changed();
    server.notify.resources_changed();
    server.notify.resource_updated("note://a");
    server.notify.resource_updated("note://b");
    let told = within(wire.message()).await.unwrap().json();
    assert_eq!(told["params"]["uri"], "note://b", "the first thing told is the one asked for");
}

// spec: SUB-10
#[tokio::test]
async fn every_subscription_gets_the_same_change() {
    let server = TestServer::open().await;
    let mut wires = Vec::new();
    for _ in 0..20 {
        let mut wire = server.stream(&listen(json!({ "toolsListChanged": true }))).await;
        within(wire.message()).await.unwrap();
        wires.push(wire);
    }
    server.notify.tools_changed();
    for wire in &mut wires {
        let told = within(wire.message()).await.unwrap().json();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}

// spec: SUB-13, SUB-14, SUB-16
#[tokio::test]
async fn a_server_that_stops_answers_its_subscriptions() {
    let server = TestServer::open().await;
    let mut wire = server.stream(&listen(json!({ "toolsListChanged": true }))).await;
    within(wire.message()).await.unwrap();
    let stopping = server.stopping();
    let last = within(wire.message()).await.unwrap().json();
    assert_eq!((&last["id"], &last["result"]["_meta"][ID]), (&json!("sub"), &json!("sub")));
    assert_eq!(last["result"]["resultType"], "complete");
    assert_eq!(within(wire.message()).await, None);
    assert!(wire.is_whole());
    within(stopping).await.unwrap();
}
