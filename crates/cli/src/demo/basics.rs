//! Tools that answer by themselves.

use std::time::Duration;

use bowline::{Content, Json, Log, Progress, Result, tool};
use bowline_types::deprecated::logging::LoggingLevel;
use schemars::JsonSchema;
use serde::Serialize;

use super::sound;

/// Give a message back
#[tool(read_only)]
pub(super) async fn echo(message: String) -> String {
    message
}

#[derive(Serialize, JsonSchema)]
pub(super) struct Sum {
    sum: i64,
}

/// Add two integers
#[tool(read_only)]
pub(super) async fn add(a: i64, b: i64) -> Result<Json<Sum>> {
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(Json(Sum { sum }))
}

/// Sleep, and report progress every 100 ms
#[tool(read_only)]
pub(super) async fn sleep(progress: Progress, #[arg(range = 0.0..=3600.0)] seconds: f64) -> String {
    let step = Duration::from_millis(100);
    let total = Duration::from_secs_f64(seconds);
    let mut slept = Duration::ZERO;
    while slept < total {
        tokio::time::sleep(step.min(total - slept)).await;
        slept = total.min(slept + step);
        progress.report(slept.as_secs_f64(), Some(seconds), "sleeping");
    }
    format!("slept {seconds} s")
}

/// Count slowly, as a task where the client has tasks
#[tool(read_only, task)]
pub(super) async fn count(progress: Progress, #[arg(range = 1..=1000)] to: u64) -> String {
    let mut bar = progress.total(to);
    for number in 1..=to {
        tokio::time::sleep(Duration::from_millis(200)).await;
        bar.inc(number.to_string());
    }
    format!("counted to {to}")
}

/// A picture of 32 by 32 points
const PICTURE: &[u8] = include_bytes!("picture.png");

/// Show a small picture
#[tool(read_only)]
pub(super) async fn picture() -> Content {
    Content::image(PICTURE, "image/png")
}

/// Play a short sound
#[tool(read_only)]
pub(super) async fn chime() -> Content {
    Content::audio(&sound::chime(), "audio/wav")
}

/// Write a log message of every level
#[tool(read_only)]
pub(super) async fn talk(log: Log) -> &'static str {
    for level in [
        LoggingLevel::Debug,
        LoggingLevel::Info,
        LoggingLevel::Notice,
        LoggingLevel::Warning,
        LoggingLevel::Error,
        LoggingLevel::Critical,
        LoggingLevel::Alert,
        LoggingLevel::Emergency,
    ] {
        log.data(level, &format!("this message is of level `{level}`"));
    }
    "wrote 8 log messages"
}

/// Fail, with a message for the model
#[tool(read_only)]
pub(super) async fn fail(#[arg(default)] message: Option<String>) -> Result<String> {
    Err(message.unwrap_or_else(|| "this tool always fails".to_owned()))?
}
