//! One modern exchange: awaited in place, answered as JSON, or as a stream if a notification comes
//! before the answer.
//!
//! There is no task and no channel. The HTTP server polls the answer, which polls the handler. When
//! the client hangs up, the HTTP server drops the answer, and the handler with it.
//!
//! An exchange is stateless (2026-07-28): no session, no resumption (HTTP-36), no request from the
//! server (HTTP-32). Everything that the call needs came in its one POST, and everything that it
//! sends goes into the answer to that POST, notifications before the answer (HTTP-30, HTTP-31). A
//! client cancels by closing the connection, and the server then abandons the work (HTTP-37).
//!
//! `endpoint.rs` calls [`open`], awaits [`ModernCall::next`] once and passes what came to
//! [`ModernCall::answer`].

mod notification;

use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::classify::ModernClaim;
use bowline_proto::codec::sse;
use bowline_proto::frame::RequestMessage;
use bowline_proto::request::{
    ExchangeId, Outgoing, QuestionError, ReportedChange, Response as Outcome, Sink,
};
use bowline_proto::server::{CallOrigin, Exchange};
use bowline_transport::BoxFuture;
use bowline_types::error::{ErrorObject, InsufficientScope};
use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use tokio::time::Instant;

pub(super) use self::notification::take_notification;
use super::body::{Body, EventSource};
use super::clock::now;
use super::core::Core;
use super::inbound::Inbound;
use super::line::{Line, Weigh};
use super::places::Places;
use super::{calls, head, reply};

/// Begins to serve a modern request. Refused if it is not admitted, or no slot is free.
///
/// `inbound` is emptied: its head moves into the extensions of the call, where handlers can read
/// it.
///
/// # Errors
///
/// The refusal to send, with the id of the request. No handler has run then, so the client may send
/// the request again.
pub(super) fn open(
    core: &Arc<Core>,
    request: RequestMessage,
    claim: ModernClaim,
    inbound: &mut Inbound,
) -> Result<ModernCall, Box<Response<Body>>> {
    let id = request.id.clone();
    let refuse = |error| Box::new(reply::refuse(Some(&id), &error));
    let admitted = inbound.admit(request, claim).map_err(refuse)?;
    let places = match admitted.method.streams() {
        true => Places::of_subscription(core, &inbound.caller),
        false => Places::of_calls(core, &inbound.caller, 1),
    };
    let places = places.map_err(refuse)?;
    let sink = Arc::new(ModernSink(Line::new(core.limits().queue)));
    let headers = Some(head::params(&inbound.parts.headers));
    let origin = CallOrigin {
        owner: inbound.owner(),
        sink: sink.clone(),
        attached: inbound.attach(),
        headers,
    };
    let (exchange, request) = Exchange::open(core.number(), admitted, origin);
    let expires = inbound.expires.filter(|_| exchange.method().streams());
    Ok(ModernCall {
        call: Some(core.call(request)),
        outcome: None,
        sink,
        exchange,
        end: expires.map(|at| end_at(core, at)),
        places,
    })
}

/// Resolves when a subscription has to end whose credential expires.
fn end_at(core: &Core, expiry: Instant) -> BoxFuture<()> {
    let stopped = core.stopped();
    Box::pin(async move { _ = tokio::time::timeout_at(expiry, stopped).await })
}

/// A call under way, and the messages that it sends.
///
/// Owned by the future of the request, later by the stream that its answer becomes. Dropping it
/// cancels: the handler is dropped, and its slot is free.
pub(super) struct ModernCall {
    /// `None` when the call has ended.
    call: Option<BoxFuture<Outcome>>,
    /// Set when the call has ended.
    outcome: Option<Outcome>,
    /// Shared with the handler's outbox.
    sink: Arc<ModernSink>,
    exchange: Exchange,
    /// Resolves when the server ends the call. Made when the call is pending for the first time, or
    /// at once for a subscription whose credential expires.
    end: Option<BoxFuture<()>>,
    /// The slot of the call, and the core.
    places: Places,
}

/// What a call sends next. The first one decides the form of the HTTP answer.
pub(super) enum Next {
    /// A notification before the answer.
    Notice(Bytes),
    /// The answer, with the HTTP status that it has unless a notification came before.
    Answer(StatusCode, Bytes),
    /// The refusal of a caller that lacks scopes.
    Forbidden(Box<InsufficientScope>, Bytes),
}

impl ModernCall {
    /// What the call sends next. Cancel-safe.
    pub(super) async fn next(&mut self) -> Next {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The HTTP answer, which what comes first decides: JSON or a stream. As a stream the status is
    /// 200, whatever the outcome of the call will be: the head is sent before the outcome is known.
    pub(super) fn answer(self, first: Next) -> Response<Body> {
        match first {
            Next::Answer(status, message) => reply::json(status, message),
            Next::Forbidden(lacking, message) => {
                self.core().config.verification.forbidden(&lacking, message)
            }
            Next::Notice(message) => {
                let mut text = BytesMut::new();
                sse::write_event(&mut text, None, &message);
                let keep_alive = self.core().limits().keep_alive;
                reply::events(Box::new(ModernStream { call: Some(self), text }), keep_alive)
            }
        }
    }

    fn core(&self) -> &Arc<Core> {
        self.places.core()
    }

    /// Polls the handler, then the line that it writes to. The order matters at three places: a
    /// call that ends in this poll still sends its notifications first; an outcome wins over the
    /// shutdown of the server; and the line is looked at again after the task has been registered.
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        loop {
            if let Some(call) = &mut self.call
                && let Poll::Ready(outcome) = calls::poll(call, cx)
            {
                self.call = None;
                self.outcome = Some(outcome);
            }
            // Notifications come before the answer, even if the call has ended.
            while let Some(outgoing) = self.sink.0.take() {
                if let Some(notice) = self.notice(outgoing) {
                    return Poll::Ready(Next::Notice(notice));
                }
            }
            if let Some(outcome) = self.outcome.take() {
                if let Some(lacking) = self.core().config.verification.lacking(&outcome) {
                    let message = self.exchange.answer(outcome, &self.core().server);
                    return Poll::Ready(Next::Forbidden(lacking, message));
                }
                let status = outcome.as_ref().err().map_or(StatusCode::OK, reply::status_of);
                return Poll::Ready(self.last(status, outcome));
            }
            if self.poll_end(cx).is_ready() {
                return Poll::Ready(self.cut());
            }
            self.sink.0.register(cx);
            // Looked at after registering: a message that came before has woken no one.
            if self.sink.0.is_empty() {
                return Poll::Pending;
            }
        }
    }

