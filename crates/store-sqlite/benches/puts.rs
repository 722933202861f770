//! What a durable put costs beside one in memory: `cargo bench -p bowline-store-sqlite`. Run by hand;
//! the figures are in `docs/design/0014-stores.md`.

#![allow(clippy::print_stdout, reason = "its figures are its output")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_store::MemoryBackend;
use bowline_store::backend::{Backend, Expect, Key};
use bowline_store_sqlite::SqliteBackend;

/// About the size of a session's record.
const BYTES: usize = 500;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // In the folder of the build, since `/tmp` may be in memory.
    let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
    let open = |name: &str| SqliteBackend::open(folder.path().join(name)).expect("a store");
    let memory: Arc<dyn Backend> = Arc::new(MemoryBackend::default());
    let full: Arc<dyn Backend> = Arc::new(open("full.db"));
    let relaxed: Arc<dyn Backend> = Arc::new(open("relaxed.db").relaxed());
    for (name, store, rounds) in
        [("memory", memory, 100_000), ("relaxed", relaxed, 20_000), ("full", full, 2000)]
    {
        for callers in [1, 64] {
            let (elapsed, mut times) = puts(&store, callers, rounds / callers).await;
            times.sort_unstable();
            let per_second = times.len() as f64 / elapsed.as_secs_f64();
            let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
            let read = gets(&store, 1000).await;
            println!(
                "{name:8} {callers:2} callers: {per_second:9.0} puts/s, median {median:?}, p99 \
                 {p99:?}; a get {read:?}"
            );
        }
    }
}

/// Puts of this many callers at once, and how long each took.
async fn puts(store: &Arc<dyn Backend>, callers: usize, each: usize) -> (Duration, Vec<Duration>) {
    let begin = Instant::now();
    let callers: Vec<_> = (0..callers)
        .map(|caller| {
            let store = store.clone();
            tokio::spawn(async move {
                let key = Key::new(["session", &caller.to_string()]);
                let mut times = Vec::with_capacity(each);
                for _ in 0..each {
                    let begin = Instant::now();
                    let hour = Duration::from_secs(3600);
                    let put = store.put(&key, vec![7; BYTES].into(), hour, Expect::Anything);
                    put.await.expect("it is stored");
                    times.push(begin.elapsed());
                }
                times
            })
        })
        .collect();
    let mut times = Vec::new();
    for caller in callers {
        times.extend(caller.await.expect("it ends"));
    }
    (begin.elapsed(), times)
}

/// How long a get takes, one after the other.
async fn gets(store: &Arc<dyn Backend>, count: u32) -> Duration {
    let key = Key::new(["session", "0"]);
    let begin = Instant::now();
    for _ in 0..count {
        store.get(&key).await.expect("it is read");
    }
    begin.elapsed() / count
}
