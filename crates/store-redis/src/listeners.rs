//! The listeners of topics, and the task that subscribes again after an outage.
//!
//! Topics are sharded channels: a message goes to the server that has the topic, not to all of a
//! cluster. Listeners have a connection of their own, on which messages and confirmations arrive in
//! order. A listener begins with the confirmation of its own subscription, so it gets no message that was
//! published before.
//!
//! After a lost connection, messages may be missing. Then the task subscribes to all topics again, and
//! each listener gets an empty message.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bowline_store::backend::BoxStream;
use bowline_store::inbox::Inbox;
use bytes::Bytes;
use futures_core::Stream;
use redis::{PushInfo, PushKind, Value, cmd};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::failure::Failure;
use crate::link::{AfterLoss, Link, Request};
use crate::pushes::PushHandler;
use crate::server::Server;

/// How often the task asks for a sign of life, since a connection can be dead without a sign.
const PROBE: Duration = Duration::from_secs(2);

/// How long a subscription may take to be confirmed.
const CONFIRMED: Duration = Duration::from_millis(900);

/// The most subscriptions that are renewed, or given up, at the same time. They share a batch.
const AT_ONCE: usize = 64;

/// The listeners of one handle and its clones.
pub(crate) struct Listeners {
    link: Arc<Link>,
    shared: Arc<Shared>,
}

/// What the handler of messages uses too.
struct Shared {
    state: Mutex<ListenersState>,
    /// Wakes the task, for which one signal is enough.
    signals: mpsc::Sender<()>,
}

/// Why the task runs.
#[derive(Debug, PartialEq, Eq)]
enum Wake {
    /// There may be [`Work`].
    Signal,
    /// It is time to ask for a sign of life.
    Probe,
}

/// What the task has to do.
#[derive(Debug, PartialEq, Eq)]
enum Work {
    /// The connection or a subscription was lost.
    Restore,
    /// These topics have no listener.
    GiveUp(Vec<String>),
}

#[derive(Default)]
struct ListenersState {
    topics: HashMap<String, Topic>,
    /// Topics whose last listener has gone.
    unused: Vec<String>,
    /// Whether everything is to be restored. Connections that are lost before that need no second time.
    is_lost: bool,
}

#[derive(Default)]
struct Topic {
    active: Vec<Arc<Inbox>>,
    /// In the order of their subscriptions, of which each confirmation ends one.
    pending: VecDeque<Pending>,
}

struct Pending {
    inbox: Arc<Inbox>,
    confirmed: oneshot::Sender<()>,
}

impl Listeners {
    pub(crate) fn new(server: Arc<Server>) -> Self {
        let (signals, wakes) = mpsc::channel(1);
        let shared = Arc::new(Shared { state: Mutex::default(), signals });
        let weak = Arc::downgrade(&shared);
        let handler: PushHandler = Arc::new(move |info| {
            if let Some(shared) = weak.upgrade() {
                shared.receive(info);
            }
        });
        let link = Arc::new(Link::new(server, handler));
        tokio::spawn(watch(Arc::downgrade(&shared), Arc::downgrade(&link), wakes));
        Self { link, shared }
    }

    /// Registers a listener. When this returns, the database knows of it.
    pub(crate) async fn listen(&self, topic: String) -> Result<BoxStream<'static, Bytes>, Failure> {
        let (inbox, (confirmed, confirmation)) = (Arc::new(Inbox::default()), oneshot::channel());
        let pending = Pending { inbox: inbox.clone(), confirmed };
        self.shared.lock().topics.entry(topic.clone()).or_default().pending.push_back(pending);
        // Removes the listener if this fails or is dropped.
        let stream = TopicStream { inbox, topic, shared: Arc::downgrade(&self.shared) };
        let confirmed = async {
            subscribe(&self.link, &stream.topic).await?;
            confirmation.await.map_err(|_| Failure::Late(CONFIRMED))
        };
        let late = |_| Failure::Late(CONFIRMED);
        tokio::time::timeout(CONFIRMED, confirmed).await.map_err(late)??;
        Ok(Box::pin(stream))
    }
}

impl Drop for Listeners {
    /// Ends all streams, and the task.
    fn drop(&mut self) {
        let topics = std::mem::take(&mut self.shared.lock().topics);
        for inbox in topics.into_values().flat_map(|topic| topic.active) {
            inbox.close().into_iter().for_each(Waker::wake);
        }
    }
}

async fn subscribe(link: &Arc<Link>, topic: &str) -> Result<(), Failure> {
    let request = Request::Command(cmd("SSUBSCRIBE").arg(topic).to_owned());
    link.send(request, AfterLoss::Fail).await.map(drop)
}

