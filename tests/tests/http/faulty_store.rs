//! A store with faults that a test switches on.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_http::store::MemoryBackend;
use bowline_http::store::backend::{
    Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, Position, Result, Written,
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// A store that has at most one fault at a time.
pub(crate) struct FaultyStore {
    pub(crate) memory: MemoryBackend,
    fault: Mutex<Option<Fault>>,
}

#[derive(Clone)]
pub(crate) enum Fault {
    /// Every operation fails.
    Everything,
    /// Another endpoint subscribes to a resource in a session, just before its record is written.
    ConcurrentWrite(Key),
    /// Appending to a log fails.
    RefusesEvents,
    /// Writing a value fails.
    RefusesValues,
    /// The next read of a value waits for a permit.
    DelaysRead(Arc<Semaphore>),
}

impl FaultyStore {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { memory: MemoryBackend::default(), fault: Mutex::new(None) })
    }

    pub(crate) fn set_fault(&self, fault: impl Into<Option<Fault>>) {
        *self.fault.lock().unwrap() = fault.into();
    }

    fn inner<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&'a MemoryBackend) -> BoxFuture<'a, Result<T>>,
    ) -> BoxFuture<'a, Result<T>> {
        match *self.fault.lock().unwrap() {
            Some(Fault::Everything) => Box::pin(ready(Err(Error::new("out of order")))),
            _ => work(&self.memory),
        }
    }

    async fn delay(&self) {
        let delays = |fault: &mut Fault| matches!(fault, Fault::DelaysRead(_));
        let delayed = self.fault.lock().unwrap().take_if(delays);
        if let Some(Fault::DelaysRead(until)) = delayed {
            until.acquire().await.unwrap().forget();
        }
    }

    async fn write_concurrently(&self, key: &Key) {
        let is_meant =
            |fault: &mut Fault| matches!(fault, Fault::ConcurrentWrite(other) if other == key);
        if self.fault.lock().unwrap().take_if(is_meant).is_none() {
            return;
        }
        let entry = self.memory.get(key).await.unwrap().unwrap();
        let mut record: Value = serde_json::from_slice(&entry.value).unwrap();
        record["session"]["followed"] = json!(["note://a"]);
        let hour = Duration::from_secs(3600);
        let record = record.to_string().into();
        self.memory.put(key, record, hour, Expect::Anything).await.unwrap();
    }
}

impl Backend for FaultyStore {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            self.delay().await;
            self.inner(|inner| inner.get(key)).await
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
            self.write_concurrently(key).await;
            let refuses = matches!(*self.fault.lock().unwrap(), Some(Fault::RefusesValues));
            if refuses {
                return Err(Error::new("no room"));
            }
            self.inner(|inner| inner.put(key, value, expiry, expect)).await
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        self.inner(|inner| inner.delete(key))
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        self.inner(|inner| inner.scan(prefix, after, limit))
    }

    fn append<'a>(
        &'a self,
        log: &'a Key,
        value: Bytes,
        expiry: Duration,
    ) -> BoxFuture<'a, Result<Position>> {
        let refuses = matches!(*self.fault.lock().unwrap(), Some(Fault::RefusesEvents));
        match refuses {
            true => Box::pin(ready(Err(Error::new("no room")))),
            false => self.inner(|inner| inner.append(log, value, expiry)),
        }
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        self.inner(|inner| inner.read(log, after, limit))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        self.inner(|inner| inner.publish(topic, value))
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        self.inner(|inner| inner.listen(topic))
    }
}
