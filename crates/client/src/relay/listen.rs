//! Passes changes of the upstream server on to subscribed callers.
//!
//! A caller of 2026-07-28 names all its subscriptions in one request. A session of an older revision
//! subscribes to one resource after the other: each gets an upstream subscription of its own, which
//! is handed to the call that listens on behalf of the session and ends with it. A subscription
//! outlives the stream that carries it (`lasting`).

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::request::{
    self, ClientProfile as Caller, EveryResource, Outgoing, Parts, Request, Response, Success,
};
use bowline_proto::sync::lock;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};
use tokio::sync::Notify;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use super::Relay;
use super::lasting::LastingChanges;
use super::refusal::{self, read};
use crate::caller::CallerSessions;
use crate::error::Result;
use crate::subscribe::Change;

/// The most resources that one session may subscribe to.
const MOST: usize = 1024;

/// How long a session that subscribes to a resource waits for the call that listens on its behalf. Both
/// begin with the session, so the second may overtake the first.
const LISTENS_SOON: Duration = Duration::from_secs(10);

impl Relay {
    pub(super) async fn listen(&self, request: Request) -> Response {
        let wished = read::<ListenParams>(&request)?.notifications;
        let mut filter = wished.honoured_by(self.client.capabilities());
        let resources = match request.parts.extensions.get::<EveryResource>() {
            // A session may unsubscribe from each.
            Some(_) => std::mem::take(&mut filter.resource_subscriptions),
            None => Vec::new(),
        };
        let (session, wishes) = SessionGuard::open(&self.sessions, &request.parts.client);
        let told = CallerSessions::open(self.callers(), &request.parts);
        let levels = self.levels(&request.parts);
        let mut listening = Listening { streams: Vec::new(), wishes, levels };
        let mut honoured = SubscriptionFilter::new();
        if !filter.is_empty() {
            let mut subscription = self.client.subscribe();
            subscription.filter = filter;
            let opened = LastingChanges::open(subscription).await;
            let changes = opened.map_err(|error| refusal::of(&error, &request))?;
            honoured = changes.honoured().clone();
            listening.streams.push((None, changes));
        }
        for uri in resources {
            let Some(place) = FollowedPlace::take(&session.count) else { break };
            let subscription = self.client.subscribe().resource(&uri);
            let Ok(changes) = LastingChanges::open(subscription).await else { continue };
            let known = &changes.honoured().resource_subscriptions;
            honoured.resource_subscriptions.extend_from_slice(known);
            let followed = Followed { uri, _place: place };
            listening.streams.push((Some(followed), changes));
        }
        let mut change = request::ReportedChange::Acknowledged(honoured);
        while request.parts.outbox.send(Outgoing::Change(change)).await.is_ok() {
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
        let listens = self.sessions.opened(&request.parts.client);
        let session = timeout(LISTENS_SOON, listens).await;
        let session = session.map_err(|_| refusal::unheard(request.parts.method))?;
        let Some(place) = FollowedPlace::take(&session.count) else {
            let message =
                format!("a session follows {MOST} resources at most; unsubscribe from one");
            return Err(ErrorObject::invalid_request(message));
        };
        let subscription = self.client.subscribe().resource(&uri);
        let opened = subscription.clone().open().await;
        let changes = opened.map_err(|error| refusal::of(&error, &request))?;
        if !changes.missing().is_empty() {
            return Err(ErrorObject::resource_not_found(&uri, request.parts.revision));
        }
        // Fails if the session has ended; then the subscription is dropped.
        let changes = Box::new(LastingChanges::new(subscription, changes));
        let _ = session.wishes.send(Wish::Follow(Followed { uri, _place: place }, changes));
        Ok(Success::empty())
    }

    /// Ends the subscription of a session to a resource.
    pub(super) fn unfollow(&self, request: &Request) -> Response {
        let uri = read::<SubscribeParams>(request)?.uri;
        if let Some(session) = self.sessions.find(&request.parts.client) {
            // Fails if the session has ended, and its subscriptions with it.
            let _ = session.wishes.send(Wish::Leave(uri));
        }
        Ok(Success::empty())
    }
}

/// The callers that listen now.
#[derive(Debug, Default)]
pub(super) struct ListeningSessions {
    open: Mutex<Vec<ListeningSession>>,
    /// Notified when a caller begins to listen.
    opened: Notify,
}

#[derive(Clone, Debug)]
struct ListeningSession {
    /// All calls of a session share this allocation, so its address identifies the session.
    caller: Arc<Caller>,
    wishes: UnboundedSender<Wish>,
    /// How many resources it follows.
    count: Arc<AtomicUsize>,
}

/// What a session wants of the call that listens on its behalf.
enum Wish {
    /// Pass on the changes of this resource.
    Follow(Followed, Box<LastingChanges>),
    /// Do not pass them on any more.
    Leave(String),
}

/// A resource that a session follows.
struct Followed {
    uri: String,
    _place: FollowedPlace,
}

/// The place of a resource among those that a session follows. Dropping it makes room for another.
struct FollowedPlace(Arc<AtomicUsize>);

impl FollowedPlace {
    /// `None` if the session follows as many resources as it may.
    fn take(count: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(count.clone());
        (count.fetch_add(1, Ordering::Relaxed) < MOST).then_some(place)
    }
}

impl Drop for FollowedPlace {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ListeningSessions {
    /// The session of a caller. If several calls listen for it, the newest replaces the others.
    fn find(&self, caller: &Arc<Caller>) -> Option<ListeningSession> {
        self.lock().iter().rev().find(|entry| Arc::ptr_eq(&entry.caller, caller)).cloned()
    }

