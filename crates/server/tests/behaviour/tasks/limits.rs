//! The limits of tasks: how many, how long, how large.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bowline_proto::request::{Access, Owner};
use bowline_server::TaskLimits;
use bowline_store::tasks::TaskStore;
use bowline_store::wrapper::OperationKind;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::code;
use bowline_types::ext::tasks::IDENTIFIER;
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use super::store::VirtualStore;
use super::{Replica, Runs, pass};
use crate::peer::{BOTH, Peer};
use crate::wire::Wire;

fn limited(revision: Revision, change: impl FnOnce(&mut TaskLimits)) -> Replica {
    let mut limits = TaskLimits::default();
    change(&mut limits);
    Replica::limited(&Arc::default(), &Runs::default(), revision, limits)
}

/// A server that keeps little of a task.
fn small(revision: Revision) -> Replica {
    limited(revision, |limits| limits.record = 0)
}

// spec: TASK-74, TASK-76, TASK-77
#[tokio::test(start_paused = true)]
async fn an_owner_has_a_limited_number_of_tasks_until_one_expires() {
    for revision in BOTH {
        let mut replica = limited(revision, |limits| {
            limits.per_owner = 3;
            limits.ttl = Duration::from_secs(60);
        });
        for _ in 0..3 {
            replica.create("wait", json!({ "seconds": 1 })).await;
            pass(2).await;
        }
        let error = replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
        let expected = "no more than 3 tasks are kept at a time; wait until one has expired";
        assert_eq!(error.message, expected);
        // Another owner has tasks of its own.
        replica.peer.owner = Owner::known("https://auth.example", "ann");
        replica.create("wait", json!({ "seconds": 1 })).await;
        replica.peer.owner = Owner::anonymous();
        pass(57).await;
        replica.create("wait", json!({ "seconds": 1 })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_be_stored_does_not_count_for_its_owner() {
    let replica = limited(Revision::LATEST, |limits| limits.per_owner = 1);
    // Room for the list of an owner's tasks, not for a record.
    replica.link.refuse_longer_than(100);
    replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
    replica.link.refuse_longer_than(0);
    replica.create("wait", json!({ "seconds": 1 })).await;
}

#[tokio::test(start_paused = true)]
async fn tasks_that_two_servers_create_at_once_are_no_more_than_the_limit() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let mut limits = TaskLimits::default();
    limits.per_owner = 20;
    let [a, b] =
        [(), ()].map(|()| Replica::limited(&store, &runs, Revision::LATEST, limits.clone()));
    for replica in [&a, &b] {
        replica.link.slow_down(Duration::from_millis(10));
    }
    let created =
        (0..40).map(|task| [&a, &b][task % 2].try_create("wait", json!({ "seconds": 9 })));
    let created = futures_util::future::join_all(created).await;
    assert_eq!(created.iter().filter(|created| created.is_ok()).count(), 20);
    assert_eq!(store.keys("task").await.len(), 20);
}

#[tokio::test(start_paused = true)]
async fn an_owner_has_as_many_tasks_as_the_store_has_room_to_list() {
    let replica = limited(Revision::LATEST, |_| ());
    replica.link.refuse_longer_than(4104);
    for _ in 0..102 {
        replica.create("wait", json!({ "seconds": 3600 })).await;
    }
    let error = replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
    assert!(error.message.starts_with("no more than 102 tasks"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn an_entry_without_a_record_is_not_listed_and_counts_until_its_task_would_have_expired() {
    let replica = limited(Revision::V2025_11_25, |limits| limits.per_owner = 1);
    // As a server does that stops before it writes the record.
    let now = SystemTime::now();
    let task = ("A".repeat(22), now + Duration::from_secs(60));
    TaskStore::new(replica.link.clone()).list("anonymous", &[task], 1, now).await.unwrap();
    let page = replica.peer.ask(Method::TasksList, json!({})).await.unwrap();
    assert_eq!(page["tasks"], json!([]));
    replica.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
    pass(61).await;
    replica.create("wait", json!({ "seconds": 1 })).await;
}

/// What a running task costs the store while nothing happens; the figures of `0015-tasks.md`.
#[tokio::test(start_paused = true)]
async fn a_running_task_reads_its_record_once_in_three_seconds_and_its_server_renews_one_lease() {
    let replica = limited(Revision::LATEST, |_| ());
    for _ in 0..10 {
        replica.create("wait", json!({ "seconds": 3600 })).await;
    }
    let count = || {
        let count = |kind, first| replica.link.count(kind, first);
        let writes = ["task", "replica", "task-runners"].map(|it| count(OperationKind::Put, it));
        (count(OperationKind::Get, "task"), writes, count(OperationKind::Renew, "task-runners"))
    };
    pass(1).await;
    let (reads, [records, leases, registrations], registered) = count();
    pass(30).await;
    let (later, writes, registered_later) = count();
    assert_eq!(later - reads, 100, "ten tasks, ten renewals");
    assert_eq!(writes, [records, leases + 10, registrations]);
    assert_eq!(registered_later - registered, 10);
}

// spec: TASK-51, TASK-52, TASK-54, TASK-62, TASK-72
#[tokio::test(start_paused = true)]
async fn a_list_goes_page_by_page_through_the_tasks_of_its_caller() {
    let mut replica = limited(Revision::V2025_11_25, |_| ());
    replica.create("wait", json!({ "seconds": 1 })).await;
    replica.peer.owner = Owner::known("https://auth.example", "ann");
    let mut created = HashSet::new();
    for _ in 0..120 {
        created.insert(replica.create("wait", json!({ "seconds": 1 })).await);
    }
    let (mut listed, mut sizes, mut cursor) = (HashSet::new(), Vec::new(), Value::Null);
    loop {
        let page = replica.peer.ask(Method::TasksList, json!({ "cursor": cursor })).await.unwrap();
        let tasks = page["tasks"].as_array().unwrap();
        sizes.push(tasks.len());
        listed.extend(tasks.iter().map(|task| task["taskId"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((sizes, listed), (vec![50, 50, 20], created));
    for wrong in ["", "../replica", "x"] {
        let listed = replica.peer.ask(Method::TasksList, json!({ "cursor": wrong })).await;
        assert_eq!(listed.unwrap_err().code, -32602, "{wrong}");
    }
}

/// A result of 3000 bytes is kept; one of 5000 fails its task.
async fn only_results_that_fit_are_kept(replica: &Replica) {
    let fits = replica.create("long", json!({ "seconds": 3000 })).await;
    let id = replica.create("long", json!({ "seconds": 5000 })).await;
    pass(2).await;
    assert_eq!(replica.status(&fits).await, "completed");
    let task = replica.get(&id).await.unwrap();
    let expected = "the result is too long: at most 4096 bytes are kept of a task";
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("failed"), &json!(expected)));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_does_not_fit_fails_its_task() {
    for revision in BOTH {
        only_results_that_fit_are_kept(&small(revision)).await;
    }
}

/// It would stay `working` until it expires if the server tried again and again to store it.
// spec: TASK-66, XTASK-18, XTASK-43
#[tokio::test(start_paused = true)]
async fn a_result_that_the_store_refuses_fails_its_task() {
    for revision in BOTH {
        let replica = limited(revision, |_| ());
        replica.link.refuse_longer_than(4104);
        only_results_that_fit_are_kept(&replica).await;
    }
}

/// Without its call a task cannot run again on another server, but it runs.
#[tokio::test(start_paused = true)]
async fn a_call_for_which_the_store_has_no_room_is_not_kept_and_runs() {
    for revision in BOTH {
        let mut replica = limited(revision, |_| ());
        replica.peer.access = Access::to(["report"]);
        replica.link.refuse_longer_than(4104);
        let call = json!({ "seconds": 1, "more": "x".repeat(5000) });
        let id = replica.create("report", call).await;
        pass(2).await;
        assert_eq!(replica.status(&id).await, "completed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_does_not_fit_fails() {
    for revision in BOTH {
        let replica = small(revision);
        let id = replica.create("ask_long", json!({})).await;
        pass(1).await;
        let text = replica.text(&id).await;
        assert!(text.contains("the question is too long"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_fit_is_refused_and_another_is_taken() {
    let replica = small(Revision::LATEST);
    let id = replica.create("greet", json!({})).await;
    pass(1).await;
    let params = |content: Value| {
        let answer = json!({ "action": "accept", "content": content });
        json!({ "taskId": id, "inputResponses": { "q1": answer } })
    };
    let long = params(json!({ "confirm": true, "more": "x".repeat(5000) }));
    let error = replica.peer.ask(Method::TasksUpdate, long).await.unwrap_err();
    assert_eq!(error.message, "the server keeps at most 4096 bytes of a task");
    assert_eq!(replica.status(&id).await, "input_required");
    replica.peer.ask(Method::TasksUpdate, params(json!({ "confirm": true }))).await.unwrap();
    pass(1).await;
    assert_eq!(replica.text(&id).await, "true");
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_arguments_do_not_fit_does_not_run_again() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let mut limits = TaskLimits::default();
    limits.record = 4096;
    let a = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let id = a.create("report", json!({ "seconds": 60, "more": "x".repeat(5000) })).await;
    a.link.cut();
    pass(12).await;
    let b = Replica::new(&store, &runs, Revision::LATEST);
    assert_eq!((b.status(&id).await.as_str(), runs.begun()), ("failed", 1));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fits_into_the_least_record_runs_again() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let mut limits = TaskLimits::default();
    limits.record = 0;
    let a = Replica::limited(&store, &runs, Revision::LATEST, limits.clone());
    let id = a.create("report", json!({ "seconds": 60 })).await;
    a.link.cut();
    pass(12).await;
    let b = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let status = b.status(&id).await;
    pass(1).await;
    assert_eq!((status.as_str(), runs.begun()), ("working", 2));
}

#[tokio::test(start_paused = true)]
async fn a_record_with_its_call_is_never_longer_than_allowed() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let mut limits = TaskLimits::default();
    limits.record = 4096;
    let mut a = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let long = Object::of(&json!({ "long": "x".repeat(4000) })).unwrap();
    let can = ClientCapabilities::new().with_extension(IDENTIFIER, Object::default()).unwrap();
    let can = can.with_extension("com.example/long", long).unwrap();
    a.peer = Peer::able(&a.server, Revision::LATEST, can);
    a.create("report", json!({ "seconds": 60 })).await;
    let longest = store.records().await.iter().map(String::len).max();
    assert!(longest.is_some_and(|length| length <= 4096), "{longest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_too_long_for_the_next_server_ends_and_does_not_keep_others_from_ending() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let a = Replica::new(&store, &runs, Revision::LATEST);
    for _ in 0..5 {
        a.create("report", json!({ "seconds": 60, "more": "x".repeat(9000) })).await;
        a.create("wait", json!({ "seconds": 60 })).await;
    }
    a.link.cut();
    pass(12).await;
    let mut limits = TaskLimits::default();
    limits.record = 0;
    let b = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let _serving = Wire::to(&b.server);
    pass(1).await;
    let records = store.records().await;
    assert_eq!(records.len(), 10);
    assert!(records.iter().all(|record| record.contains(r#""status":"failed""#)));
}

#[tokio::test(start_paused = true)]
async fn times_without_end_are_no_mistake() {
    for revision in BOTH {
        let replica = limited(revision, |limits| {
            (limits.ttl, limits.longest_ttl) = (Duration::MAX, Duration::MAX);
            limits.poll_interval = Duration::MAX;
        });
        let id = replica.create("wait", json!({ "seconds": 60 })).await;
        pass(30).await;
        assert_eq!(replica.status(&id).await, "working");
        pass(31).await;
        assert_eq!(replica.text(&id).await, "60 seconds later");
    }
}

// spec: TASK-74
#[tokio::test(start_paused = true)]
async fn a_server_runs_a_limited_number_of_tasks() {
    for revision in BOTH {
        let replica = limited(revision, |limits| limits.running = 2);
        for _ in 0..2 {
            replica.create("wait", json!({ "seconds": 5 })).await;
        }
        let error = replica.try_create("wait", json!({ "seconds": 5 })).await.unwrap_err();
        assert_eq!(
            error.message,
            "the server runs no more than 2 tasks at a time; try again later"
        );
        assert_eq!(error.code, code::UNAVAILABLE);
        assert_eq!(replica.runs.begun(), 2);
        pass(6).await;
        replica.create("wait", json!({ "seconds": 5 })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_to_run_again_waits_for_a_place() {
    let (store, runs) = (Arc::<VirtualStore>::default(), Runs::default());
    let a = Replica::new(&store, &runs, Revision::LATEST);
    for _ in 0..2 {
        a.create("report", json!({ "seconds": 20 })).await;
    }
    a.link.cut();
    pass(12).await;
    let mut limits = TaskLimits::default();
    limits.running = 1;
    let b = Replica::limited(&store, &runs, Revision::LATEST, limits);
    let _serving = Wire::to(&b.server);
    pass(1).await;
    assert_eq!(runs.begun(), 3);
    pass(25).await;
    assert_eq!(runs.begun(), 4, "the first has ended");
    pass(25).await;
    let records = store.records().await;
    assert!(records.iter().all(|record| record.contains(r#""status":"completed""#)));
}
