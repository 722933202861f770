//! Sends the commands of many operations together, in one system call.
//!
//! Without this, commands that become ready at about the same time are written one by one, and the
//! database reads, answers and wakes this process once for each. So one batch at a time is under way,
//! and commands that come meanwhile are the next one: the more operations there are, the larger the
//! batches. A command waits for the replies to the batch before it. That costs it a round trip at most,
//! since the database answers the commands of a connection in order anyway.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Cmd, Pipeline, Value};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::failure::Failure;

/// With fewer operations under way, a command is sent at once: there is hardly another one to wait for,
/// and to let other tasks run costs more than a system call.
const MANY: usize = 3;

/// The most commands of a batch. Its first reply is passed on after its last has come.
const MOST: usize = 64;

/// How long a command waits for its reply.
pub(crate) const REPLY: Duration = Duration::from_millis(450);

/// The commands that wait to be sent on one connection. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Batch {
    queue: Arc<Mutex<Queue>>,
    /// How many operations wait to be sent, or for their reply.
    under_way: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    has_sender: bool,
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
        if let Some(sender) = self.add(Waiting { command, reply }) {
            runtime.spawn(sender.send_all(connection.clone()));
        }
        let ended = |_| Failure::Unfit("the runtime of the store has ended".to_owned());
        replies.await.map_err(ended)?
    }

    /// Adds a command. Returns a sender if there is none.
    fn add(&self, command: Waiting) -> Option<Sender> {
        let mut queue = lock(&self.queue);
        queue.waiting.push_back(command);
        let is_first = !std::mem::replace(&mut queue.has_sender, true);
        is_first.then(|| Sender { queue: self.queue.clone(), is_done: false })
    }
}

/// Counts an operation down at its end, also if it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends batch after batch until no command waits. In a task of its own, because the caller of an
/// operation may drop it, or not poll it for a while.
struct Sender {
    queue: Arc<Mutex<Queue>>,
    is_done: bool,
}

impl Sender {
    async fn send_all(mut self, mut connection: MultiplexedConnection) {
        // Tasks that are ready now may add commands to the first batch.
        tokio::task::yield_now().await;
        while let Some(batch) = self.next() {
            send(batch, &mut connection).await;
        }
    }

    /// The next batch, without commands whose operation has given up meanwhile.
    fn next(&mut self) -> Option<Vec<Waiting>> {
        let mut queue = lock(&self.queue);
        queue.waiting.retain(|waiting| !waiting.reply.is_closed());
        let count = queue.waiting.len().min(MOST);
        if count == 0 {
            queue.has_sender = false;
            self.is_done = true;
            return None;
        }
        Some(queue.waiting.drain(..count).collect())
    }
}

impl Drop for Sender {
    /// If the runtime has ended, nothing sends what waits: those operations fail.
    fn drop(&mut self) {
        if !self.is_done {
            *lock(&self.queue) = Queue::default();
        }
    }
}

async fn send(batch: Vec<Waiting>, connection: &mut MultiplexedConnection) {
    let count = batch.len();
    let mut commands = Pipeline::with_capacity(count);
    let mut replies = Vec::with_capacity(count);
    for Waiting { command, reply } in batch {
        commands.add_command(command);
        replies.push(reply);
    }
    // No operation waits longer, and while this task has the connection, it is not closed.
    let asked = timeout(REPLY, connection.req_packed_commands(&commands, 0, count)).await;
    // The receivers of operations that were dropped meanwhile are closed.
    match asked {
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

/// No code under the lock can panic halfway, so the queue is valid even if the lock is poisoned.
fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}
