//! Serves one client: drives a [`ServerConnection`] between a transport and a service.
//!
//! One future does everything: it reads, runs calls, carries what handlers send, writes, and minds
//! the time. There is no lock and no channel between these, because only this future touches the
//! connection.
//!
//! The end has two forms. When the client closes its end, or `stop` resolves, nothing more is read,
//! open questions fail, subscriptions end (only at a stop), and running calls get
//! [`Limits::drain`](bowline_proto::limits::Limits::drain) to finish. When the channel breaks,
//! everything is dropped at once.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use bowline_proto::codec::Received;
use bowline_proto::request::{ExchangeId, Outgoing, Request, Response};
use bowline_proto::server::{Attached, ServerConfig, ServerConnection, ServerEvent};
use bowline_proto::sync::Panicked;
use bowline_proto::transmit::Transmit;
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;
use tokio::task::yield_now;
use tokio::time::Instant;
use tower_service::Service;

use crate::calls::Calls;
use crate::clock::{now, wait_until};
use crate::error::Error;
use crate::mailbox::{Mailbox, mailbox};
use crate::transport::{PeerIdentity, Reader, ServerTransport, Writer};

/// With this many messages to write, the driver writes before it reads on.
const BATCH: usize = 64;

/// Serves one client until it closes its end, or until `stop` resolves.
///
/// After the client has closed its end, calls may still run for [`Limits::drain`], so that
/// `printf … | server` gets its answers.
///
/// [`Limits::drain`]: bowline_proto::limits::Limits::drain
///
/// The transport says who the client is ([`Transport::peer_identity`](crate::transport::Transport::peer_identity)). By default it is anonymous
/// and has no scopes; then the caller that rate limits count is the connection itself.
///
/// # Errors
///
/// If the channel breaks. A client that closes the channel is not an error.
pub async fn serve<T, S>(
    transport: T,
    service: S,
    config: Arc<ServerConfig>,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), Error>
where
    T: ServerTransport,
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    let client = transport.peer_identity();
    let (mut reader, mut writer) = transport.split(config.limits());
    let mut driver = Driver::new(service, config, client);
    let outcome = driver.run(&mut reader, &mut writer, stop).await;
    driver.connection.close();
    // Calls end now, and not only when the writer has closed.
    drop(driver);
    writer.close().await;
    match outcome {
        Err(error) if !error.is_closed() => Err(error),
        _ => Ok(()),
    }
}

/// Drives one [`ServerConnection`]. Lives as long as the channel. Dropping it drops the calls.
struct Driver<S> {
    /// The rules. Everything else here only moves bytes, time and futures.
    connection: ServerConnection,
    service: S,
    /// Those that were not ready at their first poll.
    calls: Calls<ExchangeId, Response>,
    /// What handlers send, from any thread.
    mailbox: Mailbox,
    /// Messages that the writer has not taken yet.
    queue: VecDeque<Transmit>,
    config: Arc<ServerConfig>,
}

/// What woke the driver. One turn of the loop handles one of these.
enum Woken {
    Read(Result<Option<Received>, Error>),
    Written(Result<(), Error>),
    Ended(ExchangeId, Result<Response, Panicked>),
    Sent((ExchangeId, Outgoing)),
    Timeout,
    Drained,
    Stopped,
    /// Only reads were ready for a while, and other tasks ran.
    Yielded,
}

