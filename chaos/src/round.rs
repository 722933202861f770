//! A run from its beginning to its judgement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use crate::checker::{Violation, check};
use crate::clients::{self, Setting};
use crate::cluster::{Cluster, ClusterOptions};
use crate::faults::{self, Plan};
use crate::ledger::{Ledger, Recorder};
use crate::stalls;

/// A run to be done.
#[derive(Clone, Debug)]
pub struct Round {
    /// The seed of all choices.
    pub seed: u64,
    /// The processes.
    pub cluster: ClusterOptions,
    /// What happens to them.
    pub plan: Plan,
    /// How many clients have sessions.
    pub legacy: u64,
    /// How many have none.
    pub modern: u64,
    /// The most events of a call.
    pub most_events: u64,
    /// How long clients go on after the last fault.
    pub settle: Duration,
}

/// The time between two events of a call, in milliseconds.
const PAUSE: u64 = 50;

impl Round {
    /// Starts the processes and the clients, does the faults, and checks what the clients saw.
    ///
    /// # Errors
    ///
    /// If a process does not start. Broken promises are no errors.
    pub async fn run(&self) -> Result<(Ledger, Vec<Violation>)> {
        let cluster = Cluster::start(&self.cluster).await?;
        let setting = Setting {
            address: cluster.address(),
            recorder: Arc::new(Recorder::start()),
            seed: self.seed,
            most_events: self.most_events,
            pause: PAUSE,
            is_over: Arc::new(AtomicBool::new(false)),
        };
        let clients = clients::start(&setting, self.legacy, self.modern);
        let run = async {
            faults::run(&self.plan, &cluster, &setting.recorder).await?;
            sleep(self.settle).await;
            setting.is_over.store(true, Ordering::Relaxed);
            clients.join_all().await;
            Ok::<_, anyhow::Error>(())
        };
        tokio::select! {
            done = run => done?,
            () = stalls::watch(&cluster, &setting.recorder) => {}
        }
        let ledger = setting.recorder.finish(&cluster.notes()?)?;
        let violations = check(&ledger);
        Ok((ledger, violations))
    }
}
