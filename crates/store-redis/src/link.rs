//! A connection that is made again when it is lost, within a time.
//!
//! Every operation ends within [`ENDS`]. One whose reply was lost may have taken effect, so it is
//! repeated only if that has no second effect; [`AfterLoss`] says how.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use redis::{Cmd, Pipeline, Value};
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::batch::{Batches, REPLY};
use crate::breaker::Breaker;
use crate::confirmation::Confirmation;
use crate::failure::{Failure, Verdict};
use crate::pushes::{PushHandler, Pushes};
use crate::scripts::StoredScript;
use crate::server::{Connection, Server};

/// How long an operation may take in all. A second attempt fits in after one that waited for [`REPLY`].
const ENDS: Duration = Duration::from_millis(900);

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
#[derive(Default)]
struct Way {
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
    /// Whether what is sent waits for replicas or the disk, as the options demand.
    is_confirmed: bool,
    state: Mutex<LinkState>,
    connecting: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct LinkState {
    live: Option<Arc<Live>>,
    breaker: Breaker,
}

struct Live {
    connection: Connection,
    /// If it leads to a single server.
    batches: Option<Batches>,
    confirmation: Option<Arc<Confirmation>>,
    pushes: Arc<Pushes>,
    /// Whether its end was counted as a failure.
    has_failed: AtomicBool,
}

impl Link {
    /// A link that is connected by its first use. `handler` gets what the database sends unasked, and
    /// learns of each connection that is lost or given up.
    pub(crate) fn new(server: Arc<Server>, handler: PushHandler) -> Self {
        Self {
            server,
            runtime: Handle::current(),
            handler,
            is_confirmed: false,
            state: Mutex::default(),
            connecting: Arc::default(),
        }
    }

    /// Makes everything that is sent wait for replicas or the disk, as the options demand.
    pub(crate) fn confirmed(mut self) -> Self {
        self.is_confirmed = true;
        self
    }

    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Sends a request, and again if that is safe, until there is a reply or the time is over.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request,
        after_loss: AfterLoss,
    ) -> Result<Reply, Failure> {
        let work = self.send_until_reply(request, after_loss);
        timeout(ENDS, work).await.map_err(|_| Failure::Late(ENDS))?
    }

    async fn send_until_reply(
        self: &Arc<Self>,
        mut request: Request,
        mut after_loss: AfterLoss,
    ) -> Result<Reply, Failure> {
        let (mut is_second, mut way) = (false, Way::default());
        loop {
            let live = self.live().await?;
            let failure = match live.attempt(&request, &way).await {
                Ok(value) => {
                    self.lock().breaker.succeeded();
                    return Ok(Reply { value, is_second });
                }
                Err(failure) => failure,
            };
            self.failed(&failure, Some(&live));
            way.asking = failure.server_to_ask();
            match failure.verdict() {
                Verdict::Unsent => {}
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
        Ok(self.live().await?.connection.clone())
    }

    /// Closes the connection, as after a failure of it.
    pub(crate) fn disconnect(&self) {
        let live = self.lock().live.take();
        live.iter().for_each(|live| live.pushes.close());
    }

    /// How long the database is left alone.
    pub(crate) fn pause(&self) -> Option<Duration> {
        Some(self.lock().breaker.pause(Instant::now())?.left)
    }

    async fn live(self: &Arc<Self>) -> Result<Arc<Live>, Failure> {
        if let Some(live) = self.found()? {
            return Ok(live);
        }
        // One connects, and the others wait for it.
        let turn = self.connecting.clone().lock_owned().await;
        if let Some(live) = self.found()? {
            return Ok(live);
        }
        let link = self.clone();
        // A task of its own: it ends even if the operation that needs it does not wait so long. Until
        // then it has the turn, because a second connection would replace the first.
        let connecting = self.runtime.spawn(async move {
            let _turn = turn;
            link.connect().await
        });
        let ended = |_| Failure::Unfit("the runtime of the store has ended".to_owned());
        connecting.await.map_err(ended)?
    }

    fn found(&self) -> Result<Option<Arc<Live>>, Failure> {
        let state = self.lock();
        match state.breaker.pause(Instant::now()) {
            Some(pause) => Err(Failure::Pause(pause)),
            None => Ok(state.live.clone().filter(|live| live.pushes.is_open())),
        }
    }

    async fn connect(&self) -> Result<Arc<Live>, Failure> {
        match self.server.connect(&self.handler).await {
            Ok((connection, pushes)) => {
                let durability = self.is_confirmed.then(|| self.server.durability());
                let confirmation = durability.and_then(Confirmation::of).map(Arc::new);
                let batches = match &connection {
                    Connection::Single(single) => {
                        Some(Batches::new(single, confirmation.clone(), &self.runtime))
                    }
                    Connection::Cluster(_) => None,
                };
                let has_failed = AtomicBool::new(false);
                let live = Live { connection, batches, confirmation, pushes, has_failed };
                let live = Arc::new(live);
                self.lock().live = Some(live.clone());
                Ok(live)
            }
            Err(failure) => {
                self.failed(&failure, None);
                Err(failure)
            }
        }
    }

    /// Counts a failure, and gives up a connection that is of no use. All operations that fail with one
    /// connection are one failure.
    fn failed(&self, failure: &Failure, live: Option<&Arc<Live>>) {
        let is_same = |now: &mut Arc<Live>| live.is_some_and(|live| Arc::ptr_eq(live, now));
        let ends = failure.ends_connection();
        let was_counted = |live: &Arc<Live>| ends && live.has_failed.swap(true, Ordering::Relaxed);
        let given_up = {
            let mut state = self.lock();
            if failure.is_outage() && !live.is_some_and(was_counted) {
                state.breaker.failed(Instant::now(), &failure.reason(), jitter());
            }
            if ends { state.live.take_if(is_same) } else { None }
        };
        given_up.iter().for_each(|live| live.pushes.close());
    }

    /// No code under the lock can panic halfway, so the state is valid even if the lock is poisoned.
    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Live {
    async fn attempt(&self, request: &Request, way: &Way) -> Result<Value, Failure> {
        let command = request.command(way.is_whole);
        if let Some(batches) = &self.batches {
            return batches.ask(command).await;
        }
        let asked = timeout(REPLY, self.ask_cluster(command, way.asking.as_deref())).await;
        asked.unwrap_or(Err(Failure::Late(REPLY)))
    }

    async fn ask_cluster(&self, command: Cmd, asking: Option<&str>) -> Result<Value, Failure> {
        if self.confirmation.is_none() && asking.is_none() {
            return Ok(self.connection.ask(&command).await?);
        }
        let mut commands = Pipeline::new();
        commands.add_command(command);
        if let Some(confirmation) = &self.confirmation {
            confirmation.follow(&mut commands);
        }
        let mut replies = self.connection.ask_together(&commands, asking).await?.into_iter();
        let reply = replies.next().unwrap_or(Value::Nil);
        if let Some(confirmation) = &self.confirmation {
            confirmation.check(replies.next())?;
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
