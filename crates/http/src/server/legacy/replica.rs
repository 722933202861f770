//! The lease of an endpoint in a shared store: a value that it renews while it lives.
//!
//! The marks of its streams name the lease. An endpoint that finds a mark without a lease takes the
//! writer of the stream for dead.

use std::sync::Arc;
use std::time::Duration;

use bowline_store::backend::{Error, Expect};
use bowline_store::{Backend, Key};
use bytes::Bytes;

/// How often an endpoint renews its lease.
pub(super) const BEAT: Duration = Duration::from_secs(3);

/// How long a lease lasts. Longer than three beats: a store may be out of reach for a moment.
const LEASE: Duration = Duration::from_secs(10);

/// How long an endpoint waits with the next renewal after one failed. So after an outage of the store
/// it seems to be dead for no longer than that.
const RETRY: Duration = Duration::from_secs(1);

/// How long after a failure of the store no endpoint is taken for dead. An outage that is longer than
/// a lease ends the leases of all endpoints, and each of them needs time to renew its own.
pub(super) const WAIT_AFTER_OUTAGE: Duration = LEASE.saturating_add(BEAT);

fn key(id: &str) -> Key {
    Key::new(["replica", id])
}

/// Begins or renews a lease.
///
/// # Errors
///
/// If the store fails.
pub(super) async fn renew(store: &Arc<dyn Backend>, id: &str) -> Result<(), Error> {
    store.put(&key(id), Bytes::new(), LEASE, Expect::Anything).await.map(drop)
}

/// Renews a lease until the task is aborted.
pub(super) async fn keep(store: Arc<dyn Backend>, id: String) {
    loop {
        let pause = if renew(&store, &id).await.is_ok() { BEAT } else { RETRY };
        tokio::time::sleep(pause).await;
    }
}

/// Whether the endpoint with a lease lives, as far as the store knows.
///
/// # Errors
///
/// If the store fails.
pub(super) async fn is_alive(store: &Arc<dyn Backend>, id: &str) -> Result<bool, Error> {
    Ok(store.get(&key(id)).await?.is_some())
}
