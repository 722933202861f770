//! Changes of lists and of resources.

use std::collections::HashSet;

use bowline::client::{Change, Changes};
use serde_json::json;

use crate::connected_client::ConnectedClient;
use crate::peer::Feature;

// spec: SUB-1, SUB-9, SUB-11
pub(crate) async fn check(connected: &ConnectedClient) {
    offers(connected);
    let choice = connected.client.subscribe().tools().prompts().resources().resource("peer://motd");
    if !connected.has(Feature::ListChanges) && !connected.has(Feature::ResourceChanges) {
        let error = choice.open().await.unwrap_err();
        assert!(error.is_not_offered() || error.is_refused(), "{error}");
        return;
    }
    let mut changes = choice.open().await.unwrap();
    if connected.has(Feature::ListChanges) {
        lists(connected, &mut changes).await;
    }
    if connected.has(Feature::ResourceChanges) {
        resource(connected, &mut changes).await;
    } else {
        assert_eq!(changes.missing().resource_subscriptions, ["peer://motd"]);
    }
    drop(changes);
    connected.until_seen("subscribed", json!([])).await;
}

/// Checks that the server declares the changes that the table of features expects.
fn offers(connected: &ConnectedClient) {
    let offers = connected.client.capabilities();
    let lists = [
        offers.supports_tools_list_changed(),
        offers.supports_prompts_list_changed(),
        offers.supports_resources_list_changed(),
    ];
    assert_eq!(lists, [connected.has(Feature::ListChanges); 3]);
    assert_eq!(offers.supports_resources_subscribe(), connected.has(Feature::ResourceChanges));
}

/// The client gets changes for a new tool, prompt and resource, and then lists them.
async fn lists(connected: &ConnectedClient, changes: &mut Changes) {
    connected
        .client
        .call("learn", json!({ "name": "splice" }))
        .await
        .unwrap()
        .into_result()
        .unwrap();
    let mut told = HashSet::new();
    while told.len() < 3 {
        told.insert(changes.next().await.unwrap().unwrap());
    }
    assert_eq!(told, HashSet::from([Change::Tools, Change::Prompts, Change::Resources]));
    let tools = connected.client.tools().all().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "splice"));
    assert_eq!(connected.client.call("splice", ()).await.unwrap().text(), "splice");
    let prompts = connected.client.prompts().all().await.unwrap();
    assert!(prompts.iter().any(|prompt| prompt.name == "splice"));
    assert_eq!(connected.client.read("peer://learned/splice").await.unwrap().text(), "splice");
}

/// The client gets the change of a resource. Since 2026-07-28 it gets no other change; before, that
/// depends on the SDK.
async fn resource(connected: &ConnectedClient, changes: &mut Changes) {
    let touched: &[&str] = if connected.revision.has_listen() {
        &["peer://logo", "peer://motd"]
    } else {
        assert_eq!(connected.call_json("seen").await["subscribed"], json!(["peer://motd"]));
        &["peer://motd"]
    };
    for uri in touched {
        connected.client.call("touch", json!({ "uri": uri })).await.unwrap().into_result().unwrap();
    }
    let told = loop {
        if let Change::Resource(uri) = changes.next().await.unwrap().unwrap() {
            break uri;
        }
    };
    assert_eq!(told, "peer://motd");
}
