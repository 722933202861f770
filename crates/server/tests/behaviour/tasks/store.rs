//! A store whose entries expire in virtual time, and links to it that a test can cut.

use std::collections::HashMap;
use std::future::ready;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_store::MemoryBackend;
use bowline_store::backend::{Backend, BoxFuture, BoxStream, Error, Expect, Key, Result, Written};
use bowline_store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio::time::Instant;

/// A store in memory. Its own clock is that of tokio, which a test can move.
#[derive(Default)]
pub(super) struct VirtualStore {
    memory: MemoryBackend,
    expiries: Mutex<HashMap<Key, Instant>>,
}

/// Longer than any test.
const LONG: Duration = Duration::from_secs(7 * 24 * 3600);

impl VirtualStore {
    /// Removes what has expired.
    fn expire(&self) {
        let now = Instant::now();
        self.expiries.lock().unwrap().retain(|key, expires| {
            let stays = now < *expires;
            if !stays {
                // The backend in memory removes when it is called, not when it is polled.
                drop(self.memory.delete(key));
            }
            stays
        });
    }

    /// The bytes of all entries.
    pub(super) fn bytes(&self) -> usize {
        self.expire();
        self.memory.bytes()
    }

    /// The keys that begin with a prefix.
    pub(super) async fn keys(&self, prefix: &str) -> Vec<Key> {
        self.expire();
        self.memory.scan(&Key::new([prefix, ""]), None, usize::MAX).await.unwrap()
    }

    /// The servers that are registered because they run tasks.
    pub(super) async fn runners(&self) -> Vec<String> {
        self.expire();
        let entry = self.memory.get(&Key::new(["task-runners"])).await.unwrap();
        let text = entry.map(|entry| String::from_utf8(entry.value.to_vec()).unwrap());
        // A line is a name and the number of its slots.
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        text.unwrap_or_default().lines().map(name).collect()
    }

    /// The records of all tasks, as text.
    pub(super) async fn records(&self) -> Vec<String> {
        let mut records = Vec::new();
        for key in self.keys("task").await {
            let entry = self.memory.get(&key).await.unwrap().unwrap();
            records.push(String::from_utf8_lossy(&entry.value).into_owned());
        }
        records
    }
}

/// The connection of one server to the store.
pub(super) struct Link {
    store: Arc<VirtualStore>,
    /// Operations fail.
    fails: AtomicBool,
    /// News of topics get lost.
    is_deaf: Arc<AtomicBool>,
    refused: AtomicUsize,
    /// How many of the next announcements fail.
    lost_announcements: AtomicUsize,
    /// Records cannot be read.
    is_blind: AtomicBool,
    /// How long each change takes.
    delay: Mutex<Duration>,
    /// How long the reply to each change takes.
    reply_delay: Mutex<Duration>,
    /// The most bytes of a value, if it is not zero.
    longest_value: AtomicUsize,
    /// How many operations there were, by kind and the first part of the key.
    operations: Mutex<HashMap<(OperationKind, String), usize>>,
}

impl Link {
    pub(super) fn to(store: &Arc<VirtualStore>) -> Arc<Wrapped<Self>> {
        let store = store.clone();
        let (fails, is_deaf, refused, operations) = Default::default();
        let (lost_announcements, is_blind, delay, reply_delay, longest_value) = Default::default();
        Arc::new(Wrapped(Self {
            store,
            fails,
            is_deaf,
            refused,
            lost_announcements,
            is_blind,
            delay,
            reply_delay,
            longest_value,
            operations,
        }))
    }

    /// The next announcement of the server fails, after the change that it announces was written.
    pub(super) fn lose_announcement(&self) {
        self.lost_announcements.fetch_add(1, Ordering::Relaxed);
    }

    /// The server can list keys, but cannot read values.
    pub(super) fn blind(&self) {
        self.is_blind.store(true, Ordering::Relaxed);
    }

    /// Each change takes this long from now on.
    pub(super) fn slow_down(&self, delay: Duration) {
        *self.delay.lock().unwrap() = delay;
    }

