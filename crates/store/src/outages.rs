//! Records when a backend failed, so that a process does not conclude that other processes have
//! stopped, and hides the reason from clients.
//!
//! A running process has a [lease](crate::lease): a key that it renews and that otherwise expires. If
//! the database is out of reach for longer than a lease lasts, the leases of all processes expire,
//! although all of them run. So after an outage a process waits until each of them has had time to
//! renew its lease.
//!
//! The reason names hosts and files of the operator. It goes to standard error. The caller of the
//! operation gets an error with a fixed text, and the reason as its source, so that it may answer a
//! client with that error.

use std::error::Error as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::{Backend, Error};
use crate::wrapper::{Operation, OperationKind, Wrapped, Wrapper};

/// The least time between two lines on standard error.
const LINE_PAUSE: Duration = Duration::from_secs(30);

/// What the caller of a failed operation may pass on.
const REASON: &str = "standard error of the server has the reason";

/// When the operations of a process failed last.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
///
/// use bowline_store::MemoryBackend;
/// use bowline_store::outages::Outages;
///
/// let (store, outages) = Outages::watch(Arc::new(MemoryBackend::default()), Instant::now);
/// assert!(!outages.was_within(Duration::from_secs(13)));
/// # drop(store);
/// ```
pub struct Outages {
    clock: fn() -> Instant,
    last: Mutex<Option<Instant>>,
    /// When the last line was written.
    written: Mutex<Option<Instant>>,
}

impl Outages {
    /// Watches the operations of a backend. Only those that the returned backend runs are seen.
    pub fn watch(
        backend: Arc<dyn Backend>,
        clock: fn() -> Instant,
    ) -> (Arc<dyn Backend>, Arc<Self>) {
        let (last, written) = Default::default();
        let outages = Arc::new(Self { clock, last, written });
        (Arc::new(Wrapped(Watched { backend, outages: outages.clone() })), outages)
    }

    /// Whether an operation has failed within this time.
    pub fn was_within(&self, time: Duration) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| (self.clock)().saturating_duration_since(last) < time)
    }

    fn note(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((self.clock)());
    }

    /// Whether the last line is old enough.
    fn may_write(&self) -> bool {
        let (mut written, now) =
            (self.written.lock().unwrap_or_else(PoisonError::into_inner), (self.clock)());
        let is_recent = |at: Instant| now.saturating_duration_since(at) < LINE_PAUSE;
        let may_write = !written.is_some_and(is_recent);
        if may_write {
            *written = Some(now);
        }
        may_write
    }
}

/// Notes the failures of a backend.
struct Watched {
    backend: Arc<dyn Backend>,
    outages: Arc<Outages>,
}

impl Wrapper for Watched {
    fn inner(&self) -> &dyn Backend {
        &*self.backend
    }

    fn after(&self, operation: Operation<'_>, failure: Option<&Error>) {
        // A backend also refuses what is too long, and goes on to work. A lease is never too long.
        let may_be_too_long = matches!(operation.kind, OperationKind::Put | OperationKind::Append)
            && !operation.key.as_str().starts_with("replica/");
        if failure.is_some() && !may_be_too_long {
            self.outages.note();
        }
    }

    #[cold]
    fn replace(&self, failure: Error) -> Error {
        if self.outages.may_write() {
            eprintln!("{}", line(&failure));
        }
        Error::new(REASON).caused_by(failure)
    }
}

/// The line about a failure. A database may have written its text, so it has escapes for what would
/// command a terminal, or would not be seen.
fn line(failure: &Error) -> String {
    let mut line = "the store failed: ".to_owned();
    for c in with_causes(failure).chars() {
        match c.is_ascii_graphic() || c == ' ' || c.is_alphanumeric() {
            true => line.push(c),
            false => line.extend(c.escape_debug()),
        }
    }
    line
}

/// A failure and its causes, as far as its text does not have them.
fn with_causes(failure: &Error) -> String {
    let mut text = failure.to_string();
    let mut next = failure.source();
    while let Some(cause) = next {
        let reason = cause.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        next = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::backend::{BoxFuture, Expect, Key, NewItem, Result};
    use crate::{MemoryBackend, suite};

    const MINUTE: Duration = Duration::from_secs(60);

    /// Fails on request.
    #[derive(Default)]
    struct Failing {
        memory: MemoryBackend,
        fails: AtomicBool,
    }

    impl Wrapper for Failing {
        fn inner(&self) -> &dyn Backend {
            &self.memory
        }

        fn before<'a>(&'a self, _: Operation<'a>) -> BoxFuture<'a, Result<()>> {
            let fails = self.fails.load(Ordering::Relaxed);
            Box::pin(async move { if fails { Err(Error::new("out of reach")) } else { Ok(()) } })
        }
    }

    #[tokio::test]
    async fn a_watched_backend_is_a_backend_like_the_inner_one() {
        suite::passes(|| async {
            let (store, _) = Outages::watch(Arc::new(MemoryBackend::default()), Instant::now);
            Arc::new(store)
        })
        .await;
    }

    #[tokio::test]
    async fn an_outage_is_noted_and_a_refused_value_is_none() {
        let failing = Arc::new(Wrapped::<Failing>::default());
        let (store, outages) = Outages::watch(failing.clone(), Instant::now);
        let [task, lease] = [Key::new(["task", "a"]), Key::new(["replica", "a"])];
        store.get(&task).await.unwrap();
        failing.fails.store(true, Ordering::Relaxed);
        store.put(&task, "long".into(), MINUTE, Expect::Anything).await.unwrap_err();
        store.append(&task, NewItem::new("long", MINUTE)).await.unwrap_err();
        assert!(!outages.was_within(MINUTE));
        store.put(&lease, "".into(), MINUTE, Expect::Anything).await.unwrap_err();
        assert!(outages.was_within(MINUTE) && !outages.was_within(Duration::ZERO));
    }

    #[tokio::test]
    async fn the_error_of_a_failure_has_the_reason_as_its_source_only() {
        let failing = Arc::new(Wrapped::<Failing>::default());
        let (store, _) = Outages::watch(failing.clone(), Instant::now);
        failing.fails.store(true, Ordering::Relaxed);
        let error = store.get(&Key::new(["task", "a"])).await.unwrap_err();
        assert_eq!(error.to_string(), REASON);
        assert_eq!(error.source().unwrap().to_string(), "out of reach");
        assert_eq!(with_causes(&error), format!("{REASON}: out of reach"));
    }

    #[test]
    fn the_text_of_a_database_does_not_command_a_terminal() {
        let failure = Error::new("out of reach").caused_by(Error::new("a\u{1b}[2J\nb \u{202e}ü"));
        assert_eq!(line(&failure), r"the store failed: out of reach: a\u{1b}[2J\nb \u{202e}ü");
    }

    #[test]
    fn a_flood_of_failures_is_no_flood_of_lines() {
        let (_, outages) = Outages::watch(Arc::new(MemoryBackend::default()), Instant::now);
        assert_eq!([outages.may_write(), outages.may_write()], [true, false]);
    }

    #[tokio::test]
    async fn a_failed_read_is_an_outage() {
        let failing = Arc::new(Wrapped::<Failing>::default());
        let (store, outages) = Outages::watch(failing.clone(), Instant::now);
        failing.fails.store(true, Ordering::Relaxed);
        store.get(&Key::new(["task", "a"])).await.unwrap_err();
        assert!(outages.was_within(MINUTE));
    }
}
