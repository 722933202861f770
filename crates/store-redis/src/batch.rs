//! Sends the commands of many operations together, in one system call.
//!
//! The client library writes each command as soon as its task runs, and tokio runs a task that was
//! just woken before all others. So without this, commands that become ready at the same time are
//! written one by one, and the database reads, answers and wakes this process once for each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Cmd, Pipeline, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::failure::Failure;

/// With fewer operations under way, a command is sent at once: there is hardly another one to wait for,
/// and to let other tasks run costs more than a system call.
const MANY: usize = 3;

/// How long a command waits for its reply.
pub(crate) const REPLY: Duration = Duration::from_millis(450);

/// The commands that wait to be sent on one connection. Cheap to clone.
///
/// The first that waits begins a task, which lets all tasks that are ready run, and then sends what they
/// have added. It is a task of its own, because the caller of an operation may drop it, or not poll it
/// for a while. No command waits for the reply to another.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    waiting: Arc<Mutex<Vec<Waiting>>>,
    /// How many operations wait to be sent, or for their reply.
    under_way: Arc<AtomicUsize>,
}

struct Waiting {
    command: Cmd,
    reply: oneshot::Sender<Result<Value, Failure>>,
}

impl Batch {
    /// Sends a command, with others if there are any. `runtime` is where the connection lives.
    pub(crate) async fn ask(
        &self,
        command: Cmd,
        connection: &MultiplexedConnection,
        runtime: &Handle,
    ) -> Result<Value, Failure> {
        let others = self.under_way.fetch_add(1, Ordering::Relaxed);
        let _under_way = UnderWay(&self.under_way);
        if others + 1 < MANY {
            return Ok(command.query_async(&mut connection.clone()).await?);
        }
        let (reply, replies) = oneshot::channel();
        if self.add(Waiting { command, reply }) {
            runtime.spawn(send(self.clone(), connection.clone()));
        }
        let ended = |_| Failure::Unfit("the runtime of the store has ended".to_owned());
        replies.await.map_err(ended)?
    }

    /// Returns whether the command is the first that waits.
    fn add(&self, command: Waiting) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(command);
        waiting.len() == 1
    }

    fn take(&self) -> Vec<Waiting> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Counts an operation down at its end, also if it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn send(batch: Batch, mut connection: MultiplexedConnection) {
    tokio::task::yield_now().await;
    let waiting = batch.take();
    let count = waiting.len();
    let mut commands = Pipeline::with_capacity(count);
    let mut replies = Vec::with_capacity(count);
    for Waiting { command, reply } in waiting {
        commands.add_command(command);
        replies.push(reply);
    }
    // No operation waits longer, and while this task has the connection, it is not closed.
    let asked = connection.req_packed_commands(&commands, 0, count);
    // The receivers of operations that were dropped meanwhile are closed.
    match tokio::time::timeout(REPLY, asked).await {
        Ok(Ok(values)) => replies.into_iter().zip(values).for_each(|(reply, value)| {
            let _ = reply.send(value.extract_error().map_err(Failure::from));
        }),
        Ok(Err(error)) => replies.into_iter().for_each(|reply| {
            let _ = reply.send(Err(error.clone().into()));
        }),
        Err(_) => replies.into_iter().for_each(|reply| {
            let _ = reply.send(Err(Failure::Late(REPLY)));
        }),
    }
}
