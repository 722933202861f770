//! The official reference server, which shows every feature of the handshake revisions.

use std::time::Duration;

use bowline::Client;
use bowline::client::Change;
use bowline::types::completion::Reference;
use bowline::types::content::Content;
use bowline::types::revision::Revision;
use serde_json::json;

use crate::peer::server;
use crate::stage::{Notes, builder, directory};

// spec: ERA-5, ERA-6
#[tokio::test]
async fn the_everything_server_is_found_to_be_legacy_and_serves_everything() {
    let script = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
    let notes = Notes::default();
    let application = notes.listen(builder(Revision::ALL)).roots([directory("/")]);
    let client = application.connect(server(&["node", script]).arg("stdio")).await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    tools(&client).await;
    resources_and_prompts(&client).await;
    questions(&client).await;
    changes(&client).await;
    client.close().await;
    assert_eq!(notes.take(|noted| &mut noted.oddities), Vec::<String>::new());
}

async fn tools(client: &Client) {
    let tools = client.tools().all().await.unwrap();
    assert!(tools.len() >= 15, "{} tools", tools.len());
    let echoed = client.call("echo", json!({ "message": "ahoy" })).await.unwrap();
    assert_eq!(echoed.text(), "Echo: ahoy");
    let sum = client.call("get-sum", json!({ "a": 40, "b": 2 })).await.unwrap();
    assert!(sum.text().contains("42"), "{}", sum.text());
    let structured =
        client.call("get-structured-content", json!({ "location": "New York" })).await.unwrap();
    assert!(structured.structured().is_some());
    let image = client.call("get-tiny-image", ()).await.unwrap();
    assert!(image.content().iter().any(|block| matches!(block, Content::Image(_))));
    let links = client.call("get-resource-links", json!({ "count": 3 })).await.unwrap();
    let is_link = |block: &&Content| matches!(block, Content::ResourceLink(_));
    assert_eq!(links.content().iter().filter(is_link).count(), 3);
    let refused = client.call("no-such-tool", json!({})).await;
    assert!(refused.map_or(true, |outcome| outcome.is_error()));

    let mut reports = 0;
    let long = client
        .call("trigger-long-running-operation", json!({ "duration": 1, "steps": 4 }))
        .progress(|_| reports += 1)
        .await
        .unwrap();
    assert!(!long.is_error() && reports >= 3, "{reports} reports, {}", long.text());
    let long = client.call("trigger-long-running-operation", json!({ "duration": 30, "steps": 2 }));
    let late = long.deadline(Duration::from_millis(300)).await.unwrap_err();
    assert!(late.is_timeout(), "{late}");
}

async fn resources_and_prompts(client: &Client) {
    assert!(!client.resources().all().await.unwrap().is_empty());
    assert_eq!(client.resource_templates().all().await.unwrap().len(), 2);
    let text = client.read("demo://resource/dynamic/text/1").await.unwrap();
    assert!(text.text().contains("Resource 1"), "{}", text.text());
    let blob = client.read("demo://resource/dynamic/blob/1").await.unwrap();
    assert!(blob.text().is_empty() && !blob.to_bytes().unwrap().is_empty());

    let weather = client.prompt("args-prompt").argument("city", "Oslo").await.unwrap();
    assert!(weather.messages[0].content.as_text().unwrap().contains("Oslo"));
    let embedded =
        client.prompt("resource-prompt").arguments([("resourceType", "Text"), ("resourceId", "1")]);
    assert!(matches!(embedded.await.unwrap().messages[1].content, Content::Resource(_)));
    let complete = client.complete(Reference::prompt("completable-prompt"));
    let named = complete.argument("name", "").context("department", "Sales").await.unwrap();
    assert_eq!(named.values(), ["David", "Eve", "Frank"]);
}

async fn questions(client: &Client) {
    let asked = client.call("trigger-elicitation-request", json!({})).await.unwrap();
    assert!(!asked.is_error() && asked.text().contains("Ada"), "{}", asked.text());
    let sampled =
        client.call("trigger-sampling-request", json!({ "prompt": "knot" })).await.unwrap();
    assert!(sampled.text().contains("a bowline"), "{}", sampled.text());
    let roots = client.call("get-roots-list", ()).await.unwrap();
    assert!(roots.text().contains("file:///"), "{}", roots.text());

    let page = json!({ "url": "https://example.com/pay", "errorPath": true });
    let refused = client.call("trigger-url-elicitation", &page).await.unwrap_err();
    assert_eq!(refused.url_elicitations().len(), 1, "{refused}");
    let visited = client.call("trigger-url-elicitation", &page).await.unwrap();
    assert!(visited.text().contains("User completed"), "{}", visited.text());
}

async fn changes(client: &Client) {
    let uri = "demo://resource/dynamic/text/1";
    let mut changes = client.subscribe().resource(uri).open().await.unwrap();
    client.call("toggle-subscriber-updates", ()).await.unwrap();
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Resource(uri.to_owned()));
    client.call("toggle-subscriber-updates", ()).await.unwrap();
}
