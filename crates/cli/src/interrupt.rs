//! Ctrl-C: the running call is cancelled, the server is closed, and the process ends with 130.

use crate::exit::{Exit, Failure};

/// Runs something until it ends or the user presses Ctrl-C.
///
/// On Ctrl-C the future is dropped, which cancels its calls. The caller still closes its
/// connections; a second Ctrl-C ends the process without waiting for that.
///
/// # Errors
///
/// If the future fails, or the user pressed Ctrl-C.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        outcome = work => outcome,
        _ = tokio::signal::ctrl_c() => {
            tokio::spawn(async {
                let _ = tokio::signal::ctrl_c().await;
                std::process::exit(Exit::Interrupted as i32);
            });
            Err(Failure::interrupted())
        }
    }
}