    /// Waits for the session of a caller.
    async fn opened(&self, caller: &Arc<Caller>) -> ListeningSession {
        loop {
            let opened = self.opened.notified();
            if let Some(session) = self.find(caller) {
                return session;
            }
            opened.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<ListeningSession>> {
        lock(&self.open)
    }
}

/// Keeps a caller in [`ListeningSessions`]; dropping it removes the caller.
struct SessionGuard {
    sessions: Arc<ListeningSessions>,
    /// No other call that listens has this counter.
    count: Arc<AtomicUsize>,
}

impl SessionGuard {
    fn open(
        sessions: &Arc<ListeningSessions>,
        caller: &Arc<Caller>,
    ) -> (Self, UnboundedReceiver<Wish>) {
        let (wishes, received) = unbounded_channel();
        let (caller, count) = (caller.clone(), Arc::<AtomicUsize>::default());
        let guard = Self { sessions: sessions.clone(), count: count.clone() };
        sessions.lock().push(ListeningSession { caller, wishes, count });
        sessions.opened.notify_waiters();
        (guard, received)
    }
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().retain(|entry| !Arc::ptr_eq(&entry.count, &self.count));
    }
}

/// The changes for one caller: of its first subscription, and of the resources that a session
/// follows.
struct Listening {
    streams: Vec<(Option<Followed>, LastingChanges)>,
    wishes: UnboundedReceiver<Wish>,
    levels: UnboundedReceiver<LoggingLevel>,
}

impl Listening {
    /// Polls for the next change of any subscription. An error ends all, unless the server refuses one
    /// resource of a session: that counts as a change, so that the session reads it and hears why.
    fn poll(
        &mut self,
        relay: &Relay,
        cx: &mut Context<'_>,
    ) -> Poll<Result<request::ReportedChange>> {
        while let Poll::Ready(Some(level)) = self.levels.poll_recv(cx) {
            let relay = relay.clone();
            tokio::spawn(async move { relay.want_level(level).await });
        }
        while let Poll::Ready(Some(wish)) = self.wishes.poll_recv(cx) {
            self.fulfil(wish);
        }
        for place in 0..self.streams.len() {
            let (followed, stream) = &mut self.streams[place];
            let Poll::Ready(change) = stream.poll(cx) else { continue };
            if let (Some(followed), Err(error)) = (followed, &change)
                && !error.is_closed()
            {
                let uri = std::mem::take(&mut followed.uri);
                self.streams.remove(place);
                return Poll::Ready(Ok(request::ReportedChange::Resource(uri)));
            }
            return Poll::Ready(change.map(passed_on));
        }
        Poll::Pending
    }

    fn fulfil(&mut self, wish: Wish) {
        match wish {
            Wish::Follow(followed, changes) => {
                self.leave(&followed.uri);
                self.streams.push((Some(followed), *changes));
            }
            Wish::Leave(uri) => self.leave(&uri),
        }
    }

    /// Dropping a stream ends its subscription at the upstream server.
    fn leave(&mut self, uri: &str) {
        let is_it = |followed: &Followed| followed.uri == uri;
        self.streams.retain(|(followed, _)| !followed.as_ref().is_some_and(is_it));
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
