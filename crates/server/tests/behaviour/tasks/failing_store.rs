//! Tasks whose store fails for a while.

use std::sync::Arc;
use std::time::Duration;

use bowline_server::TaskLimits;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use super::{Replica, Runs, pass};
use crate::peer::BOTH;

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_task_is_recorded_soon_after_the_store_works_again() {
    for revision in BOTH {
        let a = Replica::new(&Arc::default(), &Runs::default(), revision);
        let id = a.create("wait", json!({ "seconds": 5 })).await;
        pass(4).await;
        a.link.cut();
        pass(100).await;
        assert_eq!(a.runs.running(), 0, "the call has ended");
        assert!(a.get(&id).await.is_err());
        a.link.restore();
        pass(3).await;
        assert_eq!(a.text(&id).await, "5 seconds later");
    }
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_asked_at_a_pace_and_not_after_the_task_expired() {
    let mut limits = TaskLimits::default();
    limits.ttl = Duration::from_secs(600);
    let a = Replica::limited(&Arc::default(), &Runs::default(), Revision::LATEST, limits);
    a.create("wait", json!({ "seconds": 1 })).await;
    a.link.cut();
    pass(599).await;
    let refused = a.link.refused();
    // The lease, each second; the search for abandoned tasks, each five; the outcome, with pauses
    // of up to two seconds.
    assert!(refused > 595 + 120 + 295 && refused < 600 + 120 + 320, "{refused}");
    pass(20).await;
    let refused = a.link.refused();
    pass(600).await;
    let later = a.link.refused() - refused;
    assert!(later <= 121, "only the search for abandoned tasks goes on: {later}");
}

#[tokio::test(start_paused = true)]
async fn a_task_goes_on_if_the_store_fails_while_it_runs() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    let id = a.create("greet", json!({})).await;
    let other = a.create("wait", json!({ "seconds": 30 })).await;
    pass(1).await;
    let b = Replica::new(a.link.store(), &a.runs, Revision::LATEST);
    a.link.fail();
    // The answer is announced to a server that cannot read it yet.
    let answer = json!({ "action": "accept", "content": { "confirm": true } });
    let params = json!({ "taskId": id, "inputResponses": { "q1": answer } });
    b.peer.ask(Method::TasksUpdate, params).await.unwrap();
    pass(2).await;
    assert_eq!(b.status(&id).await, "working");
    a.link.restore();
    pass(2).await;
    assert_eq!(b.text(&id).await, "true");
    assert_eq!(b.status(&other).await, "working");
}

// spec: TASK-63, XTASK-42
#[tokio::test(start_paused = true)]
async fn no_task_begins_while_the_store_fails() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    a.link.cut();
    let error = a.try_create("wait", json!({ "seconds": 1 })).await.unwrap_err();
    let expected =
        (-32603, "the store of tasks failed: standard error of the server has the reason");
    assert_eq!((error.code, error.message.as_str()), expected);
    a.link.restore();
    let id = a.create("wait", json!({ "seconds": 1 })).await;
    pass(2).await;
    assert_eq!((a.status(&id).await, a.runs.begun()), ("completed".to_owned(), 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_reaches_the_call_although_its_announcement_failed() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    let b = Replica::new(a.link.store(), &a.runs, Revision::LATEST);
    let id = a.create("greet", json!({})).await;
    pass(1).await;
    b.link.lose_announcement();
    b.answer(&id).await;
    pass(4).await;
    assert_eq!(b.text(&id).await, "true");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_the_run_took_is_not_lost_if_the_announcement_of_that_fails() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    let b = Replica::new(a.link.store(), &a.runs, Revision::LATEST);
    let id = a.create("greet", json!({})).await;
    pass(1).await;
    a.link.lose_announcement();
    b.answer(&id).await;
    pass(1).await;
    assert_eq!(b.text(&id).await, "true");
}

#[tokio::test(start_paused = true)]
async fn a_question_takes_its_answer_although_its_announcement_failed() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    a.link.lose_announcement();
    let id = a.create("greet", json!({})).await;
    pass(1).await;
    assert_eq!(a.status(&id).await, "input_required");
    a.answer(&id).await;
    pass(1).await;
    assert_eq!(a.text(&id).await, "true");
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_reaches_the_call_although_its_announcement_failed() {
    for revision in BOTH {
        let a = Replica::new(&Arc::default(), &Runs::default(), revision);
        let b = Replica::new(a.link.store(), &a.runs, revision);
        let id = a.create("wait", json!({ "seconds": 600 })).await;
        pass(1).await;
        b.link.lose_announcement();
        b.cancel(&id).await;
        pass(4).await;
        assert_eq!(a.runs.running(), 0, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_does_not_hold_up_the_handler() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    a.create("chatty", json!({ "seconds": 2 })).await;
    a.link.slow_down(Duration::from_secs(60));
    pass(3).await;
    assert_eq!((a.runs.begun(), a.runs.running()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a_slow_store_does_not_keep_a_task_beyond_its_time() {
    let mut limits = TaskLimits::default();
    limits.ttl = Duration::from_secs(60);
    let a = Replica::limited(&Arc::default(), &Runs::default(), Revision::LATEST, limits);
    a.create("chatty", json!({ "seconds": 600 })).await;
    a.link.slow_down(Duration::from_secs(3600));
    pass(61).await;
    assert_eq!((a.runs.begun(), a.runs.running()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn frequent_progress_does_not_hold_up_a_cancellation() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::LATEST);
    let b = Replica::new(a.link.store(), &a.runs, Revision::LATEST);
    let id = a.create("chatty", json!({ "seconds": 600 })).await;
    a.link.slow_down(Duration::from_millis(30));
    pass(1).await;
    assert_eq!(a.runs.running(), 1);
    b.cancel(&id).await;
    pass(1).await;
    assert_eq!(a.runs.running(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_fails_if_the_store_fails_while_it_is_read() {
    let a = Replica::new(&Arc::default(), &Runs::default(), Revision::V2025_11_25);
    a.create("wait", json!({ "seconds": 1 })).await;
    a.link.blind();
    let error = a.peer.ask(Method::TasksList, json!({})).await.unwrap_err();
    let expected = "the store of tasks failed: standard error of the server has the reason";
    assert_eq!(error.message, expected);
}
