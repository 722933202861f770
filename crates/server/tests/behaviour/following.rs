//! Subscriptions to resources and lists, in both eras.

use bowline_proto::limits::Limits;
use bowline_proto::request::{Owner, Parts, ReportedChange};
use bowline_server::{Notify, Prompt, Resource, Server};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::subscription::SubscriptionFilter;
use futures_util::poll;
use serde_json::{Value, json};

use crate::peer::Peer;
use crate::wire::{Wire, modern, request};

fn server() -> Server {
    let hidden = Resource::new("a://hidden", || async { "hidden" });
    Server::new("boards", "1")
        .resource(Resource::new("a://board", || async { "board" }))
        .resource(hidden.visible(|caller| caller.owner.identity().is_some()))
        .resource(Resource::template("cards://{id}", |id: String| async { id }))
        .prompt(Prompt::new("plan", || async { "plan" }))
}

fn listen(uris: &[&str]) -> Value {
    json!({ "notifications": {
        "promptsListChanged": true, "resourcesListChanged": true, "resourceSubscriptions": uris,
    }})
}

fn everything() -> SubscriptionFilter {
    SubscriptionFilter::new().with_prompts_list_changed().with_resources_list_changed()
}

// spec: SUB-3, SUB-6, RSRC-9
#[tokio::test]
async fn only_resources_that_the_caller_knows_are_followed() {
    let server = server();
    let mut peer = Peer::new(&server, Revision::LATEST);
    let wish = listen(&["a://board", "a://hidden", "a://unknown", "cards://7", "nonsense"]);
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    let honoured = everything().with_resource("a://board").with_resource("cards://7");
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(honoured)]);
    drop(listening);
    peer.owner = Owner::known("issuer", "ada");
    let mut listening =
        peer.begin(peer.request(Method::SubscriptionsListen, &listen(&["a://hidden"])));
    assert!(poll!(&mut listening).is_pending());
    let honoured = everything().with_resource("a://hidden");
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(honoured)]);
}

#[tokio::test]
async fn a_subscription_follows_so_many_resources() {
    let mut limits = Limits::default();
    limits.subscribed_resources = 2;
    let peer = Peer::new(&server().limits(limits), Revision::LATEST);
    let wish = listen(&["cards://1", "cards://2", "cards://3"]);
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    let honoured = everything().with_resource("cards://1").with_resource("cards://2");
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(honoured)]);
}

/// Says that everything changed.
fn change(notify: &Notify) {
    for uri in ["a://board", "a://board/lane", "a://other", "cards://7"] {
        notify.resource_updated(uri);
    }
}

// spec: RSRC-9, RSRC-6, PRMT-6, SUB-2
#[tokio::test]
async fn a_subscriber_hears_of_the_resources_it_follows_and_of_lists() {
    let server = server();
    let peer = Peer::new(&server, Revision::LATEST);
    let wish = listen(&["a://board"]);
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    peer.inbox.changes();
    change(&server.notify());
    assert!(poll!(&mut listening).is_pending());
    let resource = |uri: &str| ReportedChange::Resource(uri.to_owned());
    assert_eq!(peer.inbox.changes(), [resource("a://board"), resource("a://board/lane")]);
    let registry = server.registry();
    registry.insert(Resource::new("a://new", || async { "new" })).unwrap();
    registry.insert(Prompt::new("new", || async { "new" })).unwrap();
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Prompts, ReportedChange::Resources]);
    registry.insert(Resource::template("b://{x}", |x: String| async { x })).unwrap();
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Resources]);
    assert!(registry.remove_resource("b://{x}") && registry.remove_resource("a://new"));
    assert!(!registry.remove_resource("a://new"));
    assert!(registry.remove_prompt("new") && !registry.remove_prompt("new"));
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Prompts, ReportedChange::Resources]);
}

// spec: RSRC-24
#[tokio::test]
async fn a_hidden_part_of_what_is_followed_stays_hidden() {
    let is_known = |caller: &Parts| caller.owner.identity().is_some();
    let family = Resource::template("a://board/secret/{x}", |x: String| async { x });
    let server = server()
        .resource(Resource::new("a://board/hidden", || async { "hidden" }).visible(is_known))
        .resource(family.visible(is_known));
    let mut peer = Peer::new(&server, Revision::LATEST);
    for seen in [1, 3] {
        let wish = listen(&["a://board"]);
        let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
        assert!(poll!(&mut listening).is_pending());
        peer.inbox.changes();
        for part in ["hidden", "secret/1", "lane"] {
            server.notify().resource_updated(format!("a://board/{part}"));
        }
        assert!(poll!(&mut listening).is_pending());
        assert_eq!(peer.inbox.changes().len(), seen);
        peer.owner = Owner::known("issuer", "ada");
    }
}

