//! A connection that is made again when it is lost, within a time.
//!
//! Every operation ends within [`ENDS`]. One whose reply was lost may have taken effect, so it is
//! repeated only if that has no second effect; [`AfterLoss`] says how.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::{Cmd, Pipeline, PushInfo, PushKind, Value, cmd};
use tokio::runtime::Handle;

use crate::batch::Batch;
use crate::breaker::Breaker;
use crate::failure::{Failure, Verdict};
use crate::options::RedisDurability;
use crate::scripts::StoredScript;
use crate::server::{Connection, PushHandler, Server};

/// How long an operation may take in all.
const ENDS: Duration = Duration::from_millis(900);

/// How long an attempt waits for its reply, so that a second one fits in.
const REPLY: Duration = Duration::from_millis(450);

/// How long to wait before an attempt that the database refused is repeated.
const REFUSED: Duration = Duration::from_millis(20);

/// What to send.
pub(crate) enum Request {
    Command(Cmd),
    /// A script with the number of its keys, its keys and its arguments.
    Script(&'static StoredScript, Cmd),
}

/// What to do when a reply is lost.
pub(crate) enum AfterLoss {
    /// Sends the same again: it changes nothing, or nothing more.
    Repeat,
    /// Sends this, which finds out what became of it.
    Send(Request),
    /// Fails.
    Fail,
}

/// How a request is sent.
struct Way {
    wait: RedisDurability,
    /// Whether the database needs the text of the script.
    is_whole: bool,
    /// The server that already has the key, while a cluster moves its slot.
    asking: Option<String>,
}

/// A reply, and whether an earlier one was lost.
pub(crate) struct Reply {
    pub(crate) value: Value,
    pub(crate) is_second: bool,
}

/// See the module.
pub(crate) struct Link {
    server: Arc<Server>,
    /// Where connections live. An operation may run elsewhere, and end before its connection.
    runtime: Handle,
    handler: PushHandler,
    state: Mutex<LinkState>,
    connecting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct LinkState {
    live: Option<Live>,
    breaker: Breaker,
}

#[derive(Clone)]
struct Live {
    connection: Connection,
    /// What waits to be sent on it.
    batch: Batch,
    is_open: Arc<AtomicBool>,
}

impl Link {
    /// A link that is connected by its first use. `handler` gets what the database sends unasked, and
    /// learns of every connection that is lost or given up.
    pub(crate) fn new(server: Arc<Server>, handler: PushHandler) -> Self {
        Self {
            server,
            runtime: Handle::current(),
            handler,
            state: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        }
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Sends a request, and again if that is safe, until there is a reply or the time is over.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request,
        after_loss: AfterLoss,
        wait: RedisDurability,
    ) -> Result<Reply, Failure> {
        let work = self.send_until_reply(request, after_loss, wait);
        tokio::time::timeout(ENDS, work).await.map_err(|_| Failure::Late(ENDS))?
    }

    async fn send_until_reply(
        self: &Arc<Self>,
        mut request: Request,
        mut after_loss: AfterLoss,
        wait: RedisDurability,
    ) -> Result<Reply, Failure> {
        let mut is_second = false;
        let mut way = Way { wait, is_whole: false, asking: None };
        loop {
            let live = self.live().await?;
            let attempt = live.attempt(&request, &way, &self.runtime);
            let result = tokio::time::timeout(REPLY, attempt).await;
            let failure = match result.unwrap_or(Err(Failure::Late(REPLY))) {
                Ok(value) => {
                    self.lock().breaker.succeeded();
                    return Ok(Reply { value, is_second });
                }
                Err(failure) => failure,
            };
            self.failed(&failure, Some(&live));
            way.asking = failure.server_to_ask();
            match failure.verdict() {
                Verdict::UnknownScript if !way.is_whole => way.is_whole = true,
                Verdict::Refused if way.asking.is_some() => {}
                Verdict::Refused => tokio::time::sleep(REFUSED).await,
                Verdict::Lost if !is_second => {
                    is_second = true;
                    match std::mem::replace(&mut after_loss, AfterLoss::Fail) {
                        AfterLoss::Repeat => {}
                        AfterLoss::Send(other) => request = other,
                        AfterLoss::Fail => return Err(failure),
                    }
                }
                _ => return Err(failure),
            }
        }
    }

    /// The connection, which is made if there is none.
    pub(crate) async fn connection(self: &Arc<Self>) -> Result<Connection, Failure> {
        Ok(self.live().await?.connection)
    }

    /// Closes the connection, as after a failure of it.
    pub(crate) fn disconnect(&self) {
        let live = self.lock().live.take();
        self.gave_up(live.as_ref());
    }

    /// How long the database is left alone.
    pub(crate) fn pause(&self) -> Option<Duration> {
        Some(self.lock().breaker.pause(Instant::now())?.left)
    }

