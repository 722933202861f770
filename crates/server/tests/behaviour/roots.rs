//! The client's roots, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline_server::{Args, Ask, Error, Result, Server, State, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::input::InputRequest;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::peer::{EVERY, Peer};
use crate::wire::{Wire, answer, request};

async fn list(ask: Ask) -> Result<String> {
    let (first, again) = (ask.roots().await?, ask.roots().await?);
    assert_eq!(first, again);
    let names = first.iter().map(|root| root.name.clone().unwrap_or(root.uri.clone()));
    Ok(names.collect::<Vec<_>>().join(" "))
}

fn server() -> Server {
    Server::new("files", "1").tool(Tool::new("list", list))
}

fn with_roots(server: &Server, revision: Revision) -> Peer {
    Peer::able(server, revision, ClientCapabilities::new().with_roots())
}

fn roots() -> Value {
    json!({ "roots": [
        { "uri": "file:///work-of/ann", "name": "home" },
        { "uri": "https://example.com" },
        { "uri": "file:///srv/../etc" },
        { "uri": "file:///srv" },
    ] })
}

// spec: ROOT-12, ROOT-20
#[tokio::test]
async fn roots_are_asked_for_once_per_call_and_those_of_no_use_are_left_out() {
    for revision in EVERY {
        let peer = with_roots(&server(), revision);
        if revision.has_input_requests() {
            let body = peer.call("list", json!({})).await.unwrap();
            assert_eq!(body["inputRequests"], json!({ "q1": { "method": "roots/list" } }));
            let state = body["requestState"].as_str();
            let done = peer.round("list", json!({}), json!({ "q1": roots() }), state).await;
            assert_eq!(done.text(), "home file:///srv");
        } else {
            peer.inbox.answer(Ok(roots()));
            assert_eq!(peer.text("list", json!({})).await, "home file:///srv");
            assert_eq!(peer.inbox.questions(), [InputRequest::ListRoots]);
        }
    }
}

// spec: ROOT-18, CAP-5, MRTR-7
#[tokio::test]
async fn a_client_that_tells_no_roots_is_not_asked() {
    let peer = Peer::new(&server(), Revision::LATEST_LEGACY);
    assert!(peer.failure("list", json!({})).await.contains(r#"{"roots":{}}"#));
    assert!(peer.inbox.questions().is_empty());
    let error = Peer::new(&server(), Revision::LATEST).call("list", json!({})).await.unwrap_err();
    assert_eq!(error.code, -32021);
}

#[derive(Deserialize, JsonSchema)]
struct File {
    path: String,
}

// spec: ROOT-13, ROOT-14
#[cfg(unix)]
#[tokio::test]
async fn a_handler_can_hold_paths_against_the_roots() {
    let may_read = |ask: Ask, Args(File { path }): Args<File>| async move {
        Ok::<_, Error>(ask.roots().await?.contain(path))
    };
    let server = Server::new("files", "1").tool(Tool::new("may_read", may_read));
    for (path, may) in [("/work-of/ann/notes", "true"), ("/etc/passwd", "false")] {
        let peer = with_roots(&server, Revision::LATEST_LEGACY);
        peer.inbox.answer(Ok(roots()));
        assert_eq!(peer.text("may_read", json!({ "path": path })).await, may);
    }
}

/// A server that tells how many roots there are whenever they change.
fn watching() -> (Server, tokio::sync::mpsc::UnboundedReceiver<usize>, Arc<AtomicU32>) {
    let (sender, receiver) = unbounded_channel();
    let heard = Arc::new(AtomicU32::new(0));
    let changed = |State(sender): State<UnboundedSender<usize>>,
                   State(heard): State<Arc<AtomicU32>>,
                   ask: Ask| async move {
        heard.fetch_add(1, Ordering::SeqCst);
        sender.send(ask.roots().await?.iter().len())?;
        Ok::<_, Error>(())
    };
    let server = server().on_roots_changed(changed).state(sender).state(heard.clone());
    (server, receiver, heard)
}

fn changed() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" })
}

// spec: ROOT-4, ROOT-19
#[tokio::test]
async fn changed_roots_are_fetched_again() {
    let (server, mut counts, _) = watching();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({ "roots": { "listChanged": true } })).await;
    for _ in 0..2 {
        let question = wire.ask(changed()).await;
        assert_eq!(question["method"], "roots/list");
        wire.send(answer(&question, &roots())).await;
        assert_eq!(counts.recv().await, Some(2));
    }
}

#[tokio::test]
async fn a_flood_of_changes_is_reported_twice_at_most() {
    let (server, mut counts, heard) = watching();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({ "roots": {} })).await;
    for _ in 0..100 {
        wire.send(changed()).await;
    }
    for _ in 0..2 {
        let question = wire.hear().await;
        assert_eq!(question["method"], "roots/list");
        wire.send(answer(&question, &json!({ "roots": [] }))).await;
        assert_eq!(counts.recv().await, Some(0));
    }
    assert_eq!(wire.ask(request(9, "ping", &json!({}))).await["id"], 9);
    assert_eq!(heard.load(Ordering::SeqCst), 2);
}

// spec: CAP-2
#[tokio::test]
async fn a_client_without_roots_has_none_to_change() {
    let (server, _, heard) = watching();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    wire.send(changed()).await;
    assert_eq!(wire.ask(request(9, "ping", &json!({}))).await["id"], 9);
    assert_eq!(heard.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn what_hears_of_changes_is_checked_when_the_server_is_built() {
    let takes_state = |_: State<String>| async {};
    let error = server().on_roots_changed(takes_state).build().err().unwrap();
    assert!(error.is_missing_state(), "{error}");
    let takes_arguments = |_: Args<File>| async {};
    let error = server().on_roots_changed(takes_arguments).build().err().unwrap().to_string();
    assert!(error.contains("takes `Args`"), "{error}");
}
