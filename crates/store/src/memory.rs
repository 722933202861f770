//! The default backend: in the memory of this process, with a limit in bytes.
//!
//! All state is behind one lock that is never held across an await. Expired entries are removed
//! before the next write.
//!
//! It keeps its promises without a task of its own: what has expired is not returned, and its
//! memory is freed by the next write. When the bytes do not suffice, events of streams are dropped
//! before values are refused, because a client that misses events gets an error and can go on.

use std::collections::{BTreeMap, HashMap};
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::backend::{
    Appended, Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, NewItem,
    Position, Result, Version, Written,
};
use crate::inbox::Inbox;

mod limits;
mod logs;
mod marks;
mod topics;

pub use self::limits::MemoryLimits;
use self::limits::OVERHEAD;
use self::logs::StoredLog;
use self::topics::TopicStream;

/// Stores everything in the memory of this process. Nothing survives a restart.
///
/// When the [limit](MemoryLimits::bytes) is reached, it first drops events of streams, beginning with
/// the logs that expire first; then writes fail.
///
/// ```
/// use bowline_store::MemoryBackend;
/// use bowline_store::memory::MemoryLimits;
///
/// let mut limits = MemoryLimits::default();
/// limits.bytes = 16 * 1024 * 1024;
/// let store = MemoryBackend::new(limits);
/// assert_eq!(store.bytes(), 0);
/// ```
#[derive(Default)]
pub struct MemoryBackend {
    limits: MemoryLimits,
    clock: Option<fn() -> Instant>,
    state: Arc<Mutex<MemoryState>>,
}

/// Behind the lock. `bytes` is always the sum over all entries.
#[derive(Default)]
struct MemoryState {
    values: BTreeMap<Key, StoredValue>,
    logs: HashMap<Key, StoredLog>,
    topics: HashMap<Key, Vec<Weak<Inbox>>>,
    /// Keys by the time at which they may expire. An entry may be outdated.
    expiries: BTreeMap<(Instant, Key), ()>,
    bytes: usize,
    version: u64,
}

/// The expiry of an entry whose requested expiry exceeds the range of [`Instant`].
const FOR_GOOD: Duration = Duration::from_secs(u32::MAX as u64);

/// A version counts over all keys, so it is never used twice, not even after a deletion.
struct StoredValue {
    value: Bytes,
    version: Version,
    expires: Instant,
}

impl MemoryBackend {
    /// An empty backend with these limits.
    pub fn new(limits: MemoryLimits) -> Self {
        Self { limits, clock: None, state: Arc::default() }
    }

    /// Reads the time from another clock. For tests that move the time.
    #[must_use]
    pub fn clock(mut self, now: fn() -> Instant) -> Self {
        self.clock = Some(now);
        self
    }

    fn now(&self) -> Instant {
        self.clock.map_or_else(Instant::now, |now| now())
    }

    /// The bytes of all entries that have not expired.
    pub fn bytes(&self) -> usize {
        let mut state = self.lock();
        state.expire(self.now());
        state.bytes
    }

