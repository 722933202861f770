//! Many writers that compare and set the same value lose nothing.

use bowline_store::backend::Key;

use super::BackendUnderTest;
use super::slots::{counts, increment};
use super::threads::on_threads;

const WRITERS: usize = 16;
const INCREMENTS: u64 = 1000;

/// 16 writers on two handles increment one value 16,000 times in all.
///
/// # Panics
///
/// If an increment is lost.
pub async fn compare_and_set(subject: &dyn BackendUnderTest) {
    let key = Key::new(["counter"]);
    let stores = [subject.open("increments").await, subject.open("increments").await];
    let (handles, counter) = (stores.clone(), key.clone());
    on_threads(WRITERS, move |writer| {
        let (store, counter) = (handles[writer % 2].clone(), counter.clone());
        async move {
            for before in 0..INCREMENTS {
                increment(&*store, &counter, (writer, WRITERS), before).await;
            }
        }
    })
    .await;
    for store in &stores {
        let counts = counts(&**store, &key, WRITERS).await;
        assert_eq!(counts, [INCREMENTS; WRITERS], "no increment is lost");
    }
}
