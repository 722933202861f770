//! What the driver does outside of the table.

use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// Starts that never end, counted.
#[derive(Debug)]
struct Hanging(Arc<AtomicUsize>);

struct CountedStart(Arc<AtomicUsize>);

impl Drop for CountedStart {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Dial for Hanging {
    fn dial(
        &self,
        _: ClientCapabilities,
        _: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let start = CountedStart(self.0.clone());
        Box::pin(async move {
            let _start = start;
            pending().await
        })
    }

    fn is_process(&self) -> bool {
        true
    }
}

fn driver(starts: &Arc<AtomicUsize>) -> LaneDriver {
    LaneDriver::new(Arc::new(Hanging(starts.clone())), GatewayLimits::default())
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_closed_while_it_starts_is_gone_when_that_is_over() {
    let starts = Arc::new(AtomicUsize::new(0));
    let driver = Arc::new(driver(&starts));
    let using = driver.take_now(LaneCaller::anonymous(), LanePurpose::Start).unwrap();
    let starting = tokio::spawn(async move { using.connect().await.map(drop) });
    while starts.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    driver.close().await;
    assert_eq!(starts.load(Ordering::Relaxed), 0);
    starting.await.unwrap().unwrap_err();
}

/// Callers that listen look for another lane with each change, and may move.
#[test]
fn only_the_first_question_is_a_change_and_is_remembered() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let remember = move || _ = counted.fetch_add(1, Ordering::Relaxed);
    let mut driver = driver(&Arc::default());
    driver.set_asking(Asking::new(false, Some(Box::new(remember))));
    let driver = Arc::new(driver);
    let mut changes = driver.changes();
    driver.note_question();
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    driver.note_question();
    assert!(!changes.has_changed().unwrap());
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_claim_that_is_dropped_while_its_runtime_shuts_down_does_not_block() {
    let starts = Arc::new(AtomicUsize::new(0));
    let driver = Arc::new(driver(&starts));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let shared = driver.clone();
    runtime.block_on(async move {
        let using = shared.take_now(LaneCaller::anonymous(), LanePurpose::Start).unwrap();
        tokio::spawn(async move { using.connect().await.map(drop) });
        while starts.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
    });
    driver.on(Event::Retire);
    drop(runtime);
    assert!(driver.look(LaneTable::is_over));
}
