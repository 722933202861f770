//! Client capabilities, and which of a request's needs they do not cover.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declared::{self, declared, declared_map};
use super::{DeclaredExtensions, InvalidExtension, ListCapability, TasksCapability};
use crate::json::Object;
use crate::setters::setters;

/// The features that a client declares: up to 2025-11-25 once in the handshake, since 2026-07-28 in
/// each request.
///
/// ```
/// use bowline_types::ClientCapabilities;
///
/// let declared = ClientCapabilities::new().with_form_elicitation();
/// let required = ClientCapabilities::new().with_form_elicitation().with_sampling();
/// let missing = declared.missing(&required).unwrap();
/// assert!(missing.supports_sampling() && !missing.supports_form_elicitation());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Experimental features outside of the specification, by name.
    #[serde(
        default,
        deserialize_with = "declared_map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub experimental: BTreeMap<String, Object>,
    /// The client lists its roots (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub roots: Option<ListCapability>,
    /// The client passes sampling requests of servers to its model (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// The client asks its user on behalf of servers.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// The client may answer requests with tasks (2025-11-25 only).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksCapability>,
    /// The extensions that the client supports, with their settings.
    #[serde(default, skip_serializing_if = "DeclaredExtensions::is_empty")]
    pub extensions: DeclaredExtensions,
}

/// The optional parts of sampling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingCapability {
    /// The client supports `includeContext` other than `none`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub context: Option<Object>,
    /// The client supports `tools` and `toolChoice`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tools: Option<Object>,
}

/// The ways in which a client can ask its user. Without any mode, it shows forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// The client shows a form.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub form: Option<Object>,
    /// The client sends the user to a web page.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub url: Option<Object>,
}

impl ClientCapabilities {
    /// No optional features.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Declares roots, without notifications of changes.
        with_roots() { roots.get_or_insert_default() }

        /// Declares roots, with notifications of changes (up to 2025-11-25).
        with_roots_list_changed() { roots.get_or_insert_default().list_changed = true }

        /// Declares sampling.
        with_sampling() { sampling.get_or_insert_default() }

        /// Declares sampling with tools.
        with_sampling_tools() { sampling.get_or_insert_default().tools.get_or_insert_default() }

        /// Declares sampling that obeys `includeContext`.
        with_sampling_context() { sampling.get_or_insert_default().context.get_or_insert_default() }

        /// Declares elicitation by form.
        with_form_elicitation() { elicitation.get_or_insert_default().form.get_or_insert_default() }
    }

    /// Declares elicitation by URL. If an empty `elicitation` declared forms, they stay declared.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        if self.supports_form_elicitation() {
            self = self.with_form_elicitation();
        }
        self.elicitation.get_or_insert_default().url.get_or_insert_default();
        self
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

    /// Whether the client lists its roots.
    pub fn supports_roots(&self) -> bool {
        self.roots.is_some()
    }

    /// Whether the client asks its model on behalf of servers.
    pub fn supports_sampling(&self) -> bool {
        self.sampling.is_some()
    }

    /// Whether sampling requests may carry `tools` and `toolChoice`.
    pub fn supports_sampling_tools(&self) -> bool {
        self.sampling.as_ref().is_some_and(|sampling| sampling.tools.is_some())
    }

    /// Whether sampling requests may carry an `includeContext` other than `none`.
    pub fn supports_sampling_context(&self) -> bool {
        self.sampling.as_ref().is_some_and(|sampling| sampling.context.is_some())
    }

    /// Whether the client shows forms: it declares `form`, or an `elicitation` without modes.
    pub fn supports_form_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(ElicitationCapability::includes_form)
    }

    /// Whether the client sends its user to web pages.
    pub fn supports_url_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether the client declares an extension.
    pub fn supports_extension(&self, identifier: &str) -> bool {
        self.extensions.contains(identifier)
    }

    /// The part of `required` that is not declared here. `None` if all of it is declared.
    ///
    /// The result goes into [`ErrorObject::missing_capability`]. Only declarations are compared,
    /// not their settings.
    ///
    /// [`ErrorObject::missing_capability`]: crate::error::ErrorObject::missing_capability
    pub fn missing(&self, required: &Self) -> Option<Self> {
        let missing = Self {
            experimental: declared::lacking(&self.experimental, &required.experimental),
            roots: required.roots.as_ref().and_then(|roots| roots.lacking(self.roots.as_ref())),
            sampling: required
                .sampling
                .as_ref()
                .and_then(|sampling| sampling.lacking(self.sampling.as_ref())),
            elicitation: required
                .elicitation
                .as_ref()
                .and_then(|elicitation| elicitation.lacking(self.elicitation.as_ref())),
            tasks: required.tasks.as_ref().and_then(|tasks| tasks.lacking(self.tasks.as_ref())),
            extensions: self.extensions.lacking(&required.extensions),
        };
        (missing != Self::default()).then_some(missing)
    }
}

impl SamplingCapability {
    fn lacking(&self, there: Option<&Self>) -> Option<Self> {
        let Some(there) = there else { return Some(self.clone()) };
        let missing = Self {
            context: self.context.clone().filter(|_| there.context.is_none()),
            tools: self.tools.clone().filter(|_| there.tools.is_none()),
        };
        (missing != Self::default()).then_some(missing)
    }
}

impl ElicitationCapability {
    /// Whether the client shows forms.
    fn includes_form(&self) -> bool {
        self.form.is_some() || self.url.is_none()
    }

    fn lacking(&self, there: Option<&Self>) -> Option<Self> {
        let has_form = there.is_some_and(Self::includes_form);
        let has_url = there.is_some_and(|there| there.url.is_some());
        let missing = Self {
            form: (self.includes_form() && !has_form)
                .then(|| self.form.clone().unwrap_or_default()),
            url: self.url.clone().filter(|_| !has_url),
        };
        (missing != Self::default()).then_some(missing)
    }
}
