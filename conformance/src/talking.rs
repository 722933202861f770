//! Tools that send progress and log messages while they run.

use std::time::Duration;

use bowline::{Context, Log, Progress, Tool, tool, tools};
use tokio::time::sleep;

/// The pause between two messages.
const BREATH: Duration = Duration::from_millis(50);

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![test_tool_with_progress, test_tool_with_logging, test_logging_tool, test_reconnection]
}

/// Report progress: 0, 50 and 100 of 100
#[tool(read_only)]
async fn test_tool_with_progress(progress: Progress) -> &'static str {
    for done in [0, 50, 100] {
        progress.report(done, Some(100.0), format!("{done} of 100"));
        sleep(BREATH).await;
    }
    "Everything is done"
}

/// Log three messages
#[tool(read_only)]
async fn test_tool_with_logging(log: Log) -> &'static str {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        log.info(message);
        sleep(BREATH).await;
    }
    "Everything is logged"
}

/// Log a message of each of four levels, for those who want to hear it
#[tool(read_only)]
fn test_logging_tool(log: Log) -> &'static str {
    log.debug("for those who look for a fault");
    log.info("the usual course of things");
    log.warning("something may go wrong");
    log.error("something went wrong");
    "Logged if that was wanted"
}

/// Let the client hang up, and come back for the answer
#[tool(read_only)]
async fn test_reconnection(context: Context) -> &'static str {
    context.pause(BREATH);
    sleep(2 * BREATH).await;
    "Good to see you again"
}
