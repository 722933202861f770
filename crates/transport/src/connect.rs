//! Drives a [`ClientConnection`] over a transport, and hands out the handle to call through.

mod error;
mod renew;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::client::{
    AskId, CallAnswer, CallError, CallRequest, ClientConfig, ClientConnection, ClientEvent,
    ServerProfile,
};
use bowline_proto::codec::lines::Unit;
use bowline_proto::request::{Change, ExchangeId};
use bowline_proto::table::hash::CountedKeys;
use bowline_proto::transmit::Transmit;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

pub use self::error::ConnectError;
use self::renew::{Channel, Renewed};
use crate::calls::{BoxFuture, Calls, Panicked};
use crate::error::Error;
use crate::transport::{Reader, Transport, Writer};

/// Messages that may wait to be written before we write instead of reading on.
const BATCH: usize = 64;

/// How long the last messages may take to be written when a connection ends.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Whoever uses the client, as the server sees it.
pub trait Host: Send + Sync + 'static {
    /// Both sides agree; told before anything else.
    fn met(&self, _server: &ServerProfile) {}

    /// Answers a question of the server's. Dropped if the server takes the question back.
    fn answer(&self, question: InputRequest) -> BoxFuture<Result<RawJson, ErrorObject>>;

    /// The server logs something.
    fn log(&self, _message: LogMessageParams) {}

    /// Something changed on the server.
    fn changed(&self, _change: Change) {}

    /// The user is done with a page that the server sent them to, under the name that the server
    /// gave it.
    fn elicitation_complete(&self, _name: &str) {}

    /// The server had lost the session or was started again, and a new session stands in its place:
    /// what was set on the old one has to be set again.
    fn renewed(&self) {}

    /// The server did something that it should not; worth a line in a log.
    fn odd(&self, _what: &str) {}
}

/// A connection to one server; cheap to clone. The connection ends when the last clone is dropped.
#[derive(Clone)]
pub struct Link(Arc<Handle>);

/// What all clones of a link share.
struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    /// Of the last call.
    number: AtomicU64,
    profile: Arc<ServerProfile>,
    ended: watch::Receiver<Option<Arc<Error>>>,
}

enum Command {
    Call(ExchangeId, Box<CallRequest>, Caller),
    Cancel(ExchangeId),
    Notify(Method, Object),
    Close,
}

/// Who waits for a call of ours.
struct Caller {
    answer: oneshot::Sender<Result<CallAnswer, CallError>>,
    listener: Option<Box<dyn Listener>>,
}

/// Hears what belongs to one call before its answer.
pub trait Listener: Send + 'static {
    /// The call has come further.
    fn progress(&mut self, _progress: ProgressParams) {}

    /// The subscription reports a change.
    fn change(&mut self, _change: Change) {}
}

/// Opens the talk over a transport, and resolves when both sides agree.
///
/// The connection is driven by a task of the current Tokio runtime.
///
/// # Errors
///
/// If the channel breaks first, or the two have no revision in common.
pub async fn connect<T: Transport>(
    transport: T,
    config: Arc<ClientConfig>,
    host: Arc<dyn Host>,
) -> Result<Link, ConnectError> {
    let config = match T::MIRRORS && !config.mirrors() {
        true => Arc::new(ClientConfig::clone(&config).with_mirrors()),
        false => config,
    };
    let limits = config.limits().clone();
    let renewal = transport.renewal();
    let (reader, writer) = transport.split(&limits);
    let (commands, inbox) = mpsc::unbounded_channel();
    let (ready, agreed) = oneshot::channel();
    let (end, ended) = watch::channel(None);
    let driver = Driver {
        connection: ClientConnection::new(config),
        host,
        callers: HashMap::default(),
        answers: Calls::new(),
        queue: VecDeque::new(),
        ready: Some(ready),
    };
    let channel = Channel::<T> { reader, writer, renewal, limits };
    tokio::spawn(driver.drive(channel, inbox, end));
    // The driver always says how first contact ended before it lets go of this channel.
    let profile = agreed.await.unwrap_or(Err(ConnectError::Closed(Error::closed())))?;
    Ok(Link(Arc::new(Handle { commands, number: AtomicU64::new(0), profile, ended })))
}

