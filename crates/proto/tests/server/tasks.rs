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
fn news_of_a_task_go_to_its_call_or_to_the_session() {
    let mut server = Server::greeted(LEGACY);
    let number = server.call(1).parts.exchange;
    server.emit(number, status());
    let during = server.transmits();
    server.connection.complete(number, Ok(Success::empty()));
    server.said();
    server.emit(number, status());
    let after = server.transmits();
    assert_eq!(during[0].route, Route::Exchange(number));
    assert_eq!(after[0].route, Route::Standalone);
}

#[test]
fn older_revisions_get_no_news_of_tasks() {
    let mut server = Server::greeted(Revision::V2025_06_18);
    let number = server.call(1).parts.exchange;
    server.emit(number, progress());
    server.emit(number, status());
    assert!(server.said().is_empty());
}
