//! Which processes run tasks.
//!
//! Each process that runs tasks is a replica, and has two keys. Its lease expires after a few
//! seconds unless the replica renews it: so other replicas learn that a process has stopped. Its
//! registration is kept as long as its tasks can be, and is removed when the last of them has ended:
//! so a registration without a lease names a process that stopped while it ran tasks.

use std::time::Duration;

use bytes::Bytes;

use super::{TaskName, TaskStore};
use crate::backend::{Expect, Key, Result};

/// The prefix of registrations, with the `/` at its end.
const REGISTRATIONS: [&str; 2] = ["task-runner", ""];

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

    /// Registers a replica as one that runs tasks, for the time of `expiry`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn register(&self, replica: &str, expiry: Duration) -> Result<()> {
        let key = registration(replica);
        self.backend.put(&key, Bytes::new(), expiry, Expect::Anything).await.map(drop)
    }

    /// Removes the registration of a replica none of whose tasks runs.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn unregister(&self, replica: &str) -> Result<()> {
        self.backend.delete(&registration(replica)).await.map(drop)
    }

    /// The registered replicas that come after `after`, sorted, at most `limit`.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn replicas(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>> {
        let prefix = Key::new(REGISTRATIONS);
        let after = after.map(registration);
        let keys = self.backend.scan(&prefix, after.as_ref(), limit).await?;
        let id = |key: &Key| key.as_str().strip_prefix(prefix.as_str()).map(str::to_owned);
        Ok(keys.iter().filter_map(id).collect())
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

fn registration(replica: &str) -> Key {
    Key::new(["task-runner", replica])
}
