//! Sends the commands of many operations together, in one system call.
//!
//! Without this, commands that become ready at about the same time are written one by one, and the
//! database reads, answers and wakes this process once for each. So each connection to a single server
//! has a task, the driver, that sends all commands that wait as one batch. While [`AT_ONCE`] batches
//! are under way, commands collect for the next one: the more operations there are, the larger the
//! batches.
//!
//! A batch of writes that replicas or a disk must confirm ends with one command that waits for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use redis::aio::{ConnectionLike as _, MultiplexedConnection};
use redis::{Cmd, Pipeline, Value};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use crate::confirmation::Confirmation;
use crate::failure::Failure;

/// With fewer operations under way, a command is sent at once: there is hardly another one to wait for,
/// and to let other tasks run costs more than a system call.
const MANY: usize = 3;

/// The most commands of a batch. Its first reply is passed on after its last has come.
const MOST: usize = 64;

/// The most batches under way. While the database works on one, the next is there already. More of
/// them would be smaller.
const AT_ONCE: usize = 2;

/// How long a command waits for its reply, from when it is sent.
pub(crate) const REPLY: Duration = Duration::from_millis(450);

/// Sends commands to a single server. Its driver ends when this is dropped.
pub(crate) struct Batches {
    connection: MultiplexedConnection,
    /// To the driver. Each command in it belongs to an operation that is under way or was dropped a
    /// moment ago.
    commands: mpsc::UnboundedSender<Waiting>,
    is_confirmed: bool,
    /// How many operations wait to be sent, or for their reply.
    under_way: AtomicUsize,
}

struct Waiting {
    command: Cmd,
    reply: oneshot::Sender<Result<Value, Failure>>,
}

impl Batches {
    /// Starts the driver of a connection on the runtime where the connection lives.
    pub(crate) fn new(
        connection: &MultiplexedConnection,
        confirmation: Option<Arc<Confirmation>>,
        runtime: &Handle,
    ) -> Self {
        let (commands, waiting) = mpsc::unbounded_channel();
        let is_confirmed = confirmation.is_some();
        let driver = Driver { connection: connection.clone(), confirmation };
        runtime.spawn(driver.send_all(waiting));
        let connection = connection.clone();
        Self { connection, commands, is_confirmed, under_way: AtomicUsize::default() }
    }

    /// Sends a command, with others if there are any.
    pub(crate) async fn ask(&self, command: Cmd) -> Result<Value, Failure> {
        let others = self.under_way.fetch_add(1, Ordering::Relaxed);
        let _under_way = UnderWay(&self.under_way);
        if others + 1 < MANY && !self.is_confirmed {
            let mut connection = self.connection.clone();
            let asked = timeout(REPLY, command.query_async(&mut connection)).await;
            return Ok(asked.map_err(|_| Failure::Late(REPLY))??);
        }
        let (reply, replies) = oneshot::channel();
        let waiting = Waiting { command, reply };
        // The driver has ended, or ends before it sends the command.
        self.commands.send(waiting).map_err(|_| Failure::Unsent)?;
        replies.await.map_err(|_| Failure::Unsent)?
    }
}

/// Counts an operation down at its end, also if it is dropped.
struct UnderWay<'a>(&'a AtomicUsize);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Sends batch after batch. In a task of its own, because the caller of an operation may drop it, or
/// not poll it for a while.
#[derive(Clone)]
struct Driver {
    connection: MultiplexedConnection,
    confirmation: Option<Arc<Confirmation>>,
}

impl Driver {
    async fn send_all(self, mut waiting: mpsc::UnboundedReceiver<Waiting>) {
        // The database does nothing else on the connection while a command waits for copies.
        let at_once = if self.confirmation.is_some() { 1 } else { AT_ONCE };
        let turns = Arc::new(Semaphore::new(at_once));
        while let Some(first) = waiting.recv().await {
            // Tasks that are ready now may add commands.
            tokio::task::yield_now().await;
            // After a failure there are no turns. What was never sent may go over the next connection.
            let Ok(turn) = turns.clone().acquire_owned().await else { return };
            let batch = next_batch(first, &mut waiting);
            if !batch.is_empty() {
                tokio::spawn(self.clone().send(batch, turn));
            }
        }
    }

    /// Sends a batch, and passes its replies on. If the connection fails, this is the last batch.
    async fn send(self, batch: Vec<Waiting>, turn: OwnedSemaphorePermit) {
        let mut commands = Pipeline::with_capacity(batch.len() + 1);
        let mut replies = Vec::with_capacity(batch.len());
        for Waiting { command, reply } in batch {
            commands.add_command(command);
            replies.push(reply);
        }
        // The receivers of operations that were dropped meanwhile are closed.
        match self.ask(commands).await {
            Ok((values, confirmed)) => {
                for (reply, value) in replies.into_iter().zip(values) {
                    let value = value.extract_error().map_err(Failure::from);
                    let _ = reply.send(value.and_then(|value| confirmed.clone().map(|()| value)));
                }
            }
            Err(failure) => {
                turn.semaphore().close();
                for reply in replies {
                    let _ = reply.send(Err(failure.clone()));
                }
            }
        }
    }

    /// The replies, and whether the copies have what was written.
    async fn ask(
        mut self,
        mut commands: Pipeline,
    ) -> Result<(Vec<Value>, Result<(), Failure>), Failure> {
        if let Some(confirmation) = &self.confirmation {
            confirmation.follow(&mut commands);
        }
        let count = commands.len();
        // No operation waits longer, and while this task has the connection, it is not closed.
        let asked = timeout(REPLY, self.connection.req_packed_commands(&commands, 0, count)).await;
        let mut values = asked.map_err(|_| Failure::Late(REPLY))??;
        let confirmed = self.confirmation.map_or(Ok(()), |it| it.check(values.pop()));
        Ok((values, confirmed))
    }
}

/// All commands that wait, up to [`MOST`], but not those whose operation was dropped.
fn next_batch(first: Waiting, waiting: &mut mpsc::UnboundedReceiver<Waiting>) -> Vec<Waiting> {
    let others = std::iter::from_fn(|| waiting.try_recv().ok());
    let all = std::iter::once(first).chain(others);
    all.filter(|waiting| !waiting.reply.is_closed()).take(MOST).collect()
}
