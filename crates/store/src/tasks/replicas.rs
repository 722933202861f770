//! Which processes run tasks.
//!
//! Each process that runs tasks is a replica. Its lease is a key that expires after a few seconds
//! unless the replica renews it: so other replicas learn that a process has stopped. One more key
//! lists all replicas that run tasks. A replica is taken off the list when the last of its tasks has
//! ended: so a name on the list without a lease is that of a process that stopped while it ran tasks.
//!
//! The list is one key and not a key for each replica, because to search for keys reads the names of
//! all keys in some backends.

use std::time::Duration;

use bytes::Bytes;

use super::{MOST_TRIES, TaskName, TaskStore};
use crate::backend::{Error, Expect, Key, Result, Written};

/// The key of the list.
const RUNNERS: [&str; 1] = ["task-runners"];

/// The prefix of records, with the `/` at its end.
const RECORDS: [&str; 2] = ["task", ""];

impl TaskStore {
    /// Sets or renews the lease of a replica, which then expires after `expiry`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn renew_lease(&self, replica: &str, expiry: Duration) -> Result<()> {
        self.backend.put(&lease(replica), Bytes::new(), expiry, Expect::Anything).await.map(drop)
    }

    /// Whether a replica has a lease.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn has_lease(&self, replica: &str) -> Result<bool> {
        Ok(self.backend.get(&lease(replica)).await?.is_some())
    }

    /// Puts a replica on the list of those that run tasks, which is kept for the time of `expiry` at
    /// least.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn register(&self, replica: &str, expiry: Duration) -> Result<()> {
        // What is renewed may keep three quarters of its time.
        let expiry = expiry.saturating_add(expiry / 3);
        self.change_list(expiry, |list| {
            let is_new = !list.iter().any(|it| it == replica);
            if is_new {
                list.push(replica.to_owned());
            }
            is_new
        })
        .await
    }

    /// Takes a replica off the list, because none of its tasks runs. The list is kept for the time of
    /// `expiry` at least.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn unregister(&self, replica: &str, expiry: Duration) -> Result<()> {
        self.change_list(expiry.saturating_add(expiry / 3), |list| {
            let before = list.len();
            list.retain(|it| it != replica);
            list.len() < before
        })
        .await
    }

    /// The replicas on the list.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn replicas(&self) -> Result<Vec<String>> {
        let entry = self.backend.get(&Key::new(RUNNERS)).await?;
        Ok(entry.map_or_else(Vec::new, |entry| names_in(&entry.value)))
    }

    /// Changes the list, and prolongs its life. `change` returns whether it has changed anything.
    async fn change_list(
        &self,
        expiry: Duration,
        change: impl Fn(&mut Vec<String>) -> bool + Send,
    ) -> Result<()> {
        let key = Key::new(RUNNERS);
        for _ in 0..MOST_TRIES {
            let entry = self.backend.renew(&key, expiry).await?;
            let mut list = entry.as_ref().map_or_else(Vec::new, |entry| names_in(&entry.value));
            if !change(&mut list) {
                return Ok(());
            }
            let expect = entry.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
            // An empty list is removed.
            let expiry = if list.is_empty() { Duration::ZERO } else { expiry };
            let text = list.join("\n");
            if let Written::Yes(_) = self.backend.put(&key, text.into(), expiry, expect).await? {
                return Ok(());
            }
        }
        Err(Error::new("the list of servers that run tasks changes too often"))
    }

    /// The tasks of all owners that come after `after`, sorted, at most `limit`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn names(&self, after: Option<&TaskName>, limit: usize) -> Result<Vec<TaskName>> {
        let prefix = Key::new(RECORDS);
        let after = after.map(TaskName::record);
        let keys = self.backend.scan(&prefix, after.as_ref(), limit).await?;
        let name = |key: &Key| {
            let (owner, id) = key.as_str().strip_prefix(prefix.as_str())?.split_once('/')?;
            Some(TaskName::new(owner, id))
        };
        Ok(keys.iter().filter_map(name).collect())
    }
}

fn lease(replica: &str) -> Key {
    Key::new(["replica", replica])
}

/// The names in a list.
fn names_in(text: &Bytes) -> Vec<String> {
    String::from_utf8_lossy(text).lines().map(str::to_owned).collect()
}