    /// No code under the lock can panic halfway, so the state is valid even if the lock is poisoned.
    fn lock(&self) -> MutexGuard<'_, MemoryState> {
        lock(&self.state)
    }

    /// Expires what is due, compares, makes room, and writes, all under one lock. A conflict
    /// changes nothing but what has expired.
    fn write_value(
        &self,
        key: &Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> Result<Written> {
        let now = self.now();
        let mut state = self.lock();
        state.expire(now);
        let found = state.values.get(key).map(|value| value.version);
        let is_expected = match expect {
            Expect::Anything => true,
            Expect::Absent => found.is_none(),
            Expect::Version(version) => found == Some(version),
        };
        if !is_expected {
            return Ok(Written::Conflict);
        }
        let (size, freed) = (size_of_value(key, &value), state.size_of(key));
        state.make_room(size.saturating_sub(freed), self.limits.bytes, key)?;
        Ok(Written::Yes(state.set(key, value, expiry, now)))
    }

    /// A value whose time is renewed.
    fn renew_value(&self, key: &Key, expiry: Duration) -> Option<Entry> {
        let now = self.now();
        let mut state = self.lock();
        state.expire(now);
        let value = state.values.get(key)?;
        let entry = Entry { value: value.value.clone(), version: value.version };
        if value.expires.saturating_duration_since(now) < expiry - expiry / 4 {
            state.prolong(key, expiry, now);
        }
        Some(entry)
    }

    /// The log gets the new expiry as a whole, as [`Backend::append`] demands. Everything that can
    /// fail comes before the first change.
    fn write_item(&self, key: &Key, item: NewItem) -> Result<Appended> {
        let now = self.now();
        let mut state = self.lock();
        state.expire(now);
        if item.mark.as_ref().is_some_and(|mark| state.is_fenced(mark)) {
            return Ok(Appended::Fenced);
        }
        let is_wanted = item.value.is_some() || item.above > Position(0);
        let begins = is_wanted && !state.logs.contains_key(key);
        let empty = if begins { size_of_log(key) } else { 0 };
        let mark = item.mark.as_ref().map_or(0, |mark| state.growth_of(mark));
        let growth = item.value.as_ref().map_or(0, |value| value.len() + OVERHEAD);
        state.make_room(growth + empty + mark, self.limits.bytes, key)?;
        if let Some(mark) = item.mark {
            state.step_mark(mark, item.expiry, now);
        }
        if begins {
            state.logs.insert(key.clone(), StoredLog::new(now));
            state.bytes += empty;
        }
        state.prolong_log(key, item.expiry, now);
        let position = state.change_log(key, |log| {
            log.go_above(item.above);
            let newest = Position(log.next().0 - 1);
            item.value.map_or(newest, |value| log.push(value, &self.limits))
        });
        let position = position.unwrap_or_default();
        let Some((topic, news)) = item.tell else { return Ok(Appended::At(position)) };
        let listeners = state.listeners(&topic);
        // Listeners are woken without the lock.
        drop(state);
        tell(&listeners, &news);
        Ok(Appended::At(position))
    }
}

fn size_of_value(key: &Key, value: &Bytes) -> usize {
    key.as_str().len() + value.len() + OVERHEAD
}

/// The bytes of an empty log.
fn size_of_log(key: &Key) -> usize {
    key.as_str().len() + OVERHEAD
}

impl MemoryState {
    /// Removes a value or a log. Returns whether there was one.
    fn remove(&mut self, key: &Key) -> bool {
        let value = self.values.remove(key);
        if let Some(value) = &value {
            self.expiries.remove(&(value.expires, key.clone()));
            self.bytes -= size_of_value(key, &value.value);
        }
        let log = self.logs.remove(key);
        if let Some(log) = &log {
            self.expiries.remove(&(log.expires, key.clone()));
            self.bytes -= size_of_log(key) + log.bytes;
        }
        value.is_some() || log.is_some()
    }

    /// The bytes that removing a key would free.
    fn size_of(&self, key: &Key) -> usize {
        let value = self.values.get(key).map_or(0, |value| size_of_value(key, &value.value));
        value + self.logs.get(key).map_or(0, |log| size_of_log(key) + log.bytes)
    }

    /// The listeners of a topic.
    fn listeners(&self, topic: &Key) -> Vec<Arc<Inbox>> {
        self.topics.get(topic).into_iter().flatten().filter_map(Weak::upgrade).collect()
    }

    /// Sets a value. The caller has made room.
    fn set(&mut self, key: &Key, value: Bytes, expiry: Duration, now: Instant) -> Version {
        self.remove(key);
        self.version += 1;
        let version = Version(self.version);
        let expires = self.remember(key, expiry, now);
        self.bytes += size_of_value(key, &value);
        self.values.insert(key.clone(), StoredValue { value, version, expires });
        version
    }

    /// Sets when a value expires.
    fn prolong(&mut self, key: &Key, expiry: Duration, now: Instant) {
        let expires = self.remember(key, expiry, now);
        if let Some(value) = self.values.get_mut(key) {
            let before = std::mem::replace(&mut value.expires, expires);
            if before != expires {
                self.expiries.remove(&(before, key.clone()));
            }
        }
    }

    /// Sets when a log expires, if there is one.
    fn prolong_log(&mut self, key: &Key, expiry: Duration, now: Instant) {
        let Some(before) = self.logs.get(key).map(|log| log.expires) else { return };
        self.expiries.remove(&(before, key.clone()));
        let expires = self.remember(key, expiry, now);
        if let Some(log) = self.logs.get_mut(key) {
            log.expires = expires;
        }
    }

