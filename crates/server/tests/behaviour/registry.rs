//! Features that are added and removed while the server runs, and the notifications of that.

use bowline_proto::request::{EveryResource, ReportedChange};
use bowline_server::{Server, State, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};

fn tool(name: &str) -> Tool {
    Tool::new(name, || async { "done" })
}

fn server() -> Server {
    Server::new("plugins", "1").tool(tool("first"))
}

async fn names(peer: &Peer) -> Vec<Value> {
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
}

#[tokio::test]
async fn tools_come_and_go_while_the_server_runs() {
    let server = server();
    let registry = server.registry();
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        assert_eq!(names(&peer).await, ["first"]);
        registry.insert(tool("second")).unwrap();
        assert_eq!(names(&peer).await, ["first", "second"]);
        assert_eq!(peer.text("second", json!({})).await, "done");
        assert!(registry.remove_tool("second"));
        assert!(!registry.remove_tool("second"));
        assert_eq!(names(&peer).await, ["first"]);
        assert_eq!(peer.call("second", json!({})).await.unwrap_err().code, -32602);
    }
}

#[tokio::test]
async fn what_is_registered_late_is_checked_too() {
    let server = server().state(7_u8);
    server.build().unwrap();
    let registry = server.registry();
    assert!(registry.insert(tool("first")).unwrap_err().is_duplicate());
    let needs = |State(text): State<String>| async move { text };
    assert!(registry.insert(Tool::new("needs", needs)).unwrap_err().is_missing_state());
    let has = |State(number): State<u8>| async move { number };
    registry.insert(Tool::new("has", has)).unwrap();
    assert_eq!(Peer::new(&server, Revision::LATEST).text("has", json!({})).await, "7");
}

// spec: SUB-3, SUB-4, SUB-6, TOOL-6, TOOL-7
#[tokio::test]
async fn a_subscriber_is_acknowledged_and_then_told_of_changes() {
    let server = server();
    let filter = json!({ "notifications": {
        "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a://b"],
    }});
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &filter));
        assert!(poll!(&mut listening).is_pending());
        let honoured = SubscriptionFilter::new().with_tools_list_changed();
        assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(honoured)]);
        server.registry().insert(tool("second")).unwrap();
        server.notify().prompts_changed();
        server.notify().resource_updated("a://b");
        assert!(poll!(&mut listening).is_pending());
        assert_eq!(peer.inbox.changes(), [ReportedChange::Tools]);
        server.registry().remove_tool("second");
        assert!(poll!(&mut listening).is_pending());
        assert_eq!(peer.inbox.changes(), [ReportedChange::Tools]);
    }
}

// spec: SUB-2
#[tokio::test]
async fn a_subscriber_that_asked_for_nothing_gets_nothing() {
    let server = server();
    let peer = Peer::new(&server, Revision::LATEST);
    let filter = json!({ "notifications": { "toolsListChanged": false } });
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &filter));
    assert!(poll!(&mut listening).is_pending());
    server.notify().tools_changed();
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(SubscriptionFilter::new())]);
}

#[tokio::test]
async fn changes_that_pile_up_are_reported_once_and_none_is_lost() {
    let server = server();
    let peer = Peer::new(&server, Revision::LATEST);
    peer.inbox.set_full(true);
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &filter));
    assert!(poll!(&mut listening).is_pending());
    // Registered already, though not even acknowledged.
    for _ in 0..100 {
        server.notify().tools_changed();
        assert!(poll!(&mut listening).is_pending());
    }
    assert_eq!(peer.inbox.changes(), []);
    peer.inbox.set_full(false);
    assert!(poll!(&mut listening).is_pending());
    let changes = peer.inbox.changes();
    assert!(
        matches!(changes.as_slice(), [ReportedChange::Acknowledged(_), ReportedChange::Tools]),
        "{changes:?}"
    );
}

#[tokio::test]
async fn a_subscription_without_a_filter_is_refused() {
    let peer = Peer::new(&server(), Revision::LATEST);
    let error = peer.ask(Method::SubscriptionsListen, json!({})).await.unwrap_err();
    assert_eq!(error.code, -32602);
    assert!(error.message.contains("notifications"), "{error}");
}

#[tokio::test]
async fn a_session_is_not_notified_of_resources_that_the_server_does_not_have() {
    let server = server();
    let peer = Peer::new(&server, Revision::LATEST_LEGACY);
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut request = peer.request(Method::SubscriptionsListen, &params);
    request.parts.extensions.insert(EveryResource);
    let mut listening = peer.begin(request);
    assert!(poll!(&mut listening).is_pending());
    server.notify().resource_updated("a://b");
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes().len(), 1);
}

#[tokio::test]
async fn every_subscriber_is_notified() {
    let server = server();
    let peers: Vec<_> = BOTH.map(|revision| Peer::new(&server, revision)).into();
    let filter = json!({ "notifications": { "toolsListChanged": true } });
    let begin = |peer: &Peer| peer.begin(peer.request(Method::SubscriptionsListen, &filter));
    let mut streams: Vec<_> = peers.iter().map(begin).collect();
    for stream in &mut streams {
        assert!(poll!(stream).is_pending());
    }
    server.registry().insert(tool("second")).unwrap();
    for (peer, stream) in peers.iter().zip(&mut streams) {
        assert!(poll!(stream).is_pending());
        assert_eq!(peer.inbox.changes().last(), Some(&ReportedChange::Tools));
    }
}
