//! Ctrl-C: the running call is cancelled, the server is closed, and the process ends with 130.

use crate::exit::{Exit, Failure};

/// Runs something until it ends or the user presses Ctrl-C.
///
/// On Ctrl-C the future is dropped, which cancels its calls. The caller still closes what it has
/// opened, with [`closing`].
///
/// # Errors
///
/// If the future fails, or the user pressed Ctrl-C.
pub(crate) async fn interruptible<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        outcome = work => outcome,
        _ = tokio::signal::ctrl_c() => Err(Failure::interrupted()),
    }
}

/// Closes what a command has opened. Ctrl-C or SIGTERM ends the process at once: a server may take
/// seconds to end, and the signal that began the closing was the first one.
pub(crate) async fn closing(work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        () = stop_signal() => std::process::exit(Exit::Interrupted as i32),
    }
}

#[cfg(unix)]
async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};

    let Ok(mut terminated) = signal(SignalKind::terminate()) else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminated.recv() => {}
    }
}

#[cfg(not(unix))]
async fn stop_signal() {
    let _ = tokio::signal::ctrl_c().await;
}
