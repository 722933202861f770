//! Sends the commands of many operations together, in one system call.
//!
//! The client library writes each command as soon as its task runs, and tokio runs a task that was
//! just woken before all others. So without this, commands that become ready at the same time are
//! written one by one, and the database reads, answers and wakes this process once for each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisResult, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::failure::Failure;

/// With fewer operations under way, a command is sent at once: there is hardly another one to wait for,
/// and to let other tasks run costs more than a system call.
const MANY: usize = 3;

/// The commands that wait to be sent on one connection. Cheap to clone.
///
/// The first command waits until all tasks that are ready have run, and takes along what they want to
/// send. No command waits for the reply to another.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    /// `None` while no command waits.
    waiting: Arc<Mutex<Option<Vec<Waiting>>>>,
    /// How many operations wait to be sent, or for their reply.
    under_way: Arc<AtomicUsize>,
}

struct Waiting {
    command: Cmd,
    reply: oneshot::Sender<RedisResult<Value>>,
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
        let command = match self.join(command) {
            Ok(reply) => return received(reply).await,
            Err(command) => command,
        };
        let collecting = Collecting { batch: self, connection, runtime };
        tokio::task::yield_now().await;
        let mut waiting = collecting.end();
        if waiting.is_empty() {
            return Ok(command.query_async(&mut connection.clone()).await?);
        }
        let (reply, replies) = oneshot::channel();
        waiting.push(Waiting { command, reply });
        // A task of its own: the others get their replies even if this operation is dropped.
        runtime.spawn(send(connection.clone(), waiting));
        received(replies).await
    }

    /// Waits with the command that is first. Returns the command if it is the first itself.
    fn join(&self, command: Cmd) -> Result<oneshot::Receiver<RedisResult<Value>>, Cmd> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(waiting) = waiting.as_mut() else {
            *waiting = Some(Vec::new());
            return Err(command);
        };
        let (reply, replies) = oneshot::channel();
        waiting.push(Waiting { command, reply });
        Ok(replies)
    }

    fn take(&self) -> Vec<Waiting> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.take().unwrap_or_default()
    }
}

/// Counts an operation down at its end, also if it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// While it exists, commands wait with the first one.
struct Collecting<'a> {
    batch: &'a Batch,
    connection: &'a MultiplexedConnection,
    runtime: &'a Handle,
}

impl Collecting<'_> {
    /// The commands that wait.
    fn end(self) -> Vec<Waiting> {
        self.batch.take()
    }
}

impl Drop for Collecting<'_> {
    /// Sends what waits with an operation that was dropped.
    fn drop(&mut self) {
        let waiting = self.batch.take();
        if !waiting.is_empty() {
            self.runtime.spawn(send(self.connection.clone(), waiting));
        }
    }
}

async fn send(mut connection: MultiplexedConnection, waiting: Vec<Waiting>) {
    let count = waiting.len();
    let mut commands = Pipeline::with_capacity(count);
    let mut replies = Vec::with_capacity(count);
    for Waiting { command, reply } in waiting {
        commands.add_command(command);
        replies.push(reply);
    }
    // The receivers of operations that were dropped meanwhile are closed.
    match connection.req_packed_commands(&commands, 0, count).await {
        Ok(values) => replies.into_iter().zip(values).for_each(|(reply, value)| {
            let _ = reply.send(value.extract_error());
        }),
        Err(error) => replies.into_iter().for_each(|reply| {
            let _ = reply.send(Err(error.clone()));
        }),
    }
}

async fn received(reply: oneshot::Receiver<RedisResult<Value>>) -> Result<Value, Failure> {
    let ended = |_| Failure::Unfit("the runtime of the store has ended".to_owned());
    Ok(reply.await.map_err(ended)??)
}
