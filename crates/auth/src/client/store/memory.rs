//! A store in memory, for programs that log in anew each time.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use bowline_proto::sync::lock;

use futures_core::future::BoxFuture;

use super::{Store, StoreKey, StoreLock, StoredRecord};
use crate::error::Error;

/// Keeps records until the program ends. Clones share their records.
#[derive(Clone, Default)]
pub struct MemoryStore {
    records: Arc<Mutex<HashMap<String, StoredRecord>>>,
    locks: Arc<Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<StoredRecord>, Error>> {
        Box::pin(async move { Ok(lock(&self.records).get(&key.to_text()).cloned()) })
    }

    fn swap<'a>(
        &'a self,
        key: &'a StoreKey,
        seen: Option<u64>,
        record: Option<StoredRecord>,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move {
            let (mut records, key) = (lock(&self.records), key.to_text());
            if records.get(&key).map(|record| record.version) != seen {
                return Ok(false);
            }
            match record {
                Some(record) => records.insert(key, record),
                None => records.remove(&key),
            };
            Ok(true)
        })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, Error>> {
        Box::pin(async move {
            let turn = lock(&self.locks).entry(key.to_text()).or_default().clone();
            Ok(StoreLock::new(turn.lock_owned().await))
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryStore({} records)", lock(&self.records).len())
    }
}
