//! The life of a POST in a session, from top to bottom.
//!
//! 1. [`post`] finds the session that the request names, or opens one.
//! 2. [`accept`] takes slots for the calls in the message and hands the message to the session, which
//!    returns the line on which those calls and their answers will come.
//! 3. [`answer`] drives the line until there is something to send. If that is the answer, the HTTP
//!    answer is JSON, and the POST is done.
//! 4. Otherwise the HTTP answer is a [`PostStream`]: each message is recorded in the stream's log,
//!    then sent. A client that loses the connection resumes from the log ([`super::resume`]).
//! 5. If the client hangs up, the [`Driver`] is dropped, and a task drives the calls to their end.

use std::sync::Arc;

use bowline_proto::admission;
use bowline_proto::classify::LegacyFrame;
use bowline_proto::codec::sse;
use bowline_proto::frame::{Frame, Message, MethodName};
use bowline_proto::transmit::Role;
use bowline_store::backend::Position;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};

use super::super::body::{Body, EventStream, StreamSource};
use super::super::inbound::Inbound;
use super::super::places::Places;
use super::super::reply;
use super::driver::{Driver, ToClient};
use super::event_id::EventId;
use super::lookup::find;
use super::posted::Posted;
use super::refusals::{self, STOPPING, TOO_MANY_CALLS};
use super::session::{HttpSession, Recorded, SessionKind, SessionUse, StreamLog};
use super::sessions::OpenSessions;
use super::{broadcast, handshake, sse2024};

/// Serves a message of a client that shakes hands. `text` is the body that `message` was read from.
///
/// In this order: a session of 2024-11-05 that the query names, the session that the header names,
/// a handshake, and at a server without sessions a session for this one request.
pub(in super::super) async fn post(
    sessions: &Arc<OpenSessions>,
    message: LegacyFrame,
    text: &Bytes,
    inbound: &mut Inbound,
) -> Response<Body> {
    if let Some(id) = sse2024::named_session(sessions, inbound) {
        return match sessions.known(id, &inbound.owner(), SessionKind::Sse2024) {
            Some(session) => sse2024::post(&session, message, inbound),
            None => refusals::unknown_session(),
        };
    }
    let session = match find(sessions, inbound, Some(&message.frame)).await {
        Ok(Some(session)) => session,
        Ok(None) if is_handshake(&message.frame) => {
            return Box::pin(handshake::open_session(sessions, message, inbound)).await;
        }
        Ok(None) => match handshake::session_for_one_request(sessions, inbound) {
            Ok(session) => session,
            Err(refusal) => return *refusal,
        },
        Err(refusal) => return *refusal,
    };
    let posted = Posted::new(&message.frame, session.is_shared());
    match accept(session, message, text, inbound) {
        Ok(accepted) => answer(accepted, &posted, text).await,
        Err(refusal) => *refusal,
    }
}

fn is_handshake(frame: &Frame) -> bool {
    matches!(
        frame,
        Frame::Message(Message::Request(request))
            if request.method == MethodName::Known(Method::Initialize)
    )
}

/// A message that its session has taken.
struct Accepted {
    driver: Driver,
    /// Whether the line of the driver will carry anything.
    expects_answer: bool,
    /// Whether the message concerns copies of the session at other endpoints.
    is_for_others: bool,
}

/// Hands a message to its session, unless a limit refuses it. Limits are checked before the session
/// takes the message: a request that is refused must not have begun.
fn accept(
    session: Arc<HttpSession>,
    message: LegacyFrame,
    text: &Bytes,
    inbound: &mut Inbound,
) -> Result<Accepted, Box<Response<Body>>> {
    let frame = &message.frame;
    if matches!(frame, Frame::Batch(_)) {
        admission::check_batch(session.revision())
            .map_err(|error| Box::new(reply::refusal(StatusCode::BAD_REQUEST, &error)))?;
    }
    let places = Places::of_frame(&session.core, &inbound.caller, frame)
        .map_err(|error| Box::new(reply::refuse(frame.id(), &error)))?;
    let (session_use, places) = match (places, frame) {
        (Some(places), Frame::Message(Message::Request(_))) => {
            (SessionUse::with_calls(session, places), None)
        }
        // A notification runs on after its POST is answered, so its exchange holds the slot.
        (places, _) => (SessionUse::new(session), places.map(Arc::new)),
    };
    let session = &session_use.session;
    let is_for_others =
        session.is_shared() && broadcast::is_for_others(frame, |id| session.has_open_question(id));
    if is_for_others {
        let held = session.hold_broadcast_pace(text.len());
        held.map_err(|error| Box::new(reply::refuse(frame.id(), &error)))?;
    }
    let received = session
        .receive(message, inbound.attach(), places.as_ref())
        .map_err(|frame| Box::new(reply::busy(frame.id(), TOO_MANY_CALLS)))?;
    let expects_answer = received.expects_answer;
    let driver = Driver::new(session_use, received);
    Ok(Accepted { driver, expects_answer, is_for_others })
}

