//! Notices when the machine does not get on: Redis, asked without a proxy, or this process is late.
//!
//! Replicas then rightly answer that the store is out of reach, and no fault of the plan explains it.
//! On a machine that only runs this test it does not happen; the report counts how often it did.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::cluster::Cluster;
use crate::ledger::{FaultKind, Recorder};

/// The time between two looks.
const PAUSE: Duration = Duration::from_millis(50);

/// A look that takes longer is noted. A replica gives an operation of the store twice this time.
const LATE: Duration = Duration::from_millis(400);

/// Looks until it is dropped.
pub async fn watch(cluster: &Cluster, recorder: &Recorder) {
    loop {
        let (begin, began) = (recorder.now(), Instant::now());
        sleep(PAUSE).await;
        // An error means that a fault of the plan ended the server.
        let answered = cluster.redis_answers().await;
        if answered && began.elapsed() > PAUSE + LATE {
            recorder.fault(FaultKind::Store("machine stalled"), begin);
        }
    }
}
