//! What a server can do.

use std::collections::BTreeMap;
use std::ops::Not;

use serde::{Deserialize, Serialize};

use super::declared::{declared, declared_map, flag};
use super::{Extensions, InvalidExtension, ListCapability};
use crate::json::Object;
use crate::legacy::task::TasksCapability;

/// What a server can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ServerCapabilities {
    /// Features that no specification defines, by name.
    #[serde(
        default,
        deserialize_with = "declared_map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub experimental: BTreeMap<String, Object>,
    /// It sends log messages (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub logging: Option<Object>,
    /// It completes arguments (declared since 2025-03-26).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub completions: Option<Object>,
    /// It offers prompts.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub prompts: Option<ListCapability>,
    /// It offers resources.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// It offers tools.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListCapability>,
    /// It answers requests by way of tasks (2025-11-25 only).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksCapability>,
    /// Extensions that are turned on, with their settings.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// Resources that can be listed and read, and may announce changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// Whether changes of single resources are announced to those who ask for it.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub subscribe: bool,
    /// Whether changes of the list are announced.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub list_changed: bool,
}

impl ServerCapabilities {
    /// Nothing beyond the bare protocol.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares tools, without announcements of changes.
    #[must_use]
    pub fn with_tools(mut self) -> Self {
        self.tools.get_or_insert_default();
        self
    }

    /// Declares tools whose list announces its changes.
    #[must_use]
    pub fn with_tools_list_changed(mut self) -> Self {
        self.tools.get_or_insert_default().list_changed = true;
        self
    }

    /// Declares prompts, without announcements of changes.
    #[must_use]
    pub fn with_prompts(mut self) -> Self {
        self.prompts.get_or_insert_default();
        self
    }

    /// Declares prompts whose list announces its changes.
    #[must_use]
    pub fn with_prompts_list_changed(mut self) -> Self {
        self.prompts.get_or_insert_default().list_changed = true;
        self
    }

    /// Declares resources, without announcements of changes.
    #[must_use]
    pub fn with_resources(mut self) -> Self {
        self.resources.get_or_insert_default();
        self
    }

    /// Declares resources whose list announces its changes.
    #[must_use]
    pub fn with_resources_list_changed(mut self) -> Self {
        self.resources.get_or_insert_default().list_changed = true;
        self
    }

    /// Declares resources that announce their own changes to those who ask.
    #[must_use]
    pub fn with_resources_subscribe(mut self) -> Self {
        self.resources.get_or_insert_default().subscribe = true;
        self
    }

    /// Declares completion of arguments.
    #[must_use]
    pub fn with_completions(mut self) -> Self {
        self.completions.get_or_insert_default();
        self
    }

    /// Declares log messages.
    #[must_use]
    pub fn with_logging(mut self) -> Self {
        self.logging.get_or_insert_default();
        self
    }

    /// Turns an extension on.
    ///
    /// # Errors
    ///
    /// If the identifier breaks the rules of [`Extensions::insert`].
    pub fn with_extension(
        mut self,
        identifier: &str,
        settings: Object,
    ) -> Result<Self, InvalidExtension> {
        self.extensions.insert(identifier, settings)?;
        Ok(self)
    }

    /// Whether it offers tools.
    pub fn supports_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Whether it announces changes of its list of tools.
    pub fn supports_tools_list_changed(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.list_changed)
    }

    /// Whether it offers prompts.
    pub fn supports_prompts(&self) -> bool {
        self.prompts.is_some()
    }

    /// Whether it announces changes of its list of prompts.
    pub fn supports_prompts_list_changed(&self) -> bool {
        self.prompts.as_ref().is_some_and(|prompts| prompts.list_changed)
    }

    /// Whether it offers resources.
    pub fn supports_resources(&self) -> bool {
        self.resources.is_some()
    }

    /// Whether it announces changes of its list of resources.
    pub fn supports_resources_list_changed(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.list_changed)
    }

    /// Whether it announces changes of single resources to those who ask.
    pub fn supports_resources_subscribe(&self) -> bool {
        self.resources.as_ref().is_some_and(|resources| resources.subscribe)
    }

    /// Whether it declares completion of arguments. Before 2025-03-26 nobody did.
    pub fn supports_completions(&self) -> bool {
        self.completions.is_some()
    }

    /// Whether it sends log messages.
    pub fn supports_logging(&self) -> bool {
        self.logging.is_some()
    }

    /// Whether an extension is turned on.
    pub fn supports_extension(&self, identifier: &str) -> bool {
        self.extensions.contains(identifier)
    }
}
