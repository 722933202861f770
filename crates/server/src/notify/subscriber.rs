//! A subscriber, and the changes that it was not notified of yet.

use std::collections::BTreeSet;
use std::sync::Mutex;

use bowline_proto::request::{ReportedChange, is_part_of};
use bowline_proto::sync::lock;
use bowline_types::subscription::SubscriptionFilter;

/// The most pending resources of a subscriber that are notified one by one. Beyond that the
/// subscriber is notified of the URIs that it subscribed to, whose number it has chosen itself. A
/// legacy session may subscribe at any time, so it is notified of all: at most as many as the server
/// has.
pub(super) const MOST_RESOURCES: usize = 1024;

/// The changes that a subscriber asked for.
#[derive(Debug)]
pub(crate) struct ListenRequest {
    pub(crate) filter: SubscriptionFilter,
    /// Whether every resource is wanted, whatever the filter names.
    pub(crate) every_resource: bool,
}

/// A client that listens, or a connection on behalf of a legacy session.
#[derive(Debug)]
pub(super) struct Subscriber {
    pub(super) request: ListenRequest,
    pub(super) pending: Mutex<PendingChanges>,
    /// Has a permit while anything may be pending.
    pub(super) woken: tokio::sync::Notify,
}

/// Changes that a subscriber was not notified of yet.
#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    pub(super) updated: BTreeSet<String>,
}

impl Subscriber {
    pub(super) fn new(request: ListenRequest) -> Self {
        let (pending, woken) = Default::default();
        Self { request, pending, woken }
    }

    /// Adds a change, if it was subscribed to.
    pub(super) fn add(&self, change: &ReportedChange) {
        let mut pending = lock(&self.pending);
        match change {
            // Tasks are followed in the store.
            ReportedChange::Acknowledged(_) | ReportedChange::Task { .. } => {}
            ReportedChange::Tools => pending.tools |= self.request.filter.tools_list_changed,
            ReportedChange::Prompts => pending.prompts |= self.request.filter.prompts_list_changed,
            ReportedChange::Resources => {
                pending.resources |= self.request.filter.resources_list_changed;
            }
            ReportedChange::Resource(uri) => {
                if let Some(subscribed) = self.subscribed(uri) {
                    let is_full = pending.updated.len() >= MOST_RESOURCES;
                    pending.updated.insert(if is_full { subscribed } else { uri }.to_owned());
                }
            }
        }
        drop(pending);
        self.woken.notify_one();
    }

    /// What was subscribed to that this resource is, or is a part of.
    fn subscribed<'a>(&'a self, uri: &'a str) -> Option<&'a str> {
        let ListenRequest { filter, every_resource } = &self.request;
        let mut named = filter.resource_subscriptions.iter().map(String::as_str);
        named.find(|whole| is_part_of(uri, whole)).or(every_resource.then_some(uri))
    }
}

impl PendingChanges {
    pub(super) fn is_empty(&self) -> bool {
        !self.tools && !self.prompts && !self.resources && self.updated.is_empty()
    }

    pub(super) fn take(&mut self) -> Option<ReportedChange> {
        let lists = [
            (&mut self.tools, ReportedChange::Tools),
            (&mut self.prompts, ReportedChange::Prompts),
            (&mut self.resources, ReportedChange::Resources),
        ];
        for (is_pending, change) in lists {
            if std::mem::take(is_pending) {
                return Some(change);
            }
        }
        self.updated.pop_first().map(ReportedChange::Resource)
    }
}
