//! Web pages that a server wants the user to visit, and what is suspicious about them.
//!
//! Nothing here opens or fetches a URL. After the user has agreed, the application opens it in the
//! user's own browser, where neither the program nor the model sees the page.

use std::fmt;

use bowline_types::elicitation::{InvalidElicitationUrl, UrlParams};
use bowline_types::host::is_this_machine;

/// A web page that a server wants the user to visit.
///
/// Show the user the whole [`url`](Self::url) with its [`host`](Self::host) highlighted, and all
/// [`suspicions`](Self::suspicions). Open it only after the user agreed, in the user's browser, not
/// in an embedded view. Never fetch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebPage {
    message: String,
    url: String,
    elicitation_id: Option<String>,
}

impl WebPage {
    /// Checks the page of a server's question.
    ///
    /// # Errors
    ///
    /// If the URL is not an `https` or `http` URL with a host.
    pub(crate) fn new(params: UrlParams) -> Result<Self, InvalidElicitationUrl> {
        params.check_url()?;
        let UrlParams { message, url, elicitation_id, .. } = params;
        Ok(Self { message, url, elicitation_id })
    }

    /// The server's explanation why the user should visit the page.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The whole URL, to be shown to the user.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host of the URL, without user name and port: the part to highlight.
    pub fn host(&self) -> &str {
        let host = self.authority().rsplit('@').next().unwrap_or_default();
        match host.find(']') {
            Some(end) => host.get(..=end).unwrap_or(host),
            None => host.split(':').next().unwrap_or(host),
        }
    }

    /// The id by which the server reports that the user has finished with the page (2025-11-25). It
    /// is what [`on_elicitation_complete`](crate::ClientBuilder::on_elicitation_complete) gets.
    pub fn elicitation_id(&self) -> Option<&str> {
        self.elicitation_id.as_deref()
    }

    /// What is suspicious about the URL, to be shown before the user decides.
    pub fn suspicions(&self) -> Vec<Suspicion> {
        let host = self.host();
        let is_address = is_address(host);
        let is_here = is_loopback(host);
        let scheme = self.url.split(':').next().unwrap_or_default();
        let labels = || host.split('.');
        let encoded =
            |label: &str| label.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("xn--"));
        [
            (!is_here && !scheme.eq_ignore_ascii_case("https"), Suspicion::Unencrypted),
            (self.authority().contains('@'), Suspicion::UserName),
            (labels().any(encoded), Suspicion::Punycode),
            (!host.is_ascii() || host.contains('%'), Suspicion::UnusualCharacters),
            (is_address && !is_here, Suspicion::Address),
        ]
        .into_iter()
        .filter_map(|(applies, suspicion)| applies.then_some(suspicion))
        .collect()
    }

    /// The authority of the URL. Browsers read `\` as `/`.
    fn authority(&self) -> &str {
        let rest = self.url.split_once("://").map_or("", |(_, rest)| rest);
        rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
    }
}

/// A reason not to visit a web page. Its text is a clause for a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Suspicion {
    /// The connection is not encrypted.
    Unencrypted,
    /// A user name precedes the host; attackers make it look like a host.
    UserName,
    /// A part of the host is Punycode: letters of another script.
    Punycode,
    /// The host has non-ASCII or percent-encoded characters.
    UnusualCharacters,
    /// The host is an IP address instead of a name.
    Address,
}

impl fmt::Display for Suspicion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unencrypted => "the connection would not be encrypted",
            Self::UserName => "what stands before the `@` is not the host",
            Self::Punycode => "a part of the host stands for letters of another script (`xn--`)",
            Self::UnusualCharacters => "the host holds characters that may look like others",
            Self::Address => "the host is a number instead of a name",
        })
    }
}

/// Whether a host is this machine, where encryption is not needed.
fn is_loopback(host: &str) -> bool {
    // Browsers find every name below `localhost` here.
    is_this_machine(host) || host.to_ascii_lowercase().ends_with(".localhost")
}

/// Whether browsers read a host as an IP address: `10.0.0.1`, but also `0x0a.1` and `[::1]`.
fn is_address(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_hexadecimal = last.get(..2).is_some_and(|it| it.eq_ignore_ascii_case("0x"));
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    host.starts_with('[') || is_hexadecimal || is_decimal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(url: &str) -> WebPage {
        WebPage::new(UrlParams::new("Sign in", url)).unwrap()
    }

    // spec: ELIC-68
    #[test]
    fn the_host_is_where_a_browser_goes() {
        for (url, host) in [
            ("https://example.com", "example.com"),
            ("https://example.com:8443/a?b@c#d", "example.com"),
            ("https://good.example@evil.example/", "evil.example"),
            ("https://a:b@c@evil.example:1/", "evil.example"),
            ("https://evil.example\\@good.example/", "evil.example"),
            ("https://evil.example?good.example", "evil.example"),
            ("http://[::1]:3000/x", "[::1]"),
        ] {
            assert_eq!(page(url).host(), host, "{url}");
            assert_eq!(page(url).url(), url);
        }
    }

    // spec: ELIC-63, ELIC-69
    #[test]
    fn suspicions_are_found_in_the_url() {
        use Suspicion::{Address, Punycode, Unencrypted, UnusualCharacters, UserName};
        let cases: [(&str, &[Suspicion]); 14] = [
            ("https://example.com/login", &[]),
            ("http://localhost:3000/", &[]),
            ("http://app.localhost/", &[]),
            ("http://127.0.0.1/", &[]),
            ("http://[::1]/", &[]),
            ("HTTPS://example.com/", &[]),
            ("http://example.com/", &[Unencrypted]),
            ("https://good.example@evil.example/", &[UserName]),
            ("https://xn--80ak6aa92e.com/", &[Punycode]),
            ("https://www.XN--80ak6aa92e.com/", &[Punycode]),
            ("https://аpple.com/", &[UnusualCharacters]),
            ("https://ex%61mple.com/", &[UnusualCharacters]),
            ("https://10.0.0.1/", &[Address]),
            ("http://0x7f.1/", &[Unencrypted, Address]),
        ];
        for (url, suspicions) in cases {
            assert_eq!(page(url).suspicions(), suspicions, "{url}");
        }
        assert_eq!(Unencrypted.to_string(), "the connection would not be encrypted");
    }

    // spec: ELIC-63
    #[test]
    fn a_url_that_no_browser_should_open_is_refused() {
        for url in ["javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "https://", ""]
        {
            assert!(WebPage::new(UrlParams::new("Sign in", url)).is_err(), "{url}");
        }
    }
}