/// The task. It ends with the last handle.
async fn watch(shared: Weak<Shared>, link: Weak<Link>, mut signals: mpsc::Receiver<()>) {
    let mut probe = Instant::now() + PROBE;
    while let Some(wake) = next_wake(&mut signals, &mut probe).await {
        let (Some(shared), Some(link)) = (shared.upgrade(), link.upgrade()) else { return };
        if wake == Wake::Probe && shared.has_topics() {
            ask_for_sign_of_life(&link).await;
        }
        match shared.next_work() {
            Some(Work::Restore) => restore(&shared, &link).await,
            Some(Work::GiveUp(topics)) => unsubscribe(&shared, &link, topics).await,
            None => continue,
        }
        // There may be more.
        shared.wake();
    }
}

/// Waits for a signal until it is time for a probe. Signals do not put it off.
async fn next_wake(signals: &mut mpsc::Receiver<()>, probe: &mut Instant) -> Option<Wake> {
    if Instant::now() < *probe
        && let Ok(signal) = tokio::time::timeout_at(*probe, signals.recv()).await
    {
        return signal.map(|()| Wake::Signal);
    }
    *probe = Instant::now() + PROBE;
    Some(Wake::Probe)
}

/// Gives up a connection that does not answer. Then everything is restored.
async fn ask_for_sign_of_life(link: &Arc<Link>) {
    let ping = Request::Command(cmd("PING"));
    if link.send(ping, AfterLoss::Fail).await.is_err() {
        link.disconnect();
    }
}

/// Subscribes to all topics again, until that has succeeded or there is none.
async fn restore(shared: &Arc<Shared>, link: &Arc<Link>) {
    loop {
        let topics = shared.begin_to_restore();
        if topics.is_empty() || subscribe_to_all(shared, link, topics).await {
            return;
        }
        // Between pauses, the link itself takes its time.
        tokio::time::sleep(link.pause().unwrap_or(Duration::from_millis(10))).await;
    }
}

async fn subscribe_to_all(shared: &Arc<Shared>, link: &Arc<Link>, topics: Vec<String>) -> bool {
    all_succeed(topics, |topic| {
        let (shared, link) = (shared.clone(), link.clone());
        async move {
            let is_subscribed = subscribe(&link, &topic).await.is_ok();
            if is_subscribed {
                shared.deliver(&topic, &Bytes::new());
            }
            is_subscribed
        }
    })
    .await
}

/// If it fails, the connection is lost, and the subscriptions with it.
async fn unsubscribe(shared: &Shared, link: &Arc<Link>, mut topics: Vec<String>) {
    topics.retain(|topic| !shared.lock().topics.contains_key(topic));
    all_succeed(topics, |topic| {
        let link = link.clone();
        async move {
            let request = Request::Command(cmd("SUNSUBSCRIBE").arg(topic).to_owned());
            link.send(request, AfterLoss::Fail).await.is_ok()
        }
    })
    .await;
}

/// Runs some work for each topic, for [`AT_ONCE`] of them at the same time, until one fails.
async fn all_succeed<Running>(topics: Vec<String>, work: impl Fn(String) -> Running) -> bool
where
    Running: Future<Output = bool> + Send + 'static,
{
    let (mut topics, mut tasks) = (topics.into_iter(), JoinSet::new());
    loop {
        while tasks.len() < AT_ONCE
            && let Some(topic) = topics.next()
        {
            tasks.spawn(work(topic));
        }
        match tasks.join_next().await {
            None => return true,
            Some(Ok(true)) => {}
            // Dropping the other tasks ends them.
            Some(_) => return false,
        }
    }
}

impl Shared {
    fn has_topics(&self) -> bool {
        !self.lock().topics.is_empty()
    }

    /// What to do next. A lost connection comes first: without it nothing arrives, and there is nothing
    /// to give up.
    fn next_work(&self) -> Option<Work> {
        let mut state = self.lock();
        if state.is_lost {
            return Some(Work::Restore);
        }
        let count = state.unused.len().min(AT_ONCE);
        (count > 0).then(|| Work::GiveUp(state.unused.drain(..count).collect()))
    }

    /// The topics to subscribe to on a new connection, which has no subscriptions yet.
    fn begin_to_restore(&self) -> Vec<String> {
        let mut state = self.lock();
        state.is_lost = false;
        state.unused.clear();
        let in_use = state.topics.iter().filter(|(_, topic)| !topic.active.is_empty());
        in_use.map(|(name, _)| name.clone()).collect()
    }

    /// What the database sends: `[topic, message]`, or `[topic, count]` for subscriptions.
    fn receive(&self, info: PushInfo) {
        let mut data = info.data.into_iter();
        let topic = match data.next() {
            Some(Value::BulkString(topic)) => String::from_utf8(topic).ok(),
            Some(Value::SimpleString(topic)) => Some(topic),
            _ => None,
        };
        match (info.kind, topic, data.next()) {
            (PushKind::Disconnection, ..) => self.tell_lost(),
            (PushKind::SMessage, Some(topic), Some(Value::BulkString(value))) => {
                self.deliver(&topic, &value.into());
            }
            (PushKind::SSubscribe, Some(topic), _) => self.confirm(&topic),
            // Its slot has moved to another server, or a new listener subscribed too early.
            (PushKind::SUnsubscribe, Some(topic), _) if self.is_in_use(&topic) => {
                self.tell_lost();
            }
            _ => {}
        }
    }

