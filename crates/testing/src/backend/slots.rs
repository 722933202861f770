//! A value that several writers count in, each in a slot of its own.
//!
//! Because each slot has one writer, a writer whose operation failed can find out whether it took
//! effect: it reads its own slot.

use bowline_store::backend::{Backend, Expect, Key, Written};
use bytes::Bytes;

use super::threads::LONG;

/// The counts of all writers, eight bytes each.
fn read(value: &[u8], slots: usize) -> Vec<u64> {
    let counts = value.chunks_exact(8).filter_map(|count| count.try_into().ok());
    let mut counts: Vec<_> = counts.map(u64::from_be_bytes).collect();
    counts.resize(slots, 0);
    counts
}

/// The counts of all writers, as the store has them.
pub(super) async fn counts(store: &dyn Backend, key: &Key, slots: usize) -> Vec<u64> {
    let entry = store.get(key).await.expect("reads succeed when all is well");
    read(&entry.map(|entry| entry.value).unwrap_or_default(), slots)
}

/// Adds one to a slot that only this caller writes, from a known count, exactly once.
///
/// # Panics
///
/// If the slot has another count than the writer left there.
pub(super) async fn increment(
    store: &dyn Backend,
    key: &Key,
    (slot, slots): (usize, usize),
    before: u64,
) {
    // After a failure the write may have taken effect.
    let mut may_be_done = false;
    loop {
        let Ok(entry) = store.get(key).await else { continue };
        let (expect, value) = match entry {
            Some(entry) => (Expect::Version(entry.version), entry.value),
            None => (Expect::Absent, Bytes::new()),
        };
        let mut counts = read(&value, slots);
        if may_be_done && counts[slot] == before + 1 {
            return;
        }
        assert_eq!(counts[slot], before, "no increment is lost, and none counts twice");
        counts[slot] += 1;
        let value: Vec<u8> = counts.into_iter().flat_map(u64::to_be_bytes).collect();
        match store.put(key, value.into(), LONG, expect).await {
            Ok(Written::Yes(_)) => return,
            Ok(Written::Conflict) => {}
            Err(_) => may_be_done = true,
        }
        tokio::task::yield_now().await;
    }
}
