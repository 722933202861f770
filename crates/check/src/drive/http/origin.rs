//! Which addresses that a server names are fetched.

use bowline_types::host::is_this_machine;
use http::Uri;

/// Whether a URL that a server names is fetched: at the server's own origin, and from a server of this
/// machine also elsewhere on this machine.
pub(super) fn is_near(url: &str, server: &str) -> bool {
    let (Some(named), Some(own)) = (Origin::of(url), Origin::of(server)) else { return false };
    named == own || (is_this_machine(&named.host) && is_this_machine(&own.host))
}

#[derive(Debug, PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    fn of(url: &str) -> Option<Self> {
        let (url, _fragment) = url.split_once('#').unwrap_or((url, ""));
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let usual = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let host = uri.host()?.to_ascii_lowercase();
        Some(Self { port: uri.port_u16().unwrap_or(usual), scheme, host })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_origin_of_the_server_is_near() {
        let server = "https://mcp.example/mcp";
        for near in ["https://mcp.example/x?y#z", "HTTPS://MCP.example:443/x"] {
            assert!(is_near(near, server), "{near}");
        }
        for far in [
            "http://mcp.example/x",
            "https://mcp.example:444/x",
            "https://mcp.example.evil/x",
            "https://mcp.example@evil/x",
            "http://169.254.169.254/latest",
            "http://127.0.0.1/x",
            "http://localhost/x",
            "file:///etc/passwd",
            "/x",
        ] {
            assert!(!is_near(far, server), "{far}");
        }
    }

    #[test]
    fn a_server_of_this_machine_may_name_others_of_this_machine() {
        for near in ["http://127.0.0.1:2/x", "http://[::1]:2/x", "http://localhost/x"] {
            assert!(is_near(near, "http://127.0.0.1:1/mcp"), "{near}");
        }
        assert!(!is_near("http://10.0.0.1/x", "http://127.0.0.1:1/mcp"));
    }
}
