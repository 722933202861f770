//! The task behind a connection: moves messages between the transport, the links and the host.
//!
//! A connection has one driver and any number of links. The driver alone touches the
//! [`ClientConnection`], so nothing is locked. It ends when the last link is dropped, when a link
//! closes it, when the negotiation fails, or when the server is gone and is not started again.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bowline_proto::client::{
    AskId, CallAnswer, CallError, ClientConfig, ClientConnection, ClientEvent, Delivery,
    ServerProfile,
};
use bowline_proto::limits::Limits;
use bowline_proto::request::ExchangeId;
use bowline_proto::sync::{Panicked, poll_once};
use bowline_proto::table::hash::CountedKeys;
use bowline_proto::transmit::Transmit;
use bowline_types::deprecated::logging::LogMessageParams;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, Sleep, sleep_until};

use super::error::ConnectError;
use super::host::{CallObserver, Host};
use super::link::{Command, WaitingCall};
use crate::calls::Calls;
use crate::clock::now;
use crate::error::Error;
use crate::transport::{Reader, Renewal, Transport, Writer};

/// With this many messages to write, the driver writes before it reads on.
const BATCH: usize = 64;

/// How long the last messages may take to be written when a connection ends.
const LAST_WRITE: Duration = Duration::from_millis(100);

/// Drives one [`ClientConnection`]. Moved into its task by `connect`.
pub(super) struct Driver {
    pub(super) connection: ClientConnection,
    pub(super) host: Arc<dyn Host>,
    /// The calls that wait for their answers.
    callers: HashMap<ExchangeId, WaitingCall, CountedKeys>,
    /// Observers of calls that were answered with a task, and whose callers wait for its end.
    awaiting_tasks: HashMap<ExchangeId, Box<dyn CallObserver>, CountedKeys>,
    /// Questions that the host is answering.
    answers: Calls<AskId, Result<RawJson, ErrorObject>>,
    /// Messages that the writer has not taken yet. Emptied when the channel is replaced.
    pub(super) queue: VecDeque<Transmit>,
    /// Why the client gave up the connection, after both sides had agreed.
    pub(super) given_up: Option<Error>,
    /// Where the outcome of the negotiation goes; `None` once it was sent.
    ready: Option<oneshot::Sender<Result<Arc<ServerProfile>, ConnectError>>>,
}

/// The two halves of a transport, and how to open it again. Replaced as a whole when the server is
/// started again.
pub(super) struct Channel<T: Transport> {
    pub(super) reader: T::Reader,
    pub(super) writer: T::Writer,
    pub(super) renewal: Option<Box<dyn Renewal<T>>>,
    pub(super) limits: Limits,
}

/// How the use of a channel ended. Only the second may lead to another channel.
enum End {
    /// By the client: every link was dropped, the user closed it, negotiation failed, or the client
    /// gave it up for a reason that the driver keeps.
    Client,
    /// By the server, or the channel broke.
    Server(Option<Error>),
}

/// What woke the driver.
enum Woken<A> {
    Read(Result<Option<A>, Error>),
    Written(Result<(), Error>),
    Command(Option<Command>),
    Answered(AskId, Result<Result<RawJson, ErrorObject>, Panicked>),
    Timeout,
}

impl Driver {
    pub(super) fn new(
        config: Arc<ClientConfig>,
        host: Arc<dyn Host>,
        ready: oneshot::Sender<Result<Arc<ServerProfile>, ConnectError>>,
    ) -> Self {
        Self {
            connection: ClientConnection::new(config),
            host,
            callers: HashMap::default(),
            awaiting_tasks: HashMap::default(),
            answers: Calls::new(),
            queue: VecDeque::new(),
            given_up: None,
            ready: Some(ready),
        }
    }

    /// Drives the connection to its end, over a new channel whenever the transport can be renewed.
    pub(super) async fn drive<T: Transport>(
        mut self,
        mut channel: Channel<T>,
        mut inbox: mpsc::UnboundedReceiver<Command>,
        end: watch::Sender<Option<Arc<Error>>>,
    ) {
        self.connection.begin(now());
        let error = loop {
            let Channel { reader, writer, .. } = &mut channel;
            let lost = match self.run(reader, writer, &mut inbox).await {
                End::Client => break self.given_up.take(),
                End::Server(error) => error,
            };
            if let Err(error) = self.renew(&mut channel, lost, &mut inbox).await {
                break error;
            }
        };
        self.finish(channel.writer, error, inbox, end).await;
    }

