//! The lease of this server: how other processes see that the one that runs a task has not stopped.
//!
//! A server that runs tasks renews a key of the store, which expires soon after the server's process
//! stops. A record names the server that runs its task. So a reader that finds a running task whose
//! server has no lease knows that the task was abandoned.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_store::Error;
use bowline_store::lease::{BEAT, LEASE, pause_after};
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_transport::task::spawn;
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::limits::TaskLimits;
use super::records::{RecordError, new_id};

/// The fewest slots that a server registers, so that it seldom registers more.
const SLOTS: usize = 64;

/// The lease of a server, and the tasks that it runs.
pub(super) struct Lease {
    /// The id of the server among those that share its store. Chosen when the first task begins.
    id: OnceLock<String>,
    /// The tasks that run here.
    running: Mutex<Slots>,
    /// Held across writes, so that the keys are never removed while a task begins.
    held: AsyncMutex<HeldLease>,
    /// Woken when a task has left.
    left: Notify,
    /// Counts how often the lease was renewed.
    renewals: watch::Sender<u64>,
    /// How long the store keeps a task at most.
    longest_ttl: Duration,
    /// The most tasks that run here.
    most: usize,
    /// Whether the server stops, and so leaves abandoned tasks to others.
    is_stopping: AtomicBool,
}

#[derive(Default)]
struct HeldLease {
    /// When the lease was written last.
    written: Option<Instant>,
    renewal: Option<JoinHandle<()>>,
    /// How many slots are registered.
    slots: usize,
}

/// The tasks that run here, by their ids, each in a slot of its own.
#[derive(Default)]
struct Slots {
    tasks: HashMap<String, usize>,
    /// The slots below `count` that no task has.
    free: BTreeSet<usize>,
    count: usize,
}

impl Slots {
    /// Gives a task the first free slot.
    fn enter(&mut self, task: &str) -> usize {
        let slot = self.free.pop_first().unwrap_or(self.count);
        self.count = self.count.max(slot + 1);
        self.tasks.insert(task.to_owned(), slot);
        slot
    }

    fn leave(&mut self, task: &str) {
        self.free.extend(self.tasks.remove(task));
    }
}

impl Lease {
    pub(super) fn new(limits: &TaskLimits) -> Self {
        let (renewals, _) = watch::channel(0);
        let (id, running, held, left) = Default::default();
        Self {
            id,
            running,
            held,
            left,
            renewals,
            longest_ttl: limits.longest_ttl,
            most: limits.running,
            is_stopping: AtomicBool::new(false),
        }
    }

    /// Notes that the server stops.
    #[cfg(feature = "http")]
    pub(super) fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Whether the server stops. Its own tasks run on for a while.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Enters a task that is about to run here. The lease is written before this returns, so no
    /// reader takes the task for an abandoned one.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn enter(
        self: &Arc<Self>,
        store: &TaskStore,
        task: &str,
    ) -> Result<Entrance, RecordError> {
        let replica = self.id()?.to_owned();
        let slot = {
            let mut running = lock(&self.running);
            if running.tasks.len() >= self.most {
                return Ok(Entrance::Full);
            }
            if running.tasks.contains_key(task) {
                return Ok(Entrance::RunsAlready);
            }
            running.enter(task)
        };
        // Leaves the task again if the lease cannot be written.
        let renewals = self.renewals.subscribe();
        let task = task.to_owned();
        let mut entered = RunningTask { lease: self.clone(), replica, task, slot, renewals };
        let mut held = self.held.lock().await;
        let is_late = held.written.is_none_or(|written| written.elapsed() > LEASE / 2);
        if is_late || slot >= held.slots {
            // Tasks that enter meanwhile find their slots registered.
            let slots = lock(&self.running).count.next_power_of_two().max(SLOTS).max(held.slots);
            self.write(store, &mut held, slots).await?;
        }
        if held.renewal.as_ref().is_none_or(JoinHandle::is_finished) {
            held.renewal = Some(spawn(self.clone().renew(store.clone())));
        }
        entered.renewals.mark_unchanged();
        Ok(Entrance::Entered(entered))
    }

    /// Whether a task runs here.
    pub(super) fn runs(&self, task: &str) -> bool {
        lock(&self.running).tasks.contains_key(task)
    }

    /// Waits until no task runs here.
    #[cfg(feature = "http")]
    pub(super) async fn idle(&self) {
        let mut left = std::pin::pin!(self.left.notified());
        loop {
            // Registered before it looks, so that it misses no task that leaves meanwhile.
            left.as_mut().enable();
            if lock(&self.running).tasks.is_empty() {
                return;
            }
            left.as_mut().await;
            left.set(self.left.notified());
        }
    }

    /// Whether this is the id of this server.
    pub(super) fn is_own(&self, replica: &str) -> bool {
        self.id.get().is_some_and(|own| own == replica)
    }

    /// How long servers that run tasks have to be known: as long as their tasks can be kept.
    pub(super) fn registered(&self) -> Duration {
        self.longest_ttl.saturating_add(LEASE)
    }

    fn id(&self) -> Result<&str, RecordError> {
        if let Some(id) = self.id.get() {
            return Ok(id);
        }
        let id = new_id()?;
        Ok(self.id.get_or_init(|| id))
    }

    /// Renews the lease until no task runs.
    async fn renew(self: Arc<Self>, store: TaskStore) {
        let mut pause = BEAT;
        loop {
            tokio::time::sleep(pause).await;
            let mut held = self.held.lock().await;
            if lock(&self.running).tasks.is_empty() {
                // The lease may expire by itself: it says nothing about tasks that have ended.
                if let Some(id) = self.id.get() {
                    _ = store.unregister(id, self.registered()).await;
                }
                *held = HeldLease::default();
                return;
            }
            // If the store fails, the next renewal may come in time.
            let slots = held.slots;
            let renewed = self.write(&store, &mut held, slots).await;
            pause = pause_after(&renewed);
        }
    }

    /// Writes the lease, and then registers the server: another one may have removed its registration
    /// because the lease was late. In this order no other finds it registered without a lease.
    async fn write(
        &self,
        store: &TaskStore,
        held: &mut HeldLease,
        slots: usize,
    ) -> Result<(), RecordError> {
        let (id, now) = (self.id()?, Instant::now());
        store.renew_lease(id).await?;
        store.register(id, slots, self.registered()).await?;
        (held.slots, held.written) = (slots, Some(now));
        self.renewals.send_modify(|count| *count += 1);
        Ok(())
    }
}

/// Whether a task may run here.
pub(super) enum Entrance {
    Entered(RunningTask),
    RunsAlready,
    /// The server runs [`TaskLimits::running`] tasks.
    Full,
}

/// A task that runs on this server, until it is dropped.
pub(super) struct RunningTask {
    lease: Arc<Lease>,
    replica: String,
    task: String,
    slot: usize,
    renewals: watch::Receiver<u64>,
}

impl RunningTask {
    /// The id of this server.
    pub(super) fn replica(&self) -> &str {
        &self.replica
    }

    /// Lists the task among those of this server, so that another one finds it if this one stops.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn list(
        &self,
        store: &TaskStore,
        name: &TaskName,
        ttl: Duration,
    ) -> Result<(), Error> {
        store.fill_slot(&self.replica, self.slot, name, ttl).await
    }

    /// Waits until the server has renewed its lease. If that was late, another server may have taken
    /// the task meanwhile. Cancel-safe.
    pub(super) async fn renewed(&mut self) {
        if self.renewals.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        lock(&self.lease.running).leave(&self.task);
        self.lease.left.notify_waiters();
    }
}
