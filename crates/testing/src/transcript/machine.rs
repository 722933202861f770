//! A server as a machine: its connection without any channel, its calls polled by hand.

use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use bowline_proto::codec::lines::LineReader;
use bowline_proto::request::{ExchangeId, Owner, Request, Response};
use bowline_proto::server::{Event, ServerConnection};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};
use tower_service::Service;

use super::stage::{Heard, Stage};
use crate::mailbox::Mailbox;
use crate::subject::Subject;

/// How often everything is polled without any effect before it counts as quiet. More than once,
/// because a task that runs beside the calls may have to run first.
const QUIET: usize = 4;

/// A server as a machine. Wants a runtime with paused time around it.
pub(crate) struct Machine {
    connection: ServerConnection,
    lines: LineReader,
    subject: Subject,
    calls: BTreeMap<ExchangeId, Running>,
    mailbox: Arc<Mailbox>,
    woken: Arc<Woken>,
    heard: VecDeque<String>,
    /// Set once no more input will come: until when calls may still run.
    drain: Option<Instant>,
}

type Running = Pin<Box<dyn Future<Output = Response> + Send>>;

impl Machine {
    pub(crate) fn new(subject: Subject) -> Self {
        let config = subject.config().clone();
        let mailbox = Arc::new(Mailbox::new(config.limits().outbox));
        Self {
            lines: LineReader::new(config.limits().frame),
            connection: ServerConnection::new(config, Owner::anonymous(), mailbox.clone()),
            subject,
            calls: BTreeMap::new(),
            mailbox,
            woken: Arc::default(),
            heard: VecDeque::new(),
            drain: None,
        }
    }

    /// No more input will come: what runs may go on for a moment.
    async fn end_of_input(&mut self) {
        self.connection.end_of_input();
        self.drain = Some(Instant::now() + self.subject.config().limits().drain);
        self.settle().await;
    }

    /// Does what is due by now.
    fn handle_timeout(&mut self) {
        self.connection.handle_timeout(now());
        if self.drain.is_some_and(|drain| drain <= Instant::now()) {
            self.connection.close();
            self.drain = None;
        }
    }

    /// Lets everything happen that happens by itself.
    async fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < QUIET {
            let happened = poll_fn(|cx| Poll::Ready(self.poll(cx))).await;
            quiet = if happened || self.woken.take() { 0 } else { quiet + 1 };
            yield_now().await;
        }
    }

    /// Polls every call once; gives whether anything came of it.
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

    /// Does what the connection wants done; gives whether there was anything.
    fn work(&mut self, cx: &mut Context<'_>) -> bool {
        let mut happened = self.collect();
        while let Some(event) = self.connection.poll_event() {
            happened = true;
            match event {
                Event::Call(request) => self.start(*request, cx),
                Event::Cancelled(number) => {
                    self.calls.remove(&number);
                }
            }
        }
        while let Some(transmit) = self.connection.poll_transmit() {
            happened = true;
            self.heard.push_back(String::from_utf8_lossy(&transmit.frame).into_owned());
        }
        happened
    }

    fn start(&mut self, request: Request, cx: &mut Context<'_>) {
        let number = request.parts.exchange;
        let answer = self.subject.call(request);
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

    /// Hands in the answer of a call, after everything that the call said before.
    fn complete(&mut self, number: ExchangeId, response: Response) {
        self.collect();
        self.connection.complete(number, response);
    }

    /// Hands in what calls said.
    fn collect(&mut self) -> bool {
        let said = self.mailbox.take();
        let happened = !said.is_empty();
        for (number, outgoing) in said {
            self.connection.emit(number, outgoing, now());
        }
        happened
    }

    fn receive(&mut self) {
        while let Some(unit) = self.lines.next() {
            self.connection.receive(unit, now());
        }
    }
}

impl Stage for Machine {
    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.lines.buffer().extend_from_slice(bytes);
        self.receive();
        self.settle().await;
        Ok(())
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        if action != "stop" {
            return Err(format!("nobody knows how to `{action}`; a server can `stop`"));
        }
        self.connection.end_subscriptions();
        self.end_of_input().await;
        Ok(())
    }

    async fn pass(&mut self, time: Duration) {
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

    async fn end(&mut self) -> Result<(), String> {
        if let Some(unit) = self.lines.finish() {
            self.connection.receive(unit, now());
        }
        self.end_of_input().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        self.heard.pop_front().map(Heard::Message)
    }

    async fn spare(&mut self) -> Option<Heard> {
        self.next(|_| true).await
    }

    async fn finish(&mut self) -> Result<Vec<Heard>, String> {
        self.end().await?;
        self.pass(self.subject.config().limits().drain).await;
        Ok(self.heard.drain(..).map(Heard::Message).collect())
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

/// Whether a call wants to be polled.
#[derive(Default)]
struct Woken {
    flag: AtomicBool,
    player: Mutex<Option<Waker>>,
}

impl Woken {
    /// A waker for calls, which also wakes whoever plays.
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
        self.player.lock().unwrap_or_else(PoisonError::into_inner)
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