    /// Ends everything: fails the calls in flight, writes the last messages, closes the transport.
    ///
    /// The order: the reason is stored, calls fail and find it, the last messages get a short time,
    /// the transport closes. If the channel closed before the agreement, the caller of `connect`
    /// gets that error last.
    async fn finish(
        mut self,
        mut writer: impl Writer,
        mut error: Option<Error>,
        mut inbox: mpsc::UnboundedReceiver<Command>,
        end: watch::Sender<Option<Arc<Error>>>,
    ) {
        // Stored before any call fails, so that its caller finds the reason.
        if self.is_negotiated() {
            end.send_replace(error.take().map(Arc::new));
        }
        inbox.close();
        self.connection.close();
        while let Some(event) = self.connection.poll_event() {
            self.handle(event);
        }
        self.callers.clear();
        self.awaiting_tasks.clear();
        // Cancellations that are still queued may spare the server some work.
        let _ = tokio::time::timeout(LAST_WRITE, writer.write(&mut self.queue)).await;
        writer.close().await;
        if let Some(ready) = self.ready.take() {
            // Sent last: without a link, the caller of `connect` cannot wait for the cleanup.
            let _ = ready.send(Err(ConnectError::Closed(error.unwrap_or_else(Error::closed))));
        }
    }

    /// Drives the connection over one channel. Ends with the channel; the connection may go on over
    /// another one.
    async fn run<R: Reader, W: Writer>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> End {
        let mut writing = false;
        let mut alarm = pin!(sleep_until(Instant::now()));
        let mut is_registered = false;
        loop {
            if !self.handle_all() {
                return End::Client;
            }
            while let Some(transmit) = self.connection.poll_transmit() {
                self.queue.push_back(transmit);
            }
            writing |= !self.queue.is_empty();
            let room = self.queue.len() < BATCH;
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            // Reset only if it would fire too late. If it fires too early, nothing is due yet.
            if let Some(at) = timeout.filter(|at| alarm.is_elapsed() || *at < alarm.deadline()) {
                alarm.as_mut().reset(at);
                is_registered = false;
            }
            // Polled in random order, so that neither side can starve the other.
            let woken = tokio::select! {
                read = reader.read(), if room => Woken::Read(read),
                command = inbox.recv(), if room => Woken::Command(command),
                (ask, answer) = self.answers.next() => Woken::Answered(ask, answer),
                written = writer.write(&mut self.queue), if writing => Woken::Written(written),
                () = fire(alarm.as_mut(), &mut is_registered), if timeout.is_some() => Woken::Timeout,
            };
            match woken {
                Woken::Read(read) => match self.receive(read, reader).await {
                    Ok(true) => {}
                    Ok(false) => return End::Server(None),
                    Err(error) => return End::Server(Some(error)),
                },
                Woken::Written(Ok(())) => writing = false,
                Woken::Written(Err(error)) => return End::Server(Some(error)),
                Woken::Command(command) => {
                    if !self.command_all(command, inbox) {
                        return End::Client;
                    }
                }
                Woken::Answered(ask, answer) => self.answer(ask, answer),
                Woken::Timeout => self.connection.handle_timeout(now()),
            }
        }
    }

    /// Handles a message and those that arrived with it, since one turn of the loop costs more than
    /// a message; returns whether the peer is still there.
    async fn receive<R: Reader>(
        &mut self,
        mut read: Result<Option<R::Item>, Error>,
        reader: &mut R,
    ) -> Result<bool, Error> {
        let (mut taken, now) = (0, now());
        loop {
            let Some(arrived) = read? else { return Ok(false) };
            let delivery: Delivery = arrived.into();
            self.connection.receive(delivery, now);
            taken += 1;
            // Checked before the next read, because a message that was read has to be handled.
            if taken == BATCH {
                return Ok(true);
            }
            match poll_once(&mut pin!(reader.read())).await {
                Poll::Ready(next) => read = next,
                Poll::Pending => return Ok(true),
            }
        }
    }