/// Answers a message: with 202, with JSON, or with a stream.
///
/// What other endpoints need to know, and what the client has changed, is in the store before the
/// client gets its answer. So its next request finds it, at whichever endpoint.
async fn answer(accepted: Accepted, posted: &Posted, text: &Bytes) -> Response<Body> {
    let Accepted { mut driver, expects_answer, is_for_others } = accepted;
    if is_for_others && let Err(error) = driver.session().pass_on(text).await {
        driver.session().take_back(posted);
        return match expects_answer {
            true => refusals::store_failed_after(posted, &error),
            // A message that is no call may be sent twice.
            false => refusals::store_failed(None, &error),
        };
    }
    if !expects_answer {
        let saved = driver.session().save().await;
        return saved
            .map_or_else(|error| refusals::store_failed(None, &error), |()| reply::accepted());
    }
    let first = driver.next().await;
    let session = driver.session();
    match first {
        Some(ToClient::Message(Role::Ends, message)) => match session.save_changes(posted).await {
            Ok(()) => complete(&driver, message),
            Err(error) => refusals::store_failed_after(posted, &error),
        },
        Some(first) => {
            let keep_alive = session.core.limits().keep_alive;
            let log = Box::pin(session.open_stream(posted)).await;
            reply::events(StreamSource::new(PostStream::new(driver, first, log)), keep_alive)
        }
        None => unanswered(session, posted),
    }
}

/// The HTTP answer that is one message. Its status is 200, unless the caller of its one call lacks
/// scopes; an array of answers has one status for all.
fn complete(driver: &Driver, message: Bytes) -> Response<Body> {
    match driver.lacking() {
        Some(lacking) if message.starts_with(b"{") => {
            driver.session().core.config.verification.forbidden(lacking, message)
        }
        _ => reply::json(StatusCode::OK, message),
    }
}

/// The HTTP answer to a call whose line ended without an answer.
fn unanswered(session: &HttpSession, posted: &Posted) -> Response<Body> {
    if session.core.is_stopping() {
        refusals::outcome_lost(posted, STOPPING)
    } else if session.is_over() {
        refusals::unknown_session()
    } else if session.is_closed() {
        refusals::outcome_lost(posted, "the session is served elsewhere")
    } else {
        // The client cancelled the call and so expects no answer: the stream is empty.
        reply::events(StreamSource::new(EmptyStream), session.core.limits().keep_alive)
    }
}

/// The answer to a POST as a stream of events.
struct PostStream {
    driver: Driver,
    /// The number of the stream in the ids of its events.
    number: u64,
    /// Whether the client can resume from the beginning of the stream, and be asked to reconnect.
    has_first_id: bool,
    phase: Phase,
}

/// How far a stream has come. Kept apart from the driver, because the stream may end before the
/// calls do.
enum Phase {
    /// Nothing has been sent; this comes first.
    New(ToClient),
    Open,
    /// Nothing more will be sent.
    Over,
}

impl PostStream {
    /// A stream that begins with `first`, which the driver has taken off the line already.
    fn new(mut driver: Driver, first: ToClient, log: Option<StreamLog>) -> Self {
        // Without a log no event has an id, so the number is not used.
        let number = log.as_ref().map_or(0, |log| log.number);
        let revision = driver.session().revision();
        let has_first_id = log.is_some() && revision.is_some_and(Revision::has_first_event_id);
        if let Some(log) = log {
            driver.record_in(log, &first);
        }
        Self { driver, number, has_first_id, phase: Phase::New(first) }
    }

    fn id(&self, position: Position) -> String {
        EventId::new(self.number, position).to_string()
    }
}

impl EventStream for PostStream {
    async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        let mut text = BytesMut::new();
        let mut first = match std::mem::replace(&mut self.phase, Phase::Open) {
            Phase::New(first) => {
                if matches!(first, ToClient::Pause(_)) {
                    self.driver.begin().await;
                }
                if self.has_first_id {
                    sse::write_empty_event(&mut text, Some(&self.id(Position(0))), None);
                }
                Some(first)
            }
            Phase::Open => None,
            Phase::Over => return None,
        };
        loop {
            let next = match first.take() {
                Some(first) => Some(first),
                None => self.driver.next().await,
            };
            match next {
                Some(ToClient::Message(role, message)) => {
                    // Recorded before it is sent: the client can resume after every event it sees.
                    let id = match self.driver.record(role, &message).await {
                        Recorded::At(position) => Some(self.id(position)),
                        Recorded::Unstored => None,
                        // The client has its answer from another endpoint.
                        Recorded::Fenced => return None,
                    };
                    sse::write_event(&mut text, id.as_deref(), &message);
                    if role == Role::Ends {
                        self.phase = Phase::Over;
                    }
                }
                // The calls run on in a task, and the client resumes the stream later.
                Some(ToClient::Pause(after)) if self.has_first_id => {
                    sse::write_empty_event(&mut text, None, Some(after));
                    self.phase = Phase::Over;
                }
                Some(ToClient::Pause(_)) => continue,
                None => {
                    self.driver.finish().await;
                    self.phase = Phase::Over;
                    if text.is_empty() {
                        return None;
                    }
                }
            }
            return Some((text.freeze(), self));
        }
    }
}

/// A stream without events.
struct EmptyStream;

impl EventStream for EmptyStream {
    async fn next_piece(self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        None
    }
}
