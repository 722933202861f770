//! A backend in memory that makes one mistake.

use std::collections::HashMap;
use std::future::pending;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_store::backend::{
    Appended, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, MarkStep, NewItem,
    Position, Result, Version, Written,
};
use bowline_store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
use bowline_store::{Backend, MemoryBackend};
use bowline_testing::backend::{BackendUnderTest, Durability, Outage};
use bytes::Bytes;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::sync::mpsc;

use crate::journal::{self, Journal, LONG};
use crate::wrong_streams::{Unbounded, WithoutEmpty};

/// The variable that names the journal of a process that is to be killed.
pub(crate) const STORE: &str = "BOWLINE_WRONG_WRITER";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mistake {
    None,
    RepeatsVersions,
    ExpiresEarly,
    ExpiresLate,
    /// Takes `*` for a pattern that matches everything.
    PatternsInScan,
    ScansBackwards,
    /// Says that it deleted what was not there.
    DeletesAnything,
    /// Writes what it renews.
    RenewsVersions,
    RenewsForLess,
    /// Takes a position that the writer knows.
    IgnoresAbove,
    /// Adds an item where a log is only kept.
    AddsItemsToKeep,
    IgnoresMarks,
    TellsOfFencedItems,
    /// Sets the mark again with each item.
    SetsMarksAgain,
    TellsSomethingElse,
    MixesTopics,
    /// Invents events beyond the end of a log.
    HidesTheEnd,
    ReturnsLongPages,
    ReadsBackwards,
    ComparesThenWrites,
    ReadsStaleValues,
    ReadsStaleLogs,
    /// Reads the next position, then appends.
    GuessesPositions,
    /// Says that dropped items are there.
    HidesDroppedItems,
    SwapsMessages,
    RepeatsEarlierMessages,
    KeepsAllMessages,
    /// Does not tell a slow listener that it has missed messages.
    HidesMissedMessages,
    HangsInOutages,
    /// After an outage, a write from before it takes effect again.
    RepeatsWrites,
    /// Sends an item again when the reply is lost, without looking whether it is there.
    RepeatsItems,
    /// Fails for good after an outage.
    StaysDown,
    ForgetsInCrashes,
    /// After a crash, items are there in part.
    TearsItems,
}

/// Opens backends with one mistake, one for each name of a store.
pub(crate) struct Wrong {
    mistake: Mistake,
    folder: TempDir,
    outages: AtomicU64,
    stores: Mutex<HashMap<String, Arc<Wrapped<WrongBackend>>>>,
}

impl Wrong {
    pub(crate) fn new(mistake: Mistake) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { mistake, folder, outages: AtomicU64::default(), stores: Mutex::default() }
    }

    fn journal(&self, store: &str) -> PathBuf {
        self.folder.path().join(store)
    }

    fn store(&self, name: &str) -> Arc<Wrapped<WrongBackend>> {
        let mut stores = self.stores.lock().unwrap();
        let new = || Arc::new(Wrapped(WrongBackend::new(self.mistake)));
        stores.entry(name.to_owned()).or_insert_with(new).clone()
    }
}

impl BackendUnderTest for Wrong {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        let (journal, store) = (self.journal(store), self.store(store));
        Box::pin(async move {
            match self.mistake {
                Mistake::ForgetsInCrashes => {}
                Mistake::TearsItems => journal::replay(&journal, 1, &store.memory).await,
                _ => journal::replay(&journal, 0, &store.memory).await,
            }
            store as Arc<dyn Backend>
        })
    }

    fn durability(&self) -> Durability {
        Durability::Crash
    }

    fn writer(&self, store: &str) -> Option<Command> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "writes_until_killed", "--nocapture"]);
        command.env(STORE, self.journal(store));
        Some(command)
    }

    fn outage(&self, store: &str) -> Option<Outage> {
        let store = self.store(store);
        let is_first = self.outages.fetch_add(1, Ordering::SeqCst) == 0;
        // During the first one nothing is written.
        if self.mistake == Mistake::RepeatsWrites && !is_first {
            store.wait_for_writes();
        }
        store.is_down.store(true, Ordering::SeqCst);
        let ends = self.mistake != Mistake::StaysDown;
        Some(Outage::new(move || store.is_down.store(!ends, Ordering::SeqCst)))
    }
}

/// In memory, but for its mistake.
pub(crate) struct WrongBackend {
    mistake: Mistake,
    memory: MemoryBackend,
    /// Where the process that is killed writes what it acknowledges.
    pub(crate) journal: Option<Journal>,
    is_down: AtomicBool,
    reads: AtomicU64,
    /// A write of some time ago, and how many there were.
    earlier_write: Mutex<Option<(Key, Bytes)>>,
    writes: AtomicU64,
    /// What was read of each key before.
    stale_values: Mutex<HashMap<Key, Option<Entry>>>,
    stale_logs: Mutex<HashMap<Key, LogSlice>>,
    /// The last message of each topic.
    last: Mutex<HashMap<Key, Bytes>>,
    listeners: Mutex<Vec<mpsc::UnboundedSender<Bytes>>>,
}

