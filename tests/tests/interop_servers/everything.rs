//! The official reference server, which shows every feature of the handshake revisions, over every
//! transport.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use bowline::Client;
use bowline::client::{Change, ClientBuilder};
use bowline_tests::peers;
use bowline_types::completion::Reference;
use bowline_types::content::Content;
use bowline_types::ext::tasks::TaskStatus;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::connected_client::{Notes, builder, directory};
use crate::peer::{Listening, server};

const PROGRAM: [&str; 2] =
    ["node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js"];

// spec: ERA-5, ERA-6
#[tokio::test]
async fn the_client_detects_the_legacy_everything_server_and_uses_every_feature() {
    let notes = Notes::default();
    let client = application(&notes).connect(server(&PROGRAM).arg("stdio")).await.unwrap();
    visit(client, notes).await;
}

// spec: ERA-5, ERA-6
#[tokio::test]
async fn the_everything_server_serves_everything_over_http() {
    let server = listen("streamableHttp", "/mcp").await;
    let notes = Notes::default();
    let client = application(&notes).http(&server.url).connect().await.unwrap();
    visit(client, notes).await;
}

#[tokio::test]
async fn the_everything_server_serves_everything_over_http_as_it_was_in_2024() {
    let server = listen("sse", "/sse").await;
    let notes = Notes::default();
    let client = application(&notes).http(&server.url).connect().await.unwrap();
    visit(client, notes).await;
}

fn application(notes: &Notes) -> ClientBuilder {
    notes.listen(builder(Revision::ALL)).roots([directory("/")])
}

/// Starts the server over HTTP on a free port.
async fn listen(transport: &str, path: &str) -> Listening {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (program, script) = peers::program(&PROGRAM);
    let mut command = Command::new(program);
    command.arg(script).arg(transport).env("PORT", port.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut process = command.kill_on_drop(true).spawn().unwrap();
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
    while !said.next_line().await.unwrap().expect("it listens").ends_with(&port.to_string()) {}
    // Reads all further output, because the server would block on a full pipe.
    tokio::spawn(async move { while let Ok(Some(_)) = said.next_line().await {} });
    Listening::new(format!("http://127.0.0.1:{port}{path}"), process)
}

async fn visit(client: Client, notes: Notes) {
    assert_eq!(client.revision(), Revision::V2025_11_25);
    tools(&client).await;
    resources_and_prompts(&client).await;
    questions(&client).await;
    tasks(&client).await;
    changes(&client).await;
    client.close().await;
    assert_eq!(notes.take(|noted| &mut noted.diagnostics), Vec::<String>::new());
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

/// Tasks of 2025-11-25 in both directions: the server runs a tool as one, and asks the client two
/// questions as such.
async fn tasks(client: &Client) {
    let topic = json!({ "topic": "python", "ambiguous": true });
    let research = client.call("simulate-research-query", &topic).await.unwrap();
    assert!(!research.is_error(), "{}", research.text());
    assert!(research.text().contains("Elicitation Flow"), "{}", research.text());

    let running = client.call("simulate-research-query", &topic).task().await.unwrap();
    assert_eq!(running.state().await.unwrap().status(), &TaskStatus::Working);
    running.cancel().await.unwrap();
    assert!(running.wait().await.unwrap_err().is_cancelled());
    let known = client.tasks().all().await.unwrap();
    let cancelled = known.iter().find(|task| Some(task.id()) == running.id()).unwrap();
    assert_eq!(cancelled.status(), &TaskStatus::Cancelled);

    let asked = client.call("trigger-elicitation-request-async", ()).await.unwrap();
    assert!(asked.text().contains("[COMPLETED]"), "{}", asked.text());
    let sampled =
        client.call("trigger-sampling-request-async", json!({ "prompt": "knot" })).await.unwrap();
    assert!(sampled.text().contains("a bowline"), "{}", sampled.text());
}

async fn changes(client: &Client) {
    let uri = "demo://resource/dynamic/text/1";
    let mut changes = client.subscribe().resource(uri).open().await.unwrap();
    client.call("toggle-subscriber-updates", ()).await.unwrap();
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Resource(uri.to_owned()));
    client.call("toggle-subscriber-updates", ()).await.unwrap();
}
