//! One message to the server, and its answer.
//!
//! The answer to a POST is JSON or a stream (HTTP-14). A stream carries other messages before the
//! answer, and may break; with a handshake it is resumed by GET with the id of its last event
//! (RESUME-4), on 2026-07-28 the call fails (HTTP-36).
//!
//! A request that is not idempotent, such as a tool call, is never sent again if the server may
//! have run it. What failed and why is reported as a [`SendFailure`], whose kind tells the caller
//! whether repeating is safe.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::Delivery;
use bowline_proto::codec::Received;
use bowline_proto::codec::skipped::Skipped;
use bowline_proto::mirror::Mirror;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::error::code;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::StatusCode;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::events::{Ended, EventStream};
use super::failure::RequestLine;
use super::legacy::{Resumption, listen, sse2024};
use super::peek;
use super::reply::Reply;
use super::shared::{ClientSession, Shared};

/// How long a stream may take to end after the answer, so that its connection can be reused.
const LINGER: Duration = Duration::from_secs(1);

/// How often a message is sent again because its session was replaced.
const SESSIONS: usize = 3;

/// One message to the server. Made by the writer, owned by its task.
pub(super) struct ClientExchange {
    pub(super) shared: Arc<Shared>,
    /// Id, method and revision of the message, and what its headers repeat.
    pub(super) mirror: Mirror,
    pub(super) message: Bytes,
}

