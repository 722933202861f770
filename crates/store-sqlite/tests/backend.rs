//! The backend keeps the promises of the trait, its limits, and what it stores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bowline_store::backend::{
    Appended, Backend, BoxStream, Expect, Key, LogSlice, NewItem, Position, Version, Written,
};
use bowline_store::events::{EventLog, ReplayError};
use bowline_store::inbox::MOST_WAITING;
use bowline_store::suite;
use bowline_store_sqlite::{SqliteBackend, SqliteLimits};
use bytes::Bytes;
use rusqlite::Connection;
use tempfile::TempDir;

const LONG: Duration = Duration::from_secs(3600);

/// A folder with one store file.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("store.db")
    }

    fn open(&self) -> SqliteBackend {
        SqliteBackend::open(self.path()).unwrap()
    }

    fn limited(&self, change: impl FnOnce(&mut SqliteLimits)) -> SqliteBackend {
        let mut limits = SqliteLimits::default();
        change(&mut limits);
        SqliteBackend::open_with(self.path(), limits).unwrap()
    }

    /// A connection beside the store, as other programs have.
    fn sqlite(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

async fn put(store: &SqliteBackend, key: &Key, value: &'static str) -> Version {
    match store.put(key, value.into(), LONG, Expect::Anything).await.unwrap() {
        Written::Yes(version) => version,
        Written::Conflict => panic!("set without condition"),
    }
}

async fn next(listener: &mut BoxStream<'static, Bytes>) -> Option<Bytes> {
    let next = std::future::poll_fn(|cx| listener.as_mut().poll_next(cx));
    tokio::time::timeout(Duration::from_secs(10), next).await.expect("a message arrives")
}

#[tokio::test]
async fn sqlite_passes_the_sequential_suite() {
    let (folder, files) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
    let make = || async {
        let number = files.fetch_add(1, Ordering::Relaxed);
        Arc::new(SqliteBackend::open(folder.path().join(number.to_string())).unwrap())
    };
    suite::passes(make).await;
}

#[tokio::test]
async fn values_logs_and_versions_survive_a_restart() {
    let folder = Folder::new();
    let (key, brief, log) = (Key::new(["key"]), Key::new(["brief"]), Key::new(["log"]));
    let mut versions = Vec::new();
    for round in 1..=3 {
        let store = folder.open();
        assert_eq!(store.read(&log, Position(0), 10).await.unwrap().next, Position(round));
        let appended = store.append(&log, NewItem::new("item", LONG)).await.unwrap();
        assert_eq!(appended, Appended::At(Position(round)));
        let found = store.get(&key).await.unwrap().map(|entry| entry.version);
        assert_eq!(found.as_ref(), versions.last(), "as the last process wrote it");
        store.delete(&key).await.unwrap();
        store.put(&brief, "x".into(), Duration::ZERO, Expect::Anything).await.unwrap();
        let version = put(&store, &key, "value").await;
        assert!(!versions.contains(&version), "not even after a deletion");
        versions.push(version);
    }
}

#[tokio::test]
async fn a_log_drops_its_oldest_items_and_reports_it() {
    let by_items: fn(&mut SqliteLimits) = |it| it.log_items = 3;
    let by_bytes: fn(&mut SqliteLimits) = |it| it.log_bytes = 3 * (1 + 64);
    for change in [by_items, by_bytes] {
        let folder = Folder::new();
        let log = EventLog::new(Arc::new(folder.limited(change)), "session", 1, LONG);
        for _ in 0..10 {
            log.append(b"", false).await.unwrap();
        }
        assert!(matches!(log.replay(Position(6)).await, Err(ReplayError::Gap)));
        let mut replay = log.replay(Position(7)).await.unwrap();
        for expected in 8..=10 {
            assert_eq!(replay.next().await.unwrap().position, Position(expected));
        }
    }
}

#[tokio::test]
async fn the_newest_item_stays_even_beyond_the_limit() {
    let folder = Folder::new();
    let store = folder.limited(|it| it.log_bytes = 10);
    let log = Key::new(["log"]);
    for value in ["short", "much longer than the limit"] {
        store.append(&log, NewItem::new(value, LONG)).await.unwrap();
    }
    let read = store.read(&log, Position(0), 10).await.unwrap();
    assert_eq!((read.oldest, read.next, read.items.len()), (Position(2), Position(3), 1));
    assert_eq!(read.items[0].value, "much longer than the limit");
}

#[tokio::test]
async fn a_full_file_refuses_writes_until_there_is_room() {
    let folder = Folder::new();
    let store = folder.limited(|it| it.file_bytes = 256 * 1024);
    let value = || Bytes::from(vec![0; 20_000]);
    let key = |number: u32| Key::new(["key", &number.to_string()]);
    let mut stored = 0;
    let error = loop {
        match store.put(&key(stored), value(), LONG, Expect::Anything).await {
            Ok(_) => stored += 1,
            Err(error) => break error.to_string(),
        }
        assert!(stored < 100, "256 KiB cannot hold 2 MB");
    };
    assert!(
        error.contains("put") && error.contains("store.db") && error.contains("full"),
        "{error}"
    );
    assert_eq!(store.get(&key(0)).await.unwrap().unwrap().value, value());
    assert!(store.delete(&key(0)).await.unwrap());
    store.put(&key(stored), value(), LONG, Expect::Anything).await.expect("there is room again");
}

#[tokio::test]
async fn two_handles_on_one_file_share_everything() {
    let folder = Folder::new();
    let (one, two) = (folder.open(), folder.open());
    let (key, log, topic) = (Key::new(["key"]), Key::new(["log"]), Key::new(["topic"]));
    one.publish(&topic, "before".into()).await.unwrap();
    let mut here = one.listen(&topic).await.unwrap();
    let mut there = two.listen(&topic).await.unwrap();
    let version = put(&one, &key, "1").await;
    assert_eq!(two.get(&key).await.unwrap().unwrap().version, version);
    let stale = Expect::Version(version);
    assert!(matches!(two.put(&key, "2".into(), LONG, stale).await.unwrap(), Written::Yes(_)));
    assert_eq!(one.put(&key, "3".into(), LONG, stale).await.unwrap(), Written::Conflict);
    assert_eq!(one.append(&log, NewItem::new("1", LONG)).await.unwrap(), Appended::At(Position(1)));
    assert_eq!(two.append(&log, NewItem::new("2", LONG)).await.unwrap(), Appended::At(Position(2)));
    for publisher in [&one, &two, &one, &two] {
        for number in 0..64 {
            publisher.publish(&topic, number.to_string().into()).await.unwrap();
        }
        for listener in [&mut here, &mut there] {
            for number in 0..64 {
                assert_eq!(next(listener).await.unwrap(), number.to_string());
            }
        }
    }
}

#[tokio::test]
async fn a_slow_listener_learns_that_it_missed_the_oldest_messages() {
    let folder = Folder::new();
    let store = folder.open();
    let topic = Key::new(["topic"]);
    let mut listener = store.listen(&topic).await.unwrap();
    for number in 0..MOST_WAITING + 5 {
        store.publish(&topic, number.to_string().into()).await.unwrap();
    }
    assert_eq!(next(&mut listener).await.unwrap(), "", "read again");
    let oldest = next(&mut listener).await.unwrap();
    let oldest: usize = std::str::from_utf8(&oldest).unwrap().parse().unwrap();
    for number in oldest + 1..MOST_WAITING + 5 {
        assert_eq!(next(&mut listener).await.unwrap(), number.to_string());
    }
}

#[tokio::test]
async fn streams_end_with_the_last_handle() {
    let folder = Folder::new();
    let store = folder.open();
    let mut listener = store.listen(&Key::new(["topic"])).await.unwrap();
    let clone = store.clone();
    drop(store);
    clone.publish(&Key::new(["topic"]), "1".into()).await.unwrap();
    drop(clone);
    assert_eq!(next(&mut listener).await, Some("1".into()));
    assert_eq!(next(&mut listener).await, None);
}

#[tokio::test]
async fn while_another_process_writes_reads_succeed_and_writes_fail_soon() {
    let folder = Folder::new();
    let store = folder.open();
    let (key, log) = (Key::new(["key"]), Key::new(["log"]));
    put(&store, &key, "before").await;
    let other = folder.sqlite();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let begin = Instant::now();
    let (put, append, delete, publish) = tokio::join!(
        store.put(&key, "after".into(), LONG, Expect::Anything),
        store.append(&log, NewItem::new("item", LONG)),
        store.delete(&key),
        async {
            // Reads do not wait for the writer, which waits for the lock.
            assert_eq!(store.get(&key).await.unwrap().unwrap().value, "before");
            assert_eq!(store.scan(&key, None, 1).await.unwrap(), std::slice::from_ref(&key));
            assert_eq!(store.read(&log, Position(0), 1).await.unwrap(), LogSlice::empty());
            drop(store.listen(&key).await.unwrap());
            assert!(begin.elapsed() < Duration::from_millis(400), "{:?}", begin.elapsed());
            store.publish(&key, "news".into()).await
        }
    );
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    let errors = [put.unwrap_err(), append.unwrap_err(), delete.unwrap_err(), publish.unwrap_err()];
    for (error, operation) in errors.iter().zip(["put", "append", "delete", "publish"]) {
        let text = error.to_string();
        assert!(text.contains(operation) && text.contains("store.db"), "{text}");
        assert!(text.contains("another process holds its lock"), "{text}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    assert!(store.delete(&key).await.unwrap(), "the failed writes changed nothing");
}

#[test]
fn many_processes_may_create_the_file_at_once() {
    // Several rounds, because the threads seldom meet.
    for _ in 0..10 {
        let folder = Folder::new();
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    folder.open()
                });
            }
        });
        let sql = "SELECT count(*) FROM counter";
        let rows: i64 = folder.sqlite().query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1, "one of them created it");
    }
}