impl WrongBackend {
    pub(crate) fn new(mistake: Mistake) -> Self {
        Self {
            mistake,
            memory: MemoryBackend::default(),
            journal: None,
            is_down: AtomicBool::default(),
            reads: AtomicU64::default(),
            earlier_write: Mutex::default(),
            writes: AtomicU64::default(),
            stale_values: Mutex::default(),
            stale_logs: Mutex::default(),
            last: Mutex::default(),
            listeners: Mutex::default(),
        }
    }

    /// In an outage every operation fails, or does not return.
    async fn is_up(&self) -> Result<()> {
        if !self.is_down.load(Ordering::SeqCst) {
            return Ok(());
        }
        match self.mistake {
            Mistake::HangsInOutages => pending::<()>().await,
            Mistake::RepeatsWrites => {
                let write = self.earlier_write.lock().unwrap().clone();
                if let Some((key, value)) = write {
                    self.memory.put(&key, value, LONG, Expect::Anything).await?;
                }
            }
            _ => {}
        }
        Err(Error::new("out of reach"))
    }

    /// Remembers the first write of the counter that several writers share, and counts the others.
    fn note_write(&self, key: &Key, value: &Bytes) {
        if key.as_str() == "counter" {
            self.earlier_write.lock().unwrap().get_or_insert_with(|| (key.clone(), value.clone()));
            self.writes.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Waits until the counter has gone on, so that a repeated write matters.
    fn wait_for_writes(&self) {
        while self.writes.load(Ordering::SeqCst) < 100 {
            std::thread::yield_now();
        }
    }

    /// What becomes of an item, and the message that goes with it, before it is appended.
    async fn misread(&self, item: &mut NewItem) -> Result<()> {
        match (self.mistake, &mut item.mark, &mut item.tell) {
            (Mistake::IgnoresAbove, ..) => item.above = Position(0),
            (Mistake::AddsItemsToKeep, ..) => {
                item.value.get_or_insert_default();
            }
            (Mistake::IgnoresMarks, Some(mark), _) => mark.step = MarkStep::Begin,
            (Mistake::SetsMarksAgain, Some(mark), _) if mark.step == MarkStep::Continue => {
                let found = self.memory.get(&mark.key).await?;
                if found.is_some_and(|found| found.value == mark.owner) {
                    mark.step = MarkStep::Begin;
                }
            }
            (Mistake::TellsOfFencedItems, _, Some((topic, news))) => {
                self.memory.publish(topic, news.clone()).await?;
                item.tell = None;
            }
            (Mistake::MixesTopics, _, Some((topic, _))) => *topic = self.topic(topic),
            (Mistake::TellsSomethingElse, None, Some((_, news))) => *news = "else".into(),
            _ => {}
        }
        Ok(())
    }

    /// The topic that a message goes to.
    fn topic(&self, topic: &Key) -> Key {
        match self.mistake {
            Mistake::MixesTopics => Key::new(["topic"]),
            _ => topic.clone(),
        }
    }

    fn expiry(&self, expiry: Duration) -> Duration {
        match self.mistake {
            Mistake::ExpiresEarly => expiry / 2,
            Mistake::ExpiresLate => expiry.saturating_mul(10),
            _ => expiry,
        }
    }

    /// Now and then a read returns what the one before it did.
    fn is_stale(&self, mistake: Mistake) -> bool {
        self.mistake == mistake && self.reads.fetch_add(1, Ordering::Relaxed) % 50 == 49
    }

    async fn compare_then_write(
        &self,
        key: &Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> Result<Written> {
        let found = self.memory.get(key).await?.map(|entry| entry.version);
        let is_expected = match expect {
            Expect::Anything => true,
            Expect::Absent => found.is_none(),
            Expect::Version(version) => found == Some(version),
        };
        std::thread::yield_now();
        if !is_expected {
            return Ok(Written::Conflict);
        }
        self.memory.put(key, value, expiry, Expect::Anything).await
    }
}

impl Wrapper for WrongBackend {
    fn inner(&self) -> &dyn Backend {
        &self.memory
    }

    fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
        let is_repeated = self.mistake == Mistake::RepeatsItems;
        match operation.kind {
            OperationKind::Append if is_repeated => Box::pin(std::future::ready(Ok(()))),
            _ => Box::pin(self.is_up()),
        }
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let mut entry = self.memory.get(key).await?;
            if self.mistake == Mistake::RepeatsVersions
                && let Some(entry) = &mut entry
            {
                entry.version.0 %= 50;
            }
            let before = self.stale_values.lock().unwrap().insert(key.clone(), entry.clone());
            match before {
                Some(before) if self.is_stale(Mistake::ReadsStaleValues) => Ok(before),
                _ => Ok(entry),
            }
        })
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let found = self.memory.renew(key, expiry).await?;
            match (self.mistake, &found) {
                (Mistake::RenewsVersions, Some(entry)) => {
                    self.memory.put(key, entry.value.clone(), expiry, Expect::Anything).await?;
                    self.memory.get(key).await
                }
                (Mistake::RenewsForLess, Some(_)) if expiry.is_zero() => {
                    self.memory.delete(key).await?;
                    Ok(found)
                }
                _ => Ok(found),
            }
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let was_there = self.memory.delete(key).await?;
            Ok(was_there || self.mistake == Mistake::DeletesAnything)
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
            let expiry = self.expiry(expiry);
            self.note_write(key, &value);
            if self.mistake == Mistake::ComparesThenWrites {
                return self.compare_then_write(key, value, expiry, expect).await;
            }
            self.journal.iter().for_each(|journal| journal.note(b'v', key, &value));
            let written = self.memory.put(key, value, expiry, expect).await?;
            match written {
                Written::Yes(version) if self.mistake == Mistake::RepeatsVersions => {
                    Ok(Written::Yes(Version(version.0 % 50)))
                }
                written => Ok(written),
            }
        })
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(async move {
            let pattern = prefix.as_str().strip_suffix('*');
            let mut found = match pattern.filter(|_| self.mistake == Mistake::PatternsInScan) {
                Some(start) => self.memory.scan(&Key::new([start]), after, limit).await?,
                None => self.memory.scan(prefix, after, limit).await?,
            };
            if self.mistake == Mistake::ScansBackwards {
                found.reverse();
            }
            Ok(found)
        })
    }

    fn append<'a>(&'a self, log: &'a Key, mut item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(async move {
            self.misread(&mut item).await?;
            for (journal, value) in self.journal.iter().zip(&item.value) {
                journal.note(b'l', log, value);
            }
            let guess = self.memory.read(log, Position(0), 0).await?.next;
            std::thread::yield_now();
            let item = NewItem { expiry: self.expiry(item.expiry), ..item };
            if self.mistake == Mistake::RepeatsItems && self.is_down.load(Ordering::SeqCst) {
                self.memory.append(log, item.clone()).await?;
            }
            let appended = self.memory.append(log, item).await?;
            let guesses = self.mistake == Mistake::GuessesPositions;
            Ok(if guesses { Appended::At(guess) } else { appended })
        })
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        Box::pin(async move {
            let limit = match self.mistake {
                Mistake::ReturnsLongPages => limit.saturating_add(1),
                _ => limit,
            };
            let mut read = self.memory.read(log, after, limit).await?;
            match self.mistake {
                Mistake::HidesDroppedItems => read.oldest = Position(1),
                Mistake::HidesTheEnd => read.next = read.next.max(after),
                Mistake::ReadsBackwards => read.items.reverse(),
                _ => {}
            }
            let before = self.stale_logs.lock().unwrap().insert(log.clone(), read.clone());
            match before {
                Some(before) if self.is_stale(Mistake::ReadsStaleLogs) => Ok(before),
                _ => Ok(read),
            }
        })
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let topic = &self.topic(topic);
            let before = self.last.lock().unwrap().insert(topic.clone(), value.clone());
            match (self.mistake, before) {
                (Mistake::KeepsAllMessages, _) => {
                    let listeners = self.listeners.lock().unwrap();
                    listeners.iter().for_each(|listener| drop(listener.send(value.clone())));
                    Ok(())
                }
                // Each message arrives again after the next one.
                (Mistake::SwapsMessages, Some(before)) if before.starts_with(b"0 ") => {
                    self.memory.publish(topic, value).await?;
                    self.memory.publish(topic, before).await
                }
                _ => self.memory.publish(topic, value).await,
            }
        })
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        Box::pin(async move {
            if self.mistake == Mistake::KeepsAllMessages {
                let (sender, messages) = mpsc::unbounded_channel();
                self.listeners.lock().unwrap().push(sender);
                return Ok(Box::pin(Unbounded(messages)) as BoxStream<'static, Bytes>);
            }
            let topic = &self.topic(topic);
            let stream = self.memory.listen(topic).await?;
            if self.mistake == Mistake::HidesMissedMessages {
                return Ok(Box::pin(WithoutEmpty(stream)) as BoxStream<'static, Bytes>);
            }
            let last = self.last.lock().unwrap().get(topic).cloned();
            if let Some(last) = last.filter(|_| self.mistake == Mistake::RepeatsEarlierMessages) {
                self.memory.publish(topic, last).await?;
            }
            Ok(stream)
        })
    }
}
