//! Name and version of a client or server, and icons.
//!
//! Each side reports its own, unchecked. Use it for display and logs, never for decisions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::json::open_enum;
use crate::member::or_default;
use crate::setters::setters;
use crate::text::excerpt;

/// A program that speaks the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Implementation {
    /// The name for programs.
    pub name: String,
    /// The name for people (since 2025-06-18).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The version, in the program's own scheme.
    pub version: String,
    /// What the program is for (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A page about the program (since 2025-11-25).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Icons of the program (since 2025-11-25).
    #[serde(default, deserialize_with = "safe_icons", skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
}

/// An image to show for a program, tool, resource or prompt, by URL.
///
/// Icons that fail [`Icon::check_source`] are left out when a message is read, so a host never
/// receives them. Before a host shows an icon it should call [`Icon::check_origin`], fetch it
/// without credentials, and detect its type from the bytes rather than from `mime_type`.
///
/// ```
/// use bowline_types::Icon;
///
/// let icon = Icon::new("https://mcp.example.com/icon.png").with_size("48x48");
/// assert!(icon.check_origin("https://mcp.example.com/mcp").is_ok());
/// assert!(icon.check_origin("https://another.example.com/mcp").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Icon {
    /// An `https:` URL or a `data:` URI.
    pub src: String,
    /// The media type that the sender claims.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The sizes that it is made for, such as `48x48` or `any`. Empty means any size.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background that it is made for. `None` means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<IconTheme>,
}

open_enum! {
    /// A background that an icon is made for.
    IconTheme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

impl Implementation {
    /// A program with its required members.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            version: version.into(),
            description: None,
            website_url: None,
            icons: Vec::new(),
        }
    }

    setters! {
        /// Sets the name for people.
        with_title(title: impl Into<String>) { title = Some(title.into()) }

        /// Sets what the program is for.
        with_description(description: impl Into<String>) { description = Some(description.into()) }

        /// Sets the URL of a page about the program.
        with_website_url(url: impl Into<String>) { website_url = Some(url.into()) }

        /// Adds an icon.
        with_icon(icon: Icon) { icons.push(icon) }
    }

    /// The name to show to people: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl Icon {
    /// An icon at a URL.
    pub fn new(src: impl Into<String>) -> Self {
        Self { src: src.into(), mime_type: None, sizes: Vec::new(), theme: None }
    }

    setters! {
        /// Sets the media type.
        with_mime_type(mime_type: impl Into<String>) { mime_type = Some(mime_type.into()) }

        /// Adds a size that the icon is made for, such as `48x48` or `any`.
        with_size(size: impl Into<String>) { sizes.push(size.into()) }

        /// Sets the background that the icon is made for.
        with_theme(theme: IconTheme) { theme = Some(theme) }
    }

    /// Checks that the URL is safe to fetch: `https:` or `data:`.
    ///
    /// # Errors
    ///
    /// Names the URL and the allowed schemes.
    pub fn check_source(&self) -> Result<(), UnsafeIcon> {
        match self.src.split_once(':') {
            Some((scheme, rest))
                if !rest.is_empty()
                    && ["https", "data"].iter().any(|safe| scheme.eq_ignore_ascii_case(safe)) =>
            {
                Ok(())
            }
            _ => Err(self.unsafe_for("neither an `https:` nor a `data:` URI")),
        }
    }

    /// Checks that the URL is safe to fetch and has the origin of its server: the scheme, host and
    /// port of the server's own URL. A `data:` URI has no origin and always passes.
    ///
    /// # Errors
    ///
    /// Names the URL and what is allowed.
    pub fn check_origin(&self, server: &str) -> Result<(), UnsafeIcon> {
        self.check_source()?;
        match (origin(&self.src), origin(server)) {
            (Some(icon), Some(server)) if icon == server => Ok(()),
            (None, _) if self.src.get(..5).is_some_and(|it| it.eq_ignore_ascii_case("data:")) => {
                Ok(())
            }
            _ => Err(self.unsafe_for("not on the origin of its server")),
        }
    }

    fn unsafe_for(&self, reason: &'static str) -> UnsafeIcon {
        UnsafeIcon { src: excerpt(&self.src), reason }
    }
}

/// Reads icons without those that fail [`Icon::check_source`]. `null` means none.
pub(crate) fn safe_icons<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<Icon>, D::Error> {
    let mut icons: Vec<Icon> = or_default(deserializer)?;
    icons.retain(|icon| icon.check_source().is_ok());
    Ok(icons)
}

/// The scheme, and the host with its port, of a URL. `None` if there is no host, or if it contains
/// characters such as `@` or `\`, which could hide the real host.
fn origin(url: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:[]%".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_plain) {
        return None;
    }
    let (scheme, host) = (scheme.to_ascii_lowercase(), host.to_ascii_lowercase());
    let port = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(port).unwrap_or(&host).to_owned();
    Some((scheme, host))
}

/// The error for an icon whose URL must not be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsafeIcon {
    src: String,
    reason: &'static str,
}

impl fmt::Display for UnsafeIcon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "icon `{}` is {}", self.src, self.reason)
    }
}

