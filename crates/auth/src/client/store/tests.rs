//! What every store must do, and what only files can do.

use super::*;
use crate::client::store::{FileStore, MemoryStore};

fn key(issuer: &str) -> StoreKey {
    StoreKey::pointer("https://a.example/mcp", "app", "ann").record(issuer, "https://a.example/mcp")
}

fn record(version: u64) -> Option<StoredRecord> {
    Some(StoredRecord { version, text: Secret::from("canary") })
}

#[test]
fn different_keys_have_different_texts() {
    let keys = [
        StoreKey::pointer("r", "c", "a"),
        StoreKey::pointer("r", "ca", ""),
        StoreKey::pointer("r\",\"c", "", "a"),
        StoreKey::pointer("r", "c", "a").record("i", "r"),
        StoreKey::pointer("r", "c", "a").record("", "r"),
    ];
    let mut texts: Vec<String> = keys.iter().map(StoreKey::to_text).collect();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), keys.len());
}

/// Plays the same steps on a store.
async fn compare_and_swap(store: &dyn Store) {
    let (one, two) = (key("https://one.example"), key("https://two.example"));
    assert!(store.load(&one).await.unwrap().is_none());
    assert!(!store.swap(&one, Some(1), record(2)).await.unwrap());
    assert!(store.swap(&one, None, record(1)).await.unwrap());
    assert!(!store.swap(&one, None, record(2)).await.unwrap());
    assert!(!store.swap(&one, Some(2), None).await.unwrap());
    assert!(store.swap(&one, Some(1), record(3)).await.unwrap());
    assert_eq!(store.load(&one).await.unwrap().unwrap().version, 3);
    assert!(store.load(&two).await.unwrap().is_none());
    assert!(store.swap(&one, Some(3), None).await.unwrap());
    assert!(store.load(&one).await.unwrap().is_none());
}

/// A second lock waits for the end of the first; another key does not.
async fn exclusion(store: &dyn Store) {
    let (one, two) = (key("https://one.example"), key("https://two.example"));
    let first = store.lock(&one).await.unwrap();
    let _other = store.lock(&two).await.unwrap();
    let mut second = store.lock(&one);
    std::future::poll_fn(|context| {
        assert!(second.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(first);
    second.await.unwrap();
}

// spec: PRM-11
#[tokio::test(start_paused = true)]
async fn a_record_replaces_only_the_version_that_its_writer_saw() {
    compare_and_swap(&MemoryStore::new()).await;
    let folder = tempfile::tempdir().unwrap();
    compare_and_swap(&FileStore::open(folder.path().join("new")).unwrap()).await;
}

#[tokio::test(start_paused = true)]
async fn a_lock_excludes_other_holders() {
    exclusion(&MemoryStore::new()).await;
    let folder = tempfile::tempdir().unwrap();
    exclusion(&FileStore::open(folder.path().join("new")).unwrap()).await;
}

// spec: TOK-14, OCC-7, REFR-1
#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt as _;

    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("auth");
    let store = FileStore::open(&folder).unwrap();
    let _lock = store.lock(&key("https://one.example")).await.unwrap();
    assert!(store.swap(&key("https://one.example"), None, record(1)).await.unwrap());
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 3);
    assert!(files.iter().all(|file| mode(file) == 0o600));
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o750)).unwrap();
    let error = FileStore::open(&folder).unwrap_err();
    assert!(error.is_store() && error.to_string().contains("chmod 700"), "{error}");
}

#[tokio::test]
async fn a_record_that_could_not_be_read_again_is_not_written() {
    let parent = tempfile::tempdir().unwrap();
    let store = FileStore::open(parent.path().join("auth")).unwrap();
    let key = key("https://one.example");
    assert!(store.swap(&key, None, record(1)).await.unwrap());
    let text = Secret::new("a".repeat(1024 * 1024));
    let large = StoredRecord { version: 2, text };
    assert!(store.swap(&key, Some(1), Some(large)).await.unwrap_err().is_too_large());
    assert_eq!(store.load(&key).await.unwrap().unwrap().version, 1);
}

#[tokio::test]
async fn a_file_that_is_no_record_is_an_error_that_does_not_quote_it() {
    let parent = tempfile::tempdir().unwrap();
    let store = FileStore::open(parent.path().join("auth")).unwrap();
    assert!(store.swap(&key("https://one.example"), None, record(1)).await.unwrap());
    let folder = std::fs::read_dir(parent.path().join("auth")).unwrap();
    let mut files = folder.map(|file| file.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|it| it == "record")).unwrap();
    for text in ["", "canary", "canary\ncanary"] {
        std::fs::write(&file, text).unwrap();
        let error = store.load(&key("https://one.example")).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
    }
}

#[tokio::test]
async fn files_of_writers_that_were_killed_are_deleted_by_the_next_write() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("auth");
    let store = FileStore::open(&folder).unwrap();
    let files = |extension: &str| {
        let files = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
        let has = |file: &std::path::PathBuf| file.extension().is_some_and(|it| it == extension);
        files.filter(has).collect::<Vec<_>>()
    };
    let leave = || {
        let beside = files("record").into_iter().map(|file| file.with_extension("5eed.new"));
        beside.for_each(|file| std::fs::write(file, "canary").unwrap());
    };
    let (one, two) = (key("https://one.example"), key("https://two.example"));
    assert!(store.swap(&one, None, record(1)).await.unwrap());
    let guard = files("write").remove(0);
    assert!(store.swap(&two, None, record(1)).await.unwrap());
    leave();
    assert!(store.swap(&one, Some(1), record(2)).await.unwrap());
    assert!(files("new").is_empty(), "{:?}", files("new"));
    // A logout deletes them too, but not what another program is writing.
    leave();
    let writer = std::fs::File::open(&guard).unwrap();
    writer.lock().unwrap();
    assert!(store.swap(&two, Some(1), None).await.unwrap());
    assert_eq!(files("new"), [guard.with_extension("5eed.new")]);
}
