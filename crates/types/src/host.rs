//! The hosts of URLs.

use std::net::IpAddr;

/// Whether a host is this machine: `localhost`, or a loopback address. An IPv6 address may be in
/// brackets, as in a URL.
///
/// Names below `localhost` do not count, because resolvers differ in how they resolve them.
///
/// ```
/// use bowline_types::host::is_this_machine;
///
/// assert!(is_this_machine("LocalHost") && is_this_machine("127.0.0.1") && is_this_machine("[::1]"));
/// assert!(!is_this_machine("localhost.example.com"));
/// ```
pub fn is_this_machine(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_loopback = |address: IpAddr| address.to_canonical().is_loopback();
    let name = host.strip_suffix('.').unwrap_or(host);
    name.eq_ignore_ascii_case("localhost") || bare.unwrap_or(host).parse().is_ok_and(is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_names_and_addresses() {
        for here in
            ["localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.9.8.7", "::1", "[::1]"]
        {
            assert!(is_this_machine(here), "{here}");
        }
        assert!(is_this_machine("[::ffff:127.0.0.1]"));
        for other in [
            "",
            ".",
            "a.localhost",
            "localhost.example.com",
            "notlocalhost",
            "128.0.0.1",
            "127.1",
            "0.0.0.0",
            "[::2]",
            "[127.0.0.1",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
