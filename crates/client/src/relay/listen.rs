//! Passes changes of the upstream server on to subscribed callers.
//!
//! A caller of 2026-07-28 names all its subscriptions in one request. A session of an older revision
//! subscribes to one resource after the other: each gets an upstream subscription of its own, which
//! is handed to the call that listens on behalf of the session and ends with it.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

use bowline_proto::request::{
    self, ClientProfile as Caller, EveryResource, Outgoing, Parts, Request, Response, Success,
};
use bowline_proto::sync::lock;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::Relay;
use super::refusal::{self, read};
use super::sessions::CallerSessions;
use crate::error::Result;
use crate::subscribe::{Change, Changes};

/// The most resources that one session may subscribe to. Resources that it unsubscribed from count
/// too, since the relay does not see `resources/unsubscribe`.
const MOST: usize = 1024;

impl Relay {
    pub(super) async fn listen(&self, request: Request) -> Response {
        let wished = read::<ListenParams>(&request)?.notifications;
        let filter = wished.honoured_by(self.client.capabilities());
        let (session, followed) = SessionGuard::open(&self.sessions, &request.parts.client);
        let told = CallerSessions::open(self.callers(), &request.parts);
        let mut listening =
            Listening { streams: Vec::new(), followed, levels: self.levels(&request.parts) };
        let mut honoured = SubscriptionFilter::new();
        if !filter.is_empty() {
            let mut subscribe = self.client.subscribe();
            subscribe.filter = filter;
            let changes = subscribe.open().await.map_err(|error| refusal::of(&error, &request))?;
            honoured = changes.honoured().clone();
            listening.streams.push(changes);
        }
        let mut change = request::ReportedChange::Acknowledged(honoured);
        while request.parts.outbox.say(Outgoing::Change(change)).await.is_ok() {
            change = match poll_fn(|cx| listening.poll(self, cx)).await {
                Ok(change) => change,
                Err(error) => return Err(refusal::of(&error, &request)),
            };
        }
        drop((session, told));
        Ok(Success::empty())
    }

    /// The log levels that a session asks for, beginning with its level now.
    fn levels(&self, parts: &Parts) -> UnboundedReceiver<LoggingLevel> {
        let (sender, levels) = unbounded_channel();
        if let Some(level) = parts.client.level.level() {
            // The receiver exists.
            let _ = sender.send(level);
        }
        if parts.extensions.get::<EveryResource>().is_some() && self.passes_on() {
            parts.client.level.listen(move |level| sender.send(level).is_ok());
        }
        levels
    }

    /// Subscribes to a resource on behalf of a session.
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
        // Fails if the session has ended; then the subscription is dropped.
        let _ = session.changes.send(changes);
        Ok(Success::empty())
    }
}

/// The callers that listen now.
#[derive(Debug, Default)]
pub(super) struct ListeningSessions(Mutex<Vec<ListeningSession>>);

#[derive(Clone, Debug)]
struct ListeningSession {
    /// All calls of a session share this allocation, so its address identifies the session.
    caller: Arc<Caller>,
    changes: UnboundedSender<Changes>,
    count: Arc<Mutex<usize>>,
}

impl ListeningSession {
    fn may_follow(&self) -> bool {
        let mut count = lock(&self.count);
        *count += 1;
        *count <= MOST
    }
}

impl ListeningSessions {
    fn find(&self, caller: &Arc<Caller>) -> Option<ListeningSession> {
        self.lock().iter().find(|entry| Arc::ptr_eq(&entry.caller, caller)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ListeningSession>> {
        lock(&self.0)
    }
}

/// Keeps a caller in [`ListeningSessions`]; dropping it removes the caller.
struct SessionGuard {
    sessions: Arc<ListeningSessions>,
    caller: Arc<Caller>,
}

impl SessionGuard {
    fn open(
        sessions: &Arc<ListeningSessions>,
        caller: &Arc<Caller>,
    ) -> (Self, UnboundedReceiver<Changes>) {
        let (changes, followed) = unbounded_channel();
        sessions.lock().push(ListeningSession {
            caller: caller.clone(),
            changes,
            count: Arc::default(),
        });
        (Self { sessions: sessions.clone(), caller: caller.clone() }, followed)
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.caller, &self.caller));
    }
}

/// The changes for one caller: of its first subscription, and of the resources added since.
struct Listening {
    streams: Vec<Changes>,
    followed: UnboundedReceiver<Changes>,
    levels: UnboundedReceiver<LoggingLevel>,
}

impl Listening {
    /// Polls for the next change of any stream. Streams that end are removed; an error ends all.
    fn poll(
        &mut self,
        relay: &Relay,
        cx: &mut Context<'_>,
    ) -> Poll<Result<request::ReportedChange>> {
        while let Poll::Ready(Some(level)) = self.levels.poll_recv(cx) {
            let relay = relay.clone();
            tokio::spawn(async move { relay.want_level(level).await });
        }
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

fn passed_on(change: Change) -> request::ReportedChange {
    match change {
        Change::Tools => request::ReportedChange::Tools,
        Change::Prompts => request::ReportedChange::Prompts,
        Change::Resources => request::ReportedChange::Resources,
        Change::Resource(uri) => request::ReportedChange::Resource(uri),
    }
}
