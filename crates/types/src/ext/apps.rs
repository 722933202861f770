//! MCP Apps: a tool names in its `_meta` the HTML interface that shows its results.
//!
//! The interface is a resource with a `ui://` URI ([`SCHEME`]) and the media type [`MIME_TYPE`]. Its
//! own `_meta` lists the origins and browser permissions that it needs ([`ResourceUi`]), from which
//! the host makes a content security policy.
//!
//! These are the types between client and server. The messages between an interface and its host
//! are not part of this library.

use serde::{Deserialize, Serialize};

use crate::capability::ClientCapabilities;
use crate::json::{Object, open_enum};
use crate::member::or_default;
use crate::meta::Meta;
use crate::setters::setters;
use crate::tool::ToolDefinition;

mod policy;

pub use policy::is_domain;

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
        self.mime_types.iter().any(|mime_type| is_mime_type(mime_type))
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
    /// Who may call the tool. `None` means the model and the interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Vec<Visibility>>,
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
        Self { resource_uri: Some(resource_uri.into()), visibility: None }
    }

    setters! {
        /// Sets who may call the tool.
        with_visibility(visibility: impl IntoIterator<Item = Visibility>) {
            visibility = Some(visibility.into_iter().collect())
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
        self.visibility.as_ref().is_none_or(|callers| callers.contains(caller))
    }
}

impl ToolDefinition {
    /// The interface of the tool, and who may call it, if the server says so.
    pub fn ui(&self) -> Option<ToolUi> {
        ToolUi::find(&self.meta)
    }

    /// Whether a host may offer the tool to its model. Tools that are only for interfaces are not.
    pub fn is_for_model(&self) -> bool {
        self.ui().is_none_or(|ui| ui.is_visible_to_model())
    }

    /// Whether a host may let interfaces of the same server call the tool.
    pub fn is_for_app(&self) -> bool {
        self.ui().is_none_or(|ui| ui.is_visible_to_app())
    }
}

impl ClientCapabilities {
    /// Whether the client shows interfaces that are HTML ([MCP Apps](crate::ext::apps)).
    pub fn supports_ui(&self) -> bool {
        let settings: Option<UiSettings> = self.extensions.parse(IDENTIFIER);
        settings.is_some_and(|settings| settings.supports_html())
    }
}

/// Whether a media type is that of an interface: [`MIME_TYPE`], in any case and spacing.
pub fn is_mime_type(text: &str) -> bool {
    let mut parts = text.split(';').map(str::trim);
    let is_html = parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
    let is_profile = |parameter: &str| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        name.eq_ignore_ascii_case("profile") && value.trim_matches('"') == "mcp-app"
    };
    is_html && parts.any(is_profile)
}

/// Whether a text begins like an HTML document: with `<!DOCTYPE html>`, after nothing but spaces and
/// comments.
pub fn is_html_document(text: &str) -> bool {
    const DOCTYPE: &str = "<!doctype html";
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { return false };
        rest = after.trim_start();
    }
    rest.get(..DOCTYPE.len()).is_some_and(|start| start.eq_ignore_ascii_case(DOCTYPE))
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

    setters! {
        /// Adds an origin that it sends requests to, such as `https://api.example.com`.
        with_connect_domain(origin: impl Into<String>) {
            csp.get_or_insert_default().connect_domains.push(origin.into())
        }

        /// Adds an origin that it loads scripts, styles, images, fonts and media from.
        with_resource_domain(origin: impl Into<String>) {
            csp.get_or_insert_default().resource_domains.push(origin.into())
        }

        /// Adds an origin that it shows in nested frames.
        with_frame_domain(origin: impl Into<String>) {
            csp.get_or_insert_default().frame_domains.push(origin.into())
        }

        /// Adds an origin that may be the base of its relative URLs.
        with_base_uri_domain(origin: impl Into<String>) {
            csp.get_or_insert_default().base_uri_domains.push(origin.into())
        }

        /// Asks for the camera.
        with_camera() { permissions.get_or_insert_default().camera = Some(Object::default()) }

        /// Asks for the microphone.
        with_microphone() { permissions.get_or_insert_default().microphone = Some(Object::default()) }

        /// Asks for the location of the user.
        with_geolocation() {
            permissions.get_or_insert_default().geolocation = Some(Object::default())
        }

        /// Asks for permission to write to the clipboard.
        with_clipboard_write() {
            permissions.get_or_insert_default().clipboard_write = Some(Object::default())
        }

        /// Asks for an origin of its own. Each host has its own form of these names.
        with_domain(domain: impl Into<String>) { domain = Some(domain.into()) }

        /// Asks for a visible border, or for none.
        with_border(is_visible: bool) { prefers_border = Some(is_visible) }
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
mod tests;
