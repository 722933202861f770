//! The headers of a request, as the protocol sees them.

use bowline_proto::mirror::{self, Field, Head, ParamHeaders};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};

const VERSION: HeaderName = HeaderName::from_static(mirror::PROTOCOL_VERSION);
const METHOD: HeaderName = HeaderName::from_static(mirror::METHOD);
const NAME: HeaderName = HeaderName::from_static(mirror::NAME);

/// The headers that repeat what a message says.
pub(super) fn mirrored(headers: &HeaderMap) -> Head<'_> {
    Head {
        version: field(headers, &VERSION),
        method: field(headers, &METHOD),
        name: field(headers, &NAME),
    }
}

/// The headers that repeat arguments.
pub(super) fn params(headers: &HeaderMap) -> ParamHeaders {
    let mut params = ParamHeaders::default();
    for (name, value) in headers {
        if let Some(name) = name.as_str().strip_prefix(mirror::PARAM_PREFIX) {
            params.add(name, readable(value));
        }
    }
    params
}

/// A header that may come once.
pub(super) fn field<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Field<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Field::Absent,
        (Some(value), None) => readable(value).map_or(Field::Unreadable, Field::Value),
        (Some(_), Some(_)) => Field::Repeated,
    }
}

fn readable(value: &HeaderValue) -> Option<&str> {
    value.to_str().ok()
}

/// Whether the body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(readable).unwrap_or_default();
    essence(value).eq_ignore_ascii_case("application/json")
}

/// Whether the client takes an answer of this type. One that does not say takes anything.
pub(super) fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let (family, _) = wanted.split_once('/').unwrap_or((wanted, ""));
    values.filter_map(readable).flat_map(|value| value.split(',')).any(|range| {
        let range = essence(range);
        let is_family = range.strip_suffix("/*").is_some_and(|it| it.eq_ignore_ascii_case(family));
        range.eq_ignore_ascii_case(wanted) || range == "*/*" || is_family
    })
}

/// A media type without its parameters.
fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
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
    fn a_client_says_what_it_takes_in_many_ways() {
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
            assert!(accepts(&headers, "application/json"), "{values:?}");
            assert!(accepts(&headers, "text/event-stream"), "{values:?}");
        }
        let headers = headers(&header::ACCEPT, &["application/json, text/html"]);
        assert!(accepts(&headers, "application/json"));
        assert!(!accepts(&headers, "text/event-stream"));
    }

    #[test]
    fn json_is_json_whatever_its_parameters() {
        for value in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
            assert!(is_json(&headers(&header::CONTENT_TYPE, &[value])), "{value}");
        }
        for value in ["text/plain", "application/jsonp", "application/x-www-form-urlencoded", ""] {
            assert!(!is_json(&headers(&header::CONTENT_TYPE, &[value])), "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }
}
