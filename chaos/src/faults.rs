//! Which faults happen when, by the seed, and how each is done.
//!
//! A plan has two lists, which run at the same time: faults of replicas and faults of the store. So
//! they meet in every combination.

use std::time::Duration;

use anyhow::Result;
use bowline_testing::proxy::ConnectionFault;
use nix::sys::signal::Signal;
use tokio::time::sleep;

use crate::cluster::{Cluster, REPLICAS};
use crate::ledger::{FaultKind, HARMLESS, Recorder};
use crate::random::Random;

/// The faults of a run.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Faults of replicas, one after another.
    pub replicas: Vec<Step>,
    /// Faults of the store, one after another.
    pub store: Vec<Step>,
}

/// A fault, some time after the one before has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The time before it.
    pub after: Duration,
    /// The fault.
    pub action: Action,
}

/// A fault to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// SIGKILL, and a new process after a time.
    Kill(usize, Duration),
    /// SIGSTOP, and SIGCONT after a time.
    Pause(usize, Duration),
    /// SIGTERM, and a new process after the old one has ended.
    Restart(usize),
    /// SIGKILL for the store, and a new process after a time. It loses nothing.
    StoreKill(Duration),
    /// The store is replaced by one that lacks what was written within a time.
    StoreFailover(Duration),
    /// The store starts again with nothing.
    StoreEmpty,
    /// Connections of one replica, or all, to the store fail for a time.
    Connections(&'static str, ConnectionFault, Option<usize>, Duration),
}

fn milliseconds(random: &mut Random, low: u64, high: u64) -> Duration {
    Duration::from_millis(random.between(low, high))
}

fn any_replica(random: &mut Random) -> usize {
    random.between(0, REPLICAS as u64 - 1) as usize
}

impl Plan {
    /// Restarts each replica so many times, one after another.
    pub fn rolling(rounds: usize) -> Self {
        let after = Duration::from_millis(200);
        let step = |number| Step { after, action: Action::Restart(number) };
        let replicas = (0..rounds).flat_map(|_| (0..REPLICAS).map(step)).collect();
        Self { replicas, store: Vec::new() }
    }

    /// Kills replicas so many times.
    pub fn kill(seed: u64, times: usize) -> Self {
        let mut random = Random::part(seed, 0);
        let step = |_| Step {
            after: milliseconds(&mut random, 1000, 3000),
            action: Action::Kill(any_replica(&mut random), milliseconds(&mut random, 0, 1500)),
        };
        Self { replicas: (0..times).map(step).collect(), store: Vec::new() }
    }

    /// All faults, for about so many minutes: every two minutes each fault of the store once.
    pub fn mixed(seed: u64, minutes: u64) -> Self {
        let mut random = Random::part(seed, 0);
        let mut plan = Self::default();
        for part in 0..minutes.div_ceil(2) {
            plan.replicas.extend(replica_faults(&mut random));
            plan.store.extend(store_faults(&mut random, part));
        }
        plan
    }

    /// Each fault once, each for a moment. The kill comes first, since calls of a killed replica take
    /// longest to end.
    pub fn short(seed: u64) -> Self {
        let mut random = Random::part(seed, 0);
        let moment = Duration::from_millis(700);
        let step = |action| Step { after: Duration::from_millis(400), action };
        let kill = Action::Kill(any_replica(&mut random), Duration::ZERO);
        let mut rest = vec![
            Action::Pause(any_replica(&mut random), Duration::from_secs(2)),
            Action::Restart(any_replica(&mut random)),
        ];
        random.shuffle(&mut rest);
        let replicas = std::iter::once(kill).chain(rest).map(step).collect();
        let mut store = connection_faults(&mut random, moment);
        store.extend([
            Action::StoreKill(moment),
            Action::StoreFailover(moment),
            Action::StoreEmpty,
        ]);
        random.shuffle(&mut store);
        Self { replicas, store: store.into_iter().map(step).collect() }
    }
}

/// Six kills, a pause and two restarts, in about two minutes.
fn replica_faults(random: &mut Random) -> Vec<Step> {
    let mut actions = Vec::new();
    for _ in 0..6 {
        actions.push(Action::Kill(any_replica(random), milliseconds(random, 0, 1500)));
    }
    for _ in 0..2 {
        actions.push(Action::Restart(any_replica(random)));
    }
    actions.push(Action::Pause(any_replica(random), Duration::from_secs(15)));
    random.shuffle(&mut actions);
    let step = |action| Step { after: milliseconds(random, 6000, 14_000), action };
    actions.into_iter().map(step).collect()
}

