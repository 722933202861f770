//! Tools that wait. Where a transcript is played in virtual time, they wait in virtual time.

use std::future::pending;
use std::time::Duration;

use bowline::{Progress, Server, tool, tools};

/// Tools that wait, count or never end.
pub(super) fn server(server: Server) -> Server {
    server.tools(tools![hang, wait, count, stumble])
}

/// Never answer
#[tool]
async fn hang() -> String {
    pending().await
}

/// Answer after a while
#[tool]
async fn wait(seconds: u64) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    format!("{seconds} seconds later")
}

/// Count, one step every 100 ms
#[tool]
async fn count(progress: Progress, to: u32) -> String {
    let mut bar = progress.total(to);
    for step in 1..=to {
        tokio::time::sleep(Duration::from_millis(100)).await;
        bar.inc(format!("step {step}"));
    }
    "done".to_owned()
}

/// Report progress that does not always grow
#[tool]
async fn stumble(progress: Progress) -> String {
    for step in [1.0, 1.0, 0.5, 2.5] {
        tokio::time::sleep(Duration::from_millis(100)).await;
        progress.report(step, None, "");
    }
    "done".to_owned()
}