    async fn live(self: &Arc<Self>) -> Result<Live, Failure> {
        if let Some(live) = self.found()? {
            return Ok(live);
        }
        // One connects, and the others wait for it.
        let _connecting = self.connecting.lock().await;
        if let Some(live) = self.found()? {
            return Ok(live);
        }
        let link = self.clone();
        // A task of its own: it ends even if the operation that needs it does not wait so long.
        let connecting = self.runtime.spawn(async move { link.connect().await });
        let ended = |_| Failure::Unfit("the runtime of the store has ended".to_owned());
        connecting.await.map_err(ended)?
    }

    fn found(&self) -> Result<Option<Live>, Failure> {
        let state = self.lock();
        match state.breaker.pause(Instant::now()) {
            Some(pause) => Err(Failure::Pause(pause)),
            None => Ok(state.live.clone().filter(|live| live.is_open.load(Ordering::Acquire))),
        }
    }

    async fn connect(&self) -> Result<Live, Failure> {
        let is_open = Arc::new(AtomicBool::new(true));
        let (handler, open) = (self.handler.clone(), is_open.clone());
        let handler: PushHandler = Arc::new(move |info: PushInfo| {
            if info.kind == PushKind::Disconnection {
                open.store(false, Ordering::Release);
            }
            handler(info);
        });
        match self.server.connect(&handler).await {
            Ok(connection) => {
                let live = Live { connection, batch: Batch::default(), is_open };
                self.lock().live = Some(live.clone());
                Ok(live)
            }
            Err(failure) => {
                self.failed(&failure, None);
                Err(failure)
            }
        }
    }

    /// Counts a failure, and gives up a connection that is of no use.
    fn failed(&self, failure: &Failure, live: Option<&Live>) {
        let is_same =
            |now: &mut Live| live.is_some_and(|it| Arc::ptr_eq(&it.is_open, &now.is_open));
        let given_up = {
            let mut state = self.lock();
            if failure.is_outage() {
                state.breaker.failed(Instant::now(), &failure.reason(), jitter());
            }
            match failure.ends_connection() {
                true => state.live.take_if(is_same),
                false => None,
            }
        };
        self.gave_up(given_up.as_ref());
    }

    /// Tells the handler that a connection was given up: its driver does not, because it sees no
    /// failure. What was subscribed to on that connection is lost with it.
    fn gave_up(&self, live: Option<&Live>) {
        if live.is_some() {
            (self.handler)(PushInfo { kind: PushKind::Disconnection, data: Vec::new() });
        }
    }

    /// No code under the lock can panic halfway, so the state is valid even if the lock is poisoned.
    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    async fn attempt(
        &self,
        request: &Request,
        way: &Way,
        runtime: &Handle,
    ) -> Result<Value, Failure> {
        let command = request.command(way.is_whole);
        let time = (REPLY - REPLY / 4).as_millis() as u64;
        let (wait, wanted) = match way.wait {
            RedisDurability::Memory if way.asking.is_none() => {
                return match &self.connection {
                    Connection::Single(single) => self.batch.ask(command, single, runtime).await,
                    cluster @ Connection::Cluster(_) => Ok(cluster.ask(&command).await?),
                };
            }
            RedisDurability::Memory => (None, 0),
            RedisDurability::Replicated(count) => {
                (Some(cmd("WAIT").arg(count).arg(time).to_owned()), count)
            }
            RedisDurability::Fsync => (Some(cmd("WAITAOF").arg(1).arg(0).arg(time).to_owned()), 1),
        };
        let mut commands = Pipeline::new();
        commands.add_command(command);
        if let Some(wait) = wait {
            commands.add_command(wait);
        }
        let replies = self.connection.ask_together(&commands, way.asking.as_deref()).await?;
        let mut replies = replies.into_iter();
        let (reply, waited) = (replies.next().unwrap_or(Value::Nil), replies.next());
        let count = match waited {
            Some(Value::Int(count)) => count,
            // `WAITAOF` returns the count of local files first.
            Some(Value::Array(counts)) => match counts.first() {
                Some(Value::Int(count)) => *count,
                _ => 0,
            },
            _ => 0,
        };
        if usize::try_from(count).unwrap_or(0) < wanted {
            return Err(Failure::Unfit(format!(
                "it was written, but only {count} of {wanted} copies confirmed it in time"
            )));
        }
        Ok(reply)
    }
}

impl Request {
    fn command(&self, is_whole: bool) -> Cmd {
        let (script, arguments) = match self {
            Self::Command(command) => return command.clone(),
            Self::Script(script, arguments) => (script, arguments),
        };
        let mut command = if is_whole { script.whole() } else { script.by_digest() };
        for argument in arguments.args_iter() {
            if let redis::Arg::Simple(argument) = argument {
                command.arg(argument);
            }
        }
        command
    }
}

/// Between 0 and 1.
fn jitter() -> f64 {
    let mut byte = [0];
    // Without randomness, pauses are short.
    let _ = getrandom::fill(&mut byte);
    f64::from(byte[0]) / f64::from(u8::MAX)
}
