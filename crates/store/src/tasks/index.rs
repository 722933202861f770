//! The tasks of an owner: one value that lists their ids.
//!
//! The ids are not searched for among the keys, because some backends read the names of all keys for
//! that. A task is on the list before its record is written, so each record is on a list. An entry
//! without a record, left by a process that stopped between the two, counts until the task would
//! have expired.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use super::{MOST_TRIES, TaskName, TaskStore, since_1970};
use crate::backend::{Error, Expect, Key, Result, Written};

/// The most bytes of an entry: an id of up to 25 bytes, a time, and what separates them.
const ENTRY: usize = 40;

/// The ids on a list, and when they expire.
type Listed = BTreeMap<String, SystemTime>;

impl TaskStore {
    /// Lists tasks that are about to be created, in this order, until their owner has `most`. Tasks
    /// that have expired do not count. Returns how many of the tasks are listed.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn list(
        &self,
        owner: &str,
        tasks: &[(String, SystemTime)],
        most: usize,
        now: SystemTime,
    ) -> Result<usize> {
        let most = most.min(self.most_of_an_owner());
        self.change_index(owner, now, |index| {
            let room = most.saturating_sub(index.len());
            let new = tasks.iter().take(room);
            index.extend(new.cloned());
            (room > 0, room.min(tasks.len()))
        })
        .await
    }

    /// Removes a task from the list of its owner.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn unlist(&self, task: &TaskName, now: SystemTime) -> Result<()> {
        self.change_index(task.owner(), now, |index| (index.remove(task.id()).is_some(), ())).await
    }

    /// The ids of an owner's tasks that come after `after`, sorted, at most `limit`. Some may have
    /// no record: not yet, or not any more.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn ids(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
        now: SystemTime,
    ) -> Result<Vec<String>> {
        let entry = self.backend.get(&index_of(owner)).await?;
        let index = entry.map_or_else(Listed::new, |entry| listed(&entry.value, now));
        let is_next = |id: &String| after.is_none_or(|after| id.as_str() > after);
        Ok(index.into_keys().filter(is_next).take(limit).collect())
    }

    /// The most tasks of an owner that the backend has room for in one value.
    pub fn most_of_an_owner(&self) -> usize {
        self.backend.longest_value().map_or(usize::MAX, |most| most / ENTRY)
    }

    /// Changes a list. `change` returns whether it has changed anything, and a value for the caller.
    async fn change_index<T>(
        &self,
        owner: &str,
        now: SystemTime,
        change: impl Fn(&mut Listed) -> (bool, T) + Send,
    ) -> Result<T> {
        let key = index_of(owner);
        for _ in 0..MOST_TRIES {
            let entry = self.backend.get(&key).await?;
            let mut index =
                entry.as_ref().map_or_else(Listed::new, |entry| listed(&entry.value, now));
            let (has_changed, value) = change(&mut index);
            if !has_changed {
                return Ok(value);
            }
            let expect = entry.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
            // Expires with its last task; at once if it is empty.
            let last = index.values().max().and_then(|last| last.duration_since(now).ok());
            let put = self.backend.put(&key, written(&index), last.unwrap_or_default(), expect);
            if let Written::Yes(_) = put.await? {
                return Ok(value);
            }
        }
        Err(Error::new("the list of an owner's tasks changes too often"))
    }
}

fn index_of(owner: &str) -> Key {
    Key::new(["task-index", owner])
}

/// The entries that have not expired.
fn listed(text: &Bytes, now: SystemTime) -> Listed {
    let entry = |line: &str| {
        let (id, expires) = line.split_once(' ')?;
        let expires = UNIX_EPOCH + Duration::from_millis(expires.parse().ok()?);
        (now < expires).then(|| (id.to_owned(), expires))
    };
    String::from_utf8_lossy(text).lines().filter_map(entry).collect()
}

fn written(index: &Listed) -> Bytes {
    let mut text = String::with_capacity(index.len() * ENTRY);
    for (id, expires) in index {
        text.push_str(id);
        text.push(' ');
        text.push_str(&since_1970(*expires).to_string());
        text.push('\n');
    }
    text.into()
}
