//! A subscription at the upstream server, over all the streams that serve it.
//!
//! A stream ends when the server is about to be replaced, and breaks with the connection that carries
//! it. Then the relay subscribes again, after a pause, and reports everything that may have changed
//! meanwhile. It gives up when the connection to the server is closed, or the server refuses.

use std::collections::VecDeque;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bowline_types::subscription::SubscriptionFilter;
use futures_core::future::BoxFuture;
use tokio::time::{Instant, sleep};

use crate::error::{Error, Result};
use crate::subscribe::{Change, Changes, SubscriptionBuilder};

/// The longest pause before the first attempt of the relay to subscribe again. It doubles with each
/// attempt. The pause itself is drawn at random below it, since many clients lose their streams
/// together.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest pause before any attempt.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a stream must have lasted for earlier attempts to be forgotten.
const HEALTHY: Duration = Duration::from_secs(60);

/// The changes of one subscription.
pub(super) struct LastingChanges {
    subscription: SubscriptionBuilder,
    /// What the server reports, as it said when it was asked first. If that failed, what it was asked
    /// for.
    honoured: SubscriptionFilter,
    state: StreamState,
    /// Attempts to subscribe again since a stream lasted.
    attempts: u32,
    /// What may have changed while there was no stream.
    missed: VecDeque<Change>,
}

enum StreamState {
    /// There is a stream since this moment.
    Open(Changes, Instant),
    Opening(BoxFuture<'static, Result<Changes>>),
}

impl LastingChanges {
    /// Goes on with the first stream of a subscription.
    pub(super) fn new(subscription: SubscriptionBuilder, changes: Changes) -> Self {
        let honoured = changes.honoured().clone();
        let state = StreamState::Open(changes, Instant::now());
        Self { subscription, honoured, state, attempts: 0, missed: VecDeque::new() }
    }

    /// Opens the first stream after a pause, because an attempt failed that may succeed later. What the
    /// subscription asks for counts as honoured.
    pub(super) fn opening_later(subscription: SubscriptionBuilder) -> Self {
        let honoured = subscription.filter.clone();
        let state = StreamState::Opening(reopen(&subscription, 0));
        Self { subscription, honoured, state, attempts: 1, missed: VecDeque::new() }
    }

    /// Opens the first stream, or lets that be tried again later if it fails for a reason that may pass.
    ///
    /// # Errors
    ///
    /// If the connection is closed, or the server refuses.
    pub(super) async fn open(subscription: SubscriptionBuilder) -> Result<Self> {
        match subscription.clone().open().await {
            Ok(changes) => Ok(Self::new(subscription, changes)),
            Err(error) if may_pass(&error) => Ok(Self::opening_later(subscription)),
            Err(error) => Err(error),
        }
    }

    /// What the server reports, as far as it is known.
    pub(super) fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// Polls for the next change. After an error there is none.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Change>> {
        loop {
            if let Some(change) = self.missed.pop_front() {
                return Poll::Ready(Ok(change));
            }
            match &mut self.state {
                StreamState::Open(changes, since) => match ready!(changes.poll(cx)) {
                    Some(Ok(change)) => return Poll::Ready(Ok(change)),
                    Some(Err(error)) if error.is_closed() => return Poll::Ready(Err(error)),
                    Some(Err(_)) | None => {
                        if since.elapsed() >= HEALTHY {
                            self.attempts = 0;
                        }
                        self.open_again();
                    }
                },
                StreamState::Opening(opening) => match ready!(opening.as_mut().poll(cx)) {
                    Ok(changes) => {
                        self.missed = everything(&self.honoured);
                        self.state = StreamState::Open(changes, Instant::now());
                    }
                    Err(error) if may_pass(&error) => self.open_again(),
                    Err(error) => return Poll::Ready(Err(error)),
                },
            }
        }
    }

    fn open_again(&mut self) {
        self.state = StreamState::Opening(reopen(&self.subscription, self.attempts));
        self.attempts = self.attempts.saturating_add(1);
    }
}

/// Subscribes after the pause that follows this many attempts.
fn reopen(
    subscription: &SubscriptionBuilder,
    attempts: u32,
) -> BoxFuture<'static, Result<Changes>> {
    let (pause, subscription) = (pause(attempts), subscription.clone());
    Box::pin(async move {
        sleep(pause).await;
        subscription.open().await
    })
}

/// Whether a later attempt may succeed after this error.
fn may_pass(error: &Error) -> bool {
    error.is_timeout() || error.may_pass()
}

/// The pause after this many attempts.
fn pause(attempts: u32) -> Duration {
    let longest = FIRST_PAUSE.saturating_mul(2u32.saturating_pow(attempts)).min(LONGEST_PAUSE);
    // Without randomness the longest pause is still a good one.
    let share = getrandom::u32().map_or(1.0, |drawn| f64::from(drawn) / f64::from(u32::MAX));
    longest.mul_f64(share)
}

/// Every change that a server may report of these.
fn everything(filter: &SubscriptionFilter) -> VecDeque<Change> {
    let lists = [
        (filter.tools_list_changed, Change::Tools),
        (filter.prompts_list_changed, Change::Prompts),
        (filter.resources_list_changed, Change::Resources),
    ];
    let lists = lists.into_iter().filter(|(is_reported, _)| *is_reported).map(|(_, list)| list);
    lists.chain(filter.resource_subscriptions.iter().cloned().map(Change::Resource)).collect()
}