impl<S> Driver<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    fn new(service: S, config: Arc<ServerConfig>, client: PeerIdentity) -> Self {
        let (mailbox, sender) = mailbox(config.limits().outbox);
        let PeerIdentity { owner, access, peer } = client;
        let mut attached = Attached { access, ..Attached::default() };
        if let Some(peer) = peer {
            attached.extensions.insert(peer);
        }
        Self {
            connection: ServerConnection::new(config.clone(), owner, sender)
                .with_attached(attached),
            service,
            calls: Calls::new(),
            mailbox,
            queue: VecDeque::new(),
            config,
        }
    }

    /// Returns when the channel is drained, broken or out of time. Reading stops while too much
    /// waits to be written or too many calls wait for their turn, so a client that does not read
    /// cannot fill the memory.
    async fn run<R: Reader<Item = Received>, W: Writer>(
        &mut self,
        reader: &mut R,
        writer: &mut W,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), Error> {
        let mut stop = std::pin::pin!(stop);
        let mut writing = false;
        // Set once no more input comes: until when calls may still run.
        let mut drain: Option<Instant> = None;
        // How many more messages may be read before something else has its turn.
        let mut reads_left = BATCH;
        loop {
            self.work();
            writing |= !self.queue.is_empty();
            if drain.is_some() && !writing && !self.connection.is_busy() {
                return Ok(());
            }
            let room = self.queue.len() < BATCH;
            let may_read = drain.is_none() && room && self.connection.wants_input();
            let reads = may_read && reads_left > 0;
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            // Reads come before writes, so that the answers to many small requests become one
            // write. `stop` comes first, so that a client that floods the server cannot delay it.
            // After a batch of reads everything else comes first once, so that the flood does not
            // delay its own answers either.
            let woken = tokio::select! {
                biased;
                () = &mut stop, if drain.is_none() => Woken::Stopped,
                read = reader.read(), if reads => Woken::Read(read),
                (number, response) = self.calls.next() => Woken::Ended(number, response),
                sent = self.mailbox.next(), if room => Woken::Sent(sent),
                written = writer.write(&mut self.queue), if writing => Woken::Written(written),
                () = wait_until(timeout) => Woken::Timeout,
                () = wait_until(drain) => Woken::Drained,
                () = yield_now(), if may_read && !reads => Woken::Yielded,
            };
            reads_left = if matches!(woken, Woken::Read(_)) { reads_left - 1 } else { BATCH };
            match woken {
                Woken::Read(Ok(Some(received))) => self.receive(received),
                Woken::Read(Ok(None)) => drain = Some(self.end_of_input()),
                Woken::Read(Err(error)) => return Err(error),
                Woken::Written(outcome) => {
                    outcome?;
                    writing = false;
                }
                Woken::Ended(number, response) => self.complete(number, response),
                Woken::Sent((number, outgoing)) => self.connection.emit(number, outgoing, now()),
                Woken::Timeout => self.connection.handle_timeout(now()),
                Woken::Stopped => {
                    self.connection.end_subscriptions();
                    drain = Some(self.end_of_input());
                }
                Woken::Drained => return Ok(()),
                Woken::Yielded => {}
            }
        }
    }

    /// Hands a message to the connection, and expires what is due.
    fn receive(&mut self, received: Received) {
        let now = now();
        self.connection.receive(received, now);
        // Reads win over timers in the loop, so a client that never pauses would never time out.
        if self.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            self.connection.handle_timeout(now);
        }
    }

    /// Handles the events of the connection and queues what it wants to send.
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

    /// A call that is ready at once never becomes a task.
    fn start(&mut self, request: Request) {
        let number = request.parts.exchange;
        let mut service = self.service.clone();
        let call: BoxFuture<'static, Response> = Box::pin(async move {
            let Ok(()) = std::future::poll_fn(|cx| service.poll_ready(cx)).await;
            let Ok(response) = service.call(request).await;
            response
        });
        if let Some(response) = self.calls.start(number, call) {
            self.complete(number, response);
        }
    }

    /// Hands in the answer of a call, after everything that the call has sent before.
    fn complete(&mut self, number: ExchangeId, response: Result<Response, Panicked>) {
        while let Some((number, outgoing)) = self.mailbox.take() {
            self.connection.emit(number, outgoing, now());
        }
        let panicked =
            |Panicked| Err(ErrorObject::internal("the server failed while it served this call"));
        self.connection.complete(number, response.unwrap_or_else(panicked));
    }

    /// Notes that no more input comes; returns until when running calls may go on.
    fn end_of_input(&mut self) -> Instant {
        self.connection.end_of_input();
        Instant::now() + self.config.limits().drain
    }
}
