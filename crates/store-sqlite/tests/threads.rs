//! The threads of a store. Alone in its program, because it counts the threads of the process.
#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use bowline_store::backend::{Backend, Key};
use bowline_store_sqlite::SqliteBackend;

/// The names of the threads that work for stores, sorted.
fn threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    let mut names: Vec<_> = names
        .map(|name| name.trim().to_owned())
        .filter(|name| name.starts_with("sqlite"))
        .collect();
    names.sort();
    names
}

fn becomes(expected: &[&str]) {
    let begin = Instant::now();
    while threads() != expected {
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", threads());
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn a_thread_polls_only_while_there_are_listeners_and_all_end_with_the_last_handle() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteBackend::open(folder.path().join("store.db")).unwrap();
    let idle = ["sqlite-read", "sqlite-read", "sqlite-write"];
    becomes(&idle);
    let (topic, other) = (Key::new(["topic"]), Key::new(["other"]));
    let one = store.listen(&topic).await.unwrap();
    let two = store.listen(&other).await.unwrap();
    becomes(&["sqlite-poll", "sqlite-read", "sqlite-read", "sqlite-write"]);
    drop((one, two));
    becomes(&idle);
    let listener = store.listen(&topic).await.unwrap();
    let clone = store.clone();
    drop(store);
    becomes(&["sqlite-poll", "sqlite-read", "sqlite-read", "sqlite-write"]);
    drop(clone);
    becomes(&[]);
    drop(listener);
}
