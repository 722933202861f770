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

/// Closes what a command has opened. A signal ends the process at once: a server may take seconds to
/// end, and the signal that began the closing was the first one.
pub(crate) async fn closing(work: impl Future<Output = ()>) {
    tokio::select! {
        () = work => {}
        _ = stopped() => end_at_once(),
    }
}

/// Serves until the first signal and the drain after it are over. The second signal ends the process
/// at once.
pub(crate) async fn until_second_signal<T>(serving: impl Future<Output = T>) -> T {
    let first = stopped();
    let second = async {
        first.await;
        stopped().await
    };
    tokio::select! {
        outcome = serving => outcome,
        _ = second => end_at_once(),
    }
}

fn end_at_once() -> ! {
    std::process::exit(Exit::Interrupted as i32)
}

/// Which signal asks the process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// A user has typed Ctrl-C, and waits.
    Interrupt,
    /// A supervisor ends the process, perhaps to replace it.
    Terminate,
}

/// Resolves when the process is interrupted or terminated. Signals count from the call on, not from
/// the first poll.
#[cfg(unix)]
pub(crate) fn stopped() -> impl Future<Output = StopSignal> {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = signal(SignalKind::interrupt()).ok().zip(signal(SignalKind::terminate()).ok());
    async {
        let Some((mut interrupted, mut terminated)) = signals else {
            let _ = tokio::signal::ctrl_c().await;
            return StopSignal::Interrupt;
        };
        tokio::select! {
            _ = interrupted.recv() => StopSignal::Interrupt,
            _ = terminated.recv() => StopSignal::Terminate,
        }
    }
}

/// Resolves when the process is interrupted.
#[cfg(not(unix))]
pub(crate) async fn stopped() -> StopSignal {
    let _ = tokio::signal::ctrl_c().await;
    StopSignal::Interrupt
}