    /// Obeys a command and those that wait behind it; returns whether to go on. `None` means that
    /// every link was dropped.
    fn command_all(
        &mut self,
        first: Option<Command>,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> bool {
        let waiting = std::iter::from_fn(|| inbox.try_recv().ok()).take(BATCH);
        let now = now();
        first.is_some_and(|first| {
            std::iter::once(first).chain(waiting).all(|command| self.command(command, now))
        })
    }

    /// Obeys a command of a link; returns whether to go on.
    pub(super) fn command(&mut self, command: Command, now: std::time::Instant) -> bool {
        match command {
            Command::Call(number, request, caller) => {
                self.callers.insert(number, caller);
                self.connection.call(number, *request, now);
            }
            Command::Cancel(number) => {
                let was_answered = self.awaiting_tasks.remove(&number).is_some();
                if self.callers.remove(&number).is_some() || was_answered {
                    self.connection.cancel(number, "the caller does not want the answer any more");
                }
            }
            Command::CancelTask(id) => self.connection.cancel_task(&id),
            Command::Notify(method, params) => self.connection.notify(method, &params),
            Command::ClearCache => self.connection.clear_cache(),
            Command::Close => return false,
        }
        true
    }

    /// Handles all events of the connection; returns whether to go on.
    pub(super) fn handle_all(&mut self) -> bool {
        while let Some(event) = self.connection.poll_event() {
            let goes_on = self.handle(event);
            if !goes_on {
                return false;
            }
        }
        true
    }

    /// Handles an event of the connection; returns whether to go on. A caller that has gone away in
    /// the meantime is ignored.
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
                    let reason = error.to_string();
                    self.host.diagnostic(&reason);
                    self.given_up = Some(Error::given_up(reason));
                }
                return false;
            }
            ClientEvent::Answered(number, outcome) => self.answered(number, outcome),
            ClientEvent::Progress(number, progress) => {
                if let Some(observer) = self.observer(number) {
                    observer.progress(progress);
                }
            }
            ClientEvent::Change(number, change) => {
                match number.and_then(|number| self.observer(number)) {
                    Some(observer) => observer.change(change),
                    None => self.host.changed(change),
                }
            }
            ClientEvent::Log(number, message) => self.log(number, message),
            ClientEvent::Ask(ask, number, question) => self.ask(ask, number, *question),
            ClientEvent::AskAboutTask(ask, request) => {
                let answer = self.host.answer_about_task(request);
                if let Some(answer) = self.answers.start(ask, answer) {
                    self.answer(ask, answer);
                }
            }
            ClientEvent::AskCancelled(ask) => self.answers.abort(ask),
            ClientEvent::ElicitationComplete(name) => self.host.elicitation_complete(&name),
            ClientEvent::TaskChanged(id) => self.host.task_changed(&id),
            ClientEvent::Notification(method, params) => self.host.notified(method, &params),
            ClientEvent::Renewed => self.host.renewed(),
            ClientEvent::Diagnostic(what) => self.host.diagnostic(&what),
        }
        true
    }

    /// Passes a log message to the observer of its call, or to the host.
    fn log(&mut self, number: Option<ExchangeId>, message: LogMessageParams) {
        let unheard = match number.and_then(|number| self.observer(number)) {
            Some(observer) => observer.log(message),
            None => Err(message),
        };
        if let Err(message) = unheard {
            self.host.log(message);
        }
    }

    /// Puts a question to the observer of its call, or to the host.
    fn ask(&mut self, ask: AskId, number: Option<ExchangeId>, question: InputRequest) {
        let taken = match number.and_then(|number| self.observer(number)) {
            Some(observer) => observer.ask(question),
            None => Err(question),
        };
        let answer = taken.unwrap_or_else(|question| self.host.answer(question));
        if let Some(answer) = self.answers.start(ask, answer) {
            self.answer(ask, answer);
        }
    }

    /// Whether client and server have agreed, so that links exist.
    pub(super) fn is_negotiated(&self) -> bool {
        self.ready.is_none()
    }

    /// Hands in the host's answer to a question.
    fn answer(&mut self, ask: AskId, answer: Result<Result<RawJson, ErrorObject>, Panicked>) {
        let panicked = |Panicked| Err(ErrorObject::internal("the client failed while it answered"));
        self.connection.answer(ask, answer.unwrap_or_else(panicked), now());
    }

    /// Passes an answer to its caller. A caller that got a task may wait for the end of it; until
    /// then its observer is kept.
    fn answered(&mut self, number: ExchangeId, outcome: Result<CallAnswer, CallError>) {
        let Some(WaitingCall { answer, observer }) = self.callers.remove(&number) else { return };
        let is_task = outcome.as_ref().is_ok_and(CallAnswer::is_task);
        let is_awaited = answer.send(outcome).is_ok();
        if let Some(observer) = observer.filter(|_| is_task && is_awaited) {
            self.awaiting_tasks.insert(number, observer);
        }
    }

    /// The observer of a call that has one.
    fn observer(&mut self, number: ExchangeId) -> Option<&mut Box<dyn CallObserver>> {
        match self.callers.get_mut(&number) {
            Some(caller) => caller.observer.as_mut(),
            None => self.awaiting_tasks.get_mut(&number),
        }
    }
}

/// Waits for a timer. Polls it only once until it has elapsed, since a registered timer wakes the
/// task by itself.
async fn fire(mut alarm: Pin<&mut Sleep>, is_registered: &mut bool) {
    poll_fn(|cx| match std::mem::replace(is_registered, true) && !alarm.is_elapsed() {
        true => Poll::Pending,
        false => alarm.as_mut().poll(cx),
    })
    .await;
}
