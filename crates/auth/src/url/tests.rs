//! Tests of the URL parser, and the comparison with the crate `url`.

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn refusal(text: &str) -> String {
    Url::parse(text).unwrap_err().to_string()
}

#[test]
fn the_parts_of_a_url_are_read() {
    let url = url("HTTPS://Example.COM:8443/a/b?c=d");
    assert_eq!((url.host().as_str(), url.port(), url.path()), ("example.com", 8443, "/a/b"));
    assert_eq!((url.query(), url.ip(), url.is_https()), (Some("c=d"), None, true));
    assert_eq!(url.as_str(), "HTTPS://Example.COM:8443/a/b?c=d");
    assert_eq!(url.to_uri(), "https://example.com:8443/a/b?c=d");
    assert_eq!(
        format!("{:?}", super::tests::url("https://a.example/x")),
        "Url(https://a.example/x)"
    );
    for (text, address) in [("http://10.0.0.1:1/", "10.0.0.1"), ("http://[1::]:80/", "1::")] {
        assert_eq!(super::tests::url(text).ip(), Some(address.parse().unwrap()));
    }
}

#[test]
fn a_host_name_is_one_of_dns() {
    let label = |length: usize| "a".repeat(length);
    let name = |last: usize| format!("{}.{}.{}.{}", label(63), label(63), label(63), label(last));
    for host in [
        label(63),
        name(61),
        "_a.example".to_owned(),
        "0xg".to_owned(),
        "a.0xg".to_owned(),
        "a-b.c".to_owned(),
    ] {
        assert_eq!(url(&format!("https://{host}/")).host(), host);
    }
    for host in [
        label(64),
        name(62),
        "-a".to_owned(),
        "a-".to_owned(),
        "a.-b".to_owned(),
        "a..b".to_owned(),
        "0xf".to_owned(),
        "a.0x".to_owned(),
    ] {
        assert!(refusal(&format!("https://{host}/")).contains("its host is wrong"), "{host}");
    }
}

#[test]
fn the_canonical_form_has_a_lower_case_host_and_no_lone_slash() {
    for (text, canonical) in [
        ("HTTPS://MCP.Example.com", "https://mcp.example.com"),
        ("https://mcp.example.com/", "https://mcp.example.com"),
        ("https://mcp.example.com:443/Mcp", "https://mcp.example.com/Mcp"),
        ("http://mcp.example.com:443/mcp/", "http://mcp.example.com:443/mcp/"),
        ("http://[::1]:80?a", "http://[::1]?a"),
    ] {
        assert_eq!(url(text).canonical(), canonical);
    }
}

#[test]
fn a_url_that_parsers_read_differently_is_refused() {
    for (text, reason) in [
        ("javascript:alert(1)", "does not begin with"),
        ("data:text/html,x", "does not begin with"),
        ("file:///etc/passwd", "does not begin with"),
        ("//example.com/", "does not begin with"),
        ("https:/example.com/", "does not begin with"),
        ("https://ann:pw@example.com/", "it names a user"),
        ("https://example.com@evil.example/", "it names a user"),
        ("https://example.com/#a", "it has a fragment"),
        ("https://example.com#@evil.example/", "it has a fragment"),
        ("https://example.com/a/../b", "contains `.` or `..`"),
        ("https://example.com/a/%2E./b", "contains `.` or `..`"),
        ("https://example.com\\@evil.example/", "it contains '\\\\'"),
        ("https://exam\tple.com/", "it contains '\\t'"),
        ("https://example.com/\u{e9}", "it contains"),
        ("https://example.com/%zz", "`%` without"),
        ("https://example.com/%2", "`%` without"),
        ("https://example.com/[", "brackets"),
        ("https://", "its host is wrong"),
        ("https://:443/", "its host is wrong"),
        ("https://example.com./", "its host is wrong"),
        ("https://ex%61mple.com/", "its host is wrong"),
        ("https://[::1", "its host is wrong"),
        ("https://[fe80::1%25eth0]/", "its host is wrong"),
        ("https://127.1/", "its host is wrong"),
        ("https://0x7f000001/", "its host is wrong"),
        ("https://2130706433/", "its host is wrong"),
        ("https://127.0.0.01/", "its host is wrong"),
        ("https://example.com:/", "its port is wrong"),
        ("https://example.com:0/", "its port is wrong"),
        ("https://example.com:0443/", "its port is wrong"),
        ("https://example.com:65536/", "its port is wrong"),
    ] {
        assert!(refusal(text).contains(reason), "{text}: {}", refusal(text));
    }
}

#[test]
fn a_url_is_bounded_in_length() {
    let fill = |length: usize| format!("https://a.example/{}", "a".repeat(length - 18));
    assert!(Url::parse(&fill(MOST_URL)).is_ok());
    assert!(Url::parse(&fill(MOST_URL + 1)).unwrap_err().is_too_large());
}

#[test]
fn an_error_and_debug_do_not_show_the_query() {
    let shown = refusal("https://a.example/%?code=canary");
    assert!(shown.contains("https://a.example/%") && !shown.contains("canary"), "{shown}");
    assert!(!format!("{:?}", url("https://a.example/?code=canary")).contains("canary"));
}

