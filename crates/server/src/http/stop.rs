//! Waits for the signals that stop a process: SIGINT (Ctrl-C) and SIGTERM.
//!
//! Not with `tokio::signal`: its feature makes every runtime allocate room for all signals when it
//! starts, even in a program that then serves over stdio.

/// Which signal asks the process to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopSignal {
    /// A user has typed Ctrl-C, and waits.
    Interrupt,
    /// A supervisor ends the process, perhaps to replace it.
    Terminate,
}

/// Resolves at the first SIGINT or SIGTERM. From then on the next one ends the process at once.
pub(super) async fn stop_signal() -> StopSignal {
    // If no signal handler can be set, the signals end the process by default.
    match wait().await {
        Ok(signal) => signal,
        Err(_) => std::future::pending().await,
    }
}

#[cfg(unix)]
async fn wait() -> std::io::Result<StopSignal> {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level::pipe};

    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    let (is_raised, is_typed) =
        (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    // Before the pipe, so that the flag is set when the task wakes.
    flag::register(SIGINT, is_typed.clone())?;
    for signal in [SIGINT, SIGTERM] {
        // In this order: at the first signal the flag is not yet set when the default is checked.
        flag::register_conditional_default(signal, is_raised.clone())?;
        flag::register(signal, is_raised.clone())?;
        pipe::register(signal, sender.try_clone()?)?;
    }
    tokio::net::UnixStream::from_std(receiver)?.readable().await?;
    Ok(match is_typed.load(Ordering::SeqCst) {
        true => StopSignal::Interrupt,
        false => StopSignal::Terminate,
    })
}

#[cfg(not(unix))]
async fn wait() -> std::io::Result<StopSignal> {
    tokio::signal::ctrl_c().await?;
    Ok(StopSignal::Interrupt)
}