    /// Changes a log, if there is one, and counts its bytes.
    fn change_log<T>(&mut self, key: &Key, change: impl FnOnce(&mut StoredLog) -> T) -> Option<T> {
        let log = self.logs.get_mut(key)?;
        let before = log.bytes;
        let changed = change(log);
        self.bytes = self.bytes + log.bytes - before;
        Some(changed)
    }

    /// Records when a key expires.
    fn remember(&mut self, key: &Key, expiry: Duration, now: Instant) -> Instant {
        let expires = now.checked_add(expiry).unwrap_or(now + FOR_GOOD);
        self.expiries.insert((expires, key.clone()), ());
        expires
    }

    /// Removes all entries that have expired.
    fn expire(&mut self, now: Instant) {
        while let Some(((at, key), ())) = self.expiries.pop_first() {
            if at > now {
                self.expiries.insert((at, key), ());
                return;
            }
            let value = self.values.get(&key).is_some_and(|value| value.expires <= now);
            let log = self.logs.get(&key).is_some_and(|log| log.expires <= now);
            if value || log {
                self.remove(&key);
            }
        }
    }

    /// Drops items of logs until this many more bytes fit. A log keeps its positions, so a client
    /// that resumes its stream gets an error for the gap. The log of `writing` keeps its items.
    fn make_room(&mut self, bytes: usize, most: usize, writing: &Key) -> Result<()> {
        let wanted = self.bytes.saturating_add(bytes);
        if wanted <= most {
            return Ok(());
        }
        let mut excess = wanted - most;
        let full = format!("the memory store is full: it holds at most {most} bytes");
        if bytes > most {
            return Err(Error::new(full));
        }
        for (_, key) in self.expiries.keys().filter(|(_, key)| key != writing) {
            let Some(log) = self.logs.get_mut(key) else { continue };
            let before = log.bytes;
            while excess > before - log.bytes && !log.items.is_empty() {
                log.forget_oldest();
            }
            let freed = before - log.bytes;
            self.bytes -= freed;
            excess = excess.saturating_sub(freed);
            if excess == 0 {
                return Ok(());
            }
        }
        Err(Error::new(full))
    }
}

impl Backend for MemoryBackend {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        let now = self.now();
        let state = self.lock();
        let value = state.values.get(key).filter(|value| now < value.expires);
        let entry = value.map(|value| Entry { value: value.value.clone(), version: value.version });
        Box::pin(ready(Ok(entry)))
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(ready(Ok(self.renew_value(key, expiry))))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(ready(self.write_value(key, value, expiry, expect)))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        let mut state = self.lock();
        // What has expired counts as absent, even while it takes memory.
        state.expire(self.now());
        Box::pin(ready(Ok(state.remove(key))))
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        let now = self.now();
        let state = self.lock();
        let found = state
            .values
            .range(after.map_or(prefix, |after| after.max(prefix))..)
            .filter(|(key, value)| Some(*key) != after && now < value.expires)
            .map(|(key, _)| key)
            .take_while(|key| key.as_str().starts_with(prefix.as_str()));
        Box::pin(ready(Ok(found.take(limit).cloned().collect())))
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(ready(self.write_item(log, item)))
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        let now = self.now();
        let state = self.lock();
        let Some(log) = state.logs.get(log).filter(|log| now < log.expires) else {
            return Box::pin(ready(Ok(LogSlice::empty())));
        };
        Box::pin(ready(Ok(log.slice(after, limit))))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        let listeners = self.lock().listeners(topic);
        tell(&listeners, &value);
        Box::pin(ready(Ok(())))
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        let inbox = Arc::new(Inbox::default());
        let weak = Arc::downgrade(&inbox);
        self.lock().topics.entry(topic.clone()).or_default().push(weak);
        let stream = TopicStream { inbox, topic: topic.clone(), state: self.state.clone() };
        let stream: BoxStream<'static, Bytes> = Box::pin(stream);
        Box::pin(ready(Ok(stream)))
    }
}

/// Passes a value to listeners. The caller holds no lock.
fn tell(listeners: &[Arc<Inbox>], value: &Bytes) {
    let wakers = listeners.iter().filter_map(|inbox| inbox.push(value.clone()));
    wakers.for_each(Waker::wake);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
