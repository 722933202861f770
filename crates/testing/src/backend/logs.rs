//! Logs with several writers.

use bowline_store::backend::{Appended, Backend, Key, NewItem, Position};
use bytes::Bytes;

use super::BackendUnderTest;
use super::threads::{LONG, on_threads};

const WRITERS: usize = 8;
/// Of each writer. Together they stay within what every backend keeps of a log.
const ITEMS: u64 = 64;

/// Eight writers on two handles get positions without gaps; limits show.
///
/// # Panics
///
/// At the first failure, with a message that names the rule.
pub async fn logs(subject: &dyn BackendUnderTest) {
    positions_are_dense_and_unique(subject).await;
    dropped_items_show(&*subject.open("long-log").await).await;
}

fn text(writer: usize, number: u64) -> Bytes {
    format!("{writer}.{number}").into()
}

async fn positions_are_dense_and_unique(subject: &dyn BackendUnderTest) {
    let log = Key::new(["log"]);
    let stores = [subject.open("logs").await, subject.open("logs").await];
    let (handles, key) = (stores.clone(), log.clone());
    let written = on_threads(WRITERS, move |writer| {
        let (store, log) = (handles[writer % 2].clone(), key.clone());
        async move {
            let mut positions = Vec::new();
            for number in 0..ITEMS {
                let position = store.append(&log, NewItem::new(text(writer, number), LONG)).await;
                let position = position.expect("appending succeeds when all is well").position();
                positions.push(position.expect("an item without a mark is not fenced").0);
            }
            positions
        }
    })
    .await;
    let mut expected = Vec::new();
    for (writer, positions) in written.iter().enumerate() {
        assert!(positions.is_sorted(), "a writer's items are in the order in which it wrote them");
        expected.extend((0..).zip(positions).map(|(number, at)| (*at, text(writer, number))));
    }
    expected.sort();
    let dense = 1..=WRITERS as u64 * ITEMS;
    assert!(expected.iter().map(|(at, _)| *at).eq(dense), "positions have no gaps and are unique");
    for store in &stores {
        for page in [7, 64, 10_000] {
            assert!(pages(&**store, &log, page).await == expected, "pages of {page} concatenate");
        }
    }
}

/// All items of a log, read in pages.
async fn pages(store: &dyn Backend, log: &Key, page: usize) -> Vec<(u64, Bytes)> {
    let mut items: Vec<(u64, Bytes)> = Vec::new();
    loop {
        let after = items.last().map_or(0, |(position, _)| *position);
        let read = store.read(log, Position(after), page).await.unwrap();
        assert!(read.items.len() <= page, "a page has at most as many items as asked for");
        if read.items.is_empty() {
            return items;
        }
        items.extend(read.items.into_iter().map(|item| (item.position.0, item.value)));
    }
}

/// A backend may drop the oldest items, and must say so.
async fn dropped_items_show(store: &dyn Backend) {
    const COUNT: u64 = 1500;
    let log = Key::new(["long"]);
    for number in 1..=COUNT {
        let position = store.append(&log, NewItem::new(vec![7; 1024], LONG)).await.unwrap();
        assert_eq!(
            position,
            Appended::At(Position(number)),
            "dropping items does not change positions"
        );
    }
    let read = store.read(&log, Position(0), 10_000).await.unwrap();
    assert_eq!(read.next, Position(COUNT + 1));
    let kept: Vec<_> = read.items.iter().map(|item| item.position.0).collect();
    assert!(
        kept.iter().copied().eq(read.oldest.0..=COUNT),
        "the backend drops only items before `oldest`, and keeps every item after it whole"
    );
    assert!(!kept.is_empty(), "the newest item stays");
}
