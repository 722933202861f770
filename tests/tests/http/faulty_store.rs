//! A store with faults that a test switches on.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_http::store::MemoryBackend;
use bowline_http::store::backend::{Backend, BoxFuture, Error, Expect, Key, Result};
use bowline_http::store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
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
    pub(crate) fn new() -> Arc<Wrapped<Self>> {
        Arc::new(Wrapped(Self { memory: MemoryBackend::default(), fault: Mutex::new(None) }))
    }

    pub(crate) fn set_fault(&self, fault: impl Into<Option<Fault>>) {
        *self.fault.lock().unwrap() = fault.into();
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

/// The bytes of a store without the leases of endpoints, which last as long as their endpoints.
pub(crate) async fn bytes_beside_leases(store: &MemoryBackend) -> usize {
    let leases = store.scan(&Key::new(["replica", ""]), None, 100).await.unwrap();
    let bytes: usize = leases.iter().map(|key| key.as_str().len() + 64).sum();
    store.bytes() - bytes
}

impl Wrapper for FaultyStore {
    fn inner(&self) -> &dyn Backend {
        &self.memory
    }

    fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match operation.kind {
                OperationKind::Get | OperationKind::Renew => self.delay().await,
                OperationKind::Put => self.write_concurrently(operation.key).await,
                _ => {}
            }
            match (operation.kind, &*self.fault.lock().unwrap()) {
                (_, Some(Fault::Everything)) => Err(Error::new("out of order")),
                (OperationKind::Put, Some(Fault::RefusesValues))
                | (OperationKind::Append, Some(Fault::RefusesEvents)) => Err(Error::new("no room")),
                _ => Ok(()),
            }
        })
    }
}
