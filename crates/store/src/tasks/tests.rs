//! The records of tasks in the backend in memory.

use super::*;
use crate::MemoryBackend;

const HOUR: Duration = Duration::from_secs(3600);

fn store() -> TaskStore {
    TaskStore::new(Arc::new(MemoryBackend::default()))
}

fn ann() -> TaskName {
    TaskName::new("ann", "a")
}

async fn created(store: &TaskStore, now: SystemTime) {
    assert!(store.create(&ann(), "one".into(), HOUR, now).await.unwrap());
}

#[tokio::test]
async fn an_id_is_given_once() {
    let (store, now) = (store(), SystemTime::now());
    created(&store, now).await;
    assert!(!store.create(&ann(), "two".into(), HOUR, now).await.unwrap());
    assert_eq!(store.record(&ann(), now).await.unwrap().unwrap(), "one");
}

#[tokio::test]
async fn a_task_of_another_owner_is_as_unknown_as_any() {
    let (store, now) = (store(), SystemTime::now());
    created(&store, now).await;
    let foreign = TaskName::new("eve", "a");
    assert_eq!(store.record(&foreign, now).await.unwrap(), None);
    let change = store.change(&foreign, now, |_| (Some("hers".into()), ())).await.unwrap();
    assert_eq!(change, None);
    assert!(!store.delete(&foreign).await.unwrap());
    assert_eq!(store.record(&ann(), now).await.unwrap().unwrap(), "one");
}

#[tokio::test]
async fn a_record_expires_after_its_time_whatever_changed_meanwhile() {
    let (store, now) = (store(), SystemTime::now());
    created(&store, now).await;
    let later = now + HOUR / 2;
    store.change(&ann(), later, |_| (Some("two".into()), ())).await.unwrap().unwrap();
    let last = now + HOUR - Duration::from_millis(2);
    assert_eq!(store.record(&ann(), last).await.unwrap().unwrap(), "two");
    assert_eq!(store.record(&ann(), now + HOUR).await.unwrap(), None);
    let change = store.change(&ann(), now + HOUR, |_| (Some("three".into()), ())).await.unwrap();
    assert_eq!(change, None);
}

#[tokio::test]
async fn of_two_changes_at_once_none_is_lost() {
    let (store, now) = (store(), SystemTime::now());
    created(&store, now).await;
    // Another server writes between the read and the write of this change.
    let other = store.clone();
    let mut is_first = true;
    store
        .change(&ann(), now, |record| {
            if std::mem::take(&mut is_first) {
                let (key, text) = (ann().record(), with_head(&"one two".into(), now + HOUR));
                // The backend in memory writes when it is called, not when it is polled.
                drop(other.backend.put(&key, text, HOUR, Expect::Anything));
            }
            (Some([record, &b" three"[..]].concat().into()), ())
        })
        .await
        .unwrap()
        .unwrap();
    assert_eq!(store.record(&ann(), now).await.unwrap().unwrap(), "one two three");
}

#[tokio::test]
async fn a_change_that_leaves_the_record_is_not_announced() {
    let (store, now) = (store(), SystemTime::now());
    created(&store, now).await;
    let mut watch = store.watch(&ann()).await.unwrap();
    assert_eq!(store.change(&ann(), now, |_| (None, 7)).await.unwrap(), Some(7));
    tokio::select! {
        biased;
        _ = watch.changed() => panic!("nothing changed"),
        () = std::future::ready(()) => {}
    }
    store.change(&ann(), now, |_| (Some("two".into()), ())).await.unwrap().unwrap();
    watch.changed().await.unwrap();
    store.delete(&ann()).await.unwrap();
    watch.changed().await.unwrap();
    assert_eq!(store.record(&ann(), now).await.unwrap(), None);
}

#[tokio::test]
async fn ids_are_listed_page_by_page_and_only_those_of_the_owner() {
    let (store, now) = (store(), SystemTime::now());
    for (owner, id) in [("ann", "b"), ("ann", "a"), ("ann", "c"), ("anna", "d"), ("an", "e")] {
        store.create(&TaskName::new(owner, id), "x".into(), HOUR, now).await.unwrap();
    }
    assert_eq!(store.ids("ann", None, 2).await.unwrap(), ["a", "b"]);
    assert_eq!(store.ids("ann", Some("b"), 2).await.unwrap(), ["c"]);
    assert!(store.ids("ann", Some("c"), 2).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_lease_ends_when_it_is_not_renewed_and_the_registration_stays() {
    let store = store();
    store.register("r", HOUR).await.unwrap();
    assert!(!store.has_lease("r").await.unwrap());
    store.renew_lease("r", HOUR).await.unwrap();
    assert!(store.has_lease("r").await.unwrap() && !store.has_lease("s").await.unwrap());
    store.renew_lease("r", Duration::ZERO).await.unwrap();
    assert!(!store.has_lease("r").await.unwrap());
    store.register("s", HOUR).await.unwrap();
    store.register("r", HOUR).await.unwrap();
    assert_eq!(store.replicas().await.unwrap(), ["r", "s"]);
    store.unregister("r", HOUR).await.unwrap();
    store.unregister("r", HOUR).await.unwrap();
    assert_eq!(store.replicas().await.unwrap(), ["s"]);
    store.unregister("s", HOUR).await.unwrap();
    assert!(store.replicas().await.unwrap().is_empty());
}

#[tokio::test]
async fn the_tasks_of_all_owners_are_named_page_by_page() {
    let (store, now) = (store(), SystemTime::now());
    let all =
        [("ann", "a"), ("ann", "b"), ("eve", "a")].map(|(owner, id)| TaskName::new(owner, id));
    for name in &all {
        store.create(name, "x".into(), HOUR, now).await.unwrap();
    }
    store.register("r", HOUR).await.unwrap();
    assert_eq!(store.names(None, 2).await.unwrap(), all[..2]);
    assert_eq!(store.names(Some(&all[1]), 2).await.unwrap(), all[2..]);
}
