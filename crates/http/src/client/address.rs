//! The address of a server, and its origin.
//!
//! Everything that the client sends, headers with secrets included, goes to one origin only. So an
//! address is checked once when it is parsed, and what a server names later (a redirect, the URL of
//! 2024-11-05) is resolved here and compared by [`Address::is_same_origin`].

use std::fmt;
use std::sync::Arc;

use bowline_transport::transport::Destination;
use bowline_types::host::is_this_machine;
use bowline_types::text::shown_url;
use http::Uri;
use http::header::HeaderValue;
use http::uri::Scheme;

/// An absolute `http` or `https` URL, cheap to clone. Without user, password and fragment. Its output
/// shows no query.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Arc<Uri>);

impl Address {
    /// Checks a URL. The fragment is cut off, since HTTP does not send it. User and password are
    /// refused: they would appear in logs.
    ///
    /// # Errors
    ///
    /// If it is no such URL.
    pub fn parse(url: &str) -> Result<Self, InvalidAddress> {
        let invalid =
            |reason: &str| InvalidAddress { url: shown_url(url), reason: reason.to_owned() };
        let (url, _) = url.split_once('#').unwrap_or((url, ""));
        let uri: Uri = url.parse().map_err(|error: http::uri::InvalidUri| {
            invalid(&format!("{error}; write it like `https://example.com/mcp`"))
        })?;
        if uri.scheme() != Some(&Scheme::HTTP) && uri.scheme() != Some(&Scheme::HTTPS) {
            return Err(invalid("it does not begin with `http://` or `https://`"));
        }
        if uri.authority().is_none_or(|it| it.as_str().contains('@')) {
            return Err(invalid("it holds a user or password; send those in a header"));
        }
        if uri.host().is_none_or(str::is_empty) {
            return Err(invalid("it names no host"));
        }
        Ok(Self(Arc::new(uri)))
    }

    /// Resolves a reference that the server sent, relative to this address. Covers the forms of RFC
    /// 3986, 5.2: absolute, `//host`, `/path`, `?query`, a relative path, and the empty reference.
    pub(super) fn join(&self, reference: &str) -> Result<Self, InvalidAddress> {
        let (reference, _) = reference.split_once('#').unwrap_or((reference, ""));
        let scheme = self.0.scheme_str().unwrap_or_default();
        let authority = self.0.authority().map_or("", |it| it.as_str());
        let path = self.0.path();
        let first = reference.split(['/', '?']).next().unwrap_or_default();
        if first.contains(':') {
            return Self::parse(reference);
        }
        if let Some(elsewhere) = reference.strip_prefix("//") {
            return Self::parse(&format!("{scheme}://{elsewhere}"));
        }
        let joined = match reference.chars().next() {
            None => self.0.path_and_query().map_or("/", |it| it.as_str()).to_owned(),
            Some('/') => reference.to_owned(),
            Some('?') => format!("{path}{reference}"),
            Some(_) => {
                let (folder, _) = path.rsplit_once('/').unwrap_or_default();
                format!("{folder}/{reference}")
            }
        };
        Self::parse(&format!("{scheme}://{authority}{}", without_dots(&joined)))
    }

    /// Compares scheme, host and port, where a missing port is the usual one of the scheme.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.0.scheme() == other.0.scheme()
            && self.port() == other.port()
            && self.host().eq_ignore_ascii_case(other.host())
    }

    /// Whether the scheme is `https`.
    pub fn is_secure(&self) -> bool {
        self.0.scheme() == Some(&Scheme::HTTPS)
    }

    /// Whether the host is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let name = self.host().trim_end_matches('.').to_ascii_lowercase();
        is_this_machine(self.host()) || name.ends_with(".localhost")
    }

    /// What traces say of this address: the host and the port.
    pub(super) fn destination(&self) -> Destination {
        let mut destination = Destination::over("tcp");
        destination.protocol = Some("http");
        destination.address = Some(self.host().to_owned());
        destination.port = Some(self.port());
        destination
    }

    pub(super) fn uri(&self) -> &Uri {
        &self.0
    }

    /// The value of the `Host` header: without the port if it is the default one.
    pub(super) fn host_header(&self) -> Option<HeaderValue> {
        let usual = if self.is_secure() { 443 } else { 80 };
        let host = match self.0.port_u16().filter(|port| *port != usual) {
            Some(port) => format!("{}:{port}", self.host()),
            None => self.host().to_owned(),
        };
        HeaderValue::try_from(host).ok()
    }

    /// Scheme, host and port as they were written.
    pub fn origin(&self) -> String {
        let authority = self.0.authority().map_or("", |it| it.as_str());
        format!("{}://{authority}", self.0.scheme_str().unwrap_or_default())
    }

    /// The path, `/` if there is none.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The host as it was written; an IPv6 address has brackets.
    pub fn host(&self) -> &str {
        self.0.host().unwrap_or_default()
    }

    /// The port, also if it is the usual one of the scheme.
    pub fn port(&self) -> u16 {
        self.0.port_u16().unwrap_or(if self.is_secure() { 443 } else { 80 })
    }
}

