//! Changes of the server behind, passed on to whoever listens.
//!
//! A caller of 2026-07-28 says once what it wants to hear of. A session of before follows one
//! resource after the other: each is followed upstream by a subscription of its own, which is handed
//! to the call that listens on the session's behalf and ends with it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bowline_proto::request::{self, ClientProfile as Caller, Outgoing, Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{Relay, read, refusal};
use crate::error::Result;
use crate::subscribe::{Change, Changes};

/// Resources that one session may follow here. Those that it gave up count as well, for nobody
/// tells us.
const MOST: usize = 1024;

impl Relay {
    pub(super) async fn listen(&self, request: Request) -> Response {
        let wished = read::<ListenParams>(&request)?.notifications;
        let filter = wished.honoured_by(self.client.capabilities());
        let (session, followed) = Session::open(&self.sessions, &request.parts.client);
        let mut listening = Listening { streams: Vec::new(), followed };
        let mut honoured = SubscriptionFilter::new();
        if !filter.is_empty() {
            let mut subscribe = self.client.subscribe();
            subscribe.filter = filter;
            let changes = subscribe.open().await.map_err(|error| refusal::of(&error, &request))?;
            honoured = changes.honoured().clone();
            listening.streams.push(changes);
        }
        let mut change = request::Change::Acknowledged(honoured);
        while request.parts.outbox.say(Outgoing::Change(change)).await.is_ok() {
            change = match poll_fn(|cx| listening.poll(cx)).await {
                Ok(change) => change,
                Err(error) => return Err(refusal::of(&error, &request)),
            };
        }
        drop(session);
        Ok(Success::empty())
    }

    /// Follows a resource on behalf of a session.
    pub(super) async fn follow(&self, request: Request) -> Response {
        let uri = read::<SubscribeParams>(&request)?.uri;
        let session = self.sessions.find(&request.parts.client);
        let Some(session) = session else { return Ok(Success::empty()) };
        if !session.may_follow() {
            let message = format!("this session has followed {MOST} resources; begin another one");
            return Err(ErrorObject::invalid_request(message));
        }
        let opened = self.client.subscribe().resource(&uri).open().await;
        let changes = opened.map_err(|error| refusal::of(&error, &request))?;
        if !changes.missing().is_empty() {
            return Err(ErrorObject::resource_not_found(&uri, request.parts.revision));
        }
        // If nobody listens any more, nobody follows.
        let _ = session.changes.send(changes);
        Ok(Success::empty())
    }
}

/// Callers who listen now.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<Vec<Entry>>);

#[derive(Clone, Debug)]
struct Entry {
    /// A session has one of these, and every call of it shares that.
    caller: Arc<Caller>,
    changes: UnboundedSender<Changes>,
    count: Arc<Mutex<usize>>,
}

impl Entry {
    fn may_follow(&self) -> bool {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        *count <= MOST
    }
}

impl Sessions {
    fn find(&self, caller: &Arc<Caller>) -> Option<Entry> {
        self.lock().iter().find(|entry| Arc::ptr_eq(&entry.caller, caller)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A caller's place among those who listen; dropping it gives it up.
struct Session {
    sessions: Arc<Sessions>,
    caller: Arc<Caller>,
}

impl Session {
    fn open(sessions: &Arc<Sessions>, caller: &Arc<Caller>) -> (Self, UnboundedReceiver<Changes>) {
        let (changes, followed) = unbounded_channel();
        sessions.lock().push(Entry { caller: caller.clone(), changes, count: Arc::default() });
        (Self { sessions: sessions.clone(), caller: caller.clone() }, followed)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.caller, &self.caller));
    }
}

/// What one caller hears: what it asked for at first, and what it followed since.
struct Listening {
    streams: Vec<Changes>,
    followed: UnboundedReceiver<Changes>,
}

impl Listening {
    /// The next change of any stream. Streams that end are let go; an error ends all.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<request::Change>> {
        while let Poll::Ready(Some(changes)) = self.followed.poll_recv(cx) {
            self.streams.push(changes);
        }
        let mut next = 0;
        while let Some(stream) = self.streams.get_mut(next) {
            match stream.poll(cx) {
                Poll::Ready(Some(change)) => return Poll::Ready(change.map(passed_on)),
                Poll::Ready(None) => drop(self.streams.swap_remove(next)),
                Poll::Pending => next += 1,
            }
        }
        Poll::Pending
    }
}

fn passed_on(change: Change) -> request::Change {
    match change {
        Change::Tools => request::Change::Tools,
        Change::Prompts => request::Change::Prompts,
        Change::Resources => request::Change::Resources,
        Change::Resource(uri) => request::Change::Resource(uri),
    }
}
