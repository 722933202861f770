//! MCP Apps: tools and resources name in their `_meta` the HTML interface that shows them.
//!
//! These are the types between client and server. The messages between an interface and its host
//! are not part of this library.

use serde::{Deserialize, Serialize};

use crate::json::{Object, open_enum};
use crate::member::or_default;
use crate::meta::Meta;
use crate::setters::setters;

/// The identifier of the extension in capabilities.
pub const IDENTIFIER: &str = "io.modelcontextprotocol/ui";

/// The MIME type of an interface.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The scheme of the URIs of interfaces.
pub const SCHEME: &str = "ui://";

/// The `_meta` key of [`ToolUi`] and [`ResourceUi`].
pub const META_KEY: &str = "ui";

/// A deprecated `_meta` key with only the URI of a tool's interface.
const FLAT_RESOURCE_URI: &str = "ui/resourceUri";

/// The settings of a client that declares the extension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiSettings {
    /// The media types of interfaces that the client can show.
    pub mime_types: Vec<String>,
}

impl UiSettings {
    /// A client that can show HTML.
    pub fn new() -> Self {
        Self { mime_types: vec![MIME_TYPE.to_owned()] }
    }

    /// Whether the client can show HTML.
    pub fn supports_html(&self) -> bool {
        self.mime_types.iter().any(|mime_type| mime_type == MIME_TYPE)
    }
}

impl Default for UiSettings {
    /// The same as [`UiSettings::new`].
    fn default() -> Self {
        Self::new()
    }
}

/// The interface of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolUi {
    /// The `ui://` URI of the interface that shows its results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_uri: Option<String>,
    /// Who may call the tool. Empty means the model and the interface.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub visibility: Vec<Visibility>,
}

open_enum! {
    /// Who may call a tool.
    Visibility {
        /// The model.
        Model = "model",
        /// Interfaces of the same server.
        App = "app",
    }
}

impl ToolUi {
    /// An interface at a `ui://` URI.
    pub fn new(resource_uri: impl Into<String>) -> Self {
        Self { resource_uri: Some(resource_uri.into()), visibility: Vec::new() }
    }

    setters! {
        /// Sets who may call the tool.
        with_visibility(visibility: impl IntoIterator<Item = Visibility>) {
            visibility = visibility.into_iter().collect()
        }
    }

    /// Finds the interface in the `_meta` of a tool, at the current or the deprecated key.
    pub fn find(meta: &Meta) -> Option<Self> {
        if let Some(ui) = meta.parse(META_KEY) {
            return Some(ui);
        }
        meta.parse::<String>(FLAT_RESOURCE_URI).map(Self::new)
    }

    /// Whether the host may offer the tool to the model.
    pub fn is_visible_to_model(&self) -> bool {
        self.is_visible_to(&Visibility::Model)
    }

    /// Whether interfaces of the same server may call the tool.
    pub fn is_visible_to_app(&self) -> bool {
        self.is_visible_to(&Visibility::App)
    }

    /// Whether the URI of the interface begins with [`SCHEME`].
    pub fn has_ui_scheme(&self) -> bool {
        self.resource_uri.as_ref().is_some_and(|uri| uri.starts_with(SCHEME))
    }

    fn is_visible_to(&self, caller: &Visibility) -> bool {
        self.visibility.is_empty() || self.visibility.contains(caller)
    }
}

/// What an interface needs from its host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ResourceUi {
    /// The origins that it may load from and connect to. `None` means no origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csp: Option<UiDomains>,
    /// The browser permissions that it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<UiPermissions>,
    /// The dedicated origin that it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Whether it asks for a visible border.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

impl ResourceUi {
    /// An interface that asks for nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Finds these settings in the `_meta` of a resource.
    pub fn find(meta: &Meta) -> Option<Self> {
        meta.parse(META_KEY)
    }
}

/// The origins that an interface may reach, by purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiDomains {
    /// For requests.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// For scripts, styles, images, fonts and media.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// For nested frames.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// For the base of relative URLs.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

/// The browser permissions that an interface asks for, each by an empty object.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UiPermissions {
    /// The camera.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Object>,
    /// The microphone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub microphone: Option<Object>,
    /// The location of the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geolocation: Option<Object>,
    /// Writing to the clipboard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clipboard_write: Option<Object>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::ClientCapabilities;
    use crate::json::RawJson;

    fn meta(text: &str) -> Meta {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_tool_names_its_interface_in_either_spelling() {
        let nested = ToolUi::find(&meta(r#"{"ui":{"resourceUri":"ui://a/b"}}"#)).unwrap();
        let flat = ToolUi::find(&meta(r#"{"ui/resourceUri":"ui://a/b"}"#)).unwrap();
        assert_eq!(nested, flat);
        assert!(nested.has_ui_scheme() && !ToolUi::new("https://a").has_ui_scheme());
        assert_eq!(ToolUi::find(&Meta::new()), None);
    }

    #[test]
    fn a_tool_without_visibility_is_visible_to_all() {
        let every = ToolUi::new("ui://a");
        assert!(every.is_visible_to_model() && every.is_visible_to_app());
        let app = every.with_visibility([Visibility::App]);
        assert!(!app.is_visible_to_model() && app.is_visible_to_app());
    }

    #[test]
    fn the_needs_of_an_interface_are_written_as_they_were_read() {
        let text = concat!(
            r#"{"csp":{"connectDomains":["https://api.example.com"],"frameDomains":["https://f"]},"#,
            r#""permissions":{"camera":{},"clipboardWrite":{}},"domain":"x","prefersBorder":true}"#
        );
        let ui = ResourceUi::find(&meta(&format!(r#"{{"ui":{text}}}"#))).unwrap();
        assert_eq!(serde_json::to_string(&ui).unwrap(), text);
    }

    #[test]
    fn a_client_declares_the_kinds_of_interface_it_can_show() {
        let settings = Object::new(RawJson::from_value(&UiSettings::new()).unwrap()).unwrap();
        let client = ClientCapabilities::new().with_extension(IDENTIFIER, settings).unwrap();
        let settings: UiSettings = client.extensions.parse(IDENTIFIER).unwrap();
        assert!(settings.supports_html());
    }
}
