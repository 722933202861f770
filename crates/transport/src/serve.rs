//! Drives a [`ServerConnection`] over a transport into a service.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::sync::Arc;

use bowline_proto::codec::lines::Unit;
use bowline_proto::request::{ExchangeId, Owner, Request, Response};
use bowline_proto::server::{ServerConfig, ServerConnection, ServerEvent};
use bowline_proto::transmit::Transmit;
use bowline_types::error::ErrorObject;
use tokio::time::{Instant, sleep_until};
use tower_service::Service;

use crate::calls::{BoxFuture, Calls, Panicked};
use crate::error::Error;
use crate::mailbox::{Mailbox, mailbox};
use crate::transport::{Reader, Transport, Writer};

/// Messages that may wait to be written before we write instead of reading on.
const BATCH: usize = 64;

/// Serves one client until it closes its end, or `stop` says so.
///
/// After the client has closed its end, calls may still run for [`Limits::drain`], so that
/// `printf … | server` gets its answers.
///
/// [`Limits::drain`]: bowline_proto::limits::Limits::drain
///
/// # Errors
///
/// If the channel breaks. A client that goes away is no error.
pub async fn serve<T, S>(
    transport: T,
    service: S,
    config: Arc<ServerConfig>,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), Error>
where
    T: Transport,
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let (mut reader, mut writer) = transport.split(config.limits());
    let mut driver = Driver::new(service, config);
    let outcome = driver.run(&mut reader, &mut writer, stop).await;
    driver.connection.close();
    writer.close().await;
    match outcome {
        Err(error) if !error.is_closed() => Err(error),
        _ => Ok(()),
    }
}

struct Driver<S> {
    connection: ServerConnection,
    service: S,
    calls: Calls<ExchangeId, Response>,
    mailbox: Mailbox,
    queue: VecDeque<Transmit>,
    config: Arc<ServerConfig>,
}

/// What woke the driver.
enum Woken {
    Read(Result<Option<Unit>, Error>),
    Written(Result<(), Error>),
    Ended(ExchangeId, Result<Response, Panicked>),
    Said((ExchangeId, bowline_proto::request::Outgoing)),
    Timeout,
    Drained,
    Stopped,
}

impl<S> Driver<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    fn new(service: S, config: Arc<ServerConfig>) -> Self {
        let (mailbox, slit) = mailbox(config.limits().outbox);
        Self {
            connection: ServerConnection::new(config.clone(), Owner::anonymous(), slit),
            service,
            calls: Calls::new(),
            mailbox,
            queue: VecDeque::new(),
            config,
        }
    }

    async fn run<R: Reader, W: Writer>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), Error> {
        let mut stop = std::pin::pin!(stop);
        let mut writing = false;
        // Set once no more input will come: until when calls may still run.
        let mut drain: Option<Instant> = None;
        loop {
            self.work();
            writing |= !self.queue.is_empty();
            if drain.is_some() && !writing && !self.connection.is_busy() {
                return Ok(());
            }
            let room = self.queue.len() < BATCH;
            let reads = drain.is_none() && room && self.connection.wants_input();
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            // In this order, what is there is read before anything is written, so that the answers
            // to many small requests become one write. Who floods us cannot keep us from stopping.
            let woken = tokio::select! {
                biased;
                () = &mut stop, if drain.is_none() => Woken::Stopped,
                read = reader.read(), if reads => Woken::Read(read),
                (number, response) = self.calls.next() => Woken::Ended(number, response),
                said = self.mailbox.next(), if room => Woken::Said(said),
                written = writer.write(&mut self.queue), if writing => Woken::Written(written),
                () = at(timeout) => Woken::Timeout,
                () = at(drain) => Woken::Drained,
            };
            match woken {
                Woken::Read(Ok(Some(unit))) => self.receive(unit),
                Woken::Read(Ok(None)) => drain = Some(self.end_of_input()),
                Woken::Read(Err(error)) => return Err(error),
                Woken::Written(outcome) => {
                    outcome?;
                    writing = false;
                }
                Woken::Ended(number, response) => self.complete(number, response),
                Woken::Said((number, outgoing)) => self.connection.emit(number, outgoing, now()),
                Woken::Timeout => self.connection.handle_timeout(now()),
                Woken::Stopped => {
                    self.connection.end_subscriptions();
                    drain = Some(self.end_of_input());
                }
                Woken::Drained => return Ok(()),
            }
        }
    }

    fn receive(&mut self, unit: Unit) {
        let now = now();
        self.connection.receive(unit, now);
        // A client that never pauses must not outlive its own deadlines.
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.handle_timeout(now);
        }
    }

    /// Does all that the connection wants done and collects what it wants written.
    fn work(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            match event {
                ServerEvent::Call(request) => self.start(*request),
                ServerEvent::Cancelled(number) => self.calls.abort(number),
            }
        }
        while let Some(transmit) = self.connection.poll_transmit() {
            self.queue.push_back(transmit);
        }
    }

    fn start(&mut self, request: Request) {
        let number = request.parts.exchange;
        let mut service = self.service.clone();
        let call: BoxFuture<Response> = Box::pin(async move {
            let Ok(()) = std::future::poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(response) = service.call(request).await;
            response
        });
        if let Some(response) = self.calls.start(number, call) {
            self.complete(number, response);
        }
    }

    /// Hands in the answer of a call, after everything that the call said before.
    fn complete(&mut self, number: ExchangeId, response: Result<Response, Panicked>) {
        while let Some((number, outgoing)) = self.mailbox.take() {
            self.connection.emit(number, outgoing, now());
        }
        let panicked =
            |Panicked| Err(ErrorObject::internal("the server failed while it served this call"));
        self.connection.complete(number, response.unwrap_or_else(panicked));
    }

    /// The client will say nothing more: gives until when what runs may go on.
    fn end_of_input(&mut self) -> Instant {
        self.connection.end_of_input();
        Instant::now() + self.config.limits().drain
    }
}

fn now() -> std::time::Instant {
    Instant::now().into_std()
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}
