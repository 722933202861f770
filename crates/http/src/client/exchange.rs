//! One message on its way to the server, and what comes back for it.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::codec::Unit;
use bowline_proto::frame::id_within;
use bowline_proto::mirror::Mirror;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::error::code;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::StatusCode;
use tokio::time::{sleep, timeout};

use super::events::Events;
use super::failure::Asked;
use super::legacy::{Resumption, listen, sse2024};
use super::peek;
use super::reply::Reply;
use super::shared::{Session, Shared};

/// How long a stream may still take to end after the answer, so that its connection can be used
/// again.
const LINGER: Duration = Duration::from_secs(1);

/// How often a message is sent again because its session was replaced meanwhile.
const SESSIONS: usize = 3;

/// One message on its way.
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    pub(super) mirror: Mirror,
    pub(super) message: Bytes,
}

impl Exchange {
    /// Sends a request and hands on all that comes back for it. Dropping this cancels it, as far as
    /// hanging up means that.
    pub(super) async fn ask(&self) {
        // Fails only if turns are over, and they never are.
        let turn = self.shared.turns.acquire().await;
        let outcome = self.answer().await;
        drop(turn);
        match outcome {
            Ok(None) => {}
            Ok(Some(events)) => Box::pin(self.linger(events)).await,
            Err(failure) => Box::pin(self.fail(failure)).await,
        }
    }

    /// Sends something that awaits no answer.
    pub(super) async fn tell(self) {
        // An answer of ours may be what the handshake waits for.
        let session = match self.mirror.method {
            Some(_) => self.shared.opened().await,
            None => self.shared.current(),
        };
        if let Err(failure) = self.accepted(session).await {
            self.fail(failure).await;
        }
    }

