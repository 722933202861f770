//! Content blocks: the parts of tool results, prompts and sampling messages.
//!
//! A block is read by its `type`. Blocks of unknown types are kept as JSON ([`Content::Other`]), so
//! that a message of a newer peer can still be read and passed on.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::implementation::{Icon, safe_icons};
use crate::json::{Base64, RawJson};
use crate::member::{self, constant, count};
use crate::meta::Meta;
use crate::resource::{ResourceContents, ResourceDefinition, WireContents};

mod annotations;
mod tool_use;

pub use annotations::{Annotations, Role};
pub use tool_use::{ToolResultContent, ToolUseContent};

/// One block of content.
///
/// ```
/// use bowline_types::Content;
///
/// let blocks = [Content::text("A chart:"), Content::image(&[0x89, 0x50], "image/png")];
/// let texts: Vec<_> = blocks.iter().filter_map(Content::as_text).collect();
/// assert_eq!(texts, ["A chart:"]);
/// ```
///
/// Use the blocks of the newest revision: for an older peer, the connection turns those that its
/// revision lacks into text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text for the model or the user.
    Text(TextContent),
    /// An image.
    Image(ImageContent),
    /// Audio (since 2025-03-26).
    Audio(AudioContent),
    /// A link to a resource (since 2025-06-18).
    ResourceLink(ResourceLink),
    /// A resource with its contents.
    Resource(EmbeddedResource),
    /// The model's request to call a tool. Only in sampling (since 2025-11-25).
    ToolUse(ToolUseContent),
    /// The result of a tool that the model called. Only in sampling (since 2025-11-25).
    ToolResult(ToolResultContent),
    /// A block of a type that this library does not know.
    Other(RawJson),
}

impl Content {
    /// The text of a block that has nothing but text.
    pub(crate) fn plain_text(&self) -> Option<&str> {
        // Without `..`, so that a new member fails to compile here.
        let Self::Text(TextContent { r#type: TextType, text, annotations, meta }) = self else {
            return None;
        };
        (annotations.is_none() && meta.is_empty()).then_some(text)
    }

    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// An image, from its bytes.
    pub fn image(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Image(ImageContent::new(Base64::encode(bytes), mime_type))
    }

    /// Audio, from its bytes.
    pub fn audio(bytes: &[u8], mime_type: impl Into<String>) -> Self {
        Self::Audio(AudioContent::new(Base64::encode(bytes), mime_type))
    }

    /// A link to a resource.
    pub fn resource_link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::ResourceLink(ResourceLink::new(uri, name))
    }

    /// A resource with its contents.
    pub fn resource(contents: ResourceContents) -> Self {
        Self::Resource(EmbeddedResource::new(contents))
    }

    /// Sets audience and priority. Blocks of types without annotations stay unchanged.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        match &mut self {
            Self::Text(block) => block.annotations = Some(annotations),
            Self::Image(block) => block.annotations = Some(annotations),
            Self::Audio(block) => block.annotations = Some(annotations),
            Self::ResourceLink(block) => block.annotations = Some(annotations),
            Self::Resource(block) => block.annotations = Some(annotations),
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Other(_) => {}
        }
        self
    }

    /// Audience and priority, if the block has any.
    pub fn annotations(&self) -> Option<&Annotations> {
        match self {
            Self::Text(block) => block.annotations.as_ref(),
            Self::Image(block) => block.annotations.as_ref(),
            Self::Audio(block) => block.annotations.as_ref(),
            Self::ResourceLink(block) => block.annotations.as_ref(),
            Self::Resource(block) => block.annotations.as_ref(),
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Other(_) => None,
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Reads a block inside a tool result. It is not itself a tool use or tool result, so a peer
    /// cannot make the reader recurse without limit.
    fn read_plain<E: serde::de::Error>(tag: &str, json: RawJson) -> Result<Self, E> {
        match tag {
            "text" => member::variant(&json, WHAT, tag).map(Self::Text),
            "image" => member::variant(&json, WHAT, tag).map(Self::Image),
            "audio" => member::variant(&json, WHAT, tag).map(Self::Audio),
            "resource_link" => member::variant(&json, WHAT, tag).map(Self::ResourceLink),
            "resource" => member::variant(&json, WHAT, tag).map(Self::Resource),
            _ => Ok(Self::Other(json)),
        }
    }
}

/// The name of this union in errors.
const WHAT: &str = "content block";

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(block) => block.serialize(serializer),
            Self::Image(block) => block.serialize(serializer),
            Self::Audio(block) => block.serialize(serializer),
            Self::ResourceLink(block) => block.serialize(serializer),
            Self::Resource(block) => block.serialize(serializer),
            Self::ToolUse(block) => block.serialize(serializer),
            Self::ToolResult(block) => block.serialize(serializer),
            Self::Other(json) => json.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        // A shortcut for the most common block; if it is not text after all, reading it fails.
        if json.as_str().starts_with(r#"{"type":"text","#) {
            return Self::read_plain("text", json);
        }
        let tag = member::tag::<D::Error>(&json, WHAT)?;
        match tag.as_str() {
            "tool_use" => member::variant(&json, WHAT, &tag).map(Self::ToolUse),
            "tool_result" => member::variant(&json, WHAT, &tag).map(Self::ToolResult),
            plain => Self::read_plain(plain, json),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

/// Joins the text blocks of a list, one per line. Other blocks are skipped.
pub(crate) fn join_text(content: &[Content]) -> String {
    content.iter().filter_map(Content::as_text).collect::<Vec<_>>().join("\n")
}

constant!(TextType = "text");
constant!(ImageType = "image");
constant!(AudioType = "audio");
constant!(ResourceLinkType = "resource_link");
constant!(ResourceType = "resource");

/// Text for the model or the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TextContent {
    r#type: TextType,
    /// The text.
    pub text: String,
    /// Audience and priority.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl TextContent {
    /// A block of text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { r#type: TextType, text: text.into(), annotations: None, meta: Meta::new() }
    }
}

