//! Which processes run tasks, and which tasks.
//!
//! Each process that runs tasks is a replica, and has a [lease]. One more key
//! lists all replicas that run tasks. A replica is taken off the list when the last of its tasks has
//! ended: so a name on the list without a lease is that of a process that stopped while it ran tasks.
//!
//! A replica has numbered slots, and writes the name of each task that it runs to one of them. A slot
//! is used again when its task has ended, so a replica has as many as it ran tasks at a time. The
//! list of replicas says how many slots to read. No task of a replica is searched for among the
//! keys, and no replica either, because some backends read the names of all keys for that.

use std::time::Duration;

use bytes::Bytes;

use super::{MOST_TRIES, TaskName, TaskStore};
use crate::backend::{Error, Expect, Key, Result, Written};
use crate::lease;

/// The key of the list.
const RUNNERS: [&str; 1] = ["task-runners"];

/// A replica that runs tasks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningReplica {
    /// The name of the replica.
    pub name: String,
    /// How many slots it has. Some may be empty, or name a task that has ended.
    pub slots: usize,
}

impl TaskStore {
    /// Begins or renews the [lease] of a replica.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn renew_lease(&self, replica: &str) -> Result<()> {
        lease::renew(&self.backend, replica).await
    }

    /// Whether a replica has a lease.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn has_lease(&self, replica: &str) -> Result<bool> {
        lease::is_held(&self.backend, replica).await
    }

    /// Adds a replica with this number of slots to the list of those that run tasks, which is kept for
    /// at least `expiry`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn register(&self, replica: &str, slots: usize, expiry: Duration) -> Result<()> {
        let new = RunningReplica { name: replica.to_owned(), slots };
        // What is renewed may keep three quarters of its time.
        let expiry = expiry.saturating_add(expiry / 3);
        self.change_list(expiry, |list| match list.iter_mut().find(|it| it.name == replica) {
            Some(listed) => std::mem::replace(listed, new.clone()) != new,
            None => {
                list.push(new.clone());
                true
            }
        })
        .await
    }

    /// Removes a replica from the list, because none of its tasks runs. The list is kept for at least
    /// `expiry`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn unregister(&self, replica: &str, expiry: Duration) -> Result<()> {
        self.change_list(expiry.saturating_add(expiry / 3), |list| {
            let before = list.len();
            list.retain(|it| it.name != replica);
            list.len() < before
        })
        .await
    }

    /// The replicas on the list.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn replicas(&self) -> Result<Vec<RunningReplica>> {
        let entry = self.backend.get(&Key::new(RUNNERS)).await?;
        Ok(entry.map_or_else(Vec::new, |entry| replicas_in(&entry.value)))
    }

    /// Changes the list, and prolongs its life. `change` returns whether it has changed anything.
    async fn change_list(
        &self,
        expiry: Duration,
        change: impl Fn(&mut Vec<RunningReplica>) -> bool + Send,
    ) -> Result<()> {
        let key = Key::new(RUNNERS);
        for _ in 0..MOST_TRIES {
            let entry = self.backend.renew(&key, expiry).await?;
            let mut list = entry.as_ref().map_or_else(Vec::new, |entry| replicas_in(&entry.value));
            if !change(&mut list) {
                return Ok(());
            }
            let expect = entry.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
            // An empty list is removed.
            let expiry = if list.is_empty() { Duration::ZERO } else { expiry };
            let lines: Vec<_> = list.iter().map(|it| format!("{} {}", it.name, it.slots)).collect();
            let text = lines.join("\n").into();
            if let Written::Yes(_) = self.backend.put(&key, text, expiry, expect).await? {
                return Ok(());
            }
        }
        Err(Error::new("the list of servers that run tasks changes too often"))
    }

    /// Writes the name of a task that is about to run to a slot of its replica, for as long as the
    /// task is kept.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn fill_slot(
        &self,
        replica: &str,
        slot: usize,
        task: &TaskName,
        expiry: Duration,
    ) -> Result<()> {
        let name = format!("{}/{}", task.owner(), task.id()).into();
        self.backend.put(&run(replica, slot), name, expiry, Expect::Anything).await.map(drop)
    }

    /// The task that a slot names. It may have ended.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn slot(&self, replica: &str, slot: usize) -> Result<Option<TaskName>> {
        let entry = self.backend.get(&run(replica, slot)).await?;
        Ok(entry.and_then(|entry| {
            let name = String::from_utf8_lossy(&entry.value);
            let (owner, id) = name.split_once('/')?;
            Some(TaskName::new(owner, id))
        }))
    }
}

fn run(replica: &str, slot: usize) -> Key {
    Key::new(["task-run", replica, &slot.to_string()])
}

/// The replicas on a list.
fn replicas_in(text: &Bytes) -> Vec<RunningReplica> {
    let replica = |line: &str| {
        let (name, slots) = line.split_once(' ').unwrap_or((line, ""));
        RunningReplica { name: name.to_owned(), slots: slots.parse().unwrap_or_default() }
    };
    String::from_utf8_lossy(text).lines().map(replica).collect()
}
