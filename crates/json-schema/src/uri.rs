//! Resolves URI references against a base, as far as `$id` and `$ref` need it.
//!
//! This is the algorithm of RFC 3986, section 5.2, on text. Nothing is normalised beyond dot
//! segments and nothing is ever fetched: resolved URIs only serve as keys inside one document.

/// Splits off the fragment; `None` when there is no `#`.
pub(crate) fn split_fragment(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (reference, None),
    }
}

/// Resolves a reference without fragment against a base without fragment.
///
/// The base may be empty, for a document without a URI of its own.
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    let reference = Parts::split(reference);
    if reference.scheme.is_some() {
        return reference.with_path(&without_dot_segments(reference.path));
    }
    let base = Parts::split(base);
    if reference.authority.is_some() {
        let resolved = Parts { scheme: base.scheme, ..reference };
        return resolved.with_path(&without_dot_segments(reference.path));
    }
    if reference.path.is_empty() {
        return Parts { query: reference.query.or(base.query), ..base }.with_path(base.path);
    }
    let path = if reference.path.starts_with('/') {
        without_dot_segments(reference.path)
    } else {
        without_dot_segments(&merge(&base, reference.path))
    };
    Parts { query: reference.query, ..base }.with_path(&path)
}

/// Decodes `%XX` sequences; `None` when they are broken or do not decode to text.
pub(crate) fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// The parts of a URI without its fragment. Slices of the text; nothing is decoded.
#[derive(Clone, Copy)]
struct Parts<'u> {
    scheme: Option<&'u str>,
    authority: Option<&'u str>,
    path: &'u str,
    query: Option<&'u str>,
}

impl<'u> Parts<'u> {
    fn split(uri: &'u str) -> Self {
        let (hierarchy, query) = match uri.split_once('?') {
            Some((hierarchy, query)) => (hierarchy, Some(query)),
            None => (uri, None),
        };
        let (scheme, rest) = match hierarchy.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            _ => (None, hierarchy),
        };
        let Some(after) = rest.strip_prefix("//") else {
            return Self { scheme, authority: None, path: rest, query };
        };
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        Self { scheme, authority: Some(authority), path, query }
    }

    /// Joins the parts again, with another path.
    fn with_path(&self, path: &str) -> String {
        let mut uri = String::new();
        if let Some(scheme) = self.scheme {
            uri.push_str(scheme);
            uri.push(':');
        }
        if let Some(authority) = self.authority {
            uri.push_str("//");
            uri.push_str(authority);
        }
        uri.push_str(path);
        if let Some(query) = self.query {
            uri.push('?');
            uri.push_str(query);
        }
        uri
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Replaces the last segment of the base's path by a relative path.
fn merge(base: &Parts<'_>, path: &str) -> String {
    match base.path.rfind('/') {
        Some(slash) => format!("{}/{path}", base.path.split_at(slash).0),
        None if base.authority.is_some() => format!("/{path}"),
        None => path.to_owned(),
    }
}

/// A path that leads above the root stays at the root.
fn without_dot_segments(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                // The empty segment before the first slash stays: `/../a` is `/a`.
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    kept.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_resolve_as_in_the_examples_of_the_standard() {
        let base = "http://a/b/c/d;p?q";
        let examples = [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../..", "http://a/"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g/../h", "http://a/b/c/h"),
            ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ];
        for (reference, expected) in examples {
            assert_eq!(resolve(base, reference), expected, "{reference}");
        }
    }

    #[test]
    fn a_document_without_a_base_resolves_relative_names_to_themselves() {
        assert_eq!(resolve("", "item.json"), "item.json");
        assert_eq!(resolve("folder/", "item.json"), "folder/item.json");
        assert_eq!(resolve("http://a", "item.json"), "http://a/item.json");
        assert_eq!(resolve("urn:uuid:1", ""), "urn:uuid:1");
    }

    #[test]
    fn broken_percent_sequences_do_not_decode() {
        assert_eq!(percent_decode("a%25b%C3%A9").as_deref(), Some("a%bé"));
        assert_eq!(percent_decode("%2"), None);
        assert_eq!(percent_decode("%zz"), None);
        assert_eq!(percent_decode("%ff"), None);
    }
}
