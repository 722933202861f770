//! Words that are addresses of servers, or look like addresses.

use std::path::Path;

use crate::exit::Failure;
use crate::print::text;

/// The URL that a word is, with its scheme in small letters.
pub(super) fn url(word: &str) -> Option<String> {
    let (scheme, rest) = word.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    matches!(scheme.as_str(), "http" | "https").then(|| format!("{scheme}://{rest}"))
}

/// The failure for a word that looks like an address but is no URL over HTTP, so that it is not
/// started as a program.
pub(super) fn refused(word: &str) -> Option<Failure> {
    let begins = "a URL begins with `http://` or `https://`";
    if let Some((scheme, _)) = word.split_once("://")
        && is_scheme(scheme)
    {
        return Some(Failure::usage(text!("`{word}` is no URL of a server")).hint(begins));
    }
    if !has_host(word) || Path::new(word).exists() {
        return None;
    }
    let failure = Failure::usage(text!("`{word}` is an address without a scheme"));
    Some(failure.hint(text!("{begins}: `http://{word}`")))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '.' | '-'))
}

/// Whether a word begins with `host:port`, or with a name that has dots, and a path follows.
fn has_host(word: &str) -> bool {
    if word.contains(char::is_whitespace) {
        return false;
    }
    let (authority, has_path) = match word.split_once('/') {
        Some((authority, _)) => (authority, true),
        None => (word, false),
    };
    let is_host = |host: &str| {
        host.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[')
            && host.chars().all(|c| c.is_ascii_alphanumeric() || "-.[]:".contains(c))
    };
    match authority.rsplit_once(':') {
        Some((host, port)) => is_host(host) && port.parse::<u16>().is_ok(),
        None => {
            has_path && is_host(authority) && (authority == "localhost" || authority.contains('.'))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognized_and_programs_are_not() {
        for word in ["localhost:8808/mcp", "localhost:8808", "[::1]:80/mcp", "a.example/mcp"] {
            assert!(refused(word).is_some(), "{word}");
        }
        for word in ["ftp://example.com", "ws://localhost/mcp"] {
            assert!(refused(word).is_some(), "{word}");
        }
        for word in ["./server", "../a.b/server", "bin/server", "/usr/bin/x", r"C:\a\b.exe", "git"]
        {
            assert!(refused(word).is_none(), "{word}");
        }
        assert!(refused("npx server --at http://localhost:80/mcp").is_none());
        assert!(refused("Claude:git").is_none());
    }

    #[test]
    fn the_scheme_of_a_url_has_no_case() {
        assert_eq!(url("HTTP://localhost/Mcp").unwrap(), "http://localhost/Mcp");
        assert_eq!(url("ftp://localhost"), None);
    }
}
