//! Tasks of mounted servers: they belong to the server that mounts.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Access, Request, Response};
use bowline_proto::upstream::Upstream;
use bowline_server::{ResponseFuture, Server, Service, TaskSupport, Tool};
use bowline_types::capability::ServerCapabilities;
use bowline_types::ext::tasks::IDENTIFIER;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use super::store::{Link, VirtualStore};
use super::{Replica, Runs, capable, pass, server};
use crate::peer::BOTH;

/// A server that has nothing but what it mounts, two levels deep.
fn hub(store: &Arc<VirtualStore>, runs: &Runs, revision: Revision) -> Replica {
    let inner = server(runs)
        .tool(Tool::new("only", || async { "done" }).task(TaskSupport::Required))
        .tool(Tool::new("plain", || async { "done" }));
    let middle = Server::new("middle", "1").mount("inner", inner);
    let link = Link::to(store);
    let server = Server::new("hub", "1").mount("middle", middle).store(link.clone());
    let peer = capable(&server, revision);
    Replica { server, peer, link, runs: runs.clone() }
}

fn named(tool: &str) -> String {
    format!("middle__inner__{tool}")
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_a_mounted_server_run_as_tasks_of_the_outermost() {
    for revision in BOTH {
        let store = Arc::default();
        let hub = hub(&store, &Runs::default(), revision);
        assert!(
            Upstream::capabilities(&hub.server.build().unwrap()).supports_extension(IDENTIFIER)
        );
        let id = hub.create(&named("wait"), json!({ "seconds": 5 })).await;
        assert_eq!((hub.status(&id).await.as_str(), store.records().await.len()), ("working", 1));
        let cancelled = hub.create(&named("wait"), json!({ "seconds": 60 })).await;
        let only = hub.create(&named("only"), json!({})).await;
        pass(6).await;
        assert_eq!(hub.text(&id).await, "5 seconds later");
        assert_eq!(hub.text(&only).await, "done");
        hub.peer.ask(Method::TasksCancel, json!({ "taskId": cancelled })).await.unwrap();
        pass(1).await;
        assert_eq!((hub.status(&cancelled).await.as_str(), hub.runs.running()), ("cancelled", 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_a_mounted_server_asks_its_client() {
    let hub = hub(&Arc::default(), &Runs::default(), Revision::LATEST);
    let id = hub.create(&named("greet"), json!({})).await;
    pass(1).await;
    assert_eq!(hub.status(&id).await, "input_required");
    let answer = json!({ "action": "accept", "content": { "confirm": true } });
    let params = json!({ "taskId": id, "inputResponses": { "q1": answer } });
    hub.peer.ask(Method::TasksUpdate, params).await.unwrap();
    pass(1).await;
    assert_eq!(hub.text(&id).await, "true");
}

// spec: TASK-8, TASK-11
#[tokio::test(start_paused = true)]
async fn a_mounted_server_keeps_its_rules_about_tasks() {
    let hub = hub(&Arc::default(), &Runs::default(), Revision::V2025_11_25);
    let listed = hub.peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let support = |tool: &str| {
        let tools = listed["tools"].as_array().unwrap();
        let tool = tools.iter().find(|it| it["name"] == named(tool)).unwrap();
        tool["execution"]["taskSupport"].clone()
    };
    assert_eq!(support("wait"), "optional");
    assert_eq!(support("only"), "required");
    assert_eq!(support("plain"), Value::Null);
    let error = hub.try_create(&named("plain"), json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601, "{error:?}");
    let error = hub.peer.call(&named("only"), json!({})).await.unwrap_err();
    assert_eq!(error.code, -32601, "{error:?}");
    assert_eq!(hub.peer.text(&named("wait"), json!({ "seconds": 1 })).await, "1 seconds later");
}

// spec: TASK-8, TASK-15
#[tokio::test(start_paused = true)]
async fn a_tool_without_tasks_refuses_them_as_soon_as_a_mounted_server_has_some() {
    let plain = || Tool::new("plain", || async { "done" });
    let inner = Server::new("inner", "1").tool(plain());
    let other = Server::new("other", "1").tool(plain());
    let registry = inner.registry();
    let hub = Server::new("hub", "1").mount("inner", inner).mount("other", other).tool(plain());
    let peer = capable(&hub, Revision::V2025_11_25);
    let call = async |name: &str| {
        let params = json!({ "name": name, "arguments": {}, "task": {} });
        peer.ask(Method::ToolsCall, params).await
    };
    let names = ["plain", "inner__plain", "other__plain"];
    for name in names {
        let result = call(name).await.unwrap();
        assert_eq!(result["content"][0]["text"], "done", "no tool runs as a task, so {name} does");
    }
    registry.insert(Tool::new("late", || async { "done" }).task(TaskSupport::Optional)).unwrap();
    assert!(call("inner__late").await.unwrap()["task"]["taskId"].is_string());
    for name in names {
        let error = call(name).await.unwrap_err();
        assert_eq!(error.code, -32601, "{error}");
        assert!(error.message.contains("does not run as a task"), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idempotent_tool_of_a_mounted_server_runs_again() {
    let (store, runs) = (Arc::default(), Runs::default());
    let (a, b) = (hub(&store, &runs, Revision::LATEST), hub(&store, &runs, Revision::LATEST));
    let id = a.create(&named("report"), json!({ "seconds": 30 })).await;
    a.link.cut();
    pass(12).await;
    assert_eq!(b.status(&id).await, "working");
    pass(31).await;
    assert_eq!(b.text(&id).await, "run 2 for None after 30");
}

/// A service that is not known to run tasks for others.
#[derive(Clone)]
struct Stranger(Service);

impl tower_service::Service<Request> for Stranger {
    type Response = Response;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> ResponseFuture {
        self.0.call(request)
    }
}

impl Upstream for Stranger {
    fn capabilities(&self) -> ServerCapabilities {
        self.0.capabilities()
    }

    fn instructions(&self) -> Option<String> {
        None
    }
}

#[tokio::test(start_paused = true)]
async fn another_mounted_service_runs_its_tools_without_tasks() {
    for revision in BOTH {
        let inner = server(&Runs::default()).build().unwrap();
        let hub = Server::new("hub", "1").mount("inner", Stranger(inner));
        assert!(!Upstream::capabilities(&hub.build().unwrap()).supports_extension(IDENTIFIER));
        let mut peer = capable(&hub, revision);
        peer.access = Access::everything();
        let params = json!({ "name": "inner__wait", "arguments": { "seconds": 1 }, "task": {} });
        let result = peer.ask(Method::ToolsCall, params).await.unwrap();
        assert_eq!(result["content"][0]["text"], "1 seconds later", "{result}");
        let listed = peer.ask(Method::ToolsList, json!({})).await.unwrap();
        assert!(!listed.to_string().contains("taskSupport"), "{listed}");
        assert_eq!(peer.ask(Method::TasksGet, json!({})).await.unwrap_err().code, -32601);
    }
}
