//! Changes of lists, and changes of resources.

use bowline::client::Change;
use bowline::{Feature, Prompt, Resource, Server, Tool};
use bowline_testing::Harness;

fn board() -> Server {
    let sprint = Resource::new("board://sprint", || async { "3 tasks are open" });
    Server::new("board", "1.0.0").tools([]).prompts([]).resource(sprint)
}

// spec: RSRC-6, PRMT-6
#[bowline::test(every_revision)]
async fn a_client_gets_changes_of_lists(t: Harness) {
    let server = board();
    let client = t.connect(server.clone()).await;
    let mut changes = client.subscribe().tools().prompts().resources().open().await.unwrap();
    let (registry, text) = (server.registry(), || async { "text" });
    let features: [(Feature, Change); 4] = [
        (Tool::new("close", text).into(), Change::Tools),
        (Prompt::new("plan", text).into(), Change::Prompts),
        (Resource::new("board://next", text).into(), Change::Resources),
        (Resource::template("task://{id}", |id: String| async { id }).into(), Change::Resources),
    ];
    for (feature, change) in features {
        registry.insert(feature).unwrap();
        assert_eq!(changes.next().await.unwrap().unwrap(), change);
    }
    assert_eq!(client.call("close", ()).await.unwrap().text(), "text");
    assert!(registry.remove_tool("close"));
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Tools);
    assert!(client.tools().all().await.unwrap().is_empty());
}

// spec: RSRC-8, RSRC-9, SUB-2
#[bowline::test(every_revision)]
async fn a_subscriber_gets_changes_of_a_resource(t: Harness) {
    let server = board();
    let client = t.connect(server.clone()).await;
    let mut changes = client.subscribe().resource("board://sprint").open().await.unwrap();
    server.notify().resource_updated("board://other");
    server.notify().tools_changed();
    server.notify().resource_updated("board://sprint/7");
    let change = changes.next().await.unwrap().unwrap();
    assert_eq!(change, Change::Resource("board://sprint/7".into()));
}

// spec: SUB-10, SUB-11
#[bowline::test(every_revision)]
async fn dropping_one_subscription_does_not_end_the_others(t: Harness) {
    let server = board();
    let client = t.connect(server.clone()).await;
    let dropped = client.subscribe().resource("board://sprint").open().await.unwrap();
    let mut kept = client.subscribe().resource("board://sprint").open().await.unwrap();
    drop(dropped);
    client.ping().await.unwrap();
    server.notify().resource_updated("board://sprint");
    let change = kept.next().await.unwrap().unwrap();
    assert_eq!(change, Change::Resource("board://sprint".into()));
}

// spec: SUB-6, SUB-7
#[bowline::test(every_revision)]
async fn a_subscription_lists_the_resources_that_the_server_does_not_offer(t: Harness) {
    let client = t.connect(board().without_subscriptions()).await;
    let asked = client.subscribe().tools().resource("board://sprint");
    let changes = asked.open().await.unwrap();
    assert_eq!(changes.missing().resource_subscriptions, ["board://sprint"]);
    assert!(!changes.missing().tools_list_changed);
}

#[bowline::test(every_revision, stateless)]
async fn a_server_without_sessions_does_not_declare_changes(t: Harness) {
    let client = t.connect(board()).await;
    let opened = client.subscribe().tools().resource("board://sprint").open().await;
    match opened {
        Ok(_) => assert!(t.case().transport.has_server_push()),
        Err(error) => assert!(error.is_not_offered() && !t.case().transport.has_server_push()),
    }
}

#[bowline::test(every_revision)]
async fn a_subscription_ends_with_the_connection(t: Harness) {
    let client = t.connect(board()).await;
    let mut changes = client.subscribe().tools().open().await.unwrap();
    client.close().await;
    assert!(changes.next().await.unwrap().unwrap_err().is_closed());
    assert!(changes.next().await.is_none());
}
