//! Server capabilities.

use std::collections::BTreeMap;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::declared::{declared, declared_map, flag};
use super::{DeclaredExtensions, InvalidExtension, ListCapability, TasksCapability};
use crate::json::Object;
use crate::setters::setters;

/// The features that a server declares, in the result of `initialize` or `server/discover`.
///
/// ```
/// use bowline_types::ServerCapabilities;
///
/// let declared = ServerCapabilities::new().with_tools_list_changed();
/// assert!(declared.supports_tools() && !declared.supports_resources());
/// let json = serde_json::to_string(&declared).unwrap();
/// assert_eq!(json, r#"{"tools":{"listChanged":true}}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Experimental features outside of the specification, by name.
    #[serde(
        default,
        deserialize_with = "declared_map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub experimental: BTreeMap<String, Object>,
    /// The server sends log messages (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub logging: Option<Object>,
    /// The server completes arguments (declared since 2025-03-26).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub completions: Option<Object>,
    /// The server offers prompts.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListCapability>,
    /// The server offers resources.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// The server offers tools.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListCapability>,
    /// The server may answer requests with tasks (2025-11-25 only).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksCapability>,
    /// The extensions that the server supports, with their settings.
    #[serde(default, skip_serializing_if = "DeclaredExtensions::is_empty")]
    pub extensions: DeclaredExtensions,
}

/// What a server with resources notifies clients of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether a client can subscribe to changes of single resources.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub subscribe: bool,
    /// Whether the server notifies clients when its list of resources changes.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub list_changed: bool,
}

impl ServerCapabilities {
    /// No optional features.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Declares tools, without notifications of changes.
        with_tools() { tools.get_or_insert_default() }

        /// Declares tools, with notifications when their list changes.
        with_tools_list_changed() { tools.get_or_insert_default().list_changed = true }

        /// Declares prompts, without notifications of changes.
        with_prompts() { prompts.get_or_insert_default() }

        /// Declares prompts, with notifications when their list changes.
        with_prompts_list_changed() { prompts.get_or_insert_default().list_changed = true }

        /// Declares resources, without notifications of changes.
        with_resources() { resources.get_or_insert_default() }

        /// Declares resources, with notifications when their list changes.
        with_resources_list_changed() { resources.get_or_insert_default().list_changed = true }

        /// Declares resources to which clients can subscribe.
        with_resources_subscribe() { resources.get_or_insert_default().subscribe = true }

        /// Declares completion of arguments.
        with_completions() { completions.get_or_insert_default() }

        /// Declares log messages.
        with_logging() { logging.get_or_insert_default() }
    }

    /// Declares an extension.
    ///
    /// # Errors
    ///
    /// If the identifier breaks the rules of [`DeclaredExtensions::insert`].
    pub fn with_extension(
        mut self,
        identifier: &str,
        settings: Object,
    ) -> Result<Self, InvalidExtension> {
        self.extensions.insert(identifier, settings)?;
        Ok(self)
    }

    /// Whether the server offers tools.
    pub fn supports_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Whether the server notifies clients when its list of tools changes.
    pub fn supports_tools_list_changed(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.list_changed)
    }

    /// Whether the server offers prompts.
    pub fn supports_prompts(&self) -> bool {
        self.prompts.is_some()
    }

    /// Whether the server notifies clients when its list of prompts changes.
    pub fn supports_prompts_list_changed(&self) -> bool {
        self.prompts.as_ref().is_some_and(|prompts| prompts.list_changed)
    }

    /// Whether the server offers resources.
    pub fn supports_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// Whether the server notifies clients when its list of resources changes.
    pub fn supports_resources_list_changed(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.list_changed)
    }

    /// Whether clients can subscribe to changes of single resources.
    pub fn supports_resources_subscribe(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.subscribe)
    }

    /// Whether the server declares completion of arguments. Before 2025-03-26 there was no such
    /// capability.
    pub fn supports_completions(&self) -> bool {
        self.completions.is_some()
    }

    /// Whether the server sends log messages.
    pub fn supports_logging(&self) -> bool {
        self.logging.is_some()
    }

    /// Whether the server declares an extension.
    pub fn supports_extension(&self, identifier: &str) -> bool {
        self.extensions.contains(identifier)
    }
}
