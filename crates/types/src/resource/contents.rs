//! The contents of a resource: text or bytes.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::content::Annotations;
use crate::json::{Base64, NotBase64};
use crate::meta::Meta;
use crate::setters::setters;

/// The contents at one URI.
///
/// A read may return several: a folder gives one for each file in it.
///
/// ```
/// use bowline_types::resource::ResourceContents;
///
/// let note = ResourceContents::text("note://today", "Buy milk").with_mime_type("text/plain");
/// assert_eq!(note.as_text(), Some("Buy milk"));
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "WireContents")]
#[non_exhaustive]
pub struct ResourceContents {
    /// The URI of these contents. For a collection, the URI of one entry.
    pub uri: String,
    /// The media type.
    pub mime_type: Option<String>,
    /// The text or the bytes.
    pub body: ResourceBody,
    /// Further metadata.
    pub meta: Meta,
}

/// The body of a resource: text or bytes.
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

    setters! {
        /// Sets the media type.
        with_mime_type(mime_type: impl Into<String>) { mime_type = Some(mime_type.into()) }
    }

    /// The text, if the contents are text.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            ResourceBody::Text(text) => Some(text),
            ResourceBody::Blob(_) => None,
        }
    }

    /// The contents as bytes; text becomes UTF-8.
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

/// By hand, because text and bytes are two members of which exactly one is written.
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

/// Contents as peers write them: some put here the annotations of the block around them.
/// Annotations belong to the block that embeds the contents; they are moved there.
#[derive(Deserialize)]
#[serde(try_from = "WireMembers")]
pub(crate) struct WireContents {
    pub(crate) contents: ResourceContents,
    pub(crate) annotations: Option<Annotations>,
}

/// Read in two steps, so that an error about `text` and `blob` can name the URI.
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
