//! The thread that writes. It commits the operations that wait for it together.
//!
//! A commit waits for the disk, which takes far longer than the statements. Operations that arrive
//! meanwhile wait in a bounded queue and are the next commit. Each caller gets its reply after the
//! commit that contains its operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bowline_store::backend::{Appended, Entry, Key, Result, Written};
use bytes::Bytes;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{mpsc, oneshot};

use crate::file::{SqliteLimits, StoreFile, is_busy};
use crate::listeners::Listeners;
use crate::logs::{self, ItemOfLog};
use crate::messages::{self, NewMessage};
use crate::values::{self, NewValue};

/// The most operations that wait for the thread. A caller beyond that waits for room.
pub(crate) const QUEUE: usize = 1024;

/// The most operations of one commit.
const BATCH: usize = 256;

/// How often expired rows are looked for.
const SWEEP: Duration = Duration::from_secs(1);

/// The most rows that one step of a sweep removes, and the most logs.
const SWEPT_ROWS: usize = 256;
const SWEPT_LOGS: usize = 16;

/// One operation, to be run in a transaction. It may be run again if the transaction failed.
pub(crate) enum Operation {
    Put(NewValue),
    /// Until this time.
    Renew(Key, i64),
    Delete(Key),
    Append(ItemOfLog),
    Publish(NewMessage),
}

/// The result of an [`Operation`].
pub(crate) enum Outcome {
    Put(Written),
    Renewed(Option<Entry>),
    Deleted(bool),
    /// With the number of the message that was published with the item, if one was.
    Appended(Appended, Option<u64>),
    Published(u64),
}

/// An operation, and where its result goes.
pub(crate) struct Job {
    pub(crate) operation: Operation,
    pub(crate) reply: oneshot::Sender<Result<Outcome>>,
}

/// What the thread owns.
pub(crate) struct Writer {
    pub(crate) file: StoreFile,
    pub(crate) connection: Connection,
    pub(crate) limits: SqliteLimits,
    pub(crate) origin: i64,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) is_relaxed: Arc<AtomicBool>,
    /// Whether commits wait for the disk now.
    pub(crate) is_full: bool,
}

/// Why a transaction was not committed.
enum Failure {
    /// It was rolled back, so its operations may be run again.
    RolledBack(rusqlite::Error),
    /// The commit itself failed. Whether it took effect is not known.
    Commit(rusqlite::Error),
}

impl Operation {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Put(_) => "put",
            Self::Renew(..) => "renew",
            Self::Delete(_) => "delete",
            Self::Append(_) => "append",
            Self::Publish(_) => "publish",
        }
    }

    /// What it publishes, and where.
    fn message(&self) -> Option<(&Key, &Bytes)> {
        match self {
            Self::Publish(message) => Some((&message.topic, &message.value)),
            Self::Append(new) => new.item.tell.as_ref().map(|(topic, value)| (topic, value)),
            Self::Put(_) | Self::Renew(..) | Self::Delete(_) => None,
        }
    }

    /// Messages of topics need not survive a crash: they are for processes that run now.
    fn is_durable(&self) -> bool {
        !matches!(self, Self::Publish(_))
    }
}

impl Outcome {
    /// The number of the message that was published.
    fn message_number(&self) -> Option<u64> {
        match self {
            Self::Published(number) => Some(*number),
            Self::Appended(_, number) => *number,
            Self::Put(_) | Self::Renewed(_) | Self::Deleted(_) => None,
        }
    }
}

