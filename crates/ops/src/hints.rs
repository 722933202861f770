//! What the user can do when a server cannot be reached.

/// A page that is not there.
pub const PATH: &str = "check the path of the address, which is often `/mcp`";

/// Something else than an MCP server answers.
pub const ADDRESS: &str = "is this the address of an MCP server? Most end with `/mcp`";

/// No answer in time.
pub const TIME: &str = "`--timeout SECONDS` waits longer";

/// An answer beyond the limit.
pub const SIZE: &str = "`--max-message SIZE` takes longer messages, such as `256M`";

/// A process that ended.
pub const OUTPUT: &str = "`--verbose` shows what the server writes";

/// Text on the standard output of a server that does not answer.
pub const NOISE: &str = "over stdio a server writes nothing but messages there: does this one \
                                need an option for stdio, or does it serve HTTP at a URL?";

/// A port without a server.
pub const PORT: &str = "is the server started, and is this its port?";

/// A name without an address.
pub const NAME: &str = "check the spelling of the host name, and the network";

/// `https://` at a port that speaks HTTP.
pub const NO_TLS: &str = "the server does not speak TLS: try `http://`";

/// A certificate that is not trusted.
pub const CERTIFICATE: &str =
    "this system must trust its certificate; `SSL_CERT_FILE` names certificates to trust";

/// Something else than MCP on standard output or at an address.
pub const SERVER: &str = "is this an MCP server? `bowline check` says which rules it breaks";

/// The hint for a connection to a URL that failed with this text, which names the URL.
///
/// The causes of such errors come from the operating system and from TLS, and only their text is
/// left here.
pub fn of_connection(text: &str) -> &'static str {
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match has(&["https://"]) {
        true if has(&["corrupt message", "invalidcontenttype", "handshake eof"]) => NO_TLS,
        true if has(&["certificate"]) => CERTIFICATE,
        _ if has(&["lookup", "dns error", "resolve"]) => NAME,
        _ => PORT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cause_of_a_failed_connection_has_its_hint() {
        let of = |text: &str| of_connection(&format!("POST https://a.example/mcp: {text}"));
        assert_eq!(of("received corrupt message of type InvalidContentType"), NO_TLS);
        assert_eq!(of("tls handshake eof"), NO_TLS);
        assert_eq!(of("invalid peer certificate: UnknownIssuer"), CERTIFICATE);
        assert_eq!(of("dns error: failed to lookup address information"), NAME);
        assert_eq!(of("tcp connect error: Connection refused (os error 111)"), PORT);
    }
}