// spec: SUB-10
#[tokio::test]
async fn each_of_several_streams_gets_what_it_asked_for() {
    let server = server();
    let (one, other) = (Peer::new(&server, Revision::LATEST), Peer::new(&server, Revision::LATEST));
    let mut first = one.begin(one.request(Method::SubscriptionsListen, &listen(&["a://board"])));
    let mut second =
        other.begin(other.request(Method::SubscriptionsListen, &listen(&["cards://7"])));
    assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
    one.inbox.changes();
    other.inbox.changes();
    change(&server.notify());
    assert!(poll!(&mut first).is_pending() && poll!(&mut second).is_pending());
    assert_eq!(one.inbox.changes().len(), 2);
    assert_eq!(other.inbox.changes(), [ReportedChange::Resource("cards://7".to_owned())]);
}

// spec: RSRC-7, RSRC-8
#[tokio::test]
async fn a_session_follows_resources_one_by_one() {
    let server = server();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    let subscribe = |id, uri: &str| request(id, "resources/subscribe", &json!({ "uri": uri }));
    let answer = wire.ask(subscribe(2, "a://board")).await;
    assert_eq!(answer["result"], json!({}));
    assert_eq!(wire.ask(subscribe(3, "cards://7")).await["result"], json!({}));
    change(&server.notify());
    let mut updated = Vec::new();
    for _ in 0..3 {
        let notice = wire.hear().await;
        assert_eq!(notice["method"], "notifications/resources/updated");
        updated.push(notice["params"]["uri"].as_str().unwrap().to_owned());
    }
    assert_eq!(updated, ["a://board", "a://board/lane", "cards://7"]);
    let unsubscribe = request(4, "resources/unsubscribe", &json!({ "uri": "a://board" }));
    assert_eq!(wire.ask(unsubscribe).await["result"], json!({}));
    change(&server.notify());
    assert_eq!(wire.hear().await["params"]["uri"], "cards://7");
}

// spec: RSRC-18, RSRC-23, RSRC-24
#[tokio::test]
async fn a_session_cannot_follow_what_it_does_not_know() {
    let server = server();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    let subscribe = |id, uri: &str| request(id, "resources/subscribe", &json!({ "uri": uri }));
    for (id, uri) in [(2, "a://unknown"), (3, "a://hidden")] {
        let answer = wire.ask(subscribe(id, uri)).await;
        assert_eq!(answer["error"]["code"], -32002, "{answer}");
        assert_eq!(answer["error"]["data"], json!({ "uri": uri }));
    }
    assert_eq!(wire.ask(subscribe(4, "nonsense")).await["error"]["code"], -32602);
    let answer = wire.ask(request(5, "resources/subscribe", &json!({}))).await;
    assert_eq!(answer["error"]["code"], -32602);
    server.notify().resource_updated("a://hidden");
    server.notify().resource_updated("a://unknown");
    expect_no_update(&mut wire, &server).await;
}

/// Checks that no update of a resource is pending: it would be sent with the change of a list that
/// follows here, before the answer to the next request.
async fn expect_no_update(wire: &mut Wire, server: &Server) {
    server.registry().insert(Prompt::new("new", || async { "new" })).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/prompts/list_changed");
    let next = wire.ask(request(9, "ping", &json!({}))).await;
    assert_eq!(next["id"], 9, "{next}");
}

// spec: RSRC-6, PRMT-6
#[tokio::test]
async fn a_session_is_notified_that_lists_changed() {
    let server = server();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    wire.ask(request(2, "prompts/list", &json!({}))).await;
    server.registry().insert(Prompt::new("new", || async { "new" })).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/prompts/list_changed");
    server.registry().remove_resource("cards://{id}");
    assert_eq!(wire.hear().await["method"], "notifications/resources/list_changed");
}

// spec: CAP-4, RSRC-1
#[tokio::test]
async fn a_server_may_refuse_subscriptions_to_resources() {
    let server = server().without_subscriptions();
    let mut wire = Wire::to(&server);
    let answer = wire.initialize(json!({})).await;
    let expected = json!({ "listChanged": true });
    assert_eq!(answer["result"]["capabilities"]["resources"], expected);
    for (id, method) in [(2, "resources/subscribe"), (3, "resources/unsubscribe")] {
        let answer = wire.ask(request(id, method, &json!({ "uri": "a://board" }))).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
    server.notify().resource_updated("a://board");
    expect_no_update(&mut wire, &server).await;
    let peer = Peer::new(&server, Revision::LATEST);
    let wish = listen(&["a://board"]);
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    server.notify().resource_updated("a://board");
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(peer.inbox.changes(), [ReportedChange::Acknowledged(everything())]);
}

// spec: DISC-3, CAP-1
#[tokio::test]
async fn a_server_declares_what_it_offers() {
    let answer = Wire::to(&server()).ask(modern(1, "server/discover", json!({}))).await;
    let expected = json!({
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
    });
    assert_eq!(answer["result"]["capabilities"], expected);
}
