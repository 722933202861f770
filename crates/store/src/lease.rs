//! The lease of a process: how processes that share a store detect that one of them has stopped.
//!
//! A lease is a key that expires after [`LEASE`], and that the process renews every [`BEAT`] while others
//! rely on it. Each stream and task in the store names the lease of the process that runs it. If that
//! lease is missing, the process has stopped, and another one may end the stream or run the task again.
//! After an outage of the store, wait for [`WAIT_AFTER_OUTAGE`] before you conclude that.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::backend::{Backend, Expect, Key, Result};

/// How often a process renews its lease.
pub const BEAT: Duration = Duration::from_secs(3);

/// How long a lease lasts. Longer than three beats: a store may be out of reach for a moment.
pub const LEASE: Duration = Duration::from_secs(10);

/// How long a process waits after a failed renewal before it tries again. After an outage of the store
/// it appears to be stopped for no longer than that.
const RETRY: Duration = Duration::from_secs(1);

/// How long after a failure of the store a missing lease does not mean that its process has stopped. An
/// outage that is longer than a lease ends the leases of all processes, and each of them needs time to
/// renew its own.
pub const WAIT_AFTER_OUTAGE: Duration = LEASE.saturating_add(BEAT);

fn key(id: &str) -> Key {
    Key::new(["replica", id])
}

/// Begins or renews a lease.
///
/// # Errors
///
/// If the store fails.
pub async fn renew(store: &Arc<dyn Backend>, id: &str) -> Result<()> {
    store.put(&key(id), Bytes::new(), LEASE, Expect::Anything).await.map(drop)
}

/// How long to wait after a renewal before the next one.
pub fn pause_after<T, E>(renewal: &std::result::Result<T, E>) -> Duration {
    if renewal.is_ok() { BEAT } else { RETRY }
}

/// Whether a process has a lease. If not, it has stopped, or the store was out of reach.
///
/// # Errors
///
/// If the store fails.
pub async fn is_held(store: &Arc<dyn Backend>, id: &str) -> Result<bool> {
    Ok(store.get(&key(id)).await?.is_some())
}
