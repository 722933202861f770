//! Subscriptions (2026-07-28): one stream per `subscriptions/listen` that carries the notifications
//! which the client asked for.
//!
//! The notifications are in the modules of the things that change: [`crate::tool`],
//! [`crate::resource`], [`crate::prompt`], [`crate::ext::tasks`]. Up to 2025-11-25 servers sent
//! changes of lists to every session, and those of a resource after `resources/subscribe`
//! ([`crate::legacy::subscribe`]).

use std::ops::Not;

use serde::{Deserialize, Serialize};

use crate::capability::ServerCapabilities;
use crate::capability::declared::flag;
use crate::id::RequestId;
use crate::json::RawJson;
use crate::member::or_default;
use crate::meta::{self, Meta};
use crate::rpc::{notification, request};
use crate::setters::setters;

request! {
    /// `subscriptions/listen`: stays open. Its result comes only when the server ends the stream.
    Listen = SubscriptionsListen(ListenParams) -> ListenResult
}

notification! {
    /// `notifications/subscriptions/acknowledged`: the first notification of a stream.
    Acknowledged = SubscriptionsAcknowledged(AcknowledgedParams)
}

/// The notifications that a client wants. A missing member means the same as `false`.
///
/// The server acknowledges the part that it honours, and sends nothing else on the stream.
///
/// ```
/// use bowline_types::ServerCapabilities;
/// use bowline_types::subscription::SubscriptionFilter;
///
/// let wanted = SubscriptionFilter::new().with_tools_list_changed().with_resource("file:///a");
/// let server = ServerCapabilities::new().with_tools_list_changed().with_resources();
/// let honoured = wanted.honoured_by(&server);
/// assert!(honoured.tools_list_changed && honoured.resource_subscriptions.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub resources_list_changed: bool,
    /// Changes of these resources, by URI.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub resource_subscriptions: Vec<String>,
    /// Changes of these tasks ([`crate::ext::tasks`]).
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub task_ids: Vec<String>,
}

impl SubscriptionFilter {
    /// No notifications.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Asks for changes of the list of tools.
        with_tools_list_changed() { tools_list_changed = true }

        /// Asks for changes of the list of prompts.
        with_prompts_list_changed() { prompts_list_changed = true }

        /// Asks for changes of the list of resources.
        with_resources_list_changed() { resources_list_changed = true }

        /// Asks for changes of a resource, by URI.
        with_resource(uri: impl Into<String>) { resource_subscriptions.push(uri.into()) }

        /// Asks for changes of a task, by id.
        with_task(task_id: impl Into<String>) { task_ids.push(task_id.into()) }
    }

    /// The part of this filter that a server with these capabilities can honour. Tasks stay if the
    /// server declares the extension; the caller checks which tasks the client may see.
    #[must_use]
    #[inline]
    pub fn honoured_by(mut self, server: &ServerCapabilities) -> Self {
        self.tools_list_changed &= server.supports_tools_list_changed();
        self.prompts_list_changed &= server.supports_prompts_list_changed();
        self.resources_list_changed &= server.supports_resources_list_changed();
        if !server.supports_resources_subscribe() {
            self.resource_subscriptions.clear();
        }
        if !server.supports_extension(crate::ext::tasks::IDENTIFIER) {
            self.task_ids.clear();
        }
        self
    }

    /// Whether the filter asks for nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The params of `subscriptions/listen`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListenParams {
    /// The notifications that the client wants.
    pub notifications: SubscriptionFilter,
}

impl ListenParams {
    /// Asks for these notifications.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications }
    }
}

/// The params of the acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AcknowledgedParams {
    /// The part of the client's filter that the server honours.
    pub notifications: SubscriptionFilter,
}

impl AcknowledgedParams {
    /// Honours these notifications.
    pub fn new(notifications: SubscriptionFilter) -> Self {
        Self { notifications }
    }
}

/// The result with which a server ends a stream itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListenResult {
    /// Names the stream by [`meta::key::SUBSCRIPTION_ID`].
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListenResult {
    /// Ends the stream that the request with this id opened.
    pub fn new(subscription: &RequestId) -> Self {
        let mut meta = Meta::new();
        // An id always has a JSON form.
        let id = RawJson::from_value(subscription).unwrap_or_default();
        meta.set_reserved(meta::key::SUBSCRIPTION_ID, id);
        Self { meta }
    }

    /// The id of the request that opened the stream.
    pub fn subscription(&self) -> Option<RequestId> {
        self.meta.parse(meta::key::SUBSCRIPTION_ID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Object;
    use crate::round_trip::round_trip;

    // spec: SUB-1
    #[test]
    fn a_filter_is_written_as_it_was_read() {
        for text in [
            r#"{"notifications":{}}"#,
            r#"{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["file:///a"]}}"#,
            r#"{"notifications":{"promptsListChanged":true,"resourcesListChanged":true}}"#,
            r#"{"notifications":{"taskIds":["t"]}}"#,
        ] {
            round_trip::<ListenParams>(text);
        }
        let error = serde_json::from_str::<ListenParams>("{}").unwrap_err().to_string();
        assert!(error.contains("missing field `notifications`"), "{error}");
    }

    // spec: SUB-2
    #[test]
    fn a_missing_member_means_the_same_as_false() {
        let text = r#"{"toolsListChanged":false,"taskIds":null,"moonPhases":true}"#;
        let filter: SubscriptionFilter = serde_json::from_str(text).unwrap();
        assert!(filter.is_empty());
    }

    // spec: SUB-6
    #[test]
    fn a_server_honours_only_what_it_declares() {
        let wish = SubscriptionFilter::new()
            .with_tools_list_changed()
            .with_prompts_list_changed()
            .with_resources_list_changed()
            .with_resource("file:///a")
            .with_task("t");
        let server = ServerCapabilities::new().with_tools_list_changed().with_resources_subscribe();
        let honoured = wish.clone().honoured_by(&server);
        let expected =
            SubscriptionFilter::new().with_tools_list_changed().with_resource("file:///a");
        assert_eq!(honoured, expected);
        let server = ServerCapabilities::new()
            .with_extension(crate::ext::tasks::IDENTIFIER, Object::default())
            .unwrap();
        assert_eq!(wish.clone().honoured_by(&server), SubscriptionFilter::new().with_task("t"));
        assert!(wish.honoured_by(&ServerCapabilities::new()).is_empty());
    }

    // spec: SUB-13, SUB-14
    #[test]
    fn the_end_of_a_stream_names_the_request_that_opened_it() {
        for id in [RequestId::from(5), RequestId::from("5")] {
            let text = serde_json::to_string(&ListenResult::new(&id)).unwrap();
            assert!(text.contains(&format!(":{id}")), "{text}");
            let result: ListenResult = serde_json::from_str(&text).unwrap();
            assert_eq!(result.subscription(), Some(id));
        }
    }
}