/// Shows the address without its query, which may hold secrets.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown_url(&self.0.to_string()))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// Resolves `.` and `..` in a path.
fn without_dots(path_and_query: &str) -> String {
    let (path, query) = match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path_and_query, None),
    };
    let mut segments: Vec<&str> = Vec::new();
    let mut rest = path.split('/').skip(1).peekable();
    while let Some(segment) = rest.next() {
        let is_last = rest.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    segments.pop();
                }
                if is_last {
                    segments.push("");
                }
            }
            _ => segments.push(segment),
        }
    }
    let path = format!("/{}", segments.join("/"));
    query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"))
}

/// A URL that is not a valid address of a server. The text shows the URL without its query, and
/// says what to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAddress {
    /// Without its query.
    url: String,
    reason: String,
}

impl InvalidAddress {
    #[cfg(not(feature = "tls"))]
    pub(super) fn new(address: &Address, reason: &str) -> Self {
        Self { url: address.to_string(), reason: reason.to_owned() }
    }
}

impl fmt::Display for InvalidAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no address of a server: {}", self.url, self.reason)
    }
}

impl std::error::Error for InvalidAddress {}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> Address {
        Address::parse(url).unwrap()
    }

    #[test]
    fn references_are_read_as_a_browser_reads_them() {
        let here = address("http://example.com:8080/a/sse?key=1");
        for (reference, expected) in [
            ("/messages?id=1", "http://example.com:8080/messages?id=1"),
            ("messages", "http://example.com:8080/a/messages"),
            ("./messages?x=../y", "http://example.com:8080/a/messages?x=../y"),
            ("../messages/", "http://example.com:8080/messages/"),
            ("../../..", "http://example.com:8080/"),
            ("?id=2", "http://example.com:8080/a/sse?id=2"),
            ("", "http://example.com:8080/a/sse?key=1"),
            ("//other/x", "http://other/x"),
            ("https://other:1/x#part", "https://other:1/x"),
        ] {
            assert_eq!(here.join(reference).unwrap().0.to_string(), expected, "{reference}");
        }
        assert!(here.join("mailto:a@b").is_err());
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let here = address("https://example.com/a");
        assert!(here.is_same_origin(&address("https://EXAMPLE.com:443/b?c")));
        for other in ["http://example.com/", "https://example.com:444/", "https://example.org/"] {
            assert!(!here.is_same_origin(&address(other)), "{other}");
        }
    }

    #[test]
    fn loopback_hosts_are_recognized() {
        for here in [
            "localhost",
            "LocalHost.:1",
            "a.localhost",
            "127.0.0.1",
            "127.9.8.7:80",
            "[::1]",
            "[::ffff:127.0.0.1]:1",
        ] {
            assert!(address(&format!("http://{here}/mcp")).is_loopback(), "{here}");
        }
        for other in [
            "example.com",
            "localhost.example.com",
            "notlocalhost",
            "128.0.0.1",
            "127.0.0.1.example.com",
            "0.0.0.0",
            "[::2]",
        ] {
            assert!(!address(&format!("http://{other}/mcp")).is_loopback(), "{other}");
        }
    }

    #[test]
    fn an_invalid_address_is_refused_with_a_reason() {
        for (url, expected) in [
            ("example.com/mcp", "like"),
            ("ftp://example.com/", "http://"),
            ("https://user:secret@example.com/", "header"),
            ("", "like"),
            ("http://", "like"),
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_query_is_never_shown() {
        let address = address("https://example.com/mcp?key=secret");
        assert_eq!(address.to_string(), "https://example.com/mcp?…");
        assert_eq!(format!("{address:?}"), "Address(https://example.com/mcp?…)");
    }
}
