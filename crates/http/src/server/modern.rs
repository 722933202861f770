//! One modern exchange: awaited in place, answered as JSON, or as a stream once something is said
//! before the answer.
//!
//! There is no task and no channel. Whoever polls the answer polls the handler; whoever drops it,
//! because the client hung up, drops the handler too.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bowline_proto::classify::{Claim, classify, method_of};
use bowline_proto::codec::sse;
use bowline_proto::frame::{NotificationMessage, RequestMessage};
use bowline_proto::members::Members;
use bowline_proto::request::{Outgoing, QuestionError, Response as Outcome};
use bowline_proto::server::{Call, Caller, Exchange, ServerConfig};
use bowline_proto::wire::{self, Lifted, modern};
use bowline_transport::BoxFuture;
use bowline_transport::mailbox::{Mailbox, mailbox};
use bowline_types::error::ErrorObject;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Response, StatusCode};

use super::body::{Body, Source};
use super::endpoint::{Core, Knock, Slot};
use super::{calls, head, reply};

/// Serves a request that stands alone.
pub(super) async fn serve(
    core: &Core,
    request: RequestMessage,
    meta: Members,
    knock: Knock,
) -> Response<Body> {
    let (method, lifted) = match admit(&request, meta, &knock.0.headers, &core.server) {
        Ok(admitted) => admitted,
        Err(error) => {
            let status = match reply::status_of(&error) {
                StatusCode::OK => StatusCode::BAD_REQUEST,
                status => status,
            };
            return reply::json(status, wire::refusal(Some(&request.id), &error));
        }
    };
    let Some(slot) = core.calls.take() else {
        return reply::busy("too many calls run at the same time; try again");
    };
    let (mailbox, sink) = mailbox(core.server.limits().outbox);
    let headers = Some(head::params(&knock.0.headers));
    let caller = Caller { owner: knock.owner(), sink, extensions: knock.attach(), headers };
    let call = Call { id: request.id, method, params: request.params };
    let (exchange, request) = Exchange::open(core.number(), call, lifted, caller);
    let talk = Talk {
        call: core.call(request),
        outcome: None,
        mailbox,
        exchange,
        config: core.server.clone(),
        stopped: method.streams().then(|| core.stopped()),
        _slot: slot,
    };
    talk.answer(core).await
}

/// Checks a notification that stands alone. There is none that a server would act on.
pub(super) fn check_notification(
    notification: &NotificationMessage,
    headers: &HeaderMap,
) -> Result<(), ErrorObject> {
    let meta = notification.params.object("_meta").unwrap_or_default();
    let version = meta.parse::<String>(key::PROTOCOL_VERSION).unwrap_or_default();
    let head = head::mirrored(headers);
    head.check(&notification.method, &notification.params, version.as_deref())
}

/// Whether a request may be served: its headers say what it says, and it says all that it must.
fn admit(
    request: &RequestMessage,
    meta: Members,
    headers: &HeaderMap,
    config: &ServerConfig,
) -> Result<(Method, Lifted), ErrorObject> {
    let version = meta.parse::<String>(key::PROTOCOL_VERSION).unwrap_or_default();
    head::mirrored(headers).check(&request.method, &request.params, version.as_deref())?;
    // A header alone cannot say what the message itself must say.
    if meta.value(key::PROTOCOL_VERSION).is_none() {
        let key = key::PROTOCOL_VERSION;
        return Err(ErrorObject::invalid_params(format!(
            "`params._meta` lacks the required key `{key}`"
        )));
    }
    let Claim::Modern(revision) = classify(request, &meta, None, config.revisions())? else {
        return Err(ErrorObject::internal("a message that names its version has no era"));
    };
    let method = method_of(&request.method, revision)?;
    let lifted = modern::lift(method, &request.params, meta, revision)?;
    Ok((method, lifted))
}

/// A call under way and what it says.
struct Talk {
    call: BoxFuture<Outcome>,
    /// Set when the call has ended.
    outcome: Option<Outcome>,
    mailbox: Mailbox,
    exchange: Exchange,
    config: Arc<ServerConfig>,
    /// For a call that would never end by itself.
    stopped: Option<BoxFuture<()>>,
    _slot: Slot,
}

/// What comes next of a call.
enum Next {
    /// Something before the answer.
    Notice(Bytes),
    /// The answer, with the status that it has if nothing came before.
    Answer(StatusCode, Bytes),
}

impl Talk {
    async fn answer(mut self, core: &Core) -> Response<Body> {
        match std::future::poll_fn(|cx| self.poll_next(cx)).await {
            Next::Answer(status, message) => reply::json(status, message),
            Next::Notice(message) => {
                let mut text = BytesMut::new();
                sse::write_event(&mut text, None, &message);
                let told = Told { talk: Some(self), text };
                reply::events(Box::new(told), core.limits().keep_alive)
            }
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        loop {
            if self.outcome.is_none()
                && let Poll::Ready(outcome) = calls::poll(&mut self.call, cx)
            {
                self.outcome = Some(outcome);
            }
            // What was said before the answer comes first.
            while let Some((_, outgoing)) = self.mailbox.take() {
                if let Some(notice) = self.notice(outgoing) {
                    return Poll::Ready(Next::Notice(notice));
                }
            }
            if let Some(outcome) = self.outcome.take() {
                let status = outcome.as_ref().err().map_or(StatusCode::OK, reply::status_of);
                let message = self.exchange.answer(outcome, &self.config);
                return Poll::Ready(Next::Answer(status, message));
            }
            if let Some(stopped) = &mut self.stopped
                && stopped.as_mut().poll(cx).is_ready()
            {
                let message = self.exchange.end(&self.config);
                return Poll::Ready(Next::Answer(StatusCode::OK, message));
            }
            let (_, outgoing) = std::task::ready!(self.mailbox.poll_next(cx));
            if let Some(notice) = self.notice(outgoing) {
                return Poll::Ready(Next::Notice(notice));
            }
        }
    }

    /// What the call says, as far as the caller wants to hear it.
    fn notice(&mut self, outgoing: Outgoing) -> Option<Bytes> {
        match outgoing {
            Outgoing::Progress(advance) => self.exchange.progress(advance),
            Outgoing::Log(message) => {
                self.exchange.log(&message, None, self.config.limits(), Instant::now())
            }
            Outgoing::Change(change) => Some(self.exchange.change(&change)),
            Outgoing::Ask(question) => {
                question.reply.deliver(Err(QuestionError::NoBackChannel));
                None
            }
            Outgoing::Pause(_) | Outgoing::ElicitationComplete(_) => None,
        }
    }
}

/// A call whose answer is a stream.
struct Told {
    /// `None` once the answer has been told.
    talk: Option<Talk>,
    /// What is ready to be sent.
    text: BytesMut,
}

/// Bytes that are sent together at most.
const PIECE: usize = 64 * 1024;

impl Source for Told {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        while let Some(talk) = &mut self.talk
            && self.text.len() < PIECE
        {
            match talk.poll_next(cx) {
                Poll::Ready(Next::Notice(message)) => {
                    sse::write_event(&mut self.text, None, &message);
                }
                Poll::Ready(Next::Answer(_, message)) => {
                    sse::write_event(&mut self.text, None, &message);
                    self.talk = None;
                }
                Poll::Pending if self.text.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        let text = self.text.split().freeze();
        Poll::Ready((!text.is_empty()).then_some(text))
    }
}
