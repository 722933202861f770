//! Absolute `http` and `https` URLs, strictly.
//!
//! A URL that two programs read differently is a way around every check of its host. So this parser
//! accepts only URLs that all parsers read the same way: ASCII, no user, no fragment, no `.` and `..`
//! segments, no backslashes, no IPv4 address except in the form `127.0.0.1`. Whatever it refuses can
//! be written in a form that it accepts.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use bowline_types::text::shown_url;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Kind};
use crate::form::Form;

/// The most bytes of a URL.
pub const MOST_URL: usize = 8 * 1024;

/// The most bytes of a host name, and of one label of it (DNS).
const MOST_HOST: usize = 253;
const MOST_LABEL: usize = 63;

/// An absolute URL with the scheme `http` or `https`.
///
/// It keeps the text that was parsed, and two URLs are equal only if their texts are, because
/// issuers are compared to the letter. [`canonical`](Self::canonical) is for the other comparisons.
#[derive(Clone)]
pub struct Url {
    text: String,
    is_https: bool,
    host: UrlHost,
    port: u16,
    /// Where the path begins in the text. The path may be empty.
    path: usize,
    /// Where the query begins in the text, after its `?`.
    query: Option<usize>,
}

/// The host of a URL.
#[derive(Clone, PartialEq, Eq)]
enum UrlHost {
    /// In lower case.
    Name(String),
    Ip(IpAddr),
}

impl Url {
    /// Reads a URL.
    ///
    /// ```
    /// use bowline_auth::url::Url;
    ///
    /// let url = Url::parse("https://MCP.example.com:443/mcp")?;
    /// assert_eq!(url.as_str(), "https://MCP.example.com:443/mcp");
    /// assert_eq!(url.canonical(), "https://mcp.example.com/mcp");
    /// assert!(Url::parse("https://ann@example.com/").is_err());
    /// # Ok::<(), bowline_auth::error::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is not absolute, is neither `http` nor `https`, or is written in a way that parsers read
    /// differently.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MOST_URL {
            return Err(Error::too_large("a URL", MOST_URL, "bytes"));
        }
        if let Some(bad) =
            text.chars().find(|c| !c.is_ascii_graphic() || "\"<>\\^`{|}".contains(*c))
        {
            return Err(invalid(text, &format!("it contains {bad:?}")));
        }
        let (is_https, rest) = scheme(text)?;
        let start = text.len() - rest.len();
        let end = rest.find(['/', '?', '#']).map_or(text.len(), |at| start + at);
        let (host, port) = authority(text, &text[start..end])?;
        let query = text[end..].find('?').map(|at| end + at + 1);
        let url = Self {
            text: text.to_owned(),
            is_https,
            host,
            port: port.unwrap_or(default_port(is_https)),
            path: end,
            query,
        };
        check_path(text, &text[end..query.map_or(text.len(), |query| query - 1)])?;
        check_escapes(text, &text[end..])?;
        Ok(url)
    }

    /// The URL of another path at the same origin. The path begins with `/` and may have a query.
    ///
    /// # Errors
    ///
    /// If the path cannot be part of a URL.
    pub fn at_origin(&self, path: &str) -> Result<Self, Error> {
        Self::parse(&format!("{}{path}", self.origin()))
    }

    /// The same URL with these members added to its query.
    ///
    /// # Errors
    ///
    /// If the URL becomes too long.
    pub fn with_query(&self, form: &Form) -> Result<Self, Error> {
        let joint = if self.query.is_some() { '&' } else { '?' };
        Self::parse(&format!("{}{joint}{}", self.text, form.encode().expose()))
    }

    /// The URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Scheme and host in lower case, no default port, no slash alone as the path.
    pub fn canonical(&self) -> String {
        let path = if self.path() == "/" { "" } else { self.path() };
        let query = self.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{path}{query}", self.origin())
    }

    /// Scheme, host and port, in canonical form: `https://example.com`.
    pub fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        let host = &self.host;
        if self.port == default_port(self.is_https) {
            format!("{scheme}://{host}")
        } else {
            format!("{scheme}://{host}:{}", self.port)
        }
    }

    /// Whether two URLs have the same scheme, host and port.
    pub fn is_same_origin(&self, other: &Self) -> bool {
        self.is_https == other.is_https && self.host == other.host && self.port == other.port
    }

    /// Whether the other URL has the same origin and a path that begins with the whole segments of
    /// this path. A query of this URL covers only the same query.
    pub fn covers(&self, other: &Self) -> bool {
        let mine = self.path().trim_end_matches('/');
        let rest = other.path().strip_prefix(mine);
        let is_prefix = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let is_query = self.query().is_none_or(|query| other.query() == Some(query));
        self.is_same_origin(other) && is_prefix && is_query
    }

    /// Whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.is_https
    }

    /// Whether the host is this machine, by its name `localhost` or by an address.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            UrlHost::Name(name) => name == "localhost",
            UrlHost::Ip(address) => address.is_loopback(),
        }
    }

    /// Whether what is sent there stays secret on the way: `https`, or this machine.
    pub fn is_confidential(&self) -> bool {
        self.is_https || self.is_loopback()
    }

    /// Refuses a URL at which what is sent can be read, or what is fetched be replaced, on the way.
    #[cfg(any(feature = "client", feature = "resource"))]
    pub(crate) fn check_confidential(&self, kind: Kind, what: &str) -> Result<(), Error> {
        match self.is_confidential() {
            true => Ok(()),
            false => {
                let text = format!("the {what} is not `https`: {:?}", self.origin());
                Err(Error::new(kind, text))
            }
        }
    }

    /// The host in lower case; an IPv6 address without brackets.
    pub fn host(&self) -> String {
        match &self.host {
            UrlHost::Name(name) => name.clone(),
            UrlHost::Ip(address) => address.to_string(),
        }
    }

    /// The address, if the host is one.
    pub fn ip(&self) -> Option<IpAddr> {
        match self.host {
            UrlHost::Name(_) => None,
            UrlHost::Ip(address) => Some(address),
        }
    }

    /// The port, also if it is the default one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The path as it was written, `/` if there is none.
    pub fn path(&self) -> &str {
        let end = self.query.map_or(self.text.len(), |query| query - 1);
        match &self.text[self.path..end] {
            "" => "/",
            path => path,
        }
    }

    /// The query as it was written.
    pub fn query(&self) -> Option<&str> {
        self.query.map(|query| &self.text[query..])
    }

    /// The URL for an HTTP client.
    pub fn to_uri(&self) -> http::Uri {
        let query = self.query().map(|query| format!("?{query}")).unwrap_or_default();
        let text = format!("{}{}{query}", self.origin(), self.path());
        http::Uri::try_from(text).expect("an accepted URL is a subset of what `http` accepts")
    }
}

