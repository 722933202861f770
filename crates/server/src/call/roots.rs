//! The client's roots: where in the file system it lets servers work.

use std::path::{Component, Path, PathBuf};

use bowline_types::deprecated::roots::{ListRootsResult, Root};

/// Where in the file system a client lets servers work.
///
/// Roots are advice between honest programs: hold each path against them before touching it.
///
/// ```
/// use bowline_server::{Ask, Result};
///
/// async fn read(ask: Ask, path: std::path::PathBuf) -> Result<String> {
///     // Links are followed first, so that none leads out.
///     let path = path.canonicalize()?;
///     if !ask.roots().await?.contain(&path) {
///         return Err("this file lies outside of the client's roots".into());
///     }
///     Ok(std::fs::read_to_string(path)?)
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Roots(Vec<Root>);

impl Roots {
    /// The roots, in the client's order. Those that are no `file://` URIs were left out.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Root> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The roots as paths, as far as they are on this machine. They need not exist.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.0.iter().filter_map(path)
    }

    /// Whether a path is one of the roots or lies in one. A path that is relative or climbs by `..`
    /// lies nowhere. Links are not followed: canonicalize the path first.
    pub fn contain(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let is_plain = path.is_absolute() && path.components().all(|it| it != Component::ParentDir);
        is_plain && self.paths().any(|root| path.starts_with(root))
    }

    /// The roots of the client's answer. Those that are no `file://` URIs are left out.
    pub(crate) fn of(result: ListRootsResult) -> Self {
        Self(result.roots.into_iter().filter(|root| root.check_uri().is_ok()).collect())
    }
}

/// The path of a `file://` URI, unless it is on another machine.
fn path(root: &Root) -> Option<PathBuf> {
    let (_, rest) = root.uri.split_once("://")?;
    let start = rest.find('/')?;
    let (host, path) = rest.split_at(start);
    if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
        return None;
    }
    let path = decode(path)?;
    // `/C:/work` is `C:/work` where there are drives.
    let is_drive = cfg!(windows) && path.get(2..3) == Some(":");
    Some(PathBuf::from(path.get(usize::from(is_drive)..)?))
}

/// Decodes `%20` and the like; `None` if that gives no text, or one that ends early.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let (code, after) = rest.split_at_checked(2)?;
        let code = std::str::from_utf8(code).ok()?;
        bytes.push(u8::from_str_radix(code, 16).ok().filter(|byte| *byte != 0)?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn roots(uris: &[&str]) -> Roots {
        Roots(uris.iter().map(|uri| Root::new(*uri).unwrap()).collect())
    }

    // spec: ROOT-13, ROOT-14
    #[test]
    fn a_path_is_held_against_the_roots() {
        let roots = roots(&["file:///work-of/ann/my%20work/", "file://localhost/srv"]);
        for inside in ["/work-of/ann/my work", "/work-of/ann/my work/a/b", "/srv/", "/srv/x"] {
            assert!(roots.contain(inside), "{inside}");
        }
        for outside in [
            "",
            "/",
            "/work-of/ann",
            "/work-of/ann/my work2",
            "/srv/../etc/passwd",
            "srv/x",
            "/work-of/ann/my%20work",
        ] {
            assert!(!roots.contain(outside), "{outside}");
        }
    }

    // spec: ROOT-12
    #[test]
    fn what_is_not_on_this_machine_contains_nothing() {
        let elsewhere =
            roots(&["file://server/share", "file:///a%ff", "file:///a%00b", "file:///%4"]);
        assert_eq!(elsewhere.paths().count(), 0);
        assert!(!elsewhere.contain("/share"));
        assert!(!Roots::default().contain("/"));
    }
}
