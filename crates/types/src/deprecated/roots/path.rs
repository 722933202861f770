//! Converts roots to paths of this machine, and back.
//!
//! A root is a `file:` URI (ROOT-5). On Unix a path is any bytes, so every byte that a URI does not
//! allow is encoded, and decoded again without a look at its characters.

use std::path::{Path, PathBuf};

use super::{InvalidRoot, Root, SCHEME};

impl Root {
    /// A root at an absolute path.
    ///
    /// # Errors
    ///
    /// If the path is not absolute, contains `..`, or cannot be written as a URI.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, InvalidRoot> {
        let path = path.as_ref();
        let invalid = |reason: &'static str| InvalidRoot::new(path.display().to_string(), reason);
        if !path.is_absolute() {
            return Err(invalid("its path is not absolute"));
        }
        let bytes = bytes(path).ok_or_else(|| invalid("its path cannot be written as a URI"))?;
        let uri = bytes.into_iter().fold(SCHEME.to_owned(), |uri, byte| match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri + char::from(byte).encode_utf8(&mut [0; 4]),
            _ if byte.is_ascii_alphanumeric() => uri + char::from(byte).encode_utf8(&mut [0; 4]),
            _ => uri + &format!("%{byte:02X}"),
        });
        Self::new(uri)
    }

    /// The path on this machine. `None` if the URI names another host or is not a path.
    pub fn to_path(&self) -> Option<PathBuf> {
        self.check_uri().ok()?;
        let rest = self.uri.get(SCHEME.len()..)?;
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (host, path) = rest.split_at(rest.find('/')?);
        if !host.is_empty() && !host.eq_ignore_ascii_case("localhost") {
            return None;
        }
        path_of(decode(path)?)
    }
}

/// Percent-decodes a path. `None` if an escape is invalid. A text such as `%+1` is no escape,
/// although Rust would parse `+1`.
fn decode(path: &str) -> Option<Vec<u8>> {
    let mut pieces = path.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    Some(bytes)
}

#[cfg(unix)]
fn bytes(path: &Path) -> Option<Vec<u8>> {
    use std::os::unix::ffi::OsStrExt;
    Some(path.as_os_str().as_bytes().to_vec())
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    Some(OsString::from_vec(bytes).into())
}

/// The bytes of a path for a URI. A path with a drive letter gets a slash in front, as in
/// `file:///C:/Users`.
#[cfg(not(unix))]
fn bytes(path: &Path) -> Option<Vec<u8>> {
    let path = path.to_str()?.replace('\\', "/");
    Some(format!("/{}", path.trim_start_matches("//?/")).into_bytes())
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> Option<PathBuf> {
    let path = String::from_utf8(bytes).ok()?;
    Some(path.trim_start_matches('/').into())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    // spec: ROOT-5
    #[test]
    fn a_path_comes_back_from_its_uri() {
        for (path, uri) in [
            ("/home/me", "file:///home/me"),
            ("/a b/é#?%/~x_y-z.w", "file:///a%20b/%C3%A9%23%3F%25/~x_y-z.w"),
            ("/", "file:///"),
        ] {
            let root = Root::from_path(path).unwrap();
            assert_eq!(root.uri, uri);
            assert_eq!(root.to_path().unwrap(), Path::new(path));
        }
    }

    // spec: ROOT-5, ROOT-9
    #[test]
    fn a_relative_path_or_one_with_parent_segments_is_refused() {
        for path in ["", "a", "./a", "../a", "/a/../b"] {
            assert!(Root::from_path(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_root_on_another_host_has_no_path() {
        let path = |uri: &str| Root::new(uri).unwrap().to_path();
        assert_eq!(path("file://host/share"), None);
        assert_eq!(path("file:///a%"), None);
        assert_eq!(path("file:///a%2"), None);
        assert_eq!(path("file:///a%+1"), None);
        assert_eq!(path("file:///a%é"), None);
        assert_eq!(path("file://a"), None);
        assert_eq!(path("FILE://LocalHost/a").unwrap(), Path::new("/a"));
    }
}
