//! Tests for a store [`Backend`] of your own: whether it keeps its promises when several processes
//! use it at once, when its database is out of reach, and when a process is killed.
//!
//! Implement [`BackendUnderTest`] and call [`passes`] in a test. It needs real time and a real
//! instance of the database.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::{Arc, Mutex};
//!
//! use bowline_store::backend::{Backend, BoxFuture};
//! use bowline_store::MemoryBackend;
//! use bowline_testing::backend::{self, BackendUnderTest};
//!
//! /// All handles on the memory of a process are the same.
//! #[derive(Default)]
//! struct Memory(Mutex<HashMap<String, Arc<MemoryBackend>>>);
//!
//! impl BackendUnderTest for Memory {
//!     fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
//!         let memory = self.0.lock().unwrap().entry(store.to_owned()).or_default().clone();
//!         Box::pin(async { memory as Arc<dyn Backend> })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! backend::values(&Memory::default()).await; // or `passes`, for all parts
//! # }
//! ```
//!
//! The parts, each a function that can also be called alone:
//!
//! * [`values`]: the sequential tests of [`bowline_store::suite`]; versions, expiry, keys.
//! * [`compare_and_set`]: no increment is lost among 16 writers on two handles.
//! * [`histories`]: random operations of eight callers are linearizable: each takes effect at one
//!   instant between its call and its return. `linearizable` has the checker.
//! * [`logs`]: eight writers, pages, limits, expiry.
//! * [`listeners`]: order, nothing earlier, bounded when slow, an empty message after missed ones,
//!   replays that miss nothing.
//! * [`faults`]: every operation ends, and none takes effect twice.
//! * [`crash`]: what was acknowledged survives `kill -9`.
//!
//! To test a program that uses a backend, wrap the backend with [`bowline_store::wrapper`], which lets
//! operations fail, wait or be counted.
//!
//! Operations may fail while a database is busy. The suite then reads what the store has, as a
//! server must. A write that failed may have taken effect or not; the suite allows both.

use std::sync::Arc;

use bowline_store::Backend;
use bowline_store::backend::BoxFuture;
use tokio::process::Command;

mod compare_and_set;
mod crash;
mod faults;
mod histories;
mod linearizable;
mod listeners;
mod logs;
mod random;
mod slots;
mod threads;
mod values;

pub use self::compare_and_set::compare_and_set;
pub use self::crash::{crash, write_until_killed};
pub use self::faults::faults;
pub use self::histories::histories;
pub use self::listeners::listeners;
pub use self::logs::logs;
pub use self::values::values;

/// How the tests open a backend, and what it promises.
pub trait BackendUnderTest: Send + Sync {
    /// Opens a handle on the store of this name, which is empty at first. Two handles on a name should
    /// share as little as the backend allows, as if two processes had opened them.
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>>;

    /// How many random histories of 1,000 operations are run. A slow backend may run fewer.
    fn histories(&self) -> u64 {
        200
    }

    /// What survives the end of a process.
    fn durability(&self) -> Durability {
        Durability::Memory
    }

    /// The command of a process that opens the store of this name and calls [`write_until_killed`].
    /// Needed for [`Durability::Crash`]. A test can start its own program again:
    ///
    /// ```no_run
    /// # use tokio::process::Command;
    /// # fn command(store: &str) -> Command {
    /// let mut command = Command::new(std::env::current_exe().unwrap());
    /// command.args(["--exact", "writes_until_killed", "--nocapture"]).env("STORE", store);
    /// command
    /// # }
    /// ```
    ///
    /// The test of that name returns at once unless the variable is set.
    fn writer(&self, store: &str) -> Option<Command> {
        let _ = store;
        None
    }

    /// Kills and restarts the database, if it is a process of its own. Called after a writer was
    /// killed.
    fn restart(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Puts the store of this name out of reach, until the outage is dropped. `None` if this backend
    /// cannot be out of reach; [`faults`] then tests nothing.
    fn outage(&self, store: &str) -> Option<Outage> {
        let _ = store;
        None
    }
}

/// What survives the end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing. [`crash`] then tests nothing.
    Memory,
    /// Everything that was acknowledged, also after `kill -9`.
    Crash,
}

/// The time during which a store is out of reach. Dropping it ends the outage.
pub struct Outage {
    end: Option<Box<dyn FnOnce() + Send>>,
}

impl Outage {
    /// An outage that this function ends.
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        Self { end: Some(Box::new(end)) }
    }
}

impl Drop for Outage {
    fn drop(&mut self) {
        self.end.take().into_iter().for_each(|end| end());
    }
}

/// Runs all parts.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn passes(subject: &dyn BackendUnderTest) {
    values(subject).await;
    compare_and_set(subject).await;
    histories(subject).await;
    logs(subject).await;
    listeners(subject).await;
    faults(subject).await;
    crash(subject).await;
}
