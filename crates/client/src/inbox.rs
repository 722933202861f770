//! Changes between the connection that tells of them and whoever reads them.
//!
//! Whoever reads slowly misses nothing, and costs no more than what was subscribed to: a change that
//! waits already is not put in again, and too many resources below others become those others.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use bowline_proto::request;
use bowline_types::subscription::SubscriptionFilter;

use crate::subscribe::Change;

/// Changes that wait at most, beside those that were asked for by name.
const MOST: usize = 1024;

/// Changes of one subscription that wait to be read.
#[derive(Debug)]
pub(crate) struct Inbox {
    asked: SubscriptionFilter,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    acknowledged: Option<SubscriptionFilter>,
    waiting: VecDeque<Change>,
    reader: Option<Waker>,
}

impl Inbox {
    /// An inbox for what was asked for.
    pub(crate) fn new(asked: SubscriptionFilter) -> Self {
        Self { asked, state: Mutex::default() }
    }

    /// Puts a change in, if it was asked for.
    pub(crate) fn put(&self, change: request::Change) {
        let mut state = self.lock();
        match change {
            request::Change::Acknowledged(filter) => state.acknowledged = Some(filter),
            request::Change::Tools if self.asked.tools_list_changed => state.put(Change::Tools),
            request::Change::Prompts if self.asked.prompts_list_changed => {
                state.put(Change::Prompts);
            }
            request::Change::Resources if self.asked.resources_list_changed => {
                state.put(Change::Resources);
            }
            // The server knows what lies below what; that we asked for resources is enough.
            request::Change::Resource(uri) if !self.asked.resource_subscriptions.is_empty() => {
                state.put(Change::Resource(uri));
                if state.waiting.len() > MOST {
                    state.replace_resources(&self.asked.resource_subscriptions);
                }
            }
            _ => return,
        }
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// The next change; if there is none, the reader is woken by the next.
    pub(crate) fn take(&self, cx: &Context<'_>) -> Option<Change> {
        let mut state = self.lock();
        let change = state.waiting.pop_front();
        state.reader = change.is_none().then(|| cx.waker().clone());
        change
    }

    /// What the server will tell of; until it says, the reader is woken by whatever it says.
    pub(crate) fn acknowledged(&self, cx: &Context<'_>) -> Option<SubscriptionFilter> {
        let mut state = self.lock();
        state.reader = Some(cx.waker().clone());
        state.acknowledged.take()
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, change: Change) {
        if !self.waiting.contains(&change) {
            self.waiting.push_back(change);
        }
    }

    /// Says that all resources changed that were asked for, instead of naming each below them.
    fn replace_resources(&mut self, asked: &[String]) {
        self.waiting.retain(|change| !matches!(change, Change::Resource(_)));
        for uri in asked {
            self.put(Change::Resource(uri.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inbox: &Inbox) -> Vec<Change> {
        let cx = Context::from_waker(Waker::noop());
        std::iter::from_fn(|| inbox.take(&cx)).collect()
    }

    fn resource(uri: &str) -> Change {
        Change::Resource(uri.to_owned())
    }

    #[test]
    fn a_change_that_waits_is_told_once() {
        let asked = SubscriptionFilter::new().with_tools_list_changed().with_resource("a:/");
        let inbox = Inbox::new(asked);
        for change in [
            request::Change::Tools,
            request::Change::Resource("a:/1".to_owned()),
            request::Change::Tools,
            request::Change::Resource("a:/1".to_owned()),
        ] {
            inbox.put(change);
        }
        assert_eq!(read(&inbox), [Change::Tools, resource("a:/1")]);
        inbox.put(request::Change::Tools);
        assert_eq!(read(&inbox), [Change::Tools]);
    }

    #[test]
    fn what_nobody_asked_for_is_not_told() {
        let inbox = Inbox::new(SubscriptionFilter::new().with_prompts_list_changed());
        for change in [
            request::Change::Tools,
            request::Change::Resources,
            request::Change::Resource("a:/1".to_owned()),
            request::Change::Prompts,
        ] {
            inbox.put(change);
        }
        assert_eq!(read(&inbox), [Change::Prompts]);
    }

    #[test]
    fn too_many_parts_become_the_wholes() {
        let asked = SubscriptionFilter::new().with_tools_list_changed().with_resource("a:/");
        let inbox = Inbox::new(asked.with_resource("b:/"));
        inbox.put(request::Change::Tools);
        for number in 0..MOST {
            inbox.put(request::Change::Resource(format!("a:/{number}")));
        }
        assert_eq!(read(&inbox), [Change::Tools, resource("a:/"), resource("b:/")]);
    }
}
