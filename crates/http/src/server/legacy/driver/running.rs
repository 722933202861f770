//! The calls of one line that are under way.
//!
//! A POST has one request, except for an array of 2025-03-26, and the stream of 2024-11-05 runs the
//! calls of a whole session. The number of calls is bounded by slots, so polling all of them
//! whenever one wakes the task is cheap enough.

use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Response as Outcome};
use bowline_transport::BoxFuture;

use super::super::super::calls;

/// Calls under way. Most often there is one, for which no list is allocated.
#[derive(Default)]
pub(super) struct RunningCalls {
    one: Option<(ExchangeId, BoxFuture<Outcome>)>,
    others: Vec<(ExchangeId, BoxFuture<Outcome>)>,
}

impl RunningCalls {
    /// The call begins when it is polled for the first time.
    pub(super) fn add(&mut self, number: ExchangeId, call: BoxFuture<Outcome>) {
        match self.one {
            None => self.one = Some((number, call)),
            Some(_) => self.others.push((number, call)),
        }
    }

    /// Drops a call that was cancelled.
    pub(super) fn remove(&mut self, number: ExchangeId) {
        self.one.take_if(|(other, _)| *other == number);
        self.others.retain(|(other, _)| *other != number);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.one.is_none() && self.others.is_empty()
    }

    /// Polls the calls until one ends. `None` if all are pending.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Option<(ExchangeId, Outcome)> {
        if let Some((number, call)) = &mut self.one
            && let Poll::Ready(outcome) = calls::poll(call, cx)
        {
            let number = *number;
            self.one = None;
            return Some((number, outcome));
        }
        for (at, (number, call)) in self.others.iter_mut().enumerate() {
            if let Poll::Ready(outcome) = calls::poll(call, cx) {
                let number = *number;
                drop(self.others.swap_remove(at));
                return Some((number, outcome));
            }
        }
        None
    }
}
