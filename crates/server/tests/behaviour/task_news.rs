//! What clients hear of tasks without asking for their state.

use std::sync::Arc;

use bowline_proto::limits::Limits;
use bowline_proto::request::{Owner, ReportedChange, TaskNotification};
use bowline_server::{Ask, Cancel, Progress, Result, Server, TaskSupport, Tool};
use bowline_store::MemoryBackend;
use bowline_types::capability::ClientCapabilities;
use bowline_types::ext::tasks::{IDENTIFIER, TaskStatus};
use bowline_types::id::{ProgressToken, RequestId};
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_util::{FutureExt as _, poll};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::yield_now;

use crate::peer::{Peer, accept};

/// A server whose tool `wait` waits until it may go on, and `ask` for an answer.
fn server(go: &Arc<Notify>, store: &Arc<MemoryBackend>) -> Server {
    let go = go.clone();
    let wait = move |progress: Progress| {
        let go = go.clone();
        async move {
            let mut bar = progress.total(2);
            for step in ["one", "two"] {
                go.notified().await;
                bar.inc(step);
            }
            go.notified().await;
            "done"
        }
    };
    let ask = |ask: Ask| async move { Ok(ask.confirm("Sure?").await?.to_string()) as Result<_> };
    Server::new("tasks", "1")
        .store(store.clone())
        .tool(Tool::new("wait", wait).task(TaskSupport::Optional))
        .tool(Tool::new("ask", ask).task(TaskSupport::Optional))
}

/// A client that can have tasks in its revision, and shows forms.
fn peer(server: &Server, revision: Revision) -> Peer {
    let can = ClientCapabilities::new().with_form_elicitation();
    Peer::able(server, revision, can.with_extension(IDENTIFIER, Object::default()).unwrap())
}

/// Lets the tasks of the runtime come to rest.
async fn settle() {
    for _ in 0..100 {
        yield_now().await;
    }
}

fn listen(ids: &[&str]) -> Value {
    json!({ "notifications": { "taskIds": ids } })
}

/// The ids that a subscription acknowledged, and the status of each task that it reported.
fn heard(changes: Vec<ReportedChange>) -> (Option<Vec<String>>, Vec<(String, String)>) {
    let mut acknowledged = None;
    let mut told = Vec::new();
    for change in changes {
        match change {
            ReportedChange::Acknowledged(filter) => acknowledged = Some(filter.task_ids),
            ReportedChange::Task { id, task } => {
                let task: Value = task.parse().unwrap();
                assert_eq!(task["taskId"], json!(id));
                told.push((id, task["status"].as_str().unwrap().to_owned()));
            }
            other => panic!("{other:?}"),
        }
    }
    (acknowledged, told)
}

impl Peer {
    /// Calls a tool, and gives the id of the task that it became.
    async fn begin_task(&self, tool: &str) -> String {
        let task = match self.revision.has_core_tasks() {
            true => {
                let params = json!({ "name": tool, "arguments": {}, "task": {} });
                self.ask(Method::ToolsCall, params).await.unwrap()["task"].take()
            }
            false => self.call(tool, json!({})).await.unwrap(),
        };
        task["taskId"].as_str().unwrap().to_owned()
    }
}

// spec: XTASK-34, XTASK-35
#[tokio::test]
async fn a_task_that_another_server_runs_is_followed_through_the_store() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let runs = peer(&server(&go, &store), Revision::LATEST);
    let follows = peer(&server(&go, &store), Revision::LATEST);
    let id = runs.begin_task("wait").await;
    let request = follows.request(Method::SubscriptionsListen, &listen(&[&id]));
    let mut listening = follows.begin(request);
    assert!(poll!(&mut listening).is_pending());
    let first = (id.clone(), "working".to_owned());
    assert_eq!(heard(follows.inbox.changes()), (Some(vec![id.clone()]), vec![first.clone()]));
    go.notify_one();
    settle().await;
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(heard(follows.inbox.changes()), (None, vec![first]));
    for _ in 0..2 {
        go.notify_one();
        settle().await;
    }
    assert!(poll!(&mut listening).is_pending());
    let last = follows.inbox.changes();
    let asked = follows.ask(Method::TasksGet, json!({ "taskId": id })).await.unwrap();
    let [ReportedChange::Task { task, .. }] = last.as_slice() else { panic!("{last:?}") };
    assert_eq!(task.parse::<Value>().unwrap(), asked, "it is what `tasks/get` gives");
    assert_eq!(asked["status"], "completed");
}

