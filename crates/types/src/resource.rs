//! Resources: what a server lets others read, by URI or by a template of URIs.

use serde::{Deserialize, Serialize};

use crate::content::Annotations;
use crate::empty::NoParams;
use crate::implementation::{self, Icon};
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::page::list;
use crate::rpc::{Notice, Rpc};
use crate::template::{InvalidTemplate, UriTemplate};

mod contents;

pub(crate) use contents::WireContents;
pub use contents::{ResourceBody, ResourceContents};

/// Something that can be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// Where it can be read.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of its contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// For whom it is and how much it matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// How many bytes it holds before any encoding.
    #[serde(default, deserialize_with = "member::count", skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Pictures to show for it (since 2025-11-25).
    #[serde(
        default,
        deserialize_with = "implementation::safe_icons",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Resource {
    /// A resource with its URI and its name.
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

    /// Gives it a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Tells the model what it is.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says the media type of its contents.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Says for whom it is and how much it matters.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Says how many bytes it holds before any encoding.
    #[must_use]
    pub fn with_size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    /// Adds a picture to show for it.
    #[must_use]
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The name to show people: `title`, else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// A family of resources whose URIs follow a template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The template of their URIs (RFC 6570), as its server wrote it.
    pub uri_template: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What these resources are, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of their contents, if all share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// For whom they are and how much they matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Pictures to show for them (since 2025-11-25).
    #[serde(
        default,
        deserialize_with = "implementation::safe_icons",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub icons: Vec<Icon>,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ResourceTemplate {
    /// A family of resources with the template of their URIs and a name.
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

    /// Gives it a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Tells the model what these resources are.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Says the media type that all of them share.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Says for whom they are and how much they matter.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = Some(annotations);
        self
    }

    /// Adds a picture to show for them.
    #[must_use]
    pub fn with_icon(mut self, icon: Icon) -> Self {
        self.icons.push(icon);
        self
    }

    /// The name to show people: `title`, else `name`.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Reads the template, to fill it in or to match URIs with it.
    ///
    /// # Errors
    ///
    /// If it is not a template of RFC 6570.
    pub fn template(&self) -> Result<UriTemplate, InvalidTemplate> {
        UriTemplate::parse(&self.uri_template)
    }
}

list! {
    /// Asks for the resources of a server, page by page.
    ListResources = ResourcesList,
    /// A page of resources.
    ListResourcesResult {
        /// The resources.
        resources: Resource
    }
}

list! {
    /// Asks for the resource templates of a server, page by page.
    ListResourceTemplates = ResourcesTemplatesList,
    /// A page of resource templates.
    ListResourceTemplatesResult {
        /// The templates.
        resource_templates: ResourceTemplate
    }
}

/// Reads a resource.
pub enum ReadResource {}

impl Rpc for ReadResource {
    const METHOD: Method = Method::ResourcesRead;
    type Params = ReadResourceParams;
    type Result = ReadResourceResult;
}

/// Which resource to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceParams {
    /// Where it is.
    pub uri: String,
}

impl ReadResourceParams {
    /// Reads what is at this URI.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// What was read: one item, or several when the resource is a collection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadResourceResult {
    /// The contents, never empty for a resource that exists.
    pub contents: Vec<ResourceContents>,
    /// Anything more.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ReadResourceResult {
    /// What was read.
    pub fn new(contents: Vec<ResourceContents>) -> Self {
        Self { contents, meta: Meta::new() }
    }
}

impl From<ResourceContents> for ReadResourceResult {
    fn from(contents: ResourceContents) -> Self {
        Self::new(vec![contents])
    }
}

/// Tells that the list of resources is not what it was.
pub enum ResourceListChanged {}

impl Notice for ResourceListChanged {
    const METHOD: Method = Method::ResourcesListChanged;
    type Params = NoParams;
}

/// Tells that a resource, or something below it, is not what it was.
pub enum ResourceUpdated {}

impl Notice for ResourceUpdated {
    const METHOD: Method = Method::ResourcesUpdated;
    type Params = ResourceUpdatedParams;
}

/// Which resource changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResourceUpdatedParams {
    /// Where it is; may be below the URI that was subscribed to.
    pub uri: String,
}

impl ResourceUpdatedParams {
    /// What is at this URI changed.
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

#[cfg(test)]
mod tests;
