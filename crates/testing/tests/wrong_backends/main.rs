//! The suite of backends finds each mistake that a backend can make.

mod journal;
mod wrong_backend;
mod wrong_streams;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bowline_store::wrapper::Wrapped;
use bowline_testing::backend::{self, BackendUnderTest};

use crate::journal::Journal;
use crate::wrong_backend::{Mistake, STORE, Wrong, WrongBackend};

type Part = for<'a> fn(&'a dyn BackendUnderTest) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Runs a part of the suite with a backend that makes a mistake, and returns why it failed.
fn failure(mistake: Mistake, part: Part) -> String {
    // On a thread of its own, whose panic is the result.
    let failed = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(part(&Wrong::new(mistake)));
    });
    let panic = failed.join().expect_err("the suite finds the mistake");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
}

#[track_caller]
fn finds(mistake: Mistake, part: Part, expected: &str) {
    let failure = failure(mistake, part);
    assert!(failure.contains(expected), "{mistake:?}: {failure}");
}

#[test]
fn a_backend_without_mistakes_passes() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let right = Wrong::new(Mistake::None);
        backend::values(&right).await;
        backend::logs(&right).await;
        backend::listeners(&right).await;
        backend::faults(&right).await;
        backend::crash(&right).await;
    });
}

#[test]
fn mistakes_with_values_are_found() {
    let values: Part = |subject| Box::pin(backend::values(subject));
    finds(Mistake::RepeatsVersions, values, "a version is never used twice");
    finds(Mistake::ExpiresEarly, values, "does not expire before its time");
    finds(Mistake::ExpiresLate, values, "at most a second late");
    finds(Mistake::PatternsInScan, values, "a prefix is no pattern");
    finds(Mistake::ScansBackwards, values, "scan/");
    finds(Mistake::DeletesAnything, values, "nothing is left to delete");
    finds(Mistake::RenewsVersions, values, "renewing keeps the value and the version");
    finds(Mistake::RenewsForLess, values, "renewing keeps the value and the version");
}

#[test]
fn mistakes_with_items_and_marks_are_found() {
    let values: Part = |subject| Box::pin(backend::values(subject));
    finds(Mistake::IgnoresAbove, values, "the log is behind");
    finds(Mistake::AddsItemsToKeep, values, "there is no item yet");
    finds(Mistake::IgnoresMarks, values, "a writer without its mark keeps nothing");
    finds(Mistake::TellsOfFencedItems, values, "a fenced item tells nothing");
    finds(Mistake::SetsMarksAgain, values, "going on keeps the version of the mark");
    finds(Mistake::TellsSomethingElse, values, "the item's message arrives");
    finds(Mistake::HidesTheEnd, values, "there is nothing beyond the end");
}

#[test]
fn a_comparison_apart_from_its_write_is_found() {
    let part: Part = |subject| Box::pin(backend::compare_and_set(subject));
    finds(Mistake::ComparesThenWrites, part, "no increment is lost");
}

#[test]
fn a_stale_read_is_found() {
    let part: Part = |subject| Box::pin(backend::histories(subject));
    finds(Mistake::ReadsStaleValues, part, "is linearizable");
    finds(Mistake::ReadsStaleLogs, part, "is linearizable");
}

#[test]
fn mistakes_with_logs_are_found() {
    let part: Part = |subject| Box::pin(backend::logs(subject));
    finds(Mistake::GuessesPositions, part, "positions have no gaps and are unique");
    finds(Mistake::HidesDroppedItems, part, "the backend drops only items before `oldest`");
    finds(Mistake::ReturnsLongPages, part, "at most as many items as asked for");
}

#[test]
fn mistakes_with_listeners_are_found() {
    let part: Part = |subject| Box::pin(backend::listeners(subject));
    finds(Mistake::SwapsMessages, part, "arrive once and in order");
    finds(Mistake::RepeatsEarlierMessages, part, "older than itself");
    finds(Mistake::KeepsAllMessages, part, "a listener that does not read misses messages");
    finds(Mistake::HidesMissedMessages, part, "comes before the first after missed ones");
    finds(Mistake::ReadsBackwards, part, "in order, once");
    let values: Part = |subject| Box::pin(backend::values(subject));
    finds(Mistake::MixesTopics, values, "from now on, in order");
}

#[test]
fn mistakes_in_an_outage_are_found() {
    let part: Part = |subject| Box::pin(backend::faults(subject));
    finds(Mistake::HangsInOutages, part, "ends within a second");
    finds(Mistake::StaysDown, part, "works within two seconds");
    finds(Mistake::RepeatsItems, part, "the store keeps an item once");
    finds(Mistake::RepeatsWrites, part, "no increment is lost, and none counts twice");
}

#[test]
fn lost_and_torn_writes_are_found_after_a_crash() {
    let part: Part = |subject| Box::pin(backend::crash(subject));
    finds(Mistake::ForgetsInCrashes, part, "acknowledged items survive");
    finds(Mistake::TearsItems, part, "an item is whole or absent");
}

/// The process that the tests of crashes kill.
#[tokio::test]
async fn writes_until_killed() {
    if let Some(path) = std::env::var_os(STORE) {
        let mut store = WrongBackend::new(Mistake::None);
        store.journal = Some(Journal::create(path.as_ref()));
        backend::write_until_killed(Arc::new(Wrapped(store))).await;
    }
}
