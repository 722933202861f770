//! Requests of a server to a model, answered by a command of the user (`--sampling CMD`).
//!
//! The command gets the request as JSON on standard input. It prints the text of the model, or the
//! whole result as JSON. Without such a command the client declares no sampling, so servers do not
//! ask. The command and the processes that it started are killed when its time is over, or when the
//! answer is no longer wanted.

use std::process::Stdio;
use std::time::Duration;

use bowline::client::{SamplingAnswer, SamplingRequest};
use bowline_types::deprecated::sampling::CreateMessageResult;
use bowline_types::json::RawJson;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Asks the command, which has this much time.
pub(crate) async fn answer(
    request: SamplingRequest,
    words: Vec<String>,
    timeout: Duration,
) -> SamplingAnswer {
    let late = || Err(format!("the command gave no answer within {} s", timeout.as_secs_f64()));
    let answered = tokio::time::timeout(timeout, pipe(&request, &words)).await;
    SamplingAnswer::from(answered.unwrap_or_else(|_| late()))
}

async fn pipe(request: &SamplingRequest, words: &[String]) -> Result<CreateMessageResult, String> {
    let [program, arguments @ ..] = words else { return Err("the command is empty".to_owned()) };
    let failed = |error: std::io::Error| format!("`{program}`: {error}");
    let json = RawJson::from_value(request.params()).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn().map_err(failed)?;
    #[cfg(unix)]
    let group = child.id().map(ProcessGroup);
    let stdin = child.stdin.take();
    let write = async {
        if let Some(mut stdin) = stdin {
            // A command that does not read its input is fine, so this may fail.
            let _ = stdin.write_all(json.as_str().as_bytes()).await;
        }
    };
    let ((), output) = tokio::join!(write, child.wait_with_output());
    // The command is reaped, so its number may be that of another group soon.
    #[cfg(unix)]
    std::mem::forget(group);
    let output = output.map_err(failed)?;
    if !output.status.success() {
        return Err(format!("`{program}` ended with {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let whole = RawJson::from_text(text.trim()).ok().and_then(|json| json.parse().ok());
    Ok(whole.unwrap_or_else(|| {
        CreateMessageResult::new(program.as_str(), bowline::Content::text(text.trim_end()))
    }))
}

/// The process group of a command, whose members are killed when this is dropped.
#[cfg(unix)]
struct ProcessGroup(u32);

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, killpg};
        use nix::unistd::Pid;

        // Fails only if the group has no members.
        let _ = killpg(Pid::from_raw(self.0.cast_signed()), Signal::SIGKILL);
    }
}
