//! How many tasks an owner may create before its tasks are counted again.
//!
//! To count reads the ids of all tasks of an owner. So not every call counts: after a count this
//! server creates as many tasks as a quarter of the room that was left, and then counts again. Far
//! from the limit a count is rare, and close to it every call counts.
//!
//! Other servers with the same store do the same. Up to four of them stay within the limit
//! together, and a count is used for a few seconds only. So what others have created since is not
//! overlooked for long.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_store::tasks::TaskStore;
use bowline_types::error::ErrorObject;
use bowline_types::text::counted;
use tokio::time::Instant;

use super::records::RecordError;

/// The part of the room that is used without another count.
const PART: usize = 4;

/// How long a count is used.
const FRESH: Duration = Duration::from_secs(10);

/// The most owners that are remembered. Tasks of others are counted each time.
const OWNERS: usize = 4096;

/// What was counted last, of each owner.
#[derive(Default)]
pub(super) struct Quota(Mutex<HashMap<String, Allowance>>);

struct Allowance {
    tasks: usize,
    until: Instant,
}

impl Quota {
    /// Lets an owner create one more task, of at most `most`.
    ///
    /// # Errors
    ///
    /// If it has that many, or the store fails.
    pub(super) async fn take(
        &self,
        store: &TaskStore,
        owner: &str,
        most: usize,
    ) -> Result<(), RecordError> {
        if self.take_counted(owner) {
            return Ok(());
        }
        let kept = store.ids(owner, None, most).await?.len();
        let Some(room) = most.checked_sub(kept + 1) else {
            let most = counted(most, "task");
            let message =
                format!("no more than {most} are kept at a time; wait until one has expired");
            return Err(ErrorObject::invalid_request(message).into());
        };
        self.allow(owner, room / PART);
        Ok(())
    }

    /// Takes a task that the last count allows.
    fn take_counted(&self, owner: &str) -> bool {
        let mut allowed = lock(&self.0);
        let Some(allowance) = allowed.get_mut(owner) else { return false };
        if allowance.tasks == 0 || allowance.until <= Instant::now() {
            allowed.remove(owner);
            return false;
        }
        allowance.tasks -= 1;
        true
    }

    fn allow(&self, owner: &str, tasks: usize) {
        let now = Instant::now();
        let mut allowed = lock(&self.0);
        if allowed.len() >= OWNERS {
            allowed.retain(|_, allowance| now < allowance.until);
        }
        if allowed.len() < OWNERS {
            allowed.insert(owner.to_owned(), Allowance { tasks, until: now + FRESH });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn no_more_owners_are_remembered_than_there_is_room_for() {
        let quota = Quota::default();
        for owner in 0..=OWNERS {
            quota.allow(&owner.to_string(), 1);
        }
        assert_eq!(lock(&quota.0).len(), OWNERS);
        assert!(quota.take_counted("0") && !quota.take_counted("0"));
        tokio::time::advance(FRESH).await;
        assert!(!quota.take_counted("1"), "it is not fresh any more");
        // Two places are free by now; the third owner finds none, and what is stale makes room.
        for owner in ["new", "newer", "newest"] {
            quota.allow(owner, 1);
        }
        assert_eq!(lock(&quota.0).len(), 3);
    }
}
