//! What a client can do, and what of a request's needs it cannot.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::declared::{self, declared, declared_map};
use super::{Extensions, InvalidExtension, ListCapability};
use crate::json::Object;
use crate::legacy::task::TasksCapability;

/// What a client can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ClientCapabilities {
    /// Features that no specification defines, by name.
    #[serde(
        default,
        deserialize_with = "declared_map",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub experimental: BTreeMap<String, Object>,
    /// It tells its roots (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub roots: Option<ListCapability>,
    /// It asks its model on behalf of servers (deprecated since 2026-07-28).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability>,
    /// It asks its user on behalf of servers.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability>,
    /// It answers requests by way of tasks (2025-11-25 only).
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tasks: Option<TasksCapability>,
    /// Extensions that are turned on, with their settings.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub extensions: Extensions,
}

/// What a client's sampling goes beyond text with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SamplingCapability {
    /// `includeContext` is obeyed.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub context: Option<Object>,
    /// `tools` and `toolChoice` are understood.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub tools: Option<Object>,
}

/// How a client can ask its user. Holding neither mode means forms.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ElicitationCapability {
    /// By a form that the client shows.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub form: Option<Object>,
    /// By a web page that the user visits.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub url: Option<Object>,
}

impl ClientCapabilities {
    /// Nothing beyond the bare protocol.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares roots, without announcements of changes.
    #[must_use]
    pub fn with_roots(mut self) -> Self {
        self.roots.get_or_insert_default();
        self
    }

    /// Declares roots whose changes are announced (up to 2025-11-25).
    #[must_use]
    pub fn with_roots_list_changed(mut self) -> Self {
        self.roots.get_or_insert_default().list_changed = true;
        self
    }

    /// Declares sampling.
    #[must_use]
    pub fn with_sampling(mut self) -> Self {
        self.sampling.get_or_insert_default();
        self
    }

    /// Declares sampling with tools.
    #[must_use]
    pub fn with_sampling_tools(mut self) -> Self {
        self.sampling.get_or_insert_default().tools.get_or_insert_default();
        self
    }

    /// Declares sampling that obeys `includeContext`.
    #[must_use]
    pub fn with_sampling_context(mut self) -> Self {
        self.sampling.get_or_insert_default().context.get_or_insert_default();
        self
    }

    /// Declares elicitation by form.
    #[must_use]
    pub fn with_form_elicitation(mut self) -> Self {
        self.elicitation.get_or_insert_default().form.get_or_insert_default();
        self
    }

    /// Declares elicitation by URL. Forms that an empty `elicitation` declared stay declared.
    #[must_use]
    pub fn with_url_elicitation(mut self) -> Self {
        if self.supports_form_elicitation() {
            self = self.with_form_elicitation();
        }
        self.elicitation.get_or_insert_default().url.get_or_insert_default();
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

    /// Whether it tells its roots.
    pub fn supports_roots(&self) -> bool {
        self.roots.is_some()
    }

    /// Whether it asks its model on behalf of servers.
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

    /// Whether it shows forms: declared as such, or by an empty `elicitation`.
    pub fn supports_form_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(ElicitationCapability::includes_form)
    }

    /// Whether it sends its user to web pages.
    pub fn supports_url_elicitation(&self) -> bool {
        self.elicitation.as_ref().is_some_and(|elicitation| elicitation.url.is_some())
    }

    /// Whether an extension is turned on.
    pub fn supports_extension(&self, identifier: &str) -> bool {
        self.extensions.contains(identifier)
    }

    /// What of `required` is not declared here; `None` if all of it is.
    ///
    /// The answer goes into [`ErrorObject::missing_capability`]. Settings are not compared, only
    /// whether something is declared at all.
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
    /// Whether forms are among the modes.
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