#[test]
fn a_url_covers_whole_segments_of_its_own_origin() {
    for (outer, inner, covers) in [
        ("https://a.example", "https://a.example/mcp", true),
        ("https://a.example/mcp", "https://A.example:443/mcp", true),
        ("https://a.example/mcp", "https://a.example/mcp/x", true),
        ("https://a.example/mcp/", "https://a.example/mcp", true),
        ("https://a.example/mcp", "https://a.example/mcpx", false),
        ("https://a.example/mcp/x", "https://a.example/mcp", false),
        ("https://a.example/mcp", "http://a.example/mcp", false),
        ("https://a.example:8080/mcp", "http://a.example:8080/mcp", false),
        ("https://a.example/mcp", "https://b.example/mcp", false),
        ("https://a.example:8443/mcp", "https://a.example/mcp", false),
        ("https://a.example/mcp?t=1", "https://a.example/mcp", false),
        ("https://a.example/mcp?t=1", "https://a.example/mcp?t=1", true),
        ("https://a.example/mcp", "https://a.example/mcp?t=1", true),
    ] {
        assert_eq!(url(outer).covers(&url(inner)), covers, "{outer} {inner}");
    }
}

#[test]
fn loopback_is_a_name_or_an_address_of_this_machine() {
    for text in ["http://localhost/", "http://127.8.0.1/", "http://[::1]:3000/"] {
        assert!(url(text).is_loopback() && url(text).is_confidential(), "{text}");
    }
    for text in ["http://localhost.example/", "http://10.0.0.1/", "http://[::ffff:127.0.0.1]/"] {
        assert!(!url(text).is_loopback() && !url(text).is_confidential(), "{text}");
    }
}

#[test]
fn members_are_added_to_the_query() {
    let form = Form::new().with("a", "b c");
    assert_eq!(
        url("https://a.example/x").with_query(&form).unwrap().as_str(),
        "https://a.example/x?a=b+c"
    );
    assert_eq!(
        url("https://a.example/?x").with_query(&form).unwrap().as_str(),
        "https://a.example/?x&a=b+c"
    );
}

#[test]
fn another_path_of_the_same_origin_is_found() {
    let well_known = url("https://A.example:443/x?y").at_origin("/.well-known/z").unwrap();
    assert_eq!(well_known.as_str(), "https://a.example/.well-known/z");
}

/// Whether we accept a text. What we accept, the crate `url` reads the same way. It checks
/// internationalized names, which are opaque to us.
fn url_differential(text: &str) -> bool {
    let Ok(ours) = Url::parse(text) else { return false };
    let theirs = match ::url::Url::parse(text) {
        Ok(theirs) => theirs,
        Err(error) => {
            assert!(text.contains("xn--"), "{text:?}: {error}");
            return true;
        }
    };
    assert_eq!(ours.is_https(), theirs.scheme() == "https", "{text:?}");
    assert_eq!(Some(ours.host.to_string().as_str()), theirs.host_str(), "{text:?}");
    assert_eq!(Some(ours.port()), theirs.port_or_known_default(), "{text:?}");
    assert_eq!(ours.path(), theirs.path(), "{text:?}");
    let query = ours.query().map(|query| query.replace('\'', "%27"));
    assert_eq!(query.as_deref(), theirs.query(), "{text:?}");
    assert_eq!(ours.origin(), theirs.origin().ascii_serialization(), "{text:?}");
    assert_eq!(ours.to_uri().host().map(str::to_owned), Some(ours.host.to_string()), "{text:?}");
    assert_eq!(Url::parse(&ours.canonical()).unwrap().canonical(), ours.canonical(), "{text:?}");
    true
}

/// Compares many texts, and fails if one of the verdicts is rare.
fn compare(texts: impl Strategy<Value = String>, rare: u32) {
    let accepted = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { cases: 2000, ..ProptestConfig::default() });
    let compared = runner.run(&texts, |text| {
        accepted.set(accepted.get() + u32::from(url_differential(&text)));
        Ok(())
    });
    compared.unwrap();
    let accepted = accepted.get();
    assert!((rare..=2000 - rare).contains(&accepted), "{accepted} of 2000 are accepted");
}

#[test]
fn url_differential_on_urls() {
    let host = r"([a-zA-Z0-9_-]{1,4}|\[[0-9a-f:.]{2,12}\]|xn--[a-z]{1,3}|0x[0-9a-f]{0,2}|[0-9]{1,3})(\.[a-z0-9x-]{1,4}){0,3}";
    let rest = r"(:[0-9]{0,5})?(/[a-z0-9.%2eE@:~'!+;=]{0,8}){0,3}(\?[a-z%0-9'&=?/]{0,8})?";
    let pattern = format!("[hH]ttps?://{host}{rest}");
    compare(proptest::string::string_regex(&pattern).unwrap(), 200);
}

#[test]
fn url_differential_on_almost_anything() {
    compare("https?://[a-z.]{0,6}[ -~é]{0,3}[/:?#]?[ -~]{0,6}", 20);
}

#[test]
fn url_differential_on_addresses() {
    let texts = (any::<[u16; 8]>(), any::<[u8; 4]>(), 0_usize..8, 0..4).prop_map(
        |(mut a, b, zeros, kind)| {
            a[..zeros].fill(0);
            let (a, b) = (Ipv6Addr::from(a), Ipv4Addr::from(b));
            match kind {
                0 => format!("http://[{a}]/"),
                1 => format!("http://[::ffff:{b}]/"),
                2 => format!("http://{b}/"),
                _ => format!("http://{}/", u32::from(b)),
            }
        },
    );
    compare(texts, 200);
}