impl FromStr for Url {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text)
    }
}

impl PartialEq for Url {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Url {}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Url {
    /// Without the query, which may hold a code or a state.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Url({})", shown_url(&self.text))
    }
}

impl Serialize for Url {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Url {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for UrlHost {
    /// As it stands in a URL. IPv6 addresses are written in eight groups, compressed, without the
    /// dotted form that some parsers write and some do not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Ip(IpAddr::V4(address)) => write!(f, "{address}"),
            Self::Ip(IpAddr::V6(address)) => match address.to_ipv4_mapped() {
                Some(_) => {
                    let [.., high, low] = address.segments();
                    write!(f, "[::ffff:{high:x}:{low:x}]")
                }
                None => write!(f, "[{address}]"),
            },
        }
    }
}

fn default_port(is_https: bool) -> u16 {
    if is_https { 443 } else { 80 }
}

fn scheme(text: &str) -> Result<(bool, &str), Error> {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    match scheme.to_ascii_lowercase().as_str() {
        "https" => Ok((true, rest)),
        "http" => Ok((false, rest)),
        _ => Err(invalid(text, "it does not begin with `https://` or `http://`")),
    }
}

/// The host and the port of an authority.
fn authority(text: &str, authority: &str) -> Result<(UrlHost, Option<u16>), Error> {
    if authority.contains('@') {
        return Err(invalid(text, "it names a user"));
    }
    let bracket = authority.find(']').map_or(0, |at| at + 1);
    let (name, port) = match authority[bracket..].find(':') {
        Some(at) => (&authority[..bracket + at], Some(&authority[bracket + at + 1..])),
        None => (authority, None),
    };
    let port = port.map(|port| read_port(port).ok_or_else(|| invalid(text, "its port is wrong")));
    let host = host(name).ok_or_else(|| invalid(text, "its host is wrong"))?;
    Ok((host, port.transpose()?))
}

/// A port without leading zeros.
fn read_port(text: &str) -> Option<u16> {
    let port = text.parse().ok().filter(|port| *port != 0)?;
    (text == u16::to_string(&port)).then_some(port)
}

fn host(text: &str) -> Option<UrlHost> {
    if let Some(address) = text.strip_prefix('[') {
        let address: Ipv6Addr = address.strip_suffix(']')?.parse().ok()?;
        return Some(UrlHost::Ip(address.into()));
    }
    let name = text.to_ascii_lowercase();
    let is_label = |label: &str| {
        let is_inner = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
        (1..=MOST_LABEL).contains(&label.len())
            && label.bytes().all(is_inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.len() > MOST_HOST || !name.split('.').all(is_label) {
        return None;
    }
    // Some parsers read `127.1`, `0x7f.1` and `2130706433` as addresses, others as names.
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_hex = last.strip_prefix("0x").is_some_and(|x| x.bytes().all(|c| c.is_ascii_hexdigit()));
    if is_hex || last.bytes().all(|c| c.is_ascii_digit()) {
        return name.parse::<Ipv4Addr>().ok().map(|address| UrlHost::Ip(address.into()));
    }
    Some(UrlHost::Name(name))
}

/// Refuses segments that some parsers resolve and others keep.
fn check_path(text: &str, path: &str) -> Result<(), Error> {
    if text.contains('#') {
        return Err(invalid(text, "it has a fragment"));
    }
    let is_dots = |segment: &str| {
        let plain = segment.to_ascii_lowercase().replace("%2e", ".");
        plain == "." || plain == ".."
    };
    match path.split('/').any(is_dots) {
        true => Err(invalid(text, "its path contains `.` or `..`")),
        false => Ok(()),
    }
}

/// Refuses a `%` without two hexadecimal digits, and brackets.
fn check_escapes(text: &str, rest: &str) -> Result<(), Error> {
    let mut pieces = rest.split('%').skip(1);
    let is_escape = |piece: &str| {
        piece.as_bytes().first_chunk::<2>().is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit))
    };
    if !pieces.all(is_escape) {
        return Err(invalid(text, "it contains `%` without two hexadecimal digits"));
    }
    match rest.contains(['[', ']']) {
        true => Err(invalid(text, "its path or query contains brackets")),
        false => Ok(()),
    }
}

/// The error for a URL, which quotes it without what may be secret.
fn invalid(text: &str, reason: &str) -> Error {
    let shown: String = shown_url(text).chars().take(100).collect();
    Error::new(Kind::Url, format!("{shown:?} is no URL that can be used: {reason}"))
}

#[cfg(test)]
mod tests;