    /// Ready when the call has to end: a subscription when the server begins to stop, any other call
    /// when its time to finish is over. A subscription also ends when its credential expires.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let core = self.places.core();
        let end = self.end.get_or_insert_with(|| match self.exchange.method().streams() {
            true => core.stopped(),
            false => core.given_up(),
        });
        end.as_mut().poll(cx)
    }

    /// The answer to a call that the server ended.
    fn cut(&self) -> Next {
        if self.exchange.method().streams() {
            return Next::Answer(StatusCode::OK, self.exchange.end(&self.core().server));
        }
        let error = ErrorObject::internal("the server stopped before the call came to its end");
        self.last(StatusCode::SERVICE_UNAVAILABLE, Err(error))
    }

    /// The answer with this outcome, stamped as the revision demands.
    fn last(&self, status: StatusCode, outcome: Outcome) -> Next {
        Next::Answer(status, self.exchange.answer(outcome, &self.core().server))
    }

    /// Writes a notification. `None` if the client did not ask for it, or the era has none.
    ///
    /// A question cannot be asked here. On 2026-07-28 the server layer ends the round and sends
    /// questions as its result, so one that arrives at this place fails at once instead of waiting
    /// forever.
    fn notice(&mut self, outgoing: Outgoing) -> Option<Bytes> {
        match outgoing {
            Outgoing::Progress(advance) => self.exchange.progress(advance),
            Outgoing::Log(message) => {
                let limits = self.places.core().server.limits();
                self.exchange.log(&message, None, limits, now())
            }
            Outgoing::Change(change) => Some(self.exchange.change(&change)),
            Outgoing::Notification(message) => Some(message.frame()),
            Outgoing::Ask(question) => {
                question.reply.deliver(Err(QuestionError::NoBackChannel));
                None
            }
            Outgoing::Pause(_)
            | Outgoing::Withdraw(_)
            | Outgoing::ElicitationComplete(_)
            | Outgoing::Task(_) => None,
        }
    }
}

impl Drop for ModernCall {
    fn drop(&mut self) {
        // A handler that waits for room, or sends later, finds that the client is gone.
        self.sink.0.close();
    }
}

/// How the handler of a call sends to its client.
///
/// The queue holds values and not text: what the client did not ask for, such as progress without a
/// token, is dropped before it is written as JSON.
struct ModernSink(Line<Outgoing>);

/// The number of the exchange is ignored, since the line carries one call only.
impl Sink for ModernSink {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll_room(cx)
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        if self.0.is_closed() {
            return Err(outgoing);
        }
        if self.0.is_full() {
            // A client that reads too slowly misses progress and logs, nothing else.
            return if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) };
        }
        self.0.push(outgoing);
        Ok(())
    }
}

/// An estimate of the memory, because the text on the wire is made later.
impl Weigh for Outgoing {
    fn bytes(&self) -> usize {
        let text = match self {
            Self::Progress(advance) => advance.message.as_ref().map_or(0, String::len),
            Self::Log(message) => message.data.as_str().len(),
            Self::Change(ReportedChange::Resource(uri)) => uri.len(),
            Self::Notification(message) => message.params.as_str().len(),
            Self::Change(ReportedChange::Task { task, .. }) => task.as_str().len(),
            _ => 0,
        };
        // An item without text takes room too.
        text + size_of::<Self>()
    }
}

/// The answer of a call as a stream. The HTTP server polls it whenever it can write more.
struct ModernStream {
    /// `None` once the answer has been sent.
    call: Option<ModernCall>,
    /// What is ready to be sent.
    text: BytesMut,
}

/// How many bytes of notifications are collected into one piece of the body. A handler that sends
/// many small notifications at once causes few writes, and hardly more than this is buffered beside
/// the line.
const PIECE: usize = 64 * 1024;

impl EventSource for ModernStream {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while let Some(call) = &mut self.call
            && self.text.len() < PIECE
        {
            match call.poll_next(cx) {
                Poll::Ready(Next::Notice(message)) => {
                    sse::write_event(&mut self.text, None, &message);
                }
                Poll::Ready(Next::Answer(_, message) | Next::Forbidden(_, message)) => {
                    sse::write_event(&mut self.text, None, &message);
                    self.call = None;
                }
                Poll::Pending if self.text.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        let text = self.text.split().freeze();
        Poll::Ready((!text.is_empty()).then_some(text))
    }
}
