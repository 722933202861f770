//! A store that is out of reach: operations end, and none takes effect twice.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bowline_store::backend::{Appended, Backend, Expect, Key, NewItem, Position};
use bytes::Bytes;
use tokio::task::JoinSet;

use super::BackendUnderTest;
use super::slots::{counts, increment};
use super::threads::{LONG, on_threads};

/// How long an operation may take in an outage.
const ENDS: Duration = Duration::from_secs(1);

/// How long after an outage the store must work again.
const RECOVERS: Duration = Duration::from_secs(2);

/// How long an outage lasts that ends while operations are under way, so that they may try again.
const SHORT: Duration = Duration::from_millis(200);

/// How many items are appended at the same time. Those of all outages stay within what every backend
/// keeps of a log.
const ITEMS: usize = 50;

const WRITERS: usize = 4;
const OUTAGES: usize = 3;

/// Every operation ends within a second, and works again within two after the outage.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn faults(subject: &dyn BackendUnderTest) {
    let store = subject.open("faults").await;
    every_operation_ends(subject, &*store).await;
    nothing_takes_effect_twice(subject, store.clone()).await;
    items_are_appended_once(subject, store).await;
}

async fn every_operation_ends(subject: &dyn BackendUnderTest, store: &dyn Backend) {
    let key = Key::new(["key"]);
    store.put(&key, "x".into(), LONG, Expect::Anything).await.unwrap();
    let Some(outage) = subject.outage("faults") else { return };
    tokio::join!(
        ends("get", store.get(&key)),
        ends("renew", store.renew(&key, LONG)),
        ends("put", store.put(&key, "x".into(), LONG, Expect::Anything)),
        ends("delete", store.delete(&key)),
        ends("scan", store.scan(&key, None, 10)),
        ends("append", store.append(&key, NewItem::new("x", LONG))),
        ends("read", store.read(&key, Position(0), 10)),
        ends("publish", store.publish(&key, "x".into())),
        ends("listen", store.listen(&key)),
    );
    drop(outage);
    recovers(store).await;
}

/// Whether it succeeds does not matter.
async fn ends<T>(name: &str, operation: impl Future<Output = T>) {
    let ended = tokio::time::timeout(ENDS, operation).await;
    assert!(ended.is_ok(), "`{name}` ends within a second while the store is out of reach");
}

async fn recovers(store: &dyn Backend) {
    let begin = Instant::now();
    let key = Key::new(["recovered"]);
    while store.put(&key, "x".into(), LONG, Expect::Anything).await.is_err() {
        assert!(begin.elapsed() < RECOVERS, "the store works within two seconds after an outage");
        tokio::task::yield_now().await;
    }
}

/// The store keeps each item once whose append succeeded although the database's replies were lost. It
/// may keep an item whose append failed, but not twice.
async fn items_are_appended_once(subject: &dyn BackendUnderTest, store: Arc<dyn Backend>) {
    let (log, mut appended) = (Key::new(["once"]), Vec::new());
    for round in 0..OUTAGES {
        let mut appends = JoinSet::new();
        let outage = subject.outage("faults");
        for number in 0..ITEMS {
            let (store, log) = (store.clone(), log.clone());
            appends.spawn(async move {
                let value = Bytes::from(format!("{round}.{number}"));
                let appended = store.append(&log, NewItem::new(value.clone(), LONG)).await;
                (value, appended.ok().and_then(Appended::position))
            });
        }
        // The rest goes on while the outage ends.
        let first = tokio::time::timeout(SHORT, appends.join_next()).await;
        drop(outage);
        let first = first.ok().flatten().map(|ended| ended.expect("no panic"));
        appended.extend(first.into_iter().chain(appends.join_all().await));
        recovers(&*store).await;
    }
    let read = store.read(&log, Position(0), 10_000).await.expect("reads succeed after an outage");
    for (value, position) in appended {
        let found = read.items.iter().filter(|item| item.value == value);
        let found: Vec<_> = found.map(|item| item.position).collect();
        match position {
            Some(position) => assert_eq!(found, [position], "the store keeps an item once"),
            None => assert!(found.len() <= 1, "the store keeps no item twice"),
        }
    }
}

/// Writers go on through outages, and read what became of a write that failed.
async fn nothing_takes_effect_twice(subject: &dyn BackendUnderTest, store: Arc<dyn Backend>) {
    let (counter, has_ended) = (Key::new(["counter"]), Arc::new(AtomicBool::new(false)));
    let (handle, key, ended) = (store.clone(), counter.clone(), has_ended.clone());
    let writes = on_threads(WRITERS, move |writer| {
        let (store, key, ended) = (handle.clone(), key.clone(), ended.clone());
        async move {
            let mut count = 0;
            while !ended.load(Ordering::Relaxed) {
                increment(&*store, &key, (writer, WRITERS), count).await;
                count += 1;
            }
            count
        }
    });
    let outages = async {
        for _ in 0..OUTAGES {
            let outage = subject.outage("faults");
            ends("put", store.put(&Key::new(["x"]), "x".into(), LONG, Expect::Anything)).await;
            drop(outage);
            recovers(&*store).await;
        }
        has_ended.store(true, Ordering::Relaxed);
    };
    let (written, ()) = tokio::join!(writes, outages);
    let found = counts(&*store, &counter, WRITERS).await;
    assert_eq!(found, written, "no increment is lost, and none counts twice");
}