    fn is_in_use(&self, topic: &str) -> bool {
        self.lock().topics.get(topic).is_some_and(|topic| !topic.active.is_empty())
    }

    fn confirm(&self, topic: &str) {
        let mut state = self.lock();
        let Some(topic) = state.topics.get_mut(topic) else { return };
        let Some(pending) = topic.pending.pop_front() else { return };
        topic.active.push(pending.inbox);
        // The caller may have gone; then its stream removes the listener.
        let _ = pending.confirmed.send(());
    }

    fn deliver(&self, topic: &str, value: &Bytes) {
        let inboxes = match self.lock().topics.get(topic) {
            Some(topic) => topic.active.clone(),
            None => return,
        };
        let wakers = inboxes.iter().filter_map(|inbox| inbox.push(value.clone()));
        wakers.for_each(Waker::wake);
    }

    fn tell_lost(&self) {
        self.lock().is_lost = true;
        self.wake();
    }

    fn wake(&self) {
        // Fails when a signal waits already, or the task has ended.
        let _ = self.signals.try_send(());
    }

    /// No code under the lock can panic halfway, so the state is valid even if the lock is poisoned.
    fn lock(&self) -> MutexGuard<'_, ListenersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stream of one listener. Dropping it removes the listener from its topic.
struct TopicStream {
    inbox: Arc<Inbox>,
    topic: String,
    shared: Weak<Shared>,
}

impl Stream for TopicStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.inbox.poll(cx)
    }
}

impl Drop for TopicStream {
    fn drop(&mut self) {
        let Some(shared) = self.shared.upgrade() else { return };
        let mut state = shared.lock();
        let Some(topic) = state.topics.get_mut(&self.topic) else { return };
        topic.active.retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
        topic.pending.retain(|pending| !Arc::ptr_eq(&pending.inbox, &self.inbox));
        if topic.active.is_empty() && topic.pending.is_empty() {
            state.topics.remove(&self.topic);
            state.unused.push(std::mem::take(&mut self.topic));
            drop(state);
            shared.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared() -> (Shared, mpsc::Receiver<()>) {
        let (signals, wakes) = mpsc::channel(1);
        (Shared { state: Mutex::default(), signals }, wakes)
    }

    #[test]
    fn everything_is_restored_once_for_several_lost_connections() {
        let (shared, mut wakes) = shared();
        for _ in 0..3 {
            shared.receive(PushInfo { kind: PushKind::Disconnection, data: Vec::new() });
        }
        assert!(wakes.try_recv().is_ok() && wakes.try_recv().is_err());
        assert_eq!(shared.next_work(), Some(Work::Restore));
        shared.begin_to_restore();
        assert_eq!(shared.next_work(), None);
    }

    #[test]
    fn a_lost_connection_is_restored_before_topics_are_given_up() {
        let (shared, _wakes) = shared();
        let names: Vec<_> = (0..=AT_ONCE).map(|number| number.to_string()).collect();
        shared.lock().unused = names.clone();
        shared.receive(PushInfo { kind: PushKind::Disconnection, data: Vec::new() });
        assert_eq!(shared.next_work(), Some(Work::Restore));
        shared.begin_to_restore();
        assert_eq!(shared.next_work(), None, "the new connection has none of them");
        shared.lock().unused = names.clone();
        assert_eq!(shared.next_work(), Some(Work::GiveUp(names[..AT_ONCE].to_vec())));
        assert_eq!(shared.next_work(), Some(Work::GiveUp(names[AT_ONCE..].to_vec())));
        assert_eq!(shared.next_work(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn signals_do_not_put_off_the_probe() {
        let ((sender, mut signals), mut probe) = (mpsc::channel(1), Instant::now() + PROBE);
        let begin = Instant::now();
        let mut probes = Vec::new();
        while probes.len() < 3 {
            // There is always one that waits.
            let _ = sender.try_send(());
            match next_wake(&mut signals, &mut probe).await.unwrap() {
                Wake::Probe => probes.push(begin.elapsed()),
                Wake::Signal => tokio::time::advance(PROBE / 4).await,
            }
        }
        assert_eq!(probes, [PROBE, PROBE * 2, PROBE * 3]);
        drop(sender);
        while let Some(wake) = next_wake(&mut signals, &mut probe).await {
            assert_eq!(wake, Wake::Signal);
        }
    }
}