    /// Says that the handshake is over, and listens to what the server says of its own accord.
    ///
    /// Calls wait until the server has answered the GET for that stream. Servers send questions on
    /// it, and some discard a question that comes before the stream stands.
    pub(super) async fn begin(self, session: Session) {
        let shared = &*self.shared;
        shared.speak(self.mirror.revision);
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

    async fn fail(&self, failure: SendFailure) {
        self.shared.fail(SendFailure { id: self.mirror.id, ..failure }).await;
    }

    /// Hands on the answer; gives the stream that it came on.
    async fn answer(&self) -> Result<Option<Box<Events>>, SendFailure> {
        if self.is_handshake() {
            return Box::pin(self.shake_hands()).await;
        }
        let mut session = self.shared.opened().await;
        if session.post_to.is_some() {
            // The answer comes on the one stream that there is.
            return Box::pin(self.accepted(session)).await.map(|()| None);
        }
        let mut reply = self.post(&mut session).await?;
        match reply.is_stream() {
            true => Box::pin(self.stream(reply)).await.map(Some),
            false => self.read(&mut reply).await.map(|()| None),
        }
    }

    async fn shake_hands(&self) -> Result<Option<Box<Events>>, SendFailure> {
        let reply = self.shared.post(&self.shared.address, &self.mirror, None, &self.message);
        let mut reply = reply.await?;
        if reply.status().is_success() {
            self.shared.enter(reply.response.headers());
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

    /// Sends the message in the session that stands; in the next one, if that was replaced before
    /// the message arrived.
    async fn post(&self, session: &mut Session) -> Result<Reply, SendFailure> {
        for _ in 0..SESSIONS {
            let reply = self.post_within(session).await?;
            if session.id.is_none() || reply.status() != StatusCode::NOT_FOUND {
                return Ok(reply);
            }
            *session = Box::pin(self.replaced(session, reply)).await?;
        }
        self.post_within(session).await
    }

    async fn post_within(&self, session: &Session) -> Result<Reply, SendFailure> {
        let address = session.post_to.as_ref().unwrap_or(&self.shared.address);
        self.shared.post(address, &self.mirror, session.id.as_ref(), &self.message).await
    }

    /// The session that stands instead of one that a server does not know any more.
    async fn replaced(&self, session: &Session, mut reply: Reply) -> Result<Session, SendFailure> {
        let body = reply.whole(&self.shared).await.unwrap_or_default();
        match self.shared.session_id() {
            next @ Some(_) if next != session.id => Ok(self.shared.opened().await),
            _ => Err(reply.asked().session_lost(&body)),
        }
    }

    /// Sends the message, and has it accepted.
    async fn accepted(&self, mut session: Session) -> Result<(), SendFailure> {
        let mut reply = self.post(&mut session).await?;
        if !reply.status().is_success() {
            return Err(reply.into_refusal(&self.shared).await);
        }
        // Read to its end, so that the connection can be used again; it says nothing.
        let _ = timeout(LINGER, reply.whole(&self.shared)).await;
        Ok(())
    }

    /// Hands on what came back at once.
    async fn read(&self, reply: &mut Reply) -> Result<(), SendFailure> {
        let body = match reply.whole(&self.shared).await {
            Ok(body) => body,
            Err(_) if !reply.status().is_success() => Bytes::new(),
            Err(ended) => return Err(reply.asked().lost(ended)),
        };
        let (unit, is_answer) = self.look_into(body);
        if is_answer {
            self.shared.give(unit).await;
            return Ok(());
        }
        let body = match unit {
            Unit::Text(body) | Unit::Read(body, _) | Unit::TooLong(body) => body,
            Unit::Failed(_) => Bytes::new(),
        };
        Err(reply.asked().refused(reply.status(), &body))
    }

    /// Hands on what comes on a stream until the answer, coming back to it if need be.
    async fn stream(&self, reply: Reply) -> Result<Box<Events>, SendFailure> {
        let (method, address) = (reply.method.clone(), reply.address.clone());
        let mut events = reply.into_events(&self.shared);
        let mut resumption = Resumption::default();
        loop {
            match events.message().await {
                Ok(unit) => {
                    resumption.progress();
                    let (unit, is_answer) = match unit {
                        Unit::Text(text) => self.look_into(text),
                        Unit::TooLong(head) => {
                            let id = id_within(&head).and_then(|id| id.as_integer());
                            let is_answer = id.is_some() && id == self.mirror.id;
                            (Unit::TooLong(head), is_answer)
                        }
                        other => (other, false),
                    };
                    self.shared.give(unit).await;
                    if is_answer {
                        return Ok(Box::new(events));
                    }
                }
                Err(ended) => {
                    resumption.note(&events, &ended);
                    if self.is_modern() || resumption.last_id().is_none() {
                        let asked = Asked { method: &method, address: &address };
                        return Err(asked.lost(ended));
                    }
                    events = resumption.resume(&self.shared, || ()).await.map_err(|failure| {
                        SendFailure {
                            // The message itself was taken, whatever became of the stream.
                            kind: FailureKind::Lost,
                            error: None,
                            ..failure
                        }
                    })?;
                }
            }
        }
    }

    /// Reads a stream to its end, which should be there already.
    async fn linger(&self, mut events: Box<Events>) {
        let rest = async {
            while let Ok(unit) = events.message().await {
                self.shared.give(unit).await;
            }
        };
        let _ = timeout(LINGER, rest).await;
    }

    /// A text as a unit, and whether that is the answer.
    fn look_into(&self, text: Bytes) -> (Unit, bool) {
        peek::answer(text, self.mirror.id, &self.shared.messages)
    }

    fn is_handshake(&self) -> bool {
        self.mirror.method == Some(Method::Initialize)
    }

    fn is_modern(&self) -> bool {
        self.mirror.revision.is_some_and(Revision::is_modern) && !self.is_handshake()
    }
}

/// Whether a refusal of the handshake may come from a server that knows no POST here, for its
/// revision is older than that.
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

    /// What glibc has at hand without a search: there is one of these for every call.
    const AT_HAND: usize = 1032;

    #[test]
    fn a_request_under_way_takes_little_room() {
        fn size_of_task<'a, F>(_: impl FnOnce(&'a Exchange) -> F) -> usize {
            size_of::<Exchange>() + size_of::<F>()
        }
        let size = size_of_task(Exchange::ask);
        assert!(size <= AT_HAND, "{size} bytes");
    }
}
