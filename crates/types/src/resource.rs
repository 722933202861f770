//! Resources: what a server lets others read, by URI or by a template of URIs.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::content::Annotations;
use crate::empty::NoParams;
use crate::implementation::Icon;
use crate::json::{Base64, NotBase64};
use crate::member;
use crate::meta::Meta;
use crate::method::Method;
use crate::page::list;
use crate::rpc::{Notice, Rpc};
use crate::template::{InvalidTemplate, UriTemplate};

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
        deserialize_with = "member::or_default",
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
        deserialize_with = "member::or_default",
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

/// What was read at one URI.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "WireContents")]
#[non_exhaustive]
pub struct ResourceContents {
    /// Where it was read; when a directory is read, this is one of its entries.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The contents themselves.
    pub body: ResourceBody,
    /// Anything more.
    pub meta: Meta,
}

/// Contents of a resource: text or bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, as base64.
    Blob(Base64),
}

impl ResourceContents {
    /// Contents that are text.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self::new(uri.into(), ResourceBody::Text(text.into()))
    }

    /// Contents that are bytes.
    pub fn blob(uri: impl Into<String>, bytes: &[u8]) -> Self {
        Self::new(uri.into(), ResourceBody::Blob(Base64::encode(bytes)))
    }

    /// Says the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// The text, if the contents are text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        }
    }

    /// The contents as bytes; text is given as UTF-8.
    ///
    /// # Errors
    ///
    /// If the peer sent bytes that are not base64.
    pub fn to_bytes(&self) -> Result<Vec<u8>, NotBase64> {
        match &self.body {
            ResourceBody::Text(text) => Ok(text.as_bytes().to_vec()),
            ResourceBody::Blob(data) => data.decode(),
        }
    }

    fn new(uri: String, body: ResourceBody) -> Self {
        Self { uri, mime_type: None, body, meta: Meta::new() }
    }
}

impl Serialize for ResourceContents {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("ResourceContents", 4)?;
        members.serialize_field("uri", &self.uri)?;
        if let Some(mime_type) = &self.mime_type {
            members.serialize_field("mimeType", mime_type)?;
        }
        match &self.body {
            ResourceBody::Text(text) => members.serialize_field("text", text)?,
            ResourceBody::Blob(data) => members.serialize_field("blob", data)?,
        }
        if !self.meta.is_empty() {
            members.serialize_field("_meta", &self.meta)?;
        }
        members.end()
    }
}

/// Contents as peers write them, with annotations that belong to the block around them.
#[derive(Deserialize)]
#[serde(try_from = "WireMembers")]
pub(crate) struct WireContents {
    pub(crate) contents: ResourceContents,
    pub(crate) annotations: Option<Annotations>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMembers {
    uri: String,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    blob: Option<Base64>,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", default)]
    meta: Meta,
}

impl TryFrom<WireMembers> for WireContents {
    type Error = String;

    fn try_from(wire: WireMembers) -> Result<Self, String> {
        let body = match (wire.text, wire.blob) {
            (Some(text), None) => ResourceBody::Text(text),
            (None, Some(blob)) => ResourceBody::Blob(blob),
            (None, None) => {
                return Err(format!("contents of `{}` hold neither `text` nor `blob`", wire.uri));
            }
            (Some(_), Some(_)) => {
                return Err(format!("contents of `{}` hold both `text` and `blob`", wire.uri));
            }
        };
        let WireMembers { uri, mime_type, annotations, meta, .. } = wire;
        Ok(Self { contents: ResourceContents { uri, mime_type, body, meta }, annotations })
    }
}

impl From<WireContents> for ResourceContents {
    fn from(wire: WireContents) -> Self {
        wire.contents
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