// spec: XTASK-9, XTASK-10
#[tokio::test]
async fn a_task_is_found_by_every_server_of_its_store_before_its_client_knows_it() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let runs = peer(&server(&go, &store), Revision::LATEST);
    let other = peer(&server(&go, &store), Revision::LATEST);
    // Neither yields between the answer and the next request.
    let id = runs.begin_task("wait").await;
    let found = other.ask(Method::TasksGet, json!({ "taskId": id })).await.unwrap();
    assert_eq!(found["status"], "working");
}

// spec: XTASK-34, XTASK-48
#[tokio::test]
async fn a_task_of_another_owner_is_followed_no_more_than_one_that_is_not_there() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let mut peer = peer(&server(&go, &store), Revision::LATEST);
    peer.owner = Owner::known("issuer", "ada");
    let id = peer.begin_task("wait").await;
    peer.owner = Owner::known("issuer", "eve");
    let unknown = "AAAAAAAAAAAAAAAAAAAAAA";
    let mut answers = Vec::new();
    for named in [&*id, unknown, "no id at all"] {
        let request = peer.request(Method::SubscriptionsListen, &listen(&[named]));
        let mut listening = peer.begin(request);
        assert!(poll!(&mut listening).is_pending());
        go.notify_one();
        settle().await;
        assert!(poll!(&mut listening).is_pending());
        answers.push(heard(peer.inbox.changes()));
    }
    assert_eq!(answers, vec![(Some(vec![]), vec![]); 3]);
}

// spec: XTASK-34
#[tokio::test]
async fn a_subscription_follows_so_many_tasks_and_each_once() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let mut limits = Limits::default();
    limits.subscribed_resources = 2;
    let peer = peer(&server(&go, &store).limits(limits), Revision::LATEST);
    let mut ids = Vec::new();
    for _ in 0..3 {
        ids.push(peer.begin_task("wait").await);
    }
    let wish = listen(&[&ids[0], &ids[0], &ids[1], &ids[2]]);
    let mut listening = peer.begin(peer.request(Method::SubscriptionsListen, &wish));
    assert!(poll!(&mut listening).is_pending());
    let (acknowledged, _) = heard(peer.inbox.changes());
    assert_eq!(acknowledged.as_deref(), Some(&ids[..2]));
}

// spec: XTASK-35
#[tokio::test]
async fn a_slow_reader_gets_the_newest_state_of_a_task() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let peer = peer(&server(&go, &store), Revision::LATEST);
    let id = peer.begin_task("wait").await;
    let request = peer.request(Method::SubscriptionsListen, &listen(&[&id]));
    let mut listening = peer.begin(request);
    assert!(poll!(&mut listening).is_pending());
    peer.inbox.changes();
    peer.inbox.set_full(true);
    for _ in 0..3 {
        go.notify_one();
        settle().await;
        assert!(poll!(&mut listening).is_pending());
    }
    peer.inbox.set_full(false);
    assert!(poll!(&mut listening).is_pending());
    assert_eq!(heard(peer.inbox.changes()), (None, vec![(id, "completed".to_owned())]));
}

