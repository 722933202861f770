//! The server's description, and pings after an hour of virtual time.

use std::time::Duration;

use bowline::{Server, Tool};
use bowline_testing::Harness;
use tokio::time::sleep;

fn shop() -> Server {
    Server::new("shop", "1.2.3")
        .title("The shop")
        .description("Sells things")
        .website("https://shop.example.com")
        .instructions("Look at the list before you order.")
        .tool(Tool::new("order", || async { "ordered" }))
}

#[bowline::test(every_revision, stateless)]
async fn a_client_gets_the_members_of_the_servers_implementation_that_the_revision_has(t: Harness) {
    let client = t.connect(shop()).await;
    let server = client.server_info().unwrap();
    assert_eq!((server.name.as_str(), server.version.as_str()), ("shop", "1.2.3"));
    let revision = t.revision();
    assert_eq!(server.title.as_deref(), revision.has_titles().then_some("The shop"));
    assert_eq!(server.description.as_deref(), revision.has_icons().then_some("Sells things"));
    assert_eq!(server.website_url.is_some(), revision.has_icons());
}

#[bowline::test(every_revision, stateless)]
async fn a_client_gets_the_instructions_of_the_server(t: Harness) {
    let client = t.connect(shop()).await;
    assert_eq!(client.instructions(), Some("Look at the list before you order."));
}

#[bowline::test(every_revision, stateless)]
async fn a_server_declares_only_the_capabilities_that_it_has(t: Harness) {
    let client = t.connect(shop()).await;
    let offered = client.capabilities();
    assert!(offered.tools.is_some());
    assert!(offered.prompts.is_none() && offered.resources.is_none());
    assert!(client.prompts().all().await.unwrap_err().is_not_offered());
}

// spec: PING-1
#[bowline::test(every_revision, stateless)]
async fn a_server_answers_a_ping(t: Harness) {
    let client = t.connect(shop()).await;
    client.ping().await.unwrap();
    client.close().await;
    assert!(client.ping().await.unwrap_err().is_closed());
}

// spec: PING-3, PING-4
#[bowline::test(every_revision, stateless)]
async fn a_client_keeps_a_connection_to_a_silent_server(t: Harness) {
    let (interval, timeout) = (Duration::from_secs(60), Duration::from_secs(10));
    let client = t.connect(shop()).client(|client| client.keep_alive(interval, timeout)).await;
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(client.call("order", ()).await.unwrap().text(), "ordered");
}
