//! Checks `Host` and `Origin` of every request, before anything else of it is read.
//!
//! A web page can make a browser send requests to a server on the same machine, under any name that
//! the page's owner lets resolve to it (DNS rebinding). The browser says which page such a request
//! comes from (`Origin`) and which name it was sent to (`Host`), so both are checked.
//!
//! The protocol demands the check of `Origin` of every server (HSEC-1), and `Host` closes the other
//! half: a page that reaches this server under a foreign name sends that name. Programs send no
//! `Origin`, so for them only `Host` counts. A refusal is 403 and names the setting that would
//! allow the request, or 400 if the headers contradict each other.
//!
//! The gate is the first thing that the endpoint does with a request, so a page that may not call
//! learns nothing about the server, not even which paths its listener has.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::header::{self, HeaderMap, HeaderValue};
use http::request::Parts;
use http::uri::{Authority, Scheme};
use http::{HeaderName, StatusCode};

/// Which names this server answers to, and which pages may call it.
///
/// ```
/// use bowline_http::server::Gate;
///
/// let gate = Gate::loopback().with_host("mcp.internal:8080")?.with_origin("https://app.example.com")?;
/// let request = |host: &str| http::Request::get("/mcp").header("host", host).body(()).unwrap();
/// assert!(gate.check(&request("mcp.internal:8080").into_parts().0).is_ok());
/// assert!(gate.check(&request("evil.example").into_parts().0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

/// A name that requests may be sent to. The name is in lower case, and without the dot at its end
/// that DNS allows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: String,
    /// `None` for any port, as for the names of this machine.
    port: Option<u16>,
}

/// An origin whose pages may call. Scheme, host and port have to agree, as in a browser; only names
/// of this machine are allowed on every port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: Host,
}

/// Why a request may not pass. `reply.rs` turns it into the HTTP answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The HTTP status of the refusal.
    pub status: StatusCode,
    /// What is wrong, and which setting would allow it.
    pub reason: String,
}