impl std::error::Error for UnsafeIcon {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: ICON-1, LIFE-2
    #[test]
    fn a_program_is_written_as_it_was_read() {
        let text = concat!(
            r#"{"name":"example-server","title":"Example","version":"2.0.0","#,
            r#""description":"Shows things","websiteUrl":"https://example.com","#,
            r#""icons":[{"src":"https://example.com/i.png","mimeType":"image/png","#,
            r#""sizes":["48x48","any"],"theme":"dark"}]}"#
        );
        round_trip::<Implementation>(text);
        let text = r#"{"name":"old","version":"1"}"#;
        round_trip::<Implementation>(text);
    }

    // spec: LIFE-2
    #[test]
    fn a_program_without_version_is_refused_by_name_of_the_member() {
        let error = serde_json::from_str::<Implementation>(r#"{"name":"a"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `version`"), "{error}");
    }

    #[test]
    fn an_unknown_theme_survives() {
        let text = r#"{"src":"data:,","theme":"sepia"}"#;
        round_trip::<Icon>(text);
    }

    // spec: ICON-5, ICON-6
    #[test]
    fn only_https_and_data_icons_may_be_fetched() {
        for good in ["https://example.com/a.png", "HTTPS://example.com", "data:image/png;base64,AA"]
        {
            assert_eq!(Icon::new(good).check_source(), Ok(()), "{good}");
        }
        for bad in [
            "http://example.com/a.png",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "ftp://example.com",
            "ws://example.com",
            "myapp:open",
            " https://example.com",
            "//example.com/a.png",
            "a.png",
            "https:",
            "",
        ] {
            assert!(Icon::new(bad).check_source().is_err(), "{bad}");
        }
    }

    /// Reads a type with three icons, two of them unsafe, and returns the sources that are left.
    fn read_icons<T: serde::de::DeserializeOwned>(
        rest: &str,
        icons: fn(T) -> Vec<Icon>,
    ) -> Vec<String> {
        let unsafe_icons = r#"{"src":"javascript:alert(1)"},{"src":"http://example.com/a.png"}"#;
        let text = format!(r#"{{{rest},"icons":[{unsafe_icons},{{"src":"data:,a"}}]}}"#);
        let thing: T = crate::read::read(&text).unwrap();
        icons(thing).into_iter().map(|icon| icon.src).collect()
    }

    // spec: ICON-5, ICON-6
    #[test]
    fn an_unsafe_icon_is_left_out_of_every_type() {
        use crate::content::Content;
        use crate::prompt::PromptDefinition;
        use crate::resource::{ResourceDefinition, ResourceTemplate};
        use crate::tool::ToolDefinition;

        let link = |content: Content| match content {
            Content::ResourceLink(link) => link.icons,
            other => panic!("{other:?}"),
        };
        for read in [
            read_icons(r#""name":"a","version":"1""#, |it: Implementation| it.icons),
            read_icons(r#""name":"a","inputSchema":{}"#, |it: ToolDefinition| it.icons),
            read_icons(r#""name":"a""#, |it: PromptDefinition| it.icons),
            read_icons(r#""name":"a","uri":"a://b""#, |it: ResourceDefinition| it.icons),
            read_icons(r#""name":"a","uriTemplate":"a://{b}""#, |it: ResourceTemplate| it.icons),
            read_icons(r#""type":"resource_link","name":"a","uri":"a://b""#, link),
        ] {
            assert_eq!(read, ["data:,a"]);
        }
    }

    // spec: ICON-11
    #[test]
    fn an_icon_has_the_origin_of_its_server() {
        let server = "https://mcp.example.com/mcp";
        for good in [
            "https://mcp.example.com/icon.png",
            "HTTPS://MCP.example.com:443?icon",
            "data:image/png;base64,AA",
            "DATA:,",
        ] {
            assert_eq!(Icon::new(good).check_origin(server), Ok(()), "{good}");
        }
        for bad in [
            "https://example.com/icon.png",
            "https://mcp.example.com.evil.example/icon.png",
            "https://mcp.example.com:8443/icon.png",
            "https://mcp.example.com@evil.example/icon.png",
            "https://evil.example\\@mcp.example.com/",
            "https://evil.example#://mcp.example.com/",
            "http://mcp.example.com/icon.png",
            "https:mcp.example.com/icon.png",
            "https:///icon.png",
        ] {
            assert!(Icon::new(bad).check_origin(server).is_err(), "{bad}");
        }
        let local = Icon::new("https://localhost/icon.png");
        assert!(local.check_origin("https://localhost:443").is_ok());
        assert!(local.check_origin("a local program").is_err());
    }

    // spec: ICON-4
    #[test]
    fn the_claims_of_an_icon_are_kept_unchecked() {
        let text = r#"{"name":"a","version":"1","icons":[{"src":"https://x/\"><script>","mimeType":"text/html","sizes":["-1x99999999999","../../etc"],"theme":"<script>"}]}"#;
        let program: Implementation = crate::read::read(text).unwrap();
        assert_eq!(serde_json::to_string(&program).unwrap(), text);
        let long = Icon::new(format!("x:{}\n", "y".repeat(10_000))).check_source().unwrap_err();
        assert!(long.to_string().len() < 200);
    }

    // spec: CONT-5
    #[test]
    fn the_title_is_shown_before_the_name() {
        let program = Implementation::new("a", "1");
        assert_eq!(program.display_name(), "a");
        assert_eq!(program.with_title("A").display_name(), "A");
    }
}
