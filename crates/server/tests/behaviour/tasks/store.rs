//! A store whose entries expire in virtual time, and links to it that a test can cut.

use std::collections::HashMap;
use std::future::ready;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_store::MemoryBackend;
use bowline_store::backend::{
    Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, Position, Result, Written,
};
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
}

impl Link {
    pub(super) fn to(store: &Arc<VirtualStore>) -> Arc<Self> {
        let (fails, is_deaf, refused) = Default::default();
        let (lost_announcements, is_blind, delay) = Default::default();
        let store = store.clone();
        Arc::new(Self { store, fails, is_deaf, refused, lost_announcements, is_blind, delay })
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

    fn reach<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&'a MemoryBackend) -> BoxFuture<'a, Result<T>>,
    ) -> BoxFuture<'a, Result<T>> {
        if self.fails.load(Ordering::Relaxed) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return Box::pin(ready(Err(Error::new("out of reach"))));
        }
        self.store.expire();
        work(&self.store.memory)
    }
}

impl Backend for Link {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        if self.is_blind.load(Ordering::Relaxed) {
            return Box::pin(ready(Err(Error::new("blind"))));
        }
        self.reach(|memory| memory.get(key))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        let delay = *self.delay.lock().unwrap();
        self.reach(|memory| {
            Box::pin(async move {
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                let written = memory.put(key, value, LONG, expect).await?;
                if let Written::Yes(_) = written {
                    let expires = Instant::now() + expiry;
                    self.store.expiries.lock().unwrap().insert(key.clone(), expires);
                }
                Ok(written)
            })
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        self.reach(|memory| memory.delete(key))
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        self.reach(|memory| memory.scan(prefix, after, limit))
    }

    fn append<'a>(
        &'a self,
        log: &'a Key,
        value: Bytes,
        expiry: Duration,
    ) -> BoxFuture<'a, Result<Position>> {
        self.reach(|memory| memory.append(log, value, expiry))
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        self.reach(|memory| memory.read(log, after, limit))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        let lost = &self.lost_announcements;
        let take = |left: usize| left.checked_sub(1);
        if lost.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            return Box::pin(ready(Err(Error::new("not announced"))));
        }
        self.reach(|memory| memory.publish(topic, value))
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        let is_deaf = self.is_deaf.clone();
        self.reach(|memory| {
            Box::pin(async move {
                let news = memory.listen(topic).await?;
                let heard = news.filter(move |_| ready(!is_deaf.load(Ordering::Relaxed)));
                Ok(Box::pin(heard) as BoxStream<'static, Bytes>)
            })
        })
    }
}