/// Browsers set it themselves; a page cannot forge it.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Gate {
    /// Answers to the names of this machine, `localhost`, `127.0.0.1` and `[::1]`, on any port, and
    /// to pages from there.
    pub fn loopback() -> Self {
        let mut gate = Self { hosts: Vec::new(), origins: Vec::new() };
        for name in ["localhost", "127.0.0.1", "[::1]"] {
            let host = Host { name: name.to_owned(), port: None };
            gate.hosts.push(host.clone());
            for scheme in ["http", "https"] {
                gate.origins.push(Origin { scheme: scheme.to_owned(), host: host.clone() });
            }
        }
        gate
    }

    /// Answers also to the address that is listened on, if it is one of the network's.
    ///
    /// A listener on all addresses (`0.0.0.0`) adds none: its clients use names that only the
    /// operator knows, so [`with_public_url`](Self::with_public_url) or
    /// [`with_host`](Self::with_host) has to say which.
    #[must_use]
    pub fn at(mut self, address: SocketAddr) -> Self {
        if !address.ip().is_loopback() && !address.ip().is_unspecified() {
            let name = match address.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            };
            self.admit(&name, Some(address.port()), &["http"]);
        }
        self
    }

    /// Answers also to the address that clients outside know, such as
    /// `https://mcp.example.com/mcp`, and to pages from there.
    ///
    /// A proxy in front of the server has to pass on the `Host` that the client sent, which is this
    /// name, or one that [`with_host`](Self::with_host) allows.
    ///
    /// # Errors
    ///
    /// If it is no `http` or `https` URL.
    pub fn with_public_url(mut self, url: &str) -> Result<Self, InvalidSetting> {
        let invalid = || InvalidSetting(format!("`{url}` is no URL with http or https and a host"));
        let (scheme, rest) = url.split_once("://").ok_or_else(invalid)?;
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = Host::parse(authority).ok_or_else(invalid)?;
        let default = default_port(scheme).ok_or_else(invalid)?;
        let port = host.port.unwrap_or(default);
        self.admit(&host.name, Some(port), &[scheme]);
        Ok(self)
    }

    /// Answers also to this name, with a port (`mcp.internal:8080`) or on the usual ones.
    ///
    /// # Errors
    ///
    /// If it is no host name.
    pub fn with_host(mut self, host: &str) -> Result<Self, InvalidSetting> {
        let parsed = Host::parse(host);
        let parsed = parsed.ok_or_else(|| InvalidSetting(format!("`{host}` is no host name")))?;
        match parsed.port {
            Some(_) => self.hosts.push(parsed),
            None => self
                .hosts
                .extend([80, 443].map(|port| Host { name: parsed.name.clone(), port: Some(port) })),
        }
        Ok(self)
    }

    /// Lets web pages of this origin call and read the answers, such as `https://app.example.com`.
    /// Schemes other than `http` and `https` are taken too, for browser extensions and desktop
    /// applications.
    ///
    /// # Errors
    ///
    /// If it is no origin: scheme, host and perhaps a port, nothing more.
    pub fn with_origin(mut self, origin: &str) -> Result<Self, InvalidSetting> {
        let parsed = Origin::parse(origin);
        let invalid = || InvalidSetting(format!("`{origin}` is no origin, which is scheme://host"));
        self.origins.push(parsed.ok_or_else(invalid)?);
        Ok(self)
    }

    /// Adds a name as host, and its pages as origins.
    fn admit(&mut self, name: &str, port: Option<u16>, schemes: &[&str]) {
        let host = Host { name: name.to_ascii_lowercase(), port };
        for scheme in schemes {
            self.origins.push(Origin { scheme: (*scheme).to_owned(), host: host.clone() });
        }
        self.hosts.push(host);
    }

    /// Checks the head of a request. If a web page sent it, gives the page's origin as the browser
    /// wrote it.
    ///
    /// # Errors
    ///
    /// If it was sent to another name, comes from a page that may not call, or is malformed.
    pub fn check<'a>(&self, parts: &'a Parts) -> Result<Option<&'a HeaderValue>, Refusal> {
        if self.is_plain(parts) {
            return Ok(None);
        }
        self.check_host(parts)?;
        self.check_origin(&parts.headers)
    }

    /// Scheme and host of a request that passed, as its client knows them. The scheme is `https` for
    /// a name that only pages of `https` have.
    pub(super) fn origin_of(&self, parts: &Parts) -> Option<String> {
        let named = named_host(parts).ok()?;
        let has = |scheme: &str| {
            let default = default_port(scheme).unwrap_or_default();
            let mut known = self.origins.iter().filter(|origin| origin.scheme == scheme);
            known.any(|origin| origin.host.matches(&named, default))
        };
        let scheme = if has("https") && !has("http") { "https" } else { "http" };
        Some(format!("{scheme}://{named}"))
    }

    /// A name without a port stands for port 80 or 443.
    fn check_host(&self, parts: &Parts) -> Result<(), Refusal> {
        let named = named_host(parts)?;
        // A proxy that terminates TLS omits port 443 from `Host`, although we speak plain HTTP.
        let known =
            [80, 443].iter().any(|port| self.hosts.iter().any(|host| host.matches(&named, *port)));
        if known {
            return Ok(());
        }
        Err(Refusal::forbidden(format!(
            "this server does not answer to the host `{named}`; if it should, add it with `.host(\"{named}\")` or set the public URL"
        )))
    }

    /// Whether a request names one of our hosts, letter by letter, and does not come from a page. Most
    /// requests pass here, after one look at each header.
    fn is_plain(&self, parts: &Parts) -> bool {
        let mut is_named = false;
        for (name, value) in &parts.headers {
            let is_ours = || self.hosts.iter().any(|host| host.is_written(value.as_bytes()));
            match name.as_str() {
                "host" if !is_named && is_ours() => is_named = true,
                "host" | "origin" | "sec-fetch-site" => return false,
                _ => {}
            }
        }
        is_named && parts.uri.authority().is_none()
    }

    /// `null`, which browsers send for files and sandboxed frames, is no known origin and is
    /// refused.
    fn check_origin<'a>(&self, headers: &'a HeaderMap) -> Result<Option<&'a HeaderValue>, Refusal> {
        let mut origins = headers.get_all(header::ORIGIN).iter();
        let Some(written) = origins.next() else { return check_site(headers).map(|()| None) };
        if origins.next().is_some() {
            return Err(Refusal::malformed("there is more than one `Origin` header"));
        }
        let origin = written.to_str().unwrap_or("(not text)");
        let known = Origin::parse(origin)
            .is_some_and(|origin| self.origins.iter().any(|known| known.matches(&origin)));
        if known {
            return Ok(Some(written));
        }
        Err(Refusal::forbidden(format!(
            "pages from the origin `{origin}` may not call this server; if they should, add it with `.origin(\"{origin}\")`"
        )))
    }
}