/// Each fault of the store once, in about two minutes; it loses everything only in every other part.
fn store_faults(random: &mut Random, part: u64) -> Vec<Step> {
    let mut actions = connection_faults(random, LONG);
    for action in &mut actions {
        if let Action::Connections(_, ConnectionFault::Hang, None, time) = action {
            *time = LONGER_THAN_LEASE;
        }
    }
    actions.push(Action::StoreKill(milliseconds(random, 0, 1500)));
    actions.push(Action::StoreFailover(Duration::from_secs(1)));
    if !part.is_multiple_of(2) {
        actions.push(Action::StoreEmpty);
    }
    random.shuffle(&mut actions);
    let step = |action| Step { after: milliseconds(random, 1000, 3000), action };
    actions.into_iter().map(step).collect()
}

/// How long connections fail.
const LONG: Duration = Duration::from_secs(10);

/// How long the store is silent for all replicas: their leases end.
const LONGER_THAN_LEASE: Duration = Duration::from_secs(12);

/// Every way in which connections fail, each for so long.
fn connection_faults(random: &mut Random, time: Duration) -> Vec<Action> {
    let partitioned = Some(any_replica(random));
    let delay = |time| ConnectionFault::Delay(Duration::from_millis(time));
    [
        ("Redis refuses", ConnectionFault::Refuse, None),
        ("Redis hangs", ConnectionFault::Hang, None),
        ("connections reset", ConnectionFault::Reset, None),
        ("connections half open", ConnectionFault::HalfOpen, None),
        ("replies dropped", ConnectionFault::DropReplies, None),
        ("replica partitioned", ConnectionFault::Hang, partitioned),
        (HARMLESS, delay(50), None),
        ("Redis delayed by 500 ms", delay(500), None),
        ("Redis delayed by 5 s", delay(5000), None),
    ]
    .map(|(name, fault, replica)| Action::Connections(name, fault, replica, time))
    .into()
}

/// Does the faults of a plan, and notes them.
///
/// # Errors
///
/// If a process cannot be started again.
pub async fn run(plan: &Plan, cluster: &Cluster, recorder: &Recorder) -> Result<()> {
    let each = |steps| run_steps(steps, cluster, recorder);
    tokio::try_join!(each(&plan.replicas), each(&plan.store))?;
    Ok(())
}

async fn run_steps(steps: &[Step], cluster: &Cluster, recorder: &Recorder) -> Result<()> {
    for step in steps {
        sleep(step.after).await;
        perform(step.action, cluster, recorder).await?;
    }
    Ok(())
}

async fn perform(action: Action, cluster: &Cluster, recorder: &Recorder) -> Result<()> {
    let begin = recorder.now();
    let kind = match action {
        Action::Kill(..) | Action::Pause(..) | Action::Restart(_) => {
            return replica_fault(action, cluster, recorder).await;
        }
        Action::StoreKill(time) => {
            let mut redis = cluster.redis.lock().await;
            redis.kill().await?;
            sleep(time).await;
            redis.restart().await?;
            FaultKind::Store("Redis killed")
        }
        Action::StoreFailover(lag) => {
            let mut redis = cluster.redis.lock().await;
            redis.copy_files()?;
            sleep(lag).await;
            redis.kill().await?;
            redis.take_copy()?;
            redis.restart().await?;
            FaultKind::StoreLoss("Redis failed over")
        }
        Action::StoreEmpty => {
            let mut redis = cluster.redis.lock().await;
            redis.kill().await?;
            redis.remove_files()?;
            redis.restart().await?;
            FaultKind::StoreLoss("Redis emptied")
        }
        Action::Connections(name, fault, replica, time) => {
            cluster.set_proxies(replica, fault);
            sleep(time).await;
            cluster.set_proxies(replica, ConnectionFault::None);
            FaultKind::Store(name)
        }
    };
    recorder.fault(kind, begin);
    Ok(())
}

async fn replica_fault(action: Action, cluster: &Cluster, recorder: &Recorder) -> Result<()> {
    let (Action::Kill(number, _) | Action::Pause(number, _) | Action::Restart(number)) = action
    else {
        return Ok(());
    };
    let mut replica = cluster.replicas[number].lock().await;
    let process = replica.process()?;
    let begin = recorder.now();
    let kind = match action {
        Action::Pause(_, time) => {
            replica.signal(Signal::SIGSTOP)?;
            sleep(time).await;
            replica.signal(Signal::SIGCONT)?;
            FaultKind::Pause(process)
        }
        Action::Kill(_, time) => {
            replica.signal(Signal::SIGKILL)?;
            replica.ended().await?;
            sleep(time).await;
            replica.start().await?;
            FaultKind::Kill(process)
        }
        _ => {
            replica.signal(Signal::SIGTERM)?;
            replica.ended().await?;
            replica.start().await?;
            FaultKind::Restart(process)
        }
    };
    recorder.fault(kind, begin);
    Ok(())
}
