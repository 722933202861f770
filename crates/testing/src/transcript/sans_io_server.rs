//! A server on a sans-IO connection: no transport, and its calls are polled here.
//!
//! It is the smallest driver there is: it polls calls by hand and moves messages between them and
//! the connection. Since nothing runs at the same time, each play has one outcome.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bowline_proto::codec::lines::LineReader;
use bowline_proto::request::{Access, ExchangeId, Owner, Request, Response};
use bowline_proto::server::{Attached, ServerConnection, ServerEvent};
use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tower_service::Service;

use super::side_under_test::{Output, SideUnderTest};
use crate::outgoing_queue::OutgoingQueue;
use crate::server_under_test::ServerUnderTest;

/// How many polls without effect mean that the server is idle. More than one, because a call may wait
/// for a task that it spawned.
const QUIET: usize = 4;

/// A server on a sans-IO connection. Needs a runtime with paused time.
pub(crate) struct SansIoServer {
    /// The code under test.
    connection: ServerConnection,
    lines: LineReader,
    server: ServerUnderTest,
    /// In the order of arrival, so that each play polls them in the same order.
    calls: BTreeMap<ExchangeId, Running>,
    mailbox: Arc<OutgoingQueue>,
    /// Whether a call was woken since it was polled last.
    woken: Arc<Woken>,
    outputs: VecDeque<String>,
    /// Set at the end of input: when running calls are dropped.
    drain: Option<Instant>,
}

type Running = BoxFuture<'static, Response>;

impl SansIoServer {
    pub(crate) fn new(server: ServerUnderTest) -> Self {
        let config = server.config().clone();
        let mailbox = Arc::new(OutgoingQueue::new(config.limits().outbox));
        let attached = Attached { access: Access::everything(), ..Attached::default() };
        Self {
            lines: LineReader::new(config.limits().frame),
            connection: ServerConnection::new(config, Owner::anonymous(), mailbox.clone())
                .with_attached(attached),
            server,
            calls: BTreeMap::new(),
            mailbox,
            woken: Arc::default(),
            outputs: VecDeque::new(),
            drain: None,
        }
    }

    /// Handles the end of input: running calls have until `Limits::drain`.
    async fn end_of_input(&mut self) {
        self.connection.end_of_input();
        self.drain = Some(Instant::now() + self.server.config().limits().drain);
        self.settle().await;
    }

    /// Handles the timeouts that are due.
    fn handle_timeout(&mut self) {
        self.connection.handle_timeout(now());
        if self.drain.is_some_and(|drain| drain <= Instant::now()) {
            self.connection.close();
            self.drain = None;
        }
    }

    /// Polls the calls until the server is idle.
    async fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < QUIET {
            let happened = poll_fn(|cx| Poll::Ready(self.poll(cx))).await;
            quiet = if happened || self.woken.take() { 0 } else { quiet + 1 };
            yield_now().await;
        }
    }

    /// Polls every call once; returns whether anything happened.
    fn poll(&mut self, cx: &mut Context<'_>) -> bool {
        let mut happened = self.work(cx);
        let waker = self.woken.clone().waker(cx);
        let numbers: Vec<_> = self.calls.keys().copied().collect();
        for number in numbers {
            let Some(call) = self.calls.get_mut(&number) else { continue };
            if let Poll::Ready(response) = call.as_mut().poll(&mut Context::from_waker(&waker)) {
                self.calls.remove(&number);
                self.complete(number, response);
                happened = true;
            }
            happened |= self.work(cx);
        }
        happened
    }

    /// Handles the connection's events and outgoing messages; returns whether there were any.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let mut happened = self.collect();
        while let Some(event) = self.connection.poll_event() {
            happened = true;
            match event {
                ServerEvent::Call(request) => self.start(*request, cx),
                ServerEvent::Cancelled(number) => {
                    self.calls.remove(&number);
                }
            }
        }
        while let Some(transmit) = self.connection.poll_transmit() {
            happened = true;
            self.outputs.push_back(String::from_utf8_lossy(&transmit.frame).into_owned());
        }
        happened
    }

    /// Polls the call once at its start, as drivers do.
    fn start(&mut self, request: Request, cx: &mut Context<'_>) {
        let number = request.parts.exchange;
        let answer = self.server.call(request);
        let mut call: Running = Box::pin(async move {
            let Ok(response) = answer.await;
            response
        });
        let waker = self.woken.clone().waker(cx);
        match call.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(response) => self.complete(number, response),
            Poll::Pending => {
                self.calls.insert(number, call);
            }
        }
    }

    /// Passes the response of a call to the connection, after the messages that the call sent before.
    fn complete(&mut self, number: ExchangeId, response: Response) {
        self.collect();
        self.connection.complete(number, response);
    }

    /// Passes the messages of calls to the connection.
    fn collect(&mut self) -> bool {
        let messages = self.mailbox.take();
        let happened = !messages.is_empty();
        for (number, outgoing) in messages {
            self.connection.emit(number, outgoing, now());
        }
        happened
    }

    /// Hands the complete lines to the connection, one by one.
    fn receive(&mut self) {
        while let Some(unit) = self.lines.next() {
            self.connection.receive(unit, now());
        }
    }
}

impl SideUnderTest for SansIoServer {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.lines.buffer().extend_from_slice(bytes);
        self.receive();
        self.settle().await;
        Ok(())
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        if action != "stop" {
            return Err(format!("unknown action `{action}`; a server can `stop`"));
        }
        self.connection.end_subscriptions();
        self.end_of_input().await;
        Ok(())
    }

    /// Goes from one timeout or wake-up to the next, since a handler that sleeps has its own
    /// timers.
    async fn advance(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until {
            self.settle().await;
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            let next = [timeout, self.drain].into_iter().flatten().fold(until, Instant::min);
            let woken = self.woken.clone();
            tokio::select! {
                biased;
                () = poll_fn(|cx| woken.poll(cx)) => {}
                () = sleep_until(next) => self.handle_timeout(),
            }
        }
        self.settle().await;
    }

    async fn close(&mut self) -> Result<(), String> {
        if let Some(unit) = self.lines.finish() {
            self.connection.receive(unit, now());
        }
        self.end_of_input().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Output) -> bool) -> Option<Output> {
        self.outputs.pop_front().map(Output::Message)
    }

    async fn try_next(&mut self) -> Option<Output> {
        self.next(|_| true).await
    }

    async fn finish(&mut self) -> Result<Vec<Output>, String> {
        self.close().await?;
        self.advance(self.server.config().limits().drain).await;
        Ok(self.outputs.drain(..).map(Output::Message).collect())
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Set when a call wants to be polled.
#[derive(Default)]
struct Woken {
    flag: AtomicBool,
    player: Mutex<Option<Waker>>,
}

impl Woken {
    /// A waker for calls, which also wakes the task that plays the transcript.
    fn waker(self: Arc<Self>, cx: &Context<'_>) -> Waker {
        *self.player() = Some(cx.waker().clone());
        self.into()
    }

    fn take(&self) -> bool {
        self.flag.swap(false, Ordering::AcqRel)
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<()> {
        *self.player() = Some(cx.waker().clone());
        if self.flag.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending }
    }

    fn player(&self) -> MutexGuard<'_, Option<Waker>> {
        lock(&self.player)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.flag.store(true, Ordering::Release);
        if let Some(player) = self.player().take() {
            player.wake();
        }
    }
}
