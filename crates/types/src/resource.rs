//! Resources that clients can read, by URI or by a template of URIs.

use serde::{Deserialize, Serialize};

use crate::content::Annotations;
use crate::empty::NoParams;
use crate::implementation::{Icon, safe_icons};
use crate::member::count;
use crate::meta::Meta;
use crate::page::list;
use crate::rpc::{notification, request};
use crate::setters::setters;
use crate::template::{InvalidTemplate, UriTemplate};

mod contents;

pub(crate) use contents::WireContents;
pub use contents::{ResourceBody, ResourceContents};

/// The definition of a resource, as `resources/list` sends it (`Resource` in the schema).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceDefinition {
    /// The URI to read.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resource is, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of the contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Audience and priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// The size of the contents in bytes, before any encoding.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Icons to show (since 2025-11-25).
    #[serde(default, deserialize_with = "safe_icons", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceDefinition {
    /// A resource with its required members.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            size: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the resource is, for the model.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Sets the media type of the contents.
        with_mime_type(mime_type: impl Into<String>) { mime_type = Some(mime_type.into()) }

        /// Sets audience and priority.
        with_annotations(annotations: Annotations) { annotations = Some(annotations) }

        /// Sets the size of the contents in bytes, before any encoding.
        with_size(size: u64) { size = Some(size) }

        /// Adds an icon.
        with_icon(icon: Icon) { icons.push(icon) }
    }

    /// The name to show to people: `title`, or else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Resources whose URIs follow a template, as `resources/templates/list` sends them.
///
/// ```
/// use bowline_types::ResourceTemplate;
///
/// let users = ResourceTemplate::new("users://{id}/profile", "profile");
/// let template = users.template().unwrap();
/// let variables = template.match_uri("users://42/profile").unwrap();
/// assert_eq!(variables.text("id").unwrap(), "42");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template of their URIs (RFC 6570), as text; see [`Self::template`].
    pub uri_template: String,
    /// The name for programs.
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What these resources are, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of their contents, if all share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Audience and priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Icons to show (since 2025-11-25).
    #[serde(default, deserialize_with = "safe_icons", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceTemplate {
    /// A template with its required members.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri_template: uri_template.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            annotations: None,
            icons: Vec::new(),
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what these resources are, for the model.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Sets the media type that all of them share.
        with_mime_type(mime_type: impl Into<String>) { mime_type = Some(mime_type.into()) }

        /// Sets audience and priority.
        with_annotations(annotations: Annotations) { annotations = Some(annotations) }

        /// Adds an icon.
        with_icon(icon: Icon) { icons.push(icon) }
    }

    /// The name to show to people: `title`, or else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Parses the template, to expand it or to match URIs with it.
    ///
    /// # Errors
    ///
    /// If the text is not a template of RFC 6570.
    pub fn template(&self) -> Result<UriTemplate, InvalidTemplate> {
        UriTemplate::parse(&self.uri_template)
    }
}

list! {
    /// `resources/list`: the resources of a server, page by page.
    ListResources = ResourcesList,
    /// One page of resources.
    ListResourcesResult {
        /// The resources.
        resources: ResourceDefinition
    }
}

list! {
    /// `resources/templates/list`: the resource templates of a server, page by page.
    ListResourceTemplates = ResourcesTemplatesList,
    /// One page of resource templates.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates: ResourceTemplate
    }
}

request! {
    /// `resources/read`.
    ReadResource = ResourcesRead(ReadResourceParams) -> ReadResourceResult
}

/// The resource to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// The URI of the resource.
    pub uri: String,
}

impl ReadResourceParams {
    /// Reads the resource with this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The contents of a resource: one item, or several if the resource is a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents. Never empty for a resource that exists.
    pub contents: Vec<ResourceContents>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ReadResourceResult {
    /// A result with these contents.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, meta: Meta::new() }
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::new(vec![contents])
    }
}

notification! {
    /// `notifications/resources/list_changed`.
    ResourceListChanged = ResourcesListChanged(NoParams),
    /// `notifications/resources/updated`: a resource, or one below it, has changed.
    ResourceUpdated = ResourcesUpdated(ResourceUpdatedParams)
}

/// The resource that has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedParams {
    /// Its URI. It may be below the URI of the subscription.
    pub uri: String,
}

impl ResourceUpdatedParams {
    /// The resource with this URI has changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

#[cfg(test)]
mod tests;