/// Without an `Origin`, a browser may still say that the request comes from another site.
fn check_site(headers: &HeaderMap) -> Result<(), Refusal> {
    match headers.get(SEC_FETCH_SITE).map(HeaderValue::as_bytes) {
        Some(b"cross-site" | b"same-site") => Err(Refusal::forbidden(
            "a page of another site may not call this server (`Sec-Fetch-Site`)".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// The one name that a request was sent to: `:authority`, the absolute form of the target, or the
/// `Host` header. If there are several, they must agree. A proxy that looks at one of them and a
/// server that looks at the other would disagree on where the request goes.
fn named_host(parts: &Parts) -> Result<Host, Refusal> {
    let mut headers = parts.headers.get_all(header::HOST).iter();
    let header = headers.next();
    if headers.next().is_some() {
        return Err(Refusal::malformed("there is more than one `Host` header"));
    }
    let header = match header {
        Some(value) => Some(
            value
                .to_str()
                .ok()
                .and_then(Host::parse)
                .ok_or_else(|| Refusal::malformed("the `Host` header is no host name"))?,
        ),
        None => None,
    };
    let target = match parts.uri.authority() {
        Some(authority) => Some(
            Host::parse(authority.as_str())
                .ok_or_else(|| Refusal::malformed("the request's authority is no host name"))?,
        ),
        None => None,
    };
    match (target, header) {
        (Some(target), Some(header)) if target != header => {
            Err(Refusal::malformed("the `Host` header and the request's target name two hosts"))
        }
        (Some(host), _) | (None, Some(host)) => Ok(host),
        (None, None) => Err(Refusal::malformed("there is no `Host` header")),
    }
}

impl Host {
    /// A host with perhaps a port; nothing before, between or behind them.
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok()?;
        let name = authority.host();
        if name.is_empty() {
            return None;
        }
        // User information would come before the name, and fails here.
        let port = match text.strip_prefix(name)? {
            "" => None,
            rest => Some(rest.strip_prefix(':')?.parse().ok()?),
        };
        // `localhost.` is the fully qualified form of `localhost`.
        let name = name.strip_suffix('.').unwrap_or(name);
        Some(Self { name: name.to_ascii_lowercase(), port })
    }

    /// Whether a `Host` header is this name, written the same way, with a port.
    ///
    /// The fast path of [`Gate::is_plain`]: compares bytes and allocates nothing. A name in
    /// capitals or without a port takes the slow path and may still pass.
    fn is_written(&self, text: &[u8]) -> bool {
        let Some([b':', port @ ..]) = text.strip_prefix(self.name.as_bytes()) else { return false };
        let port = std::str::from_utf8(port).ok().filter(|port| !port.starts_with('+'));
        let port = port.and_then(|port| port.parse().ok());
        port.is_some_and(|port: u16| self.port.is_none_or(|own| own == port))
    }

    /// Whether a request names this host. `default` is the port of a name without one.
    fn matches(&self, named: &Self, default: u16) -> bool {
        let port = named.port.unwrap_or(default);
        self.name == named.name && self.port.is_none_or(|own| own == port)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl Origin {
    /// Reads scheme and host. Not only `http`: browser extensions and applications that show pages
    /// have schemes of their own, without ports.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme: Scheme = scheme.parse().ok()?;
        let scheme = scheme.as_str().to_ascii_lowercase();
        Some(Self { scheme, host: Host::parse(authority)? })
    }

    fn matches(&self, other: &Self) -> bool {
        let is_same = self.scheme == other.scheme && self.host.name == other.host.name;
        is_same && (self.has_any_port() || self.port() == other.port())
    }

    /// The port, or the default one of the scheme.
    fn port(&self) -> Option<u16> {
        self.host.port.or_else(|| default_port(&self.scheme))
    }

    /// Whether it allows every port: a name of this machine without a port does.
    fn has_any_port(&self) -> bool {
        let is_local = matches!(self.host.name.as_str(), "localhost" | "127.0.0.1" | "[::1]");
        self.host.port.is_none() && is_local
    }
}

/// The port of a URL without one. `None` for schemes of extensions and applications, which have no
/// ports.
fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

impl Refusal {
    fn forbidden(reason: String) -> Self {
        Self { status: StatusCode::FORBIDDEN, reason }
    }

    fn malformed(reason: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, reason: reason.to_owned() }
    }
}

/// A setting that is no host, origin or URL. The text quotes the setting and says what it should
/// look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting(String);

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidSetting {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_of_this_machine_means_every_port_unless_it_names_one() {
        let matches = |known: &str, other: &str| {
            Origin::parse(known).unwrap().matches(&Origin::parse(other).unwrap())
        };
        assert!(matches("http://localhost", "http://localhost:3000"));
        assert!(matches("http://localhost:3000", "http://localhost:3000"));
        assert!(!matches("http://localhost:3000", "http://localhost:4000"));
        assert!(!matches("http://localhost:3000", "http://localhost"));
        assert!(!matches("http://example.com", "http://example.com:3000"));
    }

    #[test]
    fn a_refusal_names_the_host_with_its_port() {
        for written in ["example.com", "example.com:8080"] {
            assert_eq!(Host::parse(written).unwrap().to_string(), written);
        }
    }
}