impl Link {
    /// What is known of the server.
    pub fn profile(&self) -> &Arc<ServerProfile> {
        &self.0.profile
    }

    /// Makes a call. Dropping the returned future cancels it.
    pub fn call(
        &self,
        request: impl Into<Box<CallRequest>>,
        listener: Option<Box<dyn Listener>>,
    ) -> Call {
        let number = ExchangeId(self.0.number.fetch_add(1, Ordering::Relaxed) + 1);
        let (sender, answer) = oneshot::channel();
        let caller = Caller { answer: sender, listener };
        // If the driver is gone, the caller is dropped here and the call fails as closed.
        let _ = self.0.commands.send(Command::Call(number, request.into(), caller));
        Call { answer, cancel: Some((number, self.clone())) }
    }

    /// Sends a notification.
    pub fn notify(&self, method: Method, params: Object) {
        let _ = self.0.commands.send(Command::Notify(method, params));
    }

    /// Ends the connection, and waits until the transport has let go of what it held. Calls in
    /// flight fail.
    pub async fn close(&self) {
        let _ = self.0.commands.send(Command::Close);
        self.closed().await;
    }

    /// Waits until the connection has ended, and says why if it broke.
    pub async fn closed(&self) -> Option<Arc<Error>> {
        let mut ended = self.0.ended.clone();
        // The sender is dropped when everything is over; until then it only notes an error.
        while ended.changed().await.is_ok() {}
        ended.borrow().clone()
    }

    /// Why the connection broke, if it did and that is known already.
    pub fn failure(&self) -> Option<Arc<Error>> {
        self.0.ended.borrow().clone()
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.0.commands.is_closed()
    }

    /// The same without holding the connection open.
    pub fn downgrade(&self) -> WeakLink {
        WeakLink(Arc::downgrade(&self.0))
    }
}

/// A [`Link`] that does not hold its connection open.
#[derive(Clone)]
pub struct WeakLink(Weak<Handle>);

impl WeakLink {
    /// The link, if anybody still holds one.
    pub fn upgrade(&self) -> Option<Link> {
        self.0.upgrade().map(Link)
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("profile", self.profile()).finish_non_exhaustive()
    }
}

impl fmt::Debug for WeakLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WeakLink")
    }
}

/// A call in flight.
pub struct Call {
    answer: oneshot::Receiver<Result<CallAnswer, CallError>>,
    cancel: Option<(ExchangeId, Link)>,
}

impl Future for Call {
    type Output = Result<CallAnswer, CallError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = std::task::ready!(Pin::new(&mut self.answer).poll(cx));
        self.cancel = None;
        Poll::Ready(answer.unwrap_or(Err(CallError::Closed)))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some((number, link)) = self.cancel.take() {
            let _ = link.0.commands.send(Command::Cancel(number));
        }
    }
}

struct Driver {
    connection: ClientConnection,
    host: Arc<dyn Host>,
    callers: HashMap<ExchangeId, Caller, CountedKeys>,
    answers: Calls<AskId, Result<RawJson, ErrorObject>>,
    queue: VecDeque<Transmit>,
    /// Whoever waits for first contact.
    ready: Option<oneshot::Sender<Result<Arc<ServerProfile>, ConnectError>>>,
}

/// How a driver's turn at a channel ended.
enum End {
    /// We let go of it: every handle is gone, the user closed it, or there is no agreement.
    Ours,
    /// The server let go of it, or it broke.
    Theirs(Option<Error>),
}

