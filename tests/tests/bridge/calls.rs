//! Calls and their results: progress, cancellation, `_meta`, structured output, cursors, completion,
//! caching. All in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline::client::CacheOptions;
use bowline::layer::{self, Next};
use bowline::{Context, Json, Progress, Resource, Server, Tool, starting_with, tool, tools};
use bowline_proto::request::Request;
use bowline_types::completion::Reference;
use bowline_types::method::Method;
use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;

use crate::support::{ALL, L, M, cells};

/// Count to a number
#[tool]
async fn count(progress: Progress, to: usize) -> String {
    let mut bar = progress.total(to);
    for step in 0..to {
        bar.inc(step.to_string());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    format!("counted to {to}")
}

/// List primes
#[tool]
fn primes() -> Json<Vec<u32>> {
    Json(vec![2, 3, 5])
}

/// Say what came along
#[tool]
fn tenant(context: Context) -> String {
    format!("{:?} {:?}", context.meta::<u64>("com.example/tenant"), context.traceparent())
}

fn server() -> Server {
    let family = Resource::template("far://{name}", |name: String| async move { name })
        .complete("name", |typed| async move { starting_with(typed, ["ada", "bob"]) });
    Server::new("far", "1.0.0")
        .page_size(2)
        .ttl(Duration::from_secs(60))
        .instructions("Count first.")
        .tools(tools![count, primes, tenant])
        .resource(family)
}

// spec: PROG-4
#[tokio::test(start_paused = true)]
async fn progress_reaches_the_caller_with_its_own_token() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let mut steps = Vec::new();
        let call = client.call("count", json!({ "to": 3 }));
        let counted = call.progress(|step| steps.push(step.progress)).await.unwrap();
        assert_eq!(counted.text(), "counted to 3", "{cell:?}");
        assert!(steps.is_sorted() && steps.last() == Some(&3.0), "{cell:?}: {steps:?}");
    }
}

/// Reports when it is dropped.
struct Dropped(tokio::sync::mpsc::UnboundedSender<&'static str>);

impl Drop for Dropped {
    fn drop(&mut self) {
        // At the end of the test the receiver may be gone.
        _ = self.0.send("dropped");
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_it_at_the_server_behind() {
    for cell in cells(&ALL) {
        let (sender, mut events) = unbounded_channel();
        let hang = move || {
            let dropped = Dropped(sender.clone());
            async move {
                dropped.0.send("begun").unwrap();
                std::future::pending::<()>().await;
            }
        };
        let far = Server::new("far", "1.0.0").tool(Tool::new("hang", hang));
        let client = cell.through(&far, |builder| builder).await;
        tokio::select! {
            outcome = client.call("hang", ()).into_future() => panic!("{cell:?}: {outcome:?}"),
            event = events.recv() => assert_eq!(event, Some("begun")),
        }
        assert_eq!(events.recv().await, Some("dropped"), "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn meta_passes_in_both_directions_and_keys_of_the_protocol_do_not() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let call = client.call("tenant", ()).meta("com.example/tenant", 7);
        let outcome = call.meta("traceparent", TRACE).await.unwrap();
        assert_eq!(outcome.text(), format!("Some(7) Some({TRACE:?})"), "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn structured_output_that_is_no_object_is_wrapped_for_callers_with_a_handshake() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let tools = client.tools().all().await.unwrap();
        let listed = tools.iter().find(|tool| tool.name == "primes").unwrap();
        let schema = listed.output_schema.as_ref().unwrap().as_json().as_str().to_owned();
        let outcome = client.call("primes", ()).await.unwrap();
        let structured = outcome.structured().unwrap().as_str();
        let is_wrapped = cell.caller == L || cell.upstream == L;
        assert_eq!(structured.starts_with("{\"result\":"), is_wrapped, "{cell:?}: {structured}");
        assert_eq!(schema.contains("\"result\""), is_wrapped, "{cell:?}: {schema}");
        assert_eq!(outcome.parse::<Vec<u32>>().unwrap(), [2, 3, 5], "{cell:?}");
    }
}

// spec: PAGE-4
#[tokio::test(start_paused = true)]
async fn pages_are_read_with_the_cursors_of_the_server_behind() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let tools = client.tools().all().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["count", "primes", "tenant"], "{cell:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn completion_and_instructions_pass() {
    for cell in cells(&ALL) {
        let client = cell.through(&server(), |builder| builder).await;
        let family = Reference::resource("far://{name}");
        let completion = client.complete(family).argument("name", "b").await.unwrap();
        assert_eq!(completion.values(), ["bob"], "{cell:?}");
        assert_eq!(client.instructions(), Some("Count first."), "{cell:?}");
    }
}

// spec: CACHE-1
#[tokio::test(start_paused = true)]
async fn caching_hints_pass_between_modern_ends_only() {
    for cell in cells(&[(M, L), (M, M)]) {
        let counter = Arc::<AtomicUsize>::default();
        let counted = counter.clone();
        let count = move |request: Request, next: Next| {
            if request.parts.method == Method::ToolsList {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            next.run(request)
        };
        let far = Server::new("far", "1.0.0").ttl(Duration::from_secs(60));
        let far = far.tools(tools![primes]).layer(layer::from_fn(count));
        let client = cell.through(&far, |builder| builder.cache(CacheOptions::default())).await;
        for _ in 0..2 {
            client.tools().all().await.unwrap();
        }
        let expected = if cell.upstream == L { 2 } else { 1 };
        assert_eq!(counter.load(Ordering::Relaxed), expected, "{cell:?}");
    }
}
