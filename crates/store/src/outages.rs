//! Notes when a backend failed, so that a process does not take other processes for dead.
//!
//! A process shows that it lives with a lease: a key that it renews and that otherwise expires. If
//! the database is out of reach for longer than a lease lasts, the leases of all processes expire,
//! although all of them live. So after an outage a process waits before it judges others: until each
//! of them has had time to renew its lease.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::{Backend, Error};
use crate::wrapper::{Operation, OperationKind, Wrapped, Wrapper};

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
}

impl Outages {
    /// Watches the operations of a backend. Only those that the returned backend runs are seen.
    pub fn watch(
        backend: Arc<dyn Backend>,
        clock: fn() -> Instant,
    ) -> (Arc<dyn Backend>, Arc<Self>) {
        let outages = Arc::new(Self { clock, last: Mutex::default() });
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
    async fn a_failed_read_is_an_outage() {
        let failing = Arc::new(Wrapped::<Failing>::default());
        let (store, outages) = Outages::watch(failing.clone(), Instant::now);
        failing.fails.store(true, Ordering::Relaxed);
        store.get(&Key::new(["task", "a"])).await.unwrap_err();
        assert!(outages.was_within(MINUTE));
    }
}