impl Writer {
    /// Writes until every handle is gone and the queue is empty.
    pub(crate) fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut swept = Instant::now();
        while jobs.blocking_recv_many(&mut batch, BATCH) > 0 {
            self.commit(std::mem::take(&mut batch), &mut jobs);
            if swept.elapsed() >= SWEEP {
                self.sweep(&jobs);
                swept = Instant::now();
            }
        }
    }

    /// Commits all operations at once. If one of them fails, each is committed by itself, so that
    /// the others do not fail with it.
    fn commit(&mut self, mut batch: Vec<Job>, jobs: &mut mpsc::Receiver<Job>) {
        match self.try_commit(&batch) {
            Ok(outcomes) => self.reply(batch, outcomes),
            Err(Failure::RolledBack(error)) if is_busy(&error) => {
                // The lock was not free for as long as a caller should wait. Operations that
                // queued up meanwhile must not wait as long again.
                while let Ok(job) = jobs.try_recv() {
                    batch.push(job);
                }
                self.fail(batch, &error);
            }
            Err(Failure::RolledBack(_)) if batch.len() > 1 => {
                for job in batch {
                    self.commit(vec![job], jobs);
                }
            }
            Err(Failure::RolledBack(error) | Failure::Commit(error)) => self.fail(batch, &error),
        }
    }

    fn try_commit(&mut self, batch: &[Job]) -> std::result::Result<Vec<Outcome>, Failure> {
        let is_durable = batch.iter().any(|job| job.operation.is_durable());
        self.synchronize(is_durable).map_err(Failure::RolledBack)?;
        let behavior = TransactionBehavior::Immediate;
        let transaction =
            self.connection.transaction_with_behavior(behavior).map_err(Failure::RolledBack)?;
        let run = |job: &Job| run(&transaction, &job.operation, &self.limits, self.origin);
        let outcomes: rusqlite::Result<Vec<_>> = batch.iter().map(run).collect();
        let outcomes = outcomes.map_err(Failure::RolledBack)?;
        transaction.commit().map_err(Failure::Commit)?;
        Ok(outcomes)
    }

    /// `FULL` makes a commit wait until the disk has it. With `NORMAL`, a crash of the process loses
    /// nothing, but a loss of power may lose the last commits.
    fn synchronize(&mut self, is_durable: bool) -> rusqlite::Result<()> {
        let is_full = is_durable && !self.is_relaxed.load(Ordering::Relaxed);
        if is_full != self.is_full {
            let mode = if is_full { "FULL" } else { "NORMAL" };
            self.connection.pragma_update(None, "synchronous", mode)?;
            self.is_full = is_full;
        }
        Ok(())
    }

    /// Listeners get a message before its publisher gets the reply. A caller that has gone away
    /// does not get one.
    fn reply(&self, batch: Vec<Job>, outcomes: Vec<Outcome>) {
        for (job, outcome) in batch.into_iter().zip(outcomes) {
            let message = job.operation.message();
            if let (Some((topic, value)), Some(number)) = (message, outcome.message_number()) {
                self.listeners.deliver(number, topic, value);
            }
            let _ = job.reply.send(Ok(outcome));
        }
    }

    fn fail(&self, batch: Vec<Job>, error: &rusqlite::Error) {
        for job in batch {
            let error = self.file.repeated_error(job.operation.name(), error);
            let _ = job.reply.send(Err(error));
        }
    }

    /// Removes expired rows, in steps, until an operation waits. The next sweep removes the others,
    /// also after a failure: readers skip expired rows.
    fn sweep(&mut self, jobs: &mpsc::Receiver<Job>) {
        while jobs.is_empty() && !jobs.is_closed() {
            match self.sweep_step() {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            }
        }
    }

    /// Returns whether there may be more.
    fn sweep_step(&mut self) -> rusqlite::Result<bool> {
        self.synchronize(false)?;
        let behavior = TransactionBehavior::Immediate;
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        let values = values::sweep(&transaction, SWEPT_ROWS)?;
        let logs = logs::sweep(&transaction, SWEPT_LOGS)?;
        let messages = messages::sweep(&transaction, SWEPT_ROWS)?;
        transaction.commit()?;
        Ok(values == SWEPT_ROWS || logs == SWEPT_LOGS || messages == SWEPT_ROWS)
    }
}

fn run(
    transaction: &Transaction<'_>,
    operation: &Operation,
    limits: &SqliteLimits,
    origin: i64,
) -> rusqlite::Result<Outcome> {
    Ok(match operation {
        Operation::Put(new) => Outcome::Put(values::put(transaction, new)?),
        Operation::Delete(key) => {
            let value = values::delete(transaction, key)?;
            Outcome::Deleted(logs::delete(transaction, key)? || value)
        }
        Operation::Renew(key, expires) => {
            Outcome::Renewed(values::renew(transaction, key, *expires)?)
        }
        Operation::Append(new) => {
            let appended = logs::append(transaction, new, limits)?;
            let tell = new.item.tell.as_ref().filter(|_| appended != Appended::Fenced);
            let publish = |(topic, value): &(Key, Bytes)| {
                let message = NewMessage { topic: topic.clone(), value: value.clone() };
                messages::publish(transaction, origin, &message)
            };
            Outcome::Appended(appended, tell.map(publish).transpose()?)
        }
        Operation::Publish(new) => Outcome::Published(messages::publish(transaction, origin, new)?),
    })
}

#[cfg(test)]
mod tests;
