//! A process that writes is killed. What was acknowledged is there; the rest is whole or absent.

use std::collections::HashSet;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;

use bowline_store::backend::{Appended, Backend, Expect, Key, NewItem, Position, Written};
use bytes::Bytes;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::threads::{LONG, PATIENCE, on_threads};
use super::{BackendUnderTest, Durability};

const ROUNDS: usize = 3;
/// Writers within the process, each with a value and a log of its own.
const LANES: usize = 4;
/// How many writes are acknowledged before the process is killed.
const ACKNOWLEDGED: usize = 200;
/// What a line with an acknowledgement begins with. A test program prints other lines too.
const MARK: &str = "acknowledged ";

/// Kills a process that writes, three times, each with a new store.
///
/// # Panics
///
/// If an acknowledged write is lost, or another is there in part.
pub async fn crash(subject: &dyn BackendUnderTest) {
    if subject.durability() == Durability::Memory {
        return;
    }
    for round in 0..ROUNDS {
        let store = format!("crash-{round}");
        let acknowledged = killed_writer(subject, &store).await;
        subject.restart().await;
        let store = subject.open(&store).await;
        for (lane, count) in acknowledged.counts.into_iter().enumerate() {
            is_as_acknowledged(&*store, lane, count).await;
        }
        let put = store.put(&Key::new(["new"]), "x".into(), LONG, Expect::Anything).await.unwrap();
        let Written::Yes(version) = put else { panic!("set without condition") };
        let is_new = !acknowledged.versions.contains(&version.0);
        assert!(is_new, "a version is never used twice, not even after a crash");
    }
}

/// Writes and acknowledges on standard output, until the process is killed. For the process that
/// [`BackendUnderTest::writer`] starts.
pub async fn write_until_killed(store: Arc<dyn Backend>) {
    on_threads(LANES, move |lane| {
        let store = store.clone();
        async move {
            for number in 1.. {
                let value = content(lane, number);
                let put = store.put(&value_key(lane), value.clone(), LONG, Expect::Anything).await;
                let Ok(Written::Yes(version)) = put else { panic!("cannot put: {put:?}") };
                let position = store.append(&log_key(lane), NewItem::new(value, LONG)).await;
                assert_eq!(position.expect("cannot append"), Appended::At(Position(number)));
                let line = format!("\n{MARK}{lane} {number} {}\n", version.0);
                // The reader is gone when the test is.
                let mut out = std::io::stdout().lock();
                if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        }
    })
    .await;
}

fn value_key(lane: usize) -> Key {
    Key::new(["value", &lane.to_string()])
}

fn log_key(lane: usize) -> Key {
    Key::new(["log", &lane.to_string()])
}

/// From a few bytes to several pages of any database.
fn content(lane: usize, number: u64) -> Bytes {
    let length = number * 37 % 1000 * (1 + number % 7 * 2);
    format!("{lane}.{number}/").into_bytes().into_iter().cycle().take(length as usize + 1).collect()
}

/// What a process acknowledged before it was killed.
#[derive(Default)]
struct Acknowledged {
    counts: [u64; LANES],
    versions: HashSet<u64>,
}

async fn killed_writer(subject: &dyn BackendUnderTest, store: &str) -> Acknowledged {
    let mut command = subject.writer(store).expect("a durable backend has a writer to be killed");
    let mut child = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut acknowledged = Acknowledged::default();
    let mut count = 0;
    // After the kill, the pipe still has what was acknowledged before.
    loop {
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let Ok(Some(line)) = line.expect("the process acknowledges writes") else { break };
        let Some(numbers) = line.strip_prefix(MARK) else { continue };
        let numbers: Vec<u64> = numbers.split(' ').filter_map(|part| part.parse().ok()).collect();
        let [lane, number, version] = numbers[..] else { continue };
        acknowledged.counts[lane as usize] = number;
        acknowledged.versions.insert(version);
        count += 1;
        if count == ACKNOWLEDGED {
            child.start_kill().expect("it runs");
        }
    }
    let status = child.wait().await.expect("it has ended");
    assert!(count >= ACKNOWLEDGED && !status.success(), "the process was killed: {status}");
    acknowledged
}

/// One more write may have taken effect than was acknowledged.
async fn is_as_acknowledged(store: &dyn Backend, lane: usize, count: u64) {
    let mut after = Position(0);
    let read = store.read(&log_key(lane), after, usize::MAX).await.unwrap();
    let last = read.next.0 - 1;
    assert!(last >= count, "acknowledged items survive: {last} of {count}");
    assert!(last <= count + 1, "no item is there that was not appended: {last} of {count}");
    for item in read.items {
        let is_whole = item.value == content(lane, item.position.0);
        assert!(is_whole, "an item is whole or absent: {:?}", item.position);
        after = item.position;
    }
    assert_eq!(after.0, last, "the newest item is there");
    let entry = store.get(&value_key(lane)).await.unwrap();
    let value = entry.map(|entry| entry.value).unwrap_or_default();
    let is_known = value == content(lane, count) || value == content(lane, count + 1);
    assert!(is_known, "the acknowledged value survives, or a later one, as a whole");
}
