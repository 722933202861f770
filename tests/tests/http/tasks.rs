//! Tasks over HTTP.

use bowline::{Progress, TaskSupport, Tool};
use bowline_types::revision::Revision;
use serde_json::json;

use crate::test_server::{TestServer, request, sample_server};

// spec: TASK-84
#[tokio::test]
async fn the_state_of_a_task_is_no_stream() {
    let (server, handlers) = sample_server();
    let steps = handlers.clone();
    let work = move |progress: Progress| {
        let steps = steps.clone();
        async move {
            progress.report(1, None, "on the way");
            steps.may_step().await;
            "arrived"
        }
    };
    let work = Tool::new("work", work).task(TaskSupport::Optional);
    let server = TestServer::of((server.tool(work), handlers), |http| http).await;
    let session = server.session(Revision::V2025_11_25).await;
    let call = json!({
        "name": "work", "arguments": {}, "task": {}, "_meta": { "progressToken": "token" },
    });
    let created = server.ask(&session.post(request(1, "tools/call", call))).await.json();
    let id = created["result"]["task"]["taskId"].as_str().unwrap().to_owned();
    let get = session.post(request(2, "tasks/get", json!({ "taskId": id })));
    loop {
        let answer = server.ask(&get).await;
        assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
        match answer.json()["result"]["status"].as_str() {
            Some("working") => server.handlers.step(1),
            Some("completed") => return,
            other => panic!("{other:?}"),
        }
    }
}
