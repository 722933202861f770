//! Roots: the directories and files that a server may work in. Pass paths as tool arguments
//! instead.

use serde::{Deserialize, Serialize};

use crate::empty::NoParams;
use crate::invalid::invalid_value;
use crate::meta::Meta;
use crate::rpc::{notification, request};
use crate::setters::setters;

mod path;

request! {
    /// `roots/list`.
    ListRoots = RootsList(NoParams) -> ListRootsResult
}

notification! {
    /// `notifications/roots/list_changed` (up to 2025-11-25).
    RootsListChanged = RootsListChanged(NoParams)
}

/// A directory or file that a server may work in.
///
/// ```
/// use bowline_types::deprecated::roots::Root;
///
/// let root = Root::new("file:///srv/engine")?.with_name("Engine");
/// assert_eq!(root.to_path().unwrap(), std::path::Path::new("/srv/engine"));
/// assert!(Root::new("file:///srv/../etc").is_err());
/// # Ok::<(), bowline_types::deprecated::roots::InvalidRoot>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Root {
    /// Its `file://` URI. Unchecked in a message: call [`Root::check_uri`].
    pub uri: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Root {
    /// A root at a `file://` URI.
    ///
    /// # Errors
    ///
    /// As [`Root::check_uri`].
    pub fn new(uri: impl Into<String>) -> Result<Self, InvalidRoot> {
        let root = Self { uri: uri.into(), name: None, meta: Meta::new() };
        root.check_uri()?;
        Ok(root)
    }

    setters! {
        /// Sets the name for people.
        with_name(name: impl Into<String>) { name = Some(name.into()) }
    }

    /// Checks that the URI is a `file://` URI without `..` segments, written plainly or as `%2e`.
    ///
    /// # Errors
    ///
    /// Names the URI and what is wrong with it.
    pub fn check_uri(&self) -> Result<(), InvalidRoot> {
        let invalid = |reason: &'static str| {
            Err(InvalidRoot::new(self.uri.chars().take(200).collect::<String>(), reason))
        };
        let scheme = self.uri.get(..SCHEME.len()).unwrap_or_default();
        if !scheme.eq_ignore_ascii_case(SCHEME) {
            return invalid("it is not a `file://` URI");
        }
        let path = self.uri.get(SCHEME.len()..).unwrap_or_default();
        let path = path.to_ascii_lowercase().replace("%2e", ".");
        let path = path.replace("%2f", "/").replace("%5c", "/");
        if path.split(['/', '\\']).any(|segment| segment == "..") {
            return invalid("it climbs out of a directory by `..`");
        }
        Ok(())
    }
}

const SCHEME: &str = "file://";

invalid_value! {
    /// The error for a root whose URI or path must not be used.
    InvalidRoot, "root"
}

/// All roots of a client.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ListRootsResult {
    /// The roots.
    pub roots: Vec<Root>,
    /// Further metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListRootsResult {
    /// A result with all roots.
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        Self { roots: roots.into_iter().collect(), meta: Meta::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: ROOT-5
    #[test]
    fn roots_are_written_as_they_were_read() {
        let text = r#"{"roots":[{"uri":"file:///home/me/a","name":"A"},{"uri":"file:///b"}]}"#;
        round_trip::<ListRootsResult>(text);
    }

    // spec: ROOT-5
    #[test]
    fn a_root_is_a_file_uri() {
        for good in ["file:///home/me", "FILE:///c:/x", "file:///a..b/...", "file://host/share"] {
            assert!(Root::new(good).is_ok(), "{good}");
        }
        for bad in ["https://example.com", "/home/me", "file:/a", "file", "", "é"] {
            let error = Root::new(bad).unwrap_err().to_string();
            assert!(error.contains("it is not a `file://` URI"), "{error}");
        }
    }

    // spec: ROOT-9
    #[test]
    fn a_root_has_no_parent_segments() {
        for bad in [
            "file:///a/../b",
            "file:///a/..",
            "file:///a/%2e%2E/b",
            "file:///a/.%2e",
            "file:///a%2f..%2Fb",
            "file:///a\\..\\b",
        ] {
            assert!(Root::new(bad).is_err(), "{bad}");
        }
    }

    // spec: ROOT-12
    #[test]
    fn an_invalid_root_can_still_be_read() {
        let root: Root = serde_json::from_str(r#"{"uri":"s3://bucket"}"#).unwrap();
        assert!(root.check_uri().is_err());
    }
}
