//! Building and stopping, in virtual time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bowline_store::MemoryBackend;
use bowline_store::wrapper::{Operation, Wrapped, Wrapper};
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
    let counts = Counts::default();
    let bound = working(&counts, seconds, Arc::new(MemoryBackend::default())).await;
    create_task(&bound).await;
    bound.serve_until(async {}).await;
    counts.ended.load(Ordering::Relaxed) == 1
}

/// How often a tool has begun and ended.
#[derive(Clone, Default)]
struct Counts {
    begun: Arc<AtomicUsize>,
    ended: Arc<AtomicUsize>,
}

/// A server whose tool runs as a task for some seconds, and may run again.
async fn working(counts: &Counts, seconds: u64, store: Arc<dyn Backend>) -> Bound {
    let counts = counts.clone();
    let work = move || {
        let counts = counts.clone();
        async move {
            counts.begun.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            counts.ended.fetch_add(1, Ordering::Relaxed);
        }
    };
    let work = Tool::new("work", work).task(TaskSupport::Optional).idempotent();
    let http = Server::new("api", "1.0.0").tool(work).http();
    http.store(store).listen("127.0.0.1:0").await.unwrap()
}

async fn create_task(bound: &Bound) {
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
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_lets_its_tasks_end_as_long_as_calls() {
    assert!(ends_if_the_server_stops(20).await);
    assert!(!ends_if_the_server_stops(60).await, "longer than the drain");
}

/// The connection of a server to a store, which a test can cut.
struct Link {
    store: Arc<MemoryBackend>,
    is_cut: AtomicBool,
}

impl Wrapper for Link {
    fn inner(&self) -> &dyn Backend {
        &self.store
    }

    fn before<'a>(&'a self, _: Operation<'a>) -> BoxFuture<'a, bowline_store::backend::Result<()>> {
        let result = match self.is_cut.load(Ordering::Relaxed) {
            true => Err(bowline_store::Error::new("out of reach")),
            false => Ok(()),
        };
        Box::pin(std::future::ready(result))
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_takes_no_tasks_of_others() {
    let clock = || tokio::time::Instant::now().into_std();
    let store = Arc::new(MemoryBackend::default().clock(clock));
    let link = Arc::new(Wrapped(Link { store: store.clone(), is_cut: AtomicBool::new(false) }));
    let (of_other, of_own) = (Counts::default(), Counts::default());
    let other = working(&of_other, 1000, link.clone()).await;
    create_task(&other).await;
    let own = working(&of_own, 20, store).await;
    create_task(&own).await;
    let begun = tokio::time::Instant::now();
    // The other process is gone. Its lease ends while this server lets its own task end.
    link.is_cut.store(true, Ordering::Relaxed);
    own.serve_until(async {}).await;
    assert_eq!(
        (of_own.begun.load(Ordering::Relaxed), of_own.ended.load(Ordering::Relaxed)),
        (1, 1)
    );
    assert!(begun.elapsed() < Duration::from_secs(22), "{:?}", begun.elapsed());
}
