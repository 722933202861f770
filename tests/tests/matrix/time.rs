//! Timeouts and deadlines of calls, in virtual time.

use std::time::Duration;

use bowline::Limits;
use bowline::{Progress, Server, tool, tools};
use bowline_testing::Harness;
use tokio::time::{Instant, sleep};

/// Work for some time, and say so every second
#[tool]
async fn work(progress: Progress) -> &'static str {
    let mut bar = progress.total(40_u32);
    for _ in 0..40 {
        sleep(Duration::from_secs(1)).await;
        bar.inc("working");
    }
    "done"
}

fn worker() -> Server {
    Server::new("worker", "1.0.0").tools(tools![work])
}

// spec: TIME-1, TIME-4, TOOL-49
#[bowline::test(every_revision, stateless)]
async fn the_client_cancels_a_call_after_its_timeout(t: Harness) {
    let client = t.connect(worker()).await;
    let begin = Instant::now();
    let error = client.call("work", ()).timeout(Duration::from_secs(5)).await.unwrap_err();
    assert!(error.is_timeout() && !error.may_retry());
    assert_eq!(begin.elapsed().as_secs(), 5);
    assert_eq!(client.call("work", ()).await.unwrap().text(), "done");
}

// spec: TIME-6
#[bowline::test(every_revision, stateless)]
async fn progress_does_not_move_a_deadline(t: Harness) {
    let client = t.connect(worker()).await;
    let begin = Instant::now();
    let call = client.call("work", ()).progress(|_| ()).timeout(Duration::from_secs(5));
    assert!(call.deadline(Duration::from_secs(30)).await.unwrap_err().is_timeout());
    assert_eq!(begin.elapsed().as_secs(), 30);
}

#[bowline::test(every_revision, stateless)]
async fn the_time_limits_of_a_client_hold_for_all_of_its_calls(t: Harness) {
    let mut limits = Limits::default();
    limits.request_timeout = Duration::from_secs(2);
    let client = t.connect(worker()).client(|client| client.limits(limits)).await;
    assert!(client.call("work", ()).await.unwrap_err().is_timeout());
    let call = client.call("work", ()).progress(|_| ());
    assert_eq!(call.await.unwrap().text(), "done");
}
