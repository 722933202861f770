//! Building and stopping, in virtual time.

use std::sync::atomic::{AtomicBool, Ordering};

use bowline_store::MemoryBackend;
use tower_service::Service as _;

use super::*;
use crate::{TaskSupport, Tool};

#[test]
fn a_setting_counts_after_a_clone_was_built() {
    let http = Server::new("api", "1.0.0").http();
    assert!(http.build().is_ok());
    assert!(http.clone().host("not a host").build().is_err());
    assert!(http.build().is_ok());
}

/// Serves a tool that runs as a task for some seconds, and stops after the task was created.
/// Returns whether the tool came to its end.
async fn ends_if_the_server_stops(seconds: u64) -> bool {
    let is_done = Arc::new(AtomicBool::new(false));
    let done = is_done.clone();
    let work = move || {
        let done = done.clone();
        async move {
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            done.store(true, Ordering::Relaxed);
        }
    };
    let work = Tool::new("work", work).task(TaskSupport::Optional);
    let http = Server::new("api", "1.0.0").tool(work).http();
    let bound = http.store(MemoryBackend::default()).listen("127.0.0.1:0").await.unwrap();
    let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}"#;
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"work","_meta":{meta}}}}}"#
    );
    let request = http::Request::post(format!("http://{}/mcp", bound.address().unwrap()))
        .header("host", bound.address().unwrap().to_string())
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "work")
        .body(call)
        .unwrap();
    let created = bound.endpoint().clone().call(request).await.unwrap();
    assert_eq!(created.status(), 200);
    bound.serve_until(async {}).await;
    is_done.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_lets_its_tasks_end_as_long_as_calls() {
    assert!(ends_if_the_server_stops(20).await);
    assert!(!ends_if_the_server_stops(60).await, "longer than the drain");
}
