//! When a process that serves by itself is told to stop.
//!
//! Not by tokio's own signals: with those, every runtime of a program that can serve over HTTP
//! makes room for all signals there are when it starts, whether the program then does or not.

/// Resolves when the process is told to stop, by Ctrl-C or by whoever runs it. From then on, being
/// told again ends it at once.
pub(super) async fn told_to_stop() {
    // Otherwise nobody can tell us; there still are signals that end any process.
    if told().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn told() -> std::io::Result<()> {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level::pipe};

    let (told, tell) = UnixStream::pair()?;
    told.set_nonblocking(true)?;
    let is_told = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first time, what ends the process is asked before it is told.
        flag::register_conditional_default(signal, is_told.clone())?;
        flag::register(signal, is_told.clone())?;
        pipe::register(signal, tell.try_clone()?)?;
    }
    tokio::net::UnixStream::from_std(told)?.readable().await
}

#[cfg(not(unix))]
async fn told() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
