//! The connections that are open: each cut when it is of no use, and all of them at the end.
//!
//! They are looked at together, from time to time. So a request costs two additions, and a connection
//! needs no clock of its own.

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

use super::body::Turn;

/// The connections that are open. All are cut when this is dropped.
#[derive(Default)]
pub(super) struct Connections {
    table: Arc<Table>,
    last: u64,
}

type Table = Mutex<HashMap<u64, Open>>;

/// One that is open.
struct Open {
    used: Arc<Used>,
    task: AbortHandle,
    /// How many requests had come when it was last looked at.
    before: usize,
    /// How often in a row it was found to be of no use.
    idle: usize,
}

/// How often somebody looks within the time that a connection may be of no use.
pub(super) const LOOKS: u32 = 2;

impl Connections {
    /// Serves a connection in a task of its own.
    pub(super) fn open(
        &mut self,
        used: Arc<Used>,
        served: impl Future<Output = ()> + Send + 'static,
    ) {
        self.last += 1;
        let number = self.last;
        let place = Place { table: self.table.clone(), number };
        // Entered before the task can end.
        let mut table = lock(&self.table);
        let task = tokio::spawn(async move {
            served.await;
            drop(place);
        });
        table.insert(number, Open { used, task: task.abort_handle(), before: 0, idle: 0 });
    }

    /// Looks at every connection, and cuts those that have been of no use for more than [`LOOKS`] in
    /// a row: no request has come and none was being answered. Whether the client is silent, or sends
    /// a head byte by byte, is all the same.
    pub(super) fn cut_idle(&self) {
        for open in lock(&self.table).values_mut() {
            let requests = open.used.requests.load(Ordering::Relaxed);
            let is_used = requests != open.before || Arc::strong_count(&open.used.turn) > 1;
            open.idle = if is_used { 0 } else { open.idle + 1 };
            open.before = requests;
            if open.idle > LOOKS as usize {
                open.task.abort();
            }
        }
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        lock(&self.table).values().for_each(|open| open.task.abort());
    }
}

/// The place of a connection in the table, left when its task ends.
struct Place {
    table: Arc<Table>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.table).remove(&self.number);
    }
}

/// Nothing that runs under the lock can panic half-way, so a poisoned table is a good one.
fn lock(table: &Table) -> MutexGuard<'_, HashMap<u64, Open>> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a connection is used for.
#[derive(Default)]
pub(super) struct Used {
    /// Requests that have come.
    requests: AtomicUsize,
    /// Held while one of them is being answered.
    turn: Turn,
}

impl Used {
    /// Begins to answer a request; it is answered when the turn is dropped.
    pub(super) fn begin(&self) -> Turn {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.turn.clone()
    }
}
