//! What has come on each stream, and was not heard yet.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::watch;

use super::super::stage::Heard;

/// What has come on each stream; cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Inbox(watch::Sender<State>);

#[derive(Default)]
struct State {
    streams: BTreeMap<usize, Stream>,
    last: usize,
}

#[derive(Default)]
struct Stream {
    come: VecDeque<Heard>,
    is_over: bool,
}

impl Inbox {
    /// A new stream, by its number.
    pub(super) fn open(&self) -> usize {
        let mut number = 0;
        self.0.send_modify(|state| {
            state.last += 1;
            number = state.last;
            state.streams.insert(number, Stream::default());
        });
        number
    }

    /// Something came on a stream.
    pub(super) fn push(&self, stream: usize, heard: Heard) {
        self.change(stream, |stream| stream.come.push_back(heard));
    }

    /// Nothing more comes on a stream.
    pub(super) fn close(&self, stream: usize) {
        self.change(stream, |stream| stream.is_over = true);
    }

    /// Waits for something that fits and is the first on its stream. If nothing can come any more,
    /// gives whatever has come instead.
    pub(super) async fn next(&self, mut fits: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        let mut changes = self.0.subscribe();
        loop {
            if let Some(heard) = self.take(&mut fits) {
                return Some(heard);
            }
            if self.0.borrow().is_over() {
                return self.take(|_| true);
            }
            // Its sender is `self`, so it cannot fail.
            let _ = changes.changed().await;
        }
    }

    /// The first thing on a stream that fits. What is wrong with HTTP itself fits always.
    pub(super) fn take(&self, mut fits: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        let mut taken = None;
        self.0.send_if_modified(|state| {
            let mut fits = |heard: &Heard| matches!(heard, Heard::Wrong(_)) || fits(heard);
            let is_next = |stream: &&mut Stream| stream.come.front().is_some_and(&mut fits);
            taken = state.streams.values_mut().find(is_next).and_then(|it| it.come.pop_front());
            false
        });
        taken
    }

    /// What came last on a stream and was not heard yet.
    pub(super) fn last(&self, stream: usize) -> String {
        let state = self.0.borrow();
        match state.streams.get(&stream).and_then(|stream| stream.come.back()) {
            Some(Heard::Message(text) | Heard::Answer { text, .. }) => text.clone(),
            _ => String::new(),
        }
    }

    fn change(&self, number: usize, change: impl FnOnce(&mut Stream)) {
        self.0.send_modify(|state| {
            if let Some(stream) = state.streams.get_mut(&number) {
                change(stream);
            }
        });
    }
}

impl State {
    fn is_over(&self) -> bool {
        self.streams.values().all(|stream| stream.is_over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Heard {
        Heard::Message(text.to_owned())
    }

    #[tokio::test]
    async fn streams_keep_their_order_and_have_none_among_them() {
        let inbox = Inbox::default();
        let (one, other) = (inbox.open(), inbox.open());
        inbox.push(one, message("a"));
        inbox.push(one, message("b"));
        inbox.push(other, message("c"));
        assert_eq!(inbox.take(|heard| *heard == message("b")), None, "`a` comes first");
        for text in ["c", "a", "b"] {
            assert_eq!(inbox.next(|heard| *heard == message(text)).await, Some(message(text)));
        }
        inbox.push(one, message("d"));
        inbox.close(one);
        inbox.close(other);
        assert_eq!(inbox.next(|_| false).await, Some(message("d")), "nothing else can come");
        assert_eq!(inbox.next(|_| true).await, None);
    }

    #[test]
    fn what_is_wrong_is_heard_whatever_is_expected() {
        let inbox = Inbox::default();
        inbox.push(inbox.open(), Heard::Wrong("two answers".to_owned()));
        assert!(inbox.take(|_| false).is_some());
    }
}
