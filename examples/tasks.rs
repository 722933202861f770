//! Tasks: a slow tool is a task for clients that have tasks, and answers others as usual.

use std::time::Duration;

use bowline::{Progress, Server, tool, tools};

/// Slow job
#[tool(task)]
async fn slow(progress: Progress, steps: u64) -> &'static str {
    let mut bar = progress.total(steps);
    for step in 1..=steps {
        bar.inc(format!("step {step}"));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    "done"
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    Server::new("jobs", "1.0.0").tools(tools![slow]).run().await
}