/// Declares a block of encoded bytes with a media type.
macro_rules! media {
    ($(#[$doc:meta])* $name:ident, $type:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $name {
            r#type: $type,
            /// The bytes, as base64.
            pub data: Base64,
            /// The media type of the bytes.
            pub mime_type: String,
            /// Audience and priority.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub annotations: Option<Annotations>,
            /// Further metadata.
            #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
            pub meta: Meta,
        }

        impl $name {
            /// A block of bytes that are already encoded.
            pub fn new(data: Base64, mime_type: impl Into<String>) -> Self {
                let mime_type = mime_type.into();
                Self { r#type: $type, data, mime_type, annotations: None, meta: Meta::new() }
            }
        }
    };
}

media! {
    /// An image.
    ImageContent, ImageType
}

media! {
    /// Audio (since 2025-03-26).
    AudioContent, AudioType
}

/// A link to a resource (since 2025-06-18). The server need not list that resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceLink {
    r#type: ResourceLinkType,
    /// The URI to read.
    pub uri: String,
    /// The name for programs.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the resource is, for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The media type of its contents.
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

impl ResourceLink {
    /// A link to a resource.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::from(ResourceDefinition::new(uri, name))
    }
}

impl From<ResourceDefinition> for ResourceLink {
    /// Makes a link to a listed resource.
    fn from(resource: ResourceDefinition) -> Self {
        Self {
            r#type: ResourceLinkType,
            uri: resource.uri,
            name: resource.name,
            title: resource.title,
            description: resource.description,
            mime_type: resource.mime_type,
            annotations: resource.annotations,
            size: resource.size,
            icons: resource.icons,
            meta: resource.meta,
        }
    }
}

/// A resource with its contents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "WireEmbedded")]
#[non_exhaustive]
pub struct EmbeddedResource {
    r#type: ResourceType,
    /// The contents.
    pub resource: ResourceContents,
    /// Audience and priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Annotations>,
    /// Further metadata.
    #[serde(rename = "_meta", skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl EmbeddedResource {
    /// A resource with its contents.
    pub fn new(resource: ResourceContents) -> Self {
        Self { r#type: ResourceType, resource, annotations: None, meta: Meta::new() }
    }
}

/// An embedded resource as peers write it: some put the annotations inside `resource`.
#[derive(Deserialize)]
struct WireEmbedded {
    r#type: ResourceType,
    resource: WireContents,
    #[serde(default)]
    annotations: Option<Annotations>,
    #[serde(rename = "_meta", default)]
    meta: Meta,
}

impl From<WireEmbedded> for EmbeddedResource {
    fn from(wire: WireEmbedded) -> Self {
        let WireContents { contents, annotations: inside } = wire.resource;
        let annotations = wire.annotations.or(inside);
        Self { r#type: wire.r#type, resource: contents, annotations, meta: wire.meta }
    }
}

#[cfg(test)]
mod tests;
