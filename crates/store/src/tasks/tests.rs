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

/// The tasks of an owner that expire after these times.
async fn list(store: &TaskStore, owner: &str, tasks: &[(&str, Duration)], most: usize) -> usize {
    let expires = |(id, after): &(&str, Duration)| ((*id).to_owned(), start() + *after);
    let tasks: Vec<_> = tasks.iter().map(expires).collect();
    store.list(owner, &tasks, most, start()).await.unwrap()
}

/// When the tests of lists begin.
fn start() -> SystemTime {
    UNIX_EPOCH + HOUR
}

#[tokio::test]
async fn ids_are_listed_page_by_page_and_only_those_of_the_owner() {
    let store = store();
    assert_eq!(list(&store, "ann", &[("b", HOUR), ("a", HOUR)], 9).await, 2);
    for (owner, id) in [("ann", "c"), ("anna", "d"), ("an", "e")] {
        assert_eq!(list(&store, owner, &[(id, HOUR)], 9).await, 1);
    }
    assert_eq!(store.ids("ann", None, 2, start()).await.unwrap(), ["a", "b"]);
    assert_eq!(store.ids("ann", Some("b"), 2, start()).await.unwrap(), ["c"]);
    assert!(store.ids("ann", Some("c"), 2, start()).await.unwrap().is_empty());
    assert!(store.ids("eve", None, 2, start()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_task_that_expires_or_is_taken_off_makes_room_for_another() {
    let store = store();
    let minute = HOUR / 60;
    assert_eq!(list(&store, "ann", &[("a", minute), ("b", HOUR), ("c", HOUR)], 2).await, 2);
    assert_eq!(list(&store, "ann", &[("c", HOUR)], 2).await, 0);
    let later = start() + minute;
    assert_eq!(store.ids("ann", None, 9, later).await.unwrap(), ["b"]);
    let new = |id: &str| [(id.to_owned(), start() + HOUR)];
    assert_eq!(store.list("ann", &new("d"), 2, later).await.unwrap(), 1);
    assert_eq!(store.list("ann", &new("e"), 2, later).await.unwrap(), 0);
    store.unlist(&TaskName::new("ann", "b"), later).await.unwrap();
    store.unlist(&TaskName::new("ann", "b"), later).await.unwrap();
    assert_eq!(store.list("ann", &new("e"), 2, later).await.unwrap(), 1);
    assert_eq!(store.ids("ann", None, 9, later).await.unwrap(), ["d", "e"]);
}

#[tokio::test]
async fn the_list_of_an_owner_without_tasks_is_removed() {
    let store = store();
    list(&store, "ann", &[("a", HOUR)], 9).await;
    store.unlist(&ann(), start()).await.unwrap();
    assert_eq!(store.backend.get(&Key::new(["task-index", "ann"])).await.unwrap(), None);
}

/// A backend whose values are short.
#[derive(Default)]
struct Small(MemoryBackend);

impl crate::wrapper::Wrapper for Small {
    fn inner(&self) -> &dyn Backend {
        &self.0
    }

    fn longest_value(&self) -> Option<usize> {
        Some(200)
    }
}

#[tokio::test]
async fn a_list_is_no_longer_than_a_value_of_the_backend() {
    let store = TaskStore::new(Arc::new(crate::wrapper::Wrapped::<Small>::default()));
    let now = SystemTime::now();
    for id in 0..9 {
        // As long as the ids of a server.
        let tasks = [(format!("{id:022}"), now + HOUR)];
        let is_listed = store.list("ann", &tasks, 9, now).await.unwrap() == 1;
        assert_eq!(is_listed, id < 5);
    }
    let list = store.backend.get(&Key::new(["task-index", "ann"])).await.unwrap();
    assert!(list.unwrap().value.len() <= 200);
}

#[tokio::test]
async fn a_replica_has_a_task_in_each_slot() {
    let store = store();
    let task = TaskName::new("ann", "b");
    store.fill_slot("r", 0, &ann(), HOUR).await.unwrap();
    store.fill_slot("r", 1, &ann(), HOUR).await.unwrap();
    store.fill_slot("r", 1, &task, HOUR).await.unwrap();
    assert_eq!(store.slot("r", 0).await.unwrap(), Some(ann()));
    assert_eq!(store.slot("r", 1).await.unwrap(), Some(task));
    assert_eq!(store.slot("r", 2).await.unwrap(), None);
    assert_eq!(store.slot("s", 0).await.unwrap(), None);
}

#[tokio::test]
async fn a_lease_ends_when_it_is_not_renewed_and_the_registration_stays() {
    let store = store();
    let replica = |name: &str, slots| RunningReplica { name: name.to_owned(), slots };
    store.register("r", 16, HOUR).await.unwrap();
    assert!(!store.has_lease("r").await.unwrap());
    store.renew_lease("r").await.unwrap();
    assert!(store.has_lease("r").await.unwrap() && !store.has_lease("s").await.unwrap());
    let (lease, over) = (Key::new(["replica", "r"]), Duration::ZERO);
    store.backend.put(&lease, Bytes::new(), over, Expect::Anything).await.unwrap();
    assert!(!store.has_lease("r").await.unwrap());
    store.register("s", 16, HOUR).await.unwrap();
    store.register("r", 32, HOUR).await.unwrap();
    assert_eq!(store.replicas().await.unwrap(), [replica("r", 32), replica("s", 16)]);
    store.unregister("r", HOUR).await.unwrap();
    store.unregister("r", HOUR).await.unwrap();
    assert_eq!(store.replicas().await.unwrap(), [replica("s", 16)]);
    store.unregister("s", HOUR).await.unwrap();
    assert!(store.replicas().await.unwrap().is_empty());
}
