//! Waits for the signals that stop a process: SIGINT (Ctrl-C) and SIGTERM.
//!
//! Not with `tokio::signal`: its feature makes every runtime allocate room for all signals when it
//! starts, even in a program that then serves over stdio.

/// Resolves at the first SIGINT or SIGTERM. From then on the next one ends the process at once.
pub(super) async fn stop_signal() {
    // If no signal handler can be set, the signals end the process by default.
    if wait().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn wait() -> std::io::Result<()> {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level::pipe};

    let (receiver, sender) = UnixStream::pair()?;
    receiver.set_nonblocking(true)?;
    let is_raised = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: at the first signal the flag is not yet set when the default is checked.
        flag::register_conditional_default(signal, is_raised.clone())?;
        flag::register(signal, is_raised.clone())?;
        pipe::register(signal, sender.try_clone()?)?;
    }
    tokio::net::UnixStream::from_std(receiver)?.readable().await
}

#[cfg(not(unix))]
async fn wait() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