fn refusal(path: &std::path::Path) -> String {
    SqliteBackend::open(path).map(drop).expect_err("it is refused").to_string()
}

#[test]
fn a_file_of_a_newer_version_is_refused() {
    let folder = Folder::new();
    drop(folder.open());
    folder.sqlite().pragma_update(None, "user_version", 7).unwrap();
    let refusal = refusal(&folder.path());
    assert!(
        refusal.contains("store.db") && refusal.contains("has format 7, of a newer"),
        "{refusal}"
    );
}

#[test]
fn a_database_of_another_program_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    folder.sqlite().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = std::fs::read(folder.path()).unwrap();
    let refusal = refusal(&folder.path());
    assert!(refusal.contains("another program"), "{refusal}");
    assert_eq!(std::fs::read(folder.path()).unwrap(), before);
}

#[test]
fn files_that_cannot_be_a_store_are_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path(), "a text of more than a hundred bytes ".repeat(10)).unwrap();
    let text = refusal(&folder.path());
    assert!(text.contains("store.db") && text.contains("not a database"), "{text}");
    let missing = folder.0.path().join("missing/store.db");
    assert!(refusal(&missing).contains("missing/store.db"));
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new();
    let store = folder.open();
    put(&store, &Key::new(["key"]), "value").await;
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder.0.path()).unwrap() {
        let file = file.unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
        names.push(file.file_name());
    }
    names.sort();
    assert_eq!(names, ["store.db", "store.db-shm", "store.db-wal"]);
}