#[tokio::test]
async fn a_client_hears_of_an_ended_task_once_and_the_subscription_stays_open() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let peer = peer(&server(&go, &store), Revision::LATEST);
    let id = peer.begin_task("ask").await;
    settle().await;
    let update =
        json!({ "taskId": id, "inputResponses": { "q1": accept(&json!({ "confirm": true })) } });
    peer.ask(Method::TasksUpdate, update).await.unwrap();
    settle().await;
    let request = peer.request(Method::SubscriptionsListen, &listen(&[&id]));
    let mut listening = peer.begin(request);
    assert!(poll!(&mut listening).is_pending());
    let told = vec![(id.clone(), "completed".to_owned())];
    assert_eq!(heard(peer.inbox.changes()), (Some(vec![id]), told));
    assert!((&mut listening).now_or_never().is_none());
}

/// The progress, and the status of each task that the news of 2025-11-25 report.
fn news(peer: &Peer) -> (Vec<f64>, Vec<TaskStatus>) {
    let (mut progress, mut status) = (Vec::new(), Vec::new());
    for news in peer.inbox.news() {
        match news {
            TaskNotification::Progress { update, .. } => progress.push(update.progress),
            TaskNotification::Status(task) => status.push(task.status),
            other => panic!("{other:?}"),
        }
    }
    (progress, status)
}

async fn run_to_its_end(peer: &Peer, go: &Notify) {
    peer.begin_task("wait").await;
    for _ in 0..3 {
        go.notify_one();
        settle().await;
    }
}

// spec: PROG-11, TASK-47
#[tokio::test]
async fn only_a_client_that_asked_for_progress_gets_that_of_its_task() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let mut peer = peer(&server(&go, &store), Revision::V2025_11_25);
    run_to_its_end(&peer, &go).await;
    assert_eq!(news(&peer), (vec![], vec![TaskStatus::Completed]));
    peer.progress = Some(ProgressToken(RequestId::from("token")));
    run_to_its_end(&peer, &go).await;
    assert_eq!(news(&peer), (vec![1.0, 2.0], vec![TaskStatus::Completed]));
    assert!(peer.inbox.progress().is_empty(), "progress of a task names the task");
}

// spec: XTASK-37
#[tokio::test]
async fn a_task_of_2026_07_28_sends_nothing_unasked() {
    let (go, store) = (Arc::new(Notify::new()), Arc::default());
    let mut peer = peer(&server(&go, &store), Revision::LATEST);
    peer.progress = Some(ProgressToken(RequestId::from("token")));
    run_to_its_end(&peer, &go).await;
    assert_eq!(news(&peer), (vec![], vec![]));
    assert!(peer.inbox.progress().is_empty() && peer.inbox.changes().is_empty());
}

// spec: PROG-12
#[tokio::test]
async fn progress_ends_before_a_cancellation_is_answered() {
    for is_mounted in [false, true] {
        let (go, store) = (Arc::new(Notify::new()), Arc::<MemoryBackend>::default());
        let clean_up = {
            let go = go.clone();
            move |progress: Progress, cancel: Cancel| {
                let go = go.clone();
                async move {
                    let mut bar = progress.total(2);
                    bar.inc("begun");
                    cancel.cancelled().await;
                    bar.inc("cleans up");
                    go.notify_one();
                }
            }
        };
        let tool = Tool::new("clean_up", clean_up).task(TaskSupport::Optional);
        let own = Server::new("tasks", "1").tool(tool);
        let (server, name) = match is_mounted {
            false => (own, "clean_up"),
            true => (Server::new("hub", "1").mount("inner", own), "inner__clean_up"),
        };
        let mut peer = peer(&server.store(store), Revision::V2025_11_25);
        peer.progress = Some(ProgressToken(RequestId::from("token")));
        let id = peer.begin_task(name).await;
        settle().await;
        assert_eq!(news(&peer), (vec![1.0], vec![]));
        let cancelled = peer.ask(Method::TasksCancel, json!({ "taskId": id })).await.unwrap();
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(news(&peer), (vec![], vec![TaskStatus::Cancelled]));
        go.notified().await;
        settle().await;
        assert_eq!(news(&peer), (vec![], vec![]));
    }
}
