//! The memory backend passes the suite of backends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bowline_store::backend::BoxFuture;
use bowline_store::{Backend, MemoryBackend};
use bowline_testing::backend::{self, BackendUnderTest};

/// All handles on the memory of a process are the same.
#[derive(Default)]
struct Memory(Mutex<HashMap<String, Arc<MemoryBackend>>>);

impl BackendUnderTest for Memory {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        let memory = self.0.lock().unwrap().entry(store.to_owned()).or_default().clone();
        Box::pin(async { memory as Arc<dyn Backend> })
    }
}

#[tokio::test]
async fn the_memory_backend_passes_the_suite() {
    backend::passes(&Memory::default()).await;
}
