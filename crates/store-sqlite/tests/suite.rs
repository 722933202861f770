//! SQLite passes the suite of backends.

use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use bowline_store::backend::{Backend, BoxFuture};
use bowline_store_sqlite::SqliteBackend;
use bowline_testing::backend::{self, BackendUnderTest, Durability, Outage};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::process::Command;

/// The variable that names the file of a process that is to be killed.
const STORE: &str = "BOWLINE_SQLITE_WRITER";

/// A folder with a file for each store. Relaxed, because a test of 200,000 writes that wait for the
/// disk takes minutes; nothing here loses power.
struct Sqlite(TempDir);

impl Sqlite {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, store: &str) -> std::path::PathBuf {
        self.0.path().join(store)
    }
}

impl BackendUnderTest for Sqlite {
    fn open<'a>(&'a self, store: &'a str) -> BoxFuture<'a, Arc<dyn Backend>> {
        let store = SqliteBackend::open(self.path(store)).unwrap().relaxed();
        Box::pin(async { Arc::new(store) as Arc<dyn Backend> })
    }

    /// A quarter of what others run: two handles that write at once take turns at the lock of the
    /// file, and 200 histories take half a minute in a debug build.
    fn histories(&self) -> u64 {
        50
    }

    fn durability(&self) -> Durability {
        Durability::Crash
    }

    fn writer(&self, store: &str) -> Option<Command> {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "writes_until_killed", "--nocapture"]);
        command.env(STORE, self.path(store));
        Some(command)
    }

    /// Another process holds the lock of the file.
    fn outage(&self, store: &str) -> Option<Outage> {
        let other = Connection::open(self.path(store)).unwrap();
        other.busy_timeout(Duration::from_secs(5)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (end, ended) = mpsc::channel();
        std::thread::spawn(move || {
            // Fails when the outage ends, which drops the sender.
            let _ = ended.recv();
            drop(other);
        });
        Some(Outage::new(move || drop::<mpsc::Sender<()>>(end)))
    }
}

#[tokio::test]
async fn values_of_sqlite_pass() {
    backend::values(&Sqlite::new()).await;
}

#[tokio::test]
async fn comparing_and_setting_in_sqlite_passes() {
    backend::compare_and_set(&Sqlite::new()).await;
}

#[tokio::test]
async fn histories_of_sqlite_pass() {
    backend::histories(&Sqlite::new()).await;
}

#[tokio::test]
async fn logs_of_sqlite_pass() {
    backend::logs(&Sqlite::new()).await;
}

#[tokio::test]
async fn listeners_of_sqlite_pass() {
    backend::listeners(&Sqlite::new()).await;
}

#[tokio::test]
async fn sqlite_passes_when_another_process_holds_the_lock() {
    backend::faults(&Sqlite::new()).await;
}

#[tokio::test]
async fn sqlite_survives_the_kill_of_its_process() {
    backend::crash(&Sqlite::new()).await;
}

/// The process that [`sqlite_survives_the_kill_of_its_process`] kills. With writes that wait for
/// the disk.
#[tokio::test]
async fn writes_until_killed() {
    if let Some(path) = std::env::var_os(STORE) {
        backend::write_until_killed(Arc::new(SqliteBackend::open(path).unwrap())).await;
    }
}