/// What woke the driver.
enum Woken {
    Read(Result<Option<Unit>, Error>),
    Written(Result<(), Error>),
    Command(Option<Command>),
    Answered(AskId, Result<Result<RawJson, ErrorObject>, Panicked>),
    Timeout,
}

impl Driver {
    async fn drive<T: Transport>(
        mut self,
        mut channel: Channel<T>,
        mut inbox: mpsc::UnboundedReceiver<Command>,
        end: watch::Sender<Option<Arc<Error>>>,
    ) {
        self.connection.begin(now());
        let mut error = loop {
            let Channel { reader, writer, .. } = &mut channel;
            let lost = match self.run(reader, writer, &mut inbox).await {
                End::Ours => break None,
                End::Theirs(error) => error,
            };
            match self.renew(&mut channel, lost, &mut inbox).await {
                Renewed::Open => {}
                Renewed::Ended(error) => break error,
            }
        };
        let Channel { mut writer, .. } = channel;
        // Before any call fails, so that whoever made it can say why.
        if self.ready.is_none() {
            end.send_replace(error.take().map(Arc::new));
        }
        inbox.close();
        self.connection.close();
        while let Some(event) = self.connection.poll_event() {
            self.handle(event);
        }
        self.callers.clear();
        // Cancellations that are still queued may spare the server some work.
        let _ = tokio::time::timeout(LAST_WORDS, writer.write(&mut self.queue)).await;
        writer.close().await;
        if let Some(ready) = self.ready.take() {
            // Nobody has a handle, so nobody else will see to it that nothing is left behind.
            let _ = ready.send(Err(ConnectError::Closed(error.unwrap_or_else(Error::closed))));
        }
    }

    async fn run<R: Reader, W: Writer>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> End {
        let mut writing = false;
        let mut alarm = pin!(sleep_until(Instant::now()));
        let mut is_set = false;
        loop {
            if !self.handle_all() {
                return End::Ours;
            }
            while let Some(transmit) = self.connection.poll_transmit() {
                self.queue.push_back(transmit);
            }
            writing |= !self.queue.is_empty();
            let room = self.queue.len() < BATCH;
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            // Set anew only if it would ring too late; if it rings too early, nothing is over yet.
            if let Some(at) = timeout.filter(|at| alarm.is_elapsed() || *at < alarm.deadline()) {
                alarm.as_mut().reset(at);
                is_set = false;
            }
            // In no particular order, so that neither side can shut the other out.
            let woken = tokio::select! {
                read = reader.read(), if room => Woken::Read(read),
                command = inbox.recv(), if room => Woken::Command(command),
                (ask, answer) = self.answers.next() => Woken::Answered(ask, answer),
                written = writer.write(&mut self.queue), if writing => Woken::Written(written),
                () = ring(alarm.as_mut(), &mut is_set), if timeout.is_some() => Woken::Timeout,
            };
            match woken {
                Woken::Read(read) => match self.take_in(read, reader).await {
                    Ok(true) => {}
                    Ok(false) => return End::Theirs(None),
                    Err(error) => return End::Theirs(Some(error)),
                },
                Woken::Written(Ok(())) => writing = false,
                Woken::Written(Err(error)) => return End::Theirs(Some(error)),
                Woken::Command(Some(command)) => {
                    // A turn costs more than a command, so those that wait are taken with it.
                    let waiting = std::iter::from_fn(|| inbox.try_recv().ok()).take(BATCH);
                    let now = now();
                    for command in std::iter::once(command).chain(waiting) {
                        let goes_on = self.command(command, now);
                        if !goes_on {
                            return End::Ours;
                        }
                    }
                }
                // Every handle is gone.
                Woken::Command(None) => return End::Ours,
                Woken::Answered(ask, answer) => self.answer(ask, answer),
                Woken::Timeout => self.connection.handle_timeout(now()),
            }
        }
    }

