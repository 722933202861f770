//! The outputs of each stream that the play has not taken yet.
//!
//! A transcript is one list of messages; over HTTP there are several streams at once, without an
//! order between them. So an expectation may be met by the first message of any stream, and within
//! a stream the order counts.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::watch;

use super::super::side_under_test::Output;

/// The outputs of each stream; cheap to clone. Readers of responses write to it, the play takes
/// from it.
#[derive(Clone, Default)]
pub(super) struct StreamInbox(watch::Sender<State>);

#[derive(Default)]
struct State {
    streams: BTreeMap<usize, Stream>,
    last: usize,
}

/// One HTTP response.
#[derive(Default)]
struct Stream {
    outputs: VecDeque<Output>,
    is_over: bool,
}

impl StreamInbox {
    /// Adds a stream and returns its number.
    pub(super) fn open(&self) -> usize {
        let mut number = 0;
        self.0.send_modify(|state| {
            state.last += 1;
            number = state.last;
            state.streams.insert(number, Stream::default());
        });
        number
    }

    /// Adds an output to a stream.
    pub(super) fn push(&self, stream: usize, output: Output) {
        self.change(stream, |stream| stream.outputs.push_back(output));
    }

    /// Marks the end of a stream.
    pub(super) fn close(&self, stream: usize) {
        self.change(stream, |stream| stream.is_over = true);
    }

    /// Waits for an output that fits and is the first of its stream. If every stream has ended,
    /// returns any output that is left.
    pub(super) async fn next(&self, mut fits: impl FnMut(&Output) -> bool) -> Option<Output> {
        let mut changes = self.0.subscribe();
        loop {
            if let Some(output) = self.take(&mut fits) {
                return Some(output);
            }
            if self.0.borrow().is_over() {
                return self.take(|_| true);
            }
            // Cannot fail, because `self` is the sender.
            let _ = changes.changed().await;
        }
    }

    /// Takes the first output of a stream, from the first stream where it fits. A violation always fits.
    pub(super) fn take(&self, mut fits: impl FnMut(&Output) -> bool) -> Option<Output> {
        let mut taken = None;
        self.0.send_if_modified(|state| {
            let mut fits = |output: &Output| matches!(output, Output::Violation(_)) || fits(output);
            let is_next = |stream: &&mut Stream| stream.outputs.front().is_some_and(&mut fits);
            taken = state.streams.values_mut().find(is_next).and_then(|it| it.outputs.pop_front());
            false
        });
        taken
    }

    /// The last message of a stream that was not taken yet.
    pub(super) fn last(&self, stream: usize) -> String {
        let state = self.0.borrow();
        match state.streams.get(&stream).and_then(|stream| stream.outputs.back()) {
            Some(Output::Message(text) | Output::HttpBody { text, .. }) => text.clone(),
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

    fn message(text: &str) -> Output {
        Output::Message(text.to_owned())
    }

    #[tokio::test]
    async fn one_stream_keeps_its_order_and_two_streams_have_none() {
        let inbox = StreamInbox::default();
        let (one, other) = (inbox.open(), inbox.open());
        inbox.push(one, message("a"));
        inbox.push(one, message("b"));
        inbox.push(other, message("c"));
        assert_eq!(inbox.take(|output| *output == message("b")), None, "`a` comes first");
        for text in ["c", "a", "b"] {
            assert_eq!(inbox.next(|output| *output == message(text)).await, Some(message(text)));
        }
        inbox.push(one, message("d"));
        inbox.close(one);
        inbox.close(other);
        assert_eq!(inbox.next(|_| false).await, Some(message("d")), "nothing else can come");
        assert_eq!(inbox.next(|_| true).await, None);
    }

    #[test]
    fn a_violation_fits_every_expectation() {
        let inbox = StreamInbox::default();
        inbox.push(inbox.open(), Output::Violation("two answers".to_owned()));
        assert!(inbox.take(|_| false).is_some());
    }
}
