//! The changes of one subscription that wait for their reader.
//!
//! A slow reader misses nothing, and the memory is bounded. A change that already waits is not added
//! again. Too many changed resources are replaced by the resources that the client subscribed to.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Waker};

use bowline_proto::request;
use bowline_proto::sync::lock;
use bowline_types::subscription::SubscriptionFilter;

use crate::subscribe::Change;

/// The most changes that wait, beside the resources that were subscribed to by URI.
const MOST: usize = 1024;

/// Changes of one subscription that wait to be read.
#[derive(Debug)]
pub(crate) struct Inbox {
    asked: SubscriptionFilter,
    state: Mutex<WaitingChanges>,
}

#[derive(Debug, Default)]
struct WaitingChanges {
    acknowledged: Option<SubscriptionFilter>,
    waiting: VecDeque<Change>,
    reader: Option<Waker>,
}

impl Inbox {
    /// An inbox for the changes that this filter names.
    pub(crate) fn new(asked: SubscriptionFilter) -> Self {
        Self { asked, state: Mutex::default() }
    }

    /// Adds a change, if the filter names it.
    pub(crate) fn put(&self, change: request::ReportedChange) {
        let mut state = self.lock();
        match change {
            request::ReportedChange::Acknowledged(filter) => state.acknowledged = Some(filter),
            request::ReportedChange::Tools if self.asked.tools_list_changed => {
                state.put(Change::Tools);
            }
            request::ReportedChange::Prompts if self.asked.prompts_list_changed => {
                state.put(Change::Prompts);
            }
            request::ReportedChange::Resources if self.asked.resources_list_changed => {
                state.put(Change::Resources);
            }
            // Only the server knows which resources are part of a subscribed one, so every URI
            // passes.
            request::ReportedChange::Resource(uri)
                if !self.asked.resource_subscriptions.is_empty() =>
            {
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

    /// Takes the next change. If there is none, the next one wakes the reader.
    pub(crate) fn take(&self, cx: &Context<'_>) -> Option<Change> {
        let mut state = self.lock();
        let change = state.waiting.pop_front();
        state.reader = change.is_none().then(|| cx.waker().clone());
        change
    }

    /// The filter that the server acknowledged. Until it does, every message wakes the reader.
    pub(crate) fn acknowledged(&self, cx: &Context<'_>) -> Option<SubscriptionFilter> {
        let mut state = self.lock();
        state.reader = Some(cx.waker().clone());
        state.acknowledged.take()
    }

    fn lock(&self) -> MutexGuard<'_, WaitingChanges> {
        lock(&self.state)
    }
}

impl WaitingChanges {
    fn put(&mut self, change: Change) {
        if !self.waiting.contains(&change) {
            self.waiting.push_back(change);
        }
    }

    /// Replaces all changed resources by the subscribed ones.
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
    fn a_change_that_already_waits_is_not_added_again() {
        let asked = SubscriptionFilter::new().with_tools_list_changed().with_resource("a:/");
        let inbox = Inbox::new(asked);
        for change in [
            request::ReportedChange::Tools,
            request::ReportedChange::Resource("a:/1".to_owned()),
            request::ReportedChange::Tools,
            request::ReportedChange::Resource("a:/1".to_owned()),
        ] {
            inbox.put(change);
        }
        assert_eq!(read(&inbox), [Change::Tools, resource("a:/1")]);
        inbox.put(request::ReportedChange::Tools);
        assert_eq!(read(&inbox), [Change::Tools]);
    }

    #[test]
    fn changes_that_the_filter_does_not_name_are_dropped() {
        let inbox = Inbox::new(SubscriptionFilter::new().with_prompts_list_changed());
        for change in [
            request::ReportedChange::Tools,
            request::ReportedChange::Resources,
            request::ReportedChange::Resource("a:/1".to_owned()),
            request::ReportedChange::Prompts,
        ] {
            inbox.put(change);
        }
        assert_eq!(read(&inbox), [Change::Prompts]);
    }

    #[test]
    fn too_many_resources_are_replaced_by_the_subscribed_ones() {
        let asked = SubscriptionFilter::new().with_tools_list_changed().with_resource("a:/");
        let inbox = Inbox::new(asked.with_resource("b:/"));
        inbox.put(request::ReportedChange::Tools);
        for number in 0..MOST {
            inbox.put(request::ReportedChange::Resource(format!("a:/{number}")));
        }
        assert_eq!(read(&inbox), [Change::Tools, resource("a:/"), resource("b:/")]);
    }
}