    /// Takes a message, and those that have come with it, since a turn costs more than a message;
    /// gives whether to go on.
    async fn take_in<R: Reader>(
        &mut self,
        mut read: Result<Option<Unit>, Error>,
        reader: &mut R,
    ) -> Result<bool, Error> {
        let (mut taken, now) = (0, now());
        loop {
            let Some(unit) = read? else { return Ok(false) };
            self.connection.receive(unit, now);
            taken += 1;
            // What is read has to be taken.
            if taken == BATCH {
                return Ok(true);
            }
            match at_once(reader.read()).await {
                Some(next) => read = next,
                None => return Ok(true),
            }
        }
    }

    /// Does what a handle asks; gives whether to go on.
    fn command(&mut self, command: Command, now: std::time::Instant) -> bool {
        match command {
            Command::Call(number, request, caller) => {
                self.callers.insert(number, caller);
                self.connection.call(number, *request, now);
            }
            Command::Cancel(number) => {
                if self.callers.remove(&number).is_some() {
                    self.connection.cancel(number, "the caller does not want the answer any more");
                }
            }
            Command::Notify(method, params) => self.connection.notify(method, &params),
            Command::Close => return false,
        }
        true
    }

    /// Does all that the connection wants done; gives whether to go on.
    fn handle_all(&mut self) -> bool {
        while let Some(event) = self.connection.poll_event() {
            let goes_on = self.handle(event);
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Does what the connection wants done; gives whether to go on.
    fn handle(&mut self, event: ClientEvent) -> bool {
        match event {
            ClientEvent::Ready(profile) => {
                self.host.met(&profile);
                if let Some(ready) = self.ready.take() {
                    return ready.send(Ok(profile)).is_ok();
                }
            }
            ClientEvent::Failed(error) => {
                if let Some(ready) = self.ready.take() {
                    let _ = ready.send(Err(ConnectError::Negotiation(error)));
                } else {
                    self.host.odd(&error.to_string());
                }
                return false;
            }
            ClientEvent::Answered(number, outcome) => {
                if let Some(caller) = self.callers.remove(&number) {
                    let _ = caller.answer.send(outcome);
                }
            }
            ClientEvent::Progress(number, progress) => {
                if let Some(listener) = self.listener(number) {
                    listener.progress(progress);
                }
            }
            ClientEvent::Change(number, change) => {
                match number.and_then(|number| self.listener(number)) {
                    Some(listener) => listener.change(change),
                    None => self.host.changed(change),
                }
            }
            ClientEvent::Log(message) => self.host.log(message),
            ClientEvent::Ask(ask, question) => {
                let answer = self.host.answer(*question);
                if let Some(answer) = self.answers.start(ask, answer) {
                    self.answer(ask, answer);
                }
            }
            ClientEvent::AskCancelled(ask) => self.answers.abort(ask),
            ClientEvent::ElicitationComplete(name) => self.host.elicitation_complete(&name),
            ClientEvent::Renewed => self.host.renewed(),
            ClientEvent::Odd(what) => self.host.odd(&what),
        }
        true
    }

    fn answer(&mut self, ask: AskId, answer: Result<Result<RawJson, ErrorObject>, Panicked>) {
        let panicked = |Panicked| Err(ErrorObject::internal("the client failed while it answered"));
        self.connection.answer(ask, answer.unwrap_or_else(panicked), now());
    }

    fn listener(&mut self, number: ExchangeId) -> Option<&mut Box<dyn Listener>> {
        self.callers.get_mut(&number)?.listener.as_mut()
    }
}

/// Waits for an alarm. Once it is set it wakes us by itself, so it is not asked again before that.
async fn ring(mut alarm: Pin<&mut Sleep>, is_set: &mut bool) {
    poll_fn(|cx| match std::mem::replace(is_set, true) && !alarm.is_elapsed() {
        true => Poll::Pending,
        false => alarm.as_mut().poll(cx),
    })
    .await;
}

/// What a future gives if it is ready.
async fn at_once<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        Poll::Ready(match future.as_mut().poll(cx) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}
