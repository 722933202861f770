//! Tasks of servers that share a store, one of which may stop. In virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline_server::{Args, Ask, Context, Progress, Server, TaskLimits, TaskSupport, Tool};
use bowline_store::wrapper::Wrapped;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::IDENTIFIER;
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::Peer;

mod abandoned;
mod audit;
mod failing_store;
mod limits;
mod many;
mod mounted;
mod operations;
mod outage;
mod shared;
mod store;

use store::{Link, VirtualStore};

/// How often the handlers of all servers of a test began, and how many run.
#[derive(Clone, Default)]
struct Runs {
    begun: Arc<AtomicUsize>,
    running: Arc<AtomicUsize>,
}

impl Runs {
    fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }

    fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    fn begin(&self) -> OneRun {
        self.begun.fetch_add(1, Ordering::Relaxed);
        self.running.fetch_add(1, Ordering::Relaxed);
        OneRun(self.clone())
    }
}

/// A handler that runs, until it is dropped.
struct OneRun(Runs);

impl Drop for OneRun {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    seconds: u64,
}

/// A server with tasks on a store, and a client of it.
struct Replica {
    server: Server,
    peer: Peer,
    link: Arc<Wrapped<Link>>,
    runs: Runs,
}

impl Replica {
    fn new(store: &Arc<VirtualStore>, runs: &Runs, revision: Revision) -> Self {
        Self::limited(store, runs, revision, TaskLimits::default())
    }

    fn limited(
        store: &Arc<VirtualStore>,
        runs: &Runs,
        revision: Revision,
        limits: TaskLimits,
    ) -> Self {
        let link = Link::to(store);
        let server = server(runs).store(link.clone()).task_limits(limits);
        let peer = capable(&server, revision);
        Self { server, peer, link, runs: runs.clone() }
    }

    /// Creates a task, and returns its id.
    async fn create(&self, tool: &str, arguments: Value) -> String {
        self.try_create(tool, arguments).await.unwrap()
    }

    async fn try_create(&self, tool: &str, arguments: Value) -> Result<String, ErrorObject> {
        let params = json!({ "name": tool, "arguments": arguments, "task": {} });
        let created = self.peer.ask(Method::ToolsCall, params).await?;
        let task = created.get("task").unwrap_or(&created);
        Ok(task["taskId"].as_str().unwrap().to_owned())
    }

    async fn get(&self, id: &str) -> Result<Value, ErrorObject> {
        self.peer.ask(Method::TasksGet, json!({ "taskId": id })).await
    }

    async fn status(&self, id: &str) -> String {
        self.get(id).await.unwrap()["status"].as_str().unwrap().to_owned()
    }

    /// Answers the question of the tool `greet`.
    async fn answer(&self, id: &str) {
        let answer = json!({ "action": "accept", "content": { "confirm": true } });
        let params = json!({ "taskId": id, "inputResponses": { "q1": answer } });
        self.peer.ask(Method::TasksUpdate, params).await.unwrap();
    }

    async fn cancel(&self, id: &str) {
        self.peer.ask(Method::TasksCancel, json!({ "taskId": id })).await.unwrap();
    }

    /// The text of the result of a task that has ended.
    async fn text(&self, id: &str) -> String {
        let result = match self.peer.revision == Revision::LATEST {
            true => self.get(id).await.unwrap()["result"].take(),
            false => self.peer.ask(Method::TasksResult, json!({ "taskId": id })).await.unwrap(),
        };
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

/// Tools that wait, ask, and say who called.
fn server(runs: &Runs) -> Server {
    let (one, other, third) = (runs.clone(), runs.clone(), runs.clone());
    let wait = move |Args(Wait { seconds }): Args<Wait>| {
        let runs = one.clone();
        async move {
            let _run = runs.begin();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            format!("{seconds} seconds later")
        }
    };
    let report = move |Args(Wait { seconds }): Args<Wait>, context: Context| {
        let runs = other.clone();
        async move {
            let _run = runs.begin();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            let subject = context.owner().identity().map(|(_, subject)| subject.to_owned());
            format!("run {} for {subject:?} after {seconds}", runs.begun())
        }
    };
    let long = |Args(Wait { seconds }): Args<Wait>, progress: Progress| async move {
        progress.report(1, None, "x".repeat(5000));
        tokio::time::sleep(Duration::from_secs(1)).await;
        "x".repeat(seconds as usize)
    };
    let chatty = move |Args(Wait { seconds }): Args<Wait>, progress: Progress| {
        let runs = third.clone();
        async move {
            let _run = runs.begin();
            for step in 0..seconds * 100 {
                progress.report(step as f64, None, format!("step {step}"));
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            "done"
        }
    };
    let ask_long = |ask: Ask| async move { ask.confirm("x".repeat(6000)).await.map(|_| "asked") };
    let greet = |ask: Ask| async move { ask.confirm("Sure?").await.map(|sure| sure.to_string()) };
    Server::new("tasks", "1.0.0")
        .tool(Tool::new("wait", wait).task(TaskSupport::Optional))
        .tool(
            Tool::new("report", report)
                .task(TaskSupport::Optional)
                .idempotent()
                .require_scope("report"),
        )
        .tool(Tool::new("greet", greet).task(TaskSupport::Optional))
        .tool(Tool::new("long", long).task(TaskSupport::Optional))
        .tool(Tool::new("chatty", chatty).task(TaskSupport::Optional))
        .tool(Tool::new("ask_long", ask_long).task(TaskSupport::Optional))
}

/// A client that shows forms and has tasks.
fn capable(server: &Server, revision: Revision) -> Peer {
    let can = ClientCapabilities::new().with_form_elicitation();
    Peer::able(server, revision, can.with_extension(IDENTIFIER, Object::default()).unwrap())
}

/// Lets virtual time pass.
async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}
