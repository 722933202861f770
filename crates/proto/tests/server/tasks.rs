//! Notifications of tasks of 2025-11-25, which outlive the call that created them.

use bowline_proto::request::{Outgoing, ProgressUpdate, Success, TaskNotification};
use bowline_proto::transmit::Route;
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::legacy::task::{CoreTask, RelatedTask};
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{LEGACY, Server};

fn progress() -> Outgoing {
    Outgoing::Task(Box::new(TaskNotification::Progress {
        task: RelatedTask::new("t"),
        token: ProgressToken(RequestId::from("token")),
        update: ProgressUpdate { progress: 1.0, total: Some(2.0), message: None },
    }))
}

fn status() -> Outgoing {
    let task = CoreTask::new("t", "2025-11-25T10:30:00Z");
    Outgoing::Task(Box::new(TaskNotification::Status(task)))
}

// spec: TASK-40, TASK-50, PROG-11
#[test]
fn progress_names_its_task_and_the_status_does_not() {
    let mut server = Server::greeted(LEGACY);
    let number = server.call(1).parts.exchange;
    server.connection.complete(number, Ok(Success::empty()));
    server.said();
    server.emit(number, progress());
    server.emit(number, status());
    let said = server.said();
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "t" } });
    let params = json!({ "_meta": related, "progressToken": "token", "progress": 1, "total": 2 });
    assert_eq!(said[0]["method"], "notifications/progress");
    assert_eq!(said[0]["params"], params);
    assert_eq!(said[1]["method"], "notifications/tasks/status");
    assert_eq!((&said[1]["params"]["taskId"], said[1]["params"].get("_meta")), (&json!("t"), None));
}

#[test]
fn news_of_a_task_wait_for_the_answer_that_names_it() {
    let mut server = Server::greeted(LEGACY);
    let [number, other] = [1, 2].map(|id| server.call(id).parts.exchange);
    server.emit(number, status());
    assert!(server.transmits().is_empty());
    server.connection.complete(other, Ok(Success::empty()));
    assert_eq!(server.transmits().len(), 1, "the answer of the other call");
    server.connection.complete(number, Ok(Success::empty()));
    server.emit(number, status());
    let routes: Vec<_> = server.transmits().into_iter().map(|sent| sent.route).collect();
    assert_eq!(routes, [Route::Exchange(number), Route::Standalone, Route::Standalone]);
}

#[test]
fn news_of_a_task_whose_call_was_cancelled_are_dropped() {
    let mut server = Server::greeted(LEGACY);
    let number = server.call(1).parts.exchange;
    server.emit(number, status());
    server.hear(json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    server.connection.complete(number, Ok(Success::empty()));
    server.call(2);
    assert!(server.transmits().is_empty());
}

#[test]
fn older_revisions_get_no_news_of_tasks() {
    let mut server = Server::greeted(Revision::V2025_06_18);
    let number = server.call(1).parts.exchange;
    server.emit(number, progress());
    server.emit(number, status());
    assert!(server.said().is_empty());
}
