//! Reads the headers of a request that the protocol defines.
//!
//! A header of the protocol that comes twice, or is not visible ASCII, is neither ignored nor
//! guessed at: it is reported as [`HeaderField::Repeated`] or [`HeaderField::Unreadable`], and the
//! rule that needs the header refuses the request. A proxy that looked at the other copy would have
//! routed it differently.

use bowline_proto::mirror::{self, Head, HeaderField, ParamHeaders};
use http::Method;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;

const VERSION: HeaderName = HeaderName::from_static(mirror::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(mirror::METHOD);
const NAME: HeaderName = HeaderName::from_static(mirror::NAME);

/// The media type of a message.
pub(super) const JSON: &str = "application/json";
/// The media type of a stream of messages.
pub(super) const EVENTS: &str = "text/event-stream";
/// The `Accept` header of nearly all clients.
const BOTH: &[u8] = b"application/json, text/event-stream";

/// The headers that repeat parts of a message: version, method and name.
pub(super) fn mirrored(headers: &HeaderMap) -> Head<'_> {
    Head { version: version(headers), method: field(headers, &METHOD), name: field(headers, &NAME) }
}

/// The header `MCP-Protocol-Version`.
pub(super) fn version(headers: &HeaderMap) -> HeaderField<'_> {
    field(headers, &VERSION)
}

/// The `Mcp-Param-…` headers, which repeat arguments of a tool call. The server compares them with
/// the body of the call (2026-07-28), since a proxy may have decided by them.
pub(super) fn params(headers: &HeaderMap) -> ParamHeaders {
    let params = headers.iter().filter_map(|(name, value)| {
        let name = name.as_str().strip_prefix(mirror::PARAM_PREFIX)?;
        Some((name, readable(value)))
    });
    params.collect()
}

/// A header that may come at most once.
pub(super) fn field<'a>(headers: &'a HeaderMap, name: &HeaderName) -> HeaderField<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => HeaderField::Absent,
        (Some(value), None) => readable(value).map_or(HeaderField::Unreadable, HeaderField::Value),
        (Some(_), Some(_)) => HeaderField::Repeated,
    }
}

fn readable(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

/// Whether `Content-Type` is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    value == JSON.as_bytes() || essence(value).eq_ignore_ascii_case(JSON.as_bytes())
}

/// Whether the body is sent without a coding such as `gzip`. The server reads none, because a short
/// coded body can become a long one.
pub(super) fn is_plain(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    values.all(|value| {
        let mut codings = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        codings.all(|coding| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity"))
    })
}

/// Whether `Accept` covers all these types. A client without `Accept` takes anything.
pub(super) fn accepts<const N: usize>(headers: &HeaderMap, wanted: [&str; N]) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_some_and(|value| value.as_bytes() == BOTH) {
        return true;
    }
    let mut taken = [values.peek().is_none(); N];
    for range in values.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')) {
        let range = essence(range);
        for (taken, wanted) in taken.iter_mut().zip(wanted) {
            *taken |= is_within(range, wanted);
        }
    }
    !taken.contains(&false)
}

/// Headers that only clients of the protocol send.
const OF_CLIENTS: [&str; 3] = ["mcp-protocol-version", "mcp-session-id", "last-event-id"];

/// Whether a request is one of a browser that opens the address: a GET that wants `text/html` and no
/// event stream.
///
/// A program that takes anything (`*/*`) is no browser, and a request with a header of the protocol
/// comes from a client.
pub(super) fn wants_page(parts: &Parts) -> bool {
    parts.method == Method::GET
        && names(&parts.headers, "text/html")
        && !names(&parts.headers, EVENTS)
        && !OF_CLIENTS.iter().any(|name| parts.headers.contains_key(*name))
}

/// Whether `Accept` names this type itself, and not only a range that covers it.
fn names(headers: &HeaderMap, wanted: &str) -> bool {
    let values = headers.get_all(header::ACCEPT).iter();
    let mut ranges = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    ranges.any(|range| essence(range).eq_ignore_ascii_case(wanted.as_bytes()))
}

/// Whether a media range covers a media type. Besides the type itself, `*/*` and `application/*`
/// cover it. Weights (`q=0`) are not read.
fn is_within(range: &[u8], wanted: &str) -> bool {
    let is_family = |family: &[u8]| {
        let wanted = wanted.as_bytes().get(..=family.len()).and_then(|it| it.strip_suffix(b"/"));
        wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case(family))
    };
    range.eq_ignore_ascii_case(wanted.as_bytes())
        || range == b"*/*"
        || range.strip_suffix(b"/*").is_some_and(is_family)
}

/// A media type without its parameters.
fn essence(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    value.get(..end).unwrap_or_default().trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &HeaderName, values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn accept_is_read_in_all_its_forms() {
        for values in [
            &["application/json, text/event-stream"][..],
            &["text/event-stream;q=0.9, application/json;q=1"],
            &["application/json", "text/event-stream"],
            &["*/*"],
            &["text/*, application/*"],
            &["Application/JSON,TEXT/event-stream"],
            &[],
        ] {
            let headers = headers(&header::ACCEPT, values);
            assert!(accepts(&headers, [JSON, EVENTS]), "{values:?}");
        }
        let headers = headers(&header::ACCEPT, &["application/json, text/html"]);
        assert!(accepts(&headers, [JSON]));
        assert!(!accepts(&headers, [EVENTS]));
        assert!(!accepts(&headers, [JSON, EVENTS]));
        let other_families = self::headers(&header::ACCEPT, &["image/*, texts/*, t/*"]);
        assert!(!accepts(&other_families, [EVENTS]));
    }

    #[test]
    fn parameters_of_the_content_type_do_not_matter() {
        for value in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
            assert!(is_json(&headers(&header::CONTENT_TYPE, &[value])), "{value}");
        }
        for value in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""] {
            assert!(!is_json(&headers(&header::CONTENT_TYPE, &[value])), "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