    /// The reply to each change takes this long from now on.
    pub(super) fn delay_replies(&self, delay: Duration) {
        *self.reply_delay.lock().unwrap() = delay;
    }

    /// Values with more bytes are refused from now on.
    pub(super) fn refuse_longer_than(&self, bytes: usize) {
        self.longest_value.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn store(&self) -> &Arc<VirtualStore> {
        &self.store
    }

    /// Nothing of the server reaches the store from now on, as if its process had stopped.
    pub(super) fn cut(&self) {
        self.fail();
        self.is_deaf.store(true, Ordering::Relaxed);
    }

    /// Operations of the server fail from now on, but it hears of changes.
    pub(super) fn fail(&self) {
        self.fails.store(true, Ordering::Relaxed);
    }

    pub(super) fn restore(&self) {
        self.fails.store(false, Ordering::Relaxed);
        self.is_deaf.store(false, Ordering::Relaxed);
    }

    /// How many operations failed.
    pub(super) fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    /// How many operations of a kind on keys with this first part there were.
    pub(super) fn count(&self, kind: OperationKind, first: &str) -> usize {
        let operations = self.operations.lock().unwrap();
        operations.get(&(kind, first.to_owned())).copied().unwrap_or_default()
    }

    /// How many operations of a kind there were.
    pub(super) fn count_all(&self, kind: OperationKind) -> usize {
        let operations = self.operations.lock().unwrap();
        operations.iter().filter(|((of, _), _)| *of == kind).map(|(_, count)| count).sum()
    }

    /// All operations since this was asked last, as `kind key`, sorted.
    pub(super) fn take_operations(&self) -> Vec<String> {
        let operations = std::mem::take(&mut *self.operations.lock().unwrap());
        let mut lines: Vec<_> = operations
            .into_iter()
            .flat_map(|((kind, key), count)| vec![format!("{kind:?} {key}"); count])
            .collect();
        lines.sort();
        lines
    }

    /// What stands in the way of an operation, if something does.
    fn obstacle(&self, kind: OperationKind) -> Option<&'static str> {
        let take = |left: usize| left.checked_sub(1);
        let loses = || {
            let lost = &self.lost_announcements;
            lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
        };
        if kind == OperationKind::Get && self.is_blind.load(Ordering::Relaxed) {
            Some("blind")
        } else if kind == OperationKind::Publish && loses() {
            Some("not announced")
        } else if self.fails.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            Some("out of reach")
        } else {
            None
        }
    }
}

impl Wrapper for Link {
    fn inner(&self) -> &dyn Backend {
        &self.store.memory
    }

    fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let first = operation.key.as_str().split('/').next().unwrap_or_default().to_owned();
            *self.operations.lock().unwrap().entry((operation.kind, first)).or_default() += 1;
            if let Some(obstacle) = self.obstacle(operation.kind) {
                return Err(Error::new(obstacle));
            }
            self.store.expire();
            let delay = *self.delay.lock().unwrap();
            if operation.kind == OperationKind::Put && !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(())
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(async move {
            if self.longest_value().is_some_and(|most| value.len() > most) {
                return Err(Error::new("too long"));
            }
            let written = self.store.memory.put(key, value, LONG, expect).await?;
            if let Written::Yes(_) = written {
                let expires = Instant::now() + expiry;
                self.store.expiries.lock().unwrap().insert(key.clone(), expires);
            }
            let delay = *self.reply_delay.lock().unwrap();
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            Ok(written)
        })
    }

    fn longest_value(&self) -> Option<usize> {
        Some(self.longest_value.load(Ordering::Relaxed)).filter(|most| *most > 0)
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        let is_deaf = self.is_deaf.clone();
        Box::pin(async move {
            let news = self.store.memory.listen(topic).await?;
            let heard = news.filter(move |_| ready(!is_deaf.load(Ordering::Relaxed)));
            Ok(Box::pin(heard) as BoxStream<'static, Bytes>)
        })
    }
}