impl ClientExchange {
    /// Sends a request, and delivers its answer and what comes before it. Dropping this closes the
    /// connection, which cancels the request in 2026-07-28. It takes one of the permits that bound
    /// the requests in flight, and returns it before it waits for the end of the stream.
    pub(super) async fn ask(&self) {
        let permit = match self.permits() {
            // Fails only if the semaphore is closed, which never happens.
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        let outcome = self.answer().await;
        drop(permit);
        match outcome {
            Ok(None) => {}
            Ok(Some(events)) => Box::pin(self.linger(events)).await,
            Err(failure) => Box::pin(self.fail(failure)).await,
        }
    }

    /// Sends a message that has no answer: a notification, or an answer of the client.
    pub(super) async fn notify(self) {
        // Answers do not wait for the handshake, because the handshake may wait for them.
        let session = match self.mirror.method {
            Some(_) => self.shared.opened().await,
            None => self.shared.current(),
        };
        if let Err(failure) = self.accepted(session).await {
            self.fail(failure).await;
        }
    }

    /// Sends `notifications/initialized`, and then reads the GET stream.
    ///
    /// Calls wait until the server has answered the GET. Servers send questions on that stream, and
    /// some drop questions that arise before it is open.
    ///
    /// A server that delays the head of that answer holds up calls for
    /// [`HttpClientLimits::opening`](super::HttpClientLimits::opening) at most.
    pub(super) async fn begin(self, session: ClientSession) {
        let shared = &*self.shared;
        shared.set_revision(self.mirror.revision);
        if let Err(failure) = self.accepted(shared.current()).await {
            self.fail(failure).await;
        }
        if shared.current().post_to.is_some() {
            return shared.begin(&session);
        }
        let begin_at_last = async {
            sleep(shared.limits.opening).await;
            shared.begin(&session);
            pending::<()>().await;
        };
        tokio::select! {
            () = listen(shared, || shared.begin(&session)) => {}
            () = begin_at_last => {}
        }
    }

    /// What bounds the requests like this one. A handshake needs no permit: requests that hold
    /// theirs wait for its end, and there is one at a time. Subscriptions stay open, so they have
    /// permits of their own.
    fn permits(&self) -> Option<&Semaphore> {
        match self.mirror.method {
            Some(Method::Initialize) => None,
            Some(method) if method.streams() => Some(&self.shared.subscription_permits),
            _ => Some(&self.shared.permits),
        }
    }

    async fn fail(&self, failure: SendFailure) {
        self.shared.fail(SendFailure { id: self.mirror.id, ..failure }).await;
    }

    /// Delivers the answer; returns the stream that it came on.
    async fn answer(&self) -> Result<Option<Box<EventStream>>, SendFailure> {
        if self.is_handshake() {
            return Box::pin(self.handshake()).await;
        }
        let mut session = self.shared.opened().await;
        if session.post_to.is_some() {
            // The answer comes on the GET stream (2024-11-05).
            return Box::pin(self.accepted(session)).await.map(|()| None);
        }
        let mut reply = self.post(&mut session).await?;
        match reply.is_stream() {
            true => Box::pin(self.stream(reply)).await.map(Some),
            false => self.read(&mut reply).await.map(|()| None),
        }
    }

    /// Sends `initialize`, which is also how the client finds out that a server speaks only the
    /// transport of 2024-11-05: that one refuses the POST, and then a GET brings an `endpoint`
    /// event (BC-3 to BC-5). This task then reads the stream of that transport for as long as the
    /// connection lasts.
    async fn handshake(&self) -> Result<Option<Box<EventStream>>, SendFailure> {
        let reply = self.shared.post(&self.shared.address, &self.mirror, None, &self.message);
        let mut reply = reply.await?;
        if reply.status().is_success() {
            self.shared.set_session(reply.response.headers());
        }
        let outcome = match reply.is_stream() {
            true => self.stream(reply).await.map(Some),
            false => self.read(&mut reply).await.map(|()| None),
        };
        let failure = match outcome {
            Err(failure) if may_speak_2024(&failure) => failure,
            outcome => return outcome,
        };
        match sse2024::open(&self.shared).await {
            Some(stream) => {
                let posted = async {
                    if let Err(failure) = self.accepted(self.shared.current()).await {
                        self.fail(failure).await;
                    }
                };
                tokio::join!(posted, stream.read(&self.shared));
                Ok(None)
            }
            None => Err(failure),
        }
    }

    /// Sends the message in the current session; in the next one, if the session was replaced before
    /// the message arrived.
    ///
    /// A 404 means that the server has forgotten the session (SESS-9), so it has not processed the
    /// message. If another call has noticed that before and a new session is open, the message is
    /// sent in that one. Otherwise it fails, and the state machine begins a new handshake.
    async fn post(&self, session: &mut ClientSession) -> Result<Reply, SendFailure> {
        for _ in 0..SESSIONS {
            let reply = self.post_within(session).await?;
            if session.id.is_none() || reply.status() != StatusCode::NOT_FOUND {
                return Ok(reply);
            }
            *session = Box::pin(self.replaced(session, reply)).await?;
        }
        self.post_within(session).await
    }

    async fn post_within(&self, session: &ClientSession) -> Result<Reply, SendFailure> {
        let address = session.post_to.as_ref().unwrap_or(&self.shared.address);
        self.shared.post(address, &self.mirror, session.id.as_ref(), &self.message).await
    }

    /// The session that replaced one that the server does not know any more.
    async fn replaced(
        &self,
        session: &ClientSession,
        mut reply: Reply,
    ) -> Result<ClientSession, SendFailure> {
        let body = reply.whole(self.shared.body_limits()).await.unwrap_or_default();
        match self.shared.session_id() {
            next @ Some(_) if next != session.id => Ok(self.shared.opened().await),
            _ => Err(reply.asked(&self.shared.secrets).session_lost(&body)),
        }
    }

    /// Sends the message and expects the server to accept it with a 2xx.
    async fn accepted(&self, mut session: ClientSession) -> Result<(), SendFailure> {
        let mut reply = self.post(&mut session).await?;
        if !reply.status().is_success() {
            return Err(reply.into_refusal(self.shared.body_limits(), &self.shared.secrets).await);
        }
        // The body is read to its end, so that the connection can be reused.
        let _ = timeout(LINGER, reply.whole(self.shared.body_limits())).await;
        Ok(())
    }

    /// Delivers an answer in JSON. A refusal may hold the JSON-RPC answer to this very request,
    /// which is then delivered like any other, whatever the status. Only a 401 is never an answer: it
    /// says that a credential is missing, and callers must see that.
    async fn read(&self, reply: &mut Reply) -> Result<(), SendFailure> {
        let body = match reply.whole(self.shared.body_limits()).await {
            Ok(body) => body,
            Err(_) if !reply.status().is_success() => Bytes::new(),
            Err(ended) => return Err(reply.asked(&self.shared.secrets).ended(&ended)),
        };
        let (delivery, is_answer) = self.look_into(body.clone());
        if is_answer && reply.status() != StatusCode::UNAUTHORIZED {
            self.shared.deliver(delivery).await;
            return Ok(());
        }
        Err(reply.asked(&self.shared.secrets).refused(reply.status(), &body))
    }

    /// Delivers the messages of a stream up to the answer; resumes the stream if it breaks.
    async fn stream(&self, reply: Reply) -> Result<Box<EventStream>, SendFailure> {
        let address = reply.address.clone();
        let mut events = reply.into_events(self.shared.body_limits());
        let mut resumption = Resumption::default();
        // Why a message was skipped that may have been the answer. Boxed, because it is rare and every
        // call has a place for it.
        let mut skipped = None;
        loop {
            match events.message().await {
                Ok(received) => {
                    resumption.progress();
                    let (delivery, is_answer) = match received {
                        Received::Message(text) => self.look_into(text),
                        Received::TooLong(long) => {
                            let is_answer = self.is_answered_by(&long);
                            if is_answer.is_none() {
                                skipped = Some(Box::new(long.why));
                            }
                            (Received::TooLong(long).into(), is_answer == Some(true))
                        }
                    };
                    self.shared.deliver(delivery).await;
                    if is_answer {
                        return Ok(Box::new(events));
                    }
                }
                Err(ended) => {
                    resumption.note(&events, &ended);
                    let is_over = skipped.is_some() || !self.may_resume();
                    if is_over || resumption.last_id().is_none() {
                        let ended = skipped.map_or(ended, |why| Ended::TooLong(*why));
                        let secrets = &self.shared.secrets;
                        let method = &http::Method::POST;
                        let asked = RequestLine { method, address: &address, secrets };
                        return Err(asked.ended(&ended));
                    }
                    events = resumption.resume(&self.shared, || ()).await.map_err(|failure| {
                        SendFailure {
                            // The server accepted the message, so it may have run.
                            kind: FailureKind::Lost,
                            error: None,
                            ..failure
                        }
                    })?;
                }
            }
        }
    }

    /// Reads a stream to its end, which should come right after the answer.
    ///
    /// A connection whose body is read to the end can be used again. A server that keeps the stream
    /// open costs a second and the connection.
    async fn linger(&self, mut events: Box<EventStream>) {
        let rest = async {
            while let Ok(received) = events.message().await {
                self.shared.deliver(received).await;
            }
        };
        let _ = timeout(LINGER, rest).await;
    }

    /// Parses a text; returns whether it is the answer.
    fn look_into(&self, text: Bytes) -> (Delivery, bool) {
        peek::answer(text, self.mirror.id, &self.shared.messages)
    }

    /// Whether a message that was skipped is the answer. `None` if its id is unknown.
    fn is_answered_by(&self, skipped: &Skipped) -> Option<bool> {
        if skipped.is_call() {
            return Some(false);
        }
        let id = skipped.id()?.as_integer();
        Some(id.is_some() && id == self.mirror.id)
    }

    fn is_handshake(&self) -> bool {
        self.mirror.method == Some(Method::Initialize)
    }

    /// Whether a stream that breaks can be resumed in this revision.
    fn may_resume(&self) -> bool {
        self.is_handshake() || self.mirror.revision.is_none_or(Revision::has_resumption)
    }
}

/// Whether the server may have refused the handshake because it speaks 2024-11-05, where this URL
/// supports only GET.
///
/// Only 400, 404 and 405 count (BC-4), and only without an error code of a modern server, because
/// such a server has understood the request (BC-5).
fn may_speak_2024(failure: &SendFailure) -> bool {
    const MODERN: [i64; 3] = [
        code::HEADER_MISMATCH,
        code::MISSING_CLIENT_CAPABILITY,
        code::UNSUPPORTED_PROTOCOL_VERSION,
    ];
    matches!(failure.kind, FailureKind::Refused(400 | 404 | 405))
        && !failure.error.as_ref().is_some_and(|error| MODERN.contains(&error.code))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest size that glibc serves from its thread cache: every call allocates one task.
    const CACHED: usize = 1032;

    #[test]
    fn the_future_of_a_request_is_small() {
        fn size_of_task<'a, F>(_: impl FnOnce(&'a ClientExchange) -> F) -> usize {
            size_of::<ClientExchange>() + size_of::<F>()
        }
        let size = size_of_task(ClientExchange::ask);
        assert!(size <= CACHED, "{size} bytes");
    }
}
