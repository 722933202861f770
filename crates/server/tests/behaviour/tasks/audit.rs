//! What an operator sees of tasks, and how often clients may ask for them.

use std::sync::{Arc, Mutex};

use bowline_proto::request::Owner;
use bowline_server::layer::{Audit, AuditOutcome, AuditRecord, RateLimit};
use bowline_server::{Server, TaskSupport, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use super::{capable, pass};

type Records = Arc<Mutex<Vec<(String, Method, AuditOutcome)>>>;

fn audit(records: &Records) -> Audit {
    let records = records.clone();
    Audit::new(move |record: AuditRecord| {
        let subject = record.owner.identity().map_or("", |(_, subject)| subject).to_owned();
        records.lock().unwrap().push((subject, record.method, record.outcome));
    })
}

// spec: TASK-79, TASK-80
#[tokio::test(start_paused = true)]
async fn an_audit_records_creation_completion_retrieval_and_failed_lookups_with_their_caller() {
    let (outside, inside) = (Records::default(), Records::default());
    let tool = Tool::new("work", || async { pass(5).await }).task(TaskSupport::Optional);
    let server =
        Server::new("audited", "1").tool(tool.layer(audit(&inside))).layer(audit(&outside));
    let mut peer = capable(&server, Revision::LATEST);
    peer.owner = Owner::known("https://auth.example", "ann");
    let created = peer.call("work", json!({})).await.unwrap();
    assert!(inside.lock().unwrap().is_empty(), "the call runs");
    pass(6).await;
    peer.ask(Method::TasksGet, json!({ "taskId": created["taskId"] })).await.unwrap();
    peer.ask(Method::TasksGet, json!({ "taskId": "guessed" })).await.unwrap_err();
    let by_ann = |method, outcome| ("ann".to_owned(), method, outcome);
    let completed = AuditOutcome::Completed;
    assert_eq!(*inside.lock().unwrap(), [by_ann(Method::ToolsCall, completed)]);
    let expected = [
        by_ann(Method::ToolsCall, completed),
        by_ann(Method::TasksGet, completed),
        by_ann(Method::TasksGet, AuditOutcome::Refused(-32602)),
    ];
    assert_eq!(*outside.lock().unwrap(), expected);
}

// spec: TASK-73
#[tokio::test(start_paused = true)]
async fn requests_about_tasks_count_for_the_rate_of_their_caller() {
    let tool = Tool::new("work", || async {}).task(TaskSupport::Optional);
    let server = Server::new("limited", "1").tool(tool).layer(RateLimit::per_minute(3));
    let peer = capable(&server, Revision::LATEST);
    let created = peer.call("work", json!({})).await.unwrap();
    let get = || peer.ask(Method::TasksGet, json!({ "taskId": created["taskId"] }));
    assert!(get().await.is_ok() && get().await.is_ok());
    assert_eq!(get().await.unwrap_err().code, 429);
}
