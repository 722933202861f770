//! Renews the lease of an endpoint in a shared store while the endpoint lives.
//!
//! The marks of its streams name the lease. An endpoint that finds a mark without a lease takes the
//! writer of the stream for dead.

use std::sync::Arc;

use bowline_store::{Backend, lease};

/// Renews a lease until the task is aborted.
pub(super) async fn keep(store: Arc<dyn Backend>, id: String) {
    loop {
        let renewal = lease::renew(&store, &id).await;
        tokio::time::sleep(lease::pause_after(&renewal)).await;
    }
}
