//! Checks the trace keys of `_meta` against W3C [Trace Context] and [Baggage].
//!
//! A value that breaks the rules is of no use to a tracing system, so it is not passed on.
//!
//! [Trace Context]: https://www.w3.org/TR/trace-context/
//! [Baggage]: https://www.w3.org/TR/baggage/

use crate::meta::key;

/// The most members of a `tracestate`.
const MOST_STATES: usize = 32;

/// The most bytes of a `tracestate` key or value.
const LONGEST_STATE: usize = 256;

/// The most bytes of a `baggage`. The specification lets a system drop more.
const LONGEST_BAGGAGE: usize = 8192;

/// Whether a key of `_meta` carries trace context.
pub fn is_key(meta_key: &str) -> bool {
    matches!(meta_key, key::TRACEPARENT | key::TRACESTATE | key::BAGGAGE)
}

/// Whether the value of a key of `_meta` follows its specification. Keys without trace context
/// accept every text.
pub fn may_stand_at(meta_key: &str, text: &str) -> bool {
    match meta_key {
        key::TRACEPARENT => is_traceparent(text),
        key::TRACESTATE => is_tracestate(text),
        key::BAGGAGE => is_baggage(text),
        _ => true,
    }
}

/// Whether a text is a `traceparent`: version, trace id, span id and flags in lower-case
/// hexadecimal.
///
/// ```
/// use bowline_types::trace::is_traceparent;
///
/// assert!(is_traceparent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
/// assert!(!is_traceparent("00-0-0-01"));
/// ```
pub fn is_traceparent(text: &str) -> bool {
    let mut parts = text.splitn(5, '-');
    let (Some(version), Some(trace), Some(span), Some(flags)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    // Later versions may have more parts; version 00 has exactly four.
    let ends_well = parts.next().is_none() || version != "00";
    ends_well
        && is_hexadecimal(version, 2)
        && version != "ff"
        && is_id(trace, 32)
        && is_id(span, 16)
        && is_hexadecimal(flags, 2)
}

/// Whether a text is a `tracestate`: a list of `key=value` with distinct keys.
pub fn is_tracestate(text: &str) -> bool {
    let mut keys = Vec::new();
    for member in members(text) {
        let Some((key, value)) = member.split_once('=') else { return false };
        if !is_state_key(key) || !is_state_value(value) || keys.contains(&key) {
            return false;
        }
        keys.push(key);
    }
    keys.len() <= MOST_STATES
}

/// Whether a text is a `baggage`: a list of `key=value`, each with optional properties.
pub fn is_baggage(text: &str) -> bool {
    let is_pair = |text: &str| {
        text.split_once('=').is_some_and(|(key, value)| {
            is_token(key.trim_end()) && value.trim_start().bytes().all(is_baggage_octet)
        })
    };
    let is_member = |member: &str| {
        let mut parts = member.split(';').map(str::trim);
        parts.next().is_some_and(is_pair) && parts.all(|part| is_token(part) || is_pair(part))
    };
    text.len() <= LONGEST_BAGGAGE && members(text).all(is_member)
}

/// The members of a comma-separated list. Members may be empty.
fn members(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(|member| member.trim_matches([' ', '\t'])).filter(|it| !it.is_empty())
}

fn is_hexadecimal(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether a text is hexadecimal of this length and not zero.
fn is_id(text: &str, length: usize) -> bool {
    is_hexadecimal(text, length) && text.bytes().any(|it| it != b'0')
}

/// Whether a text is `vendor` or `tenant@vendor`.
fn is_state_key(key: &str) -> bool {
    let may_follow =
        |it: u8| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'*' | b'/' | b'@');
    key.len() <= LONGEST_STATE
        && key.starts_with(|it: char| it.is_ascii_lowercase() || it.is_ascii_digit())
        && key.bytes().all(may_follow)
        && key.matches('@').count() <= 1
}

fn is_state_value(value: &str) -> bool {
    let may_stand = |it: u8| matches!(it, b' '..=b'~') && !matches!(it, b',' | b'=');
    !value.is_empty() && value.len() <= LONGEST_STATE && value.bytes().all(may_stand)
}

/// Whether a text is a token of HTTP.
fn is_token(text: &str) -> bool {
    let may_stand = |it: u8| it.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&it);
    !text.is_empty() && text.bytes().all(may_stand)
}

fn is_baggage_octet(octet: u8) -> bool {
    matches!(octet, b'!'..=b'~') && !matches!(octet, b'"' | b',' | b';' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    // spec: META-11
    #[test]
    fn a_traceparent_names_a_trace_and_a_span() {
        let good = [PARENT, "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"];
        for text in good {
            assert!(is_traceparent(text), "{text}");
        }
        let bad = [
            "",
            "00-ab-cd-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
            "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01",
        ];
        for text in bad {
            assert!(!is_traceparent(text), "{text}");
        }
    }

    // spec: META-11
    #[test]
    fn a_tracestate_is_a_list_of_vendors() {
        let good = ["", "congo=t61rcWkgMzE", "rojo=00f067aa0ba902b7 , congo=t61:x,,", "a@b=1"];
        for text in good {
            assert!(is_tracestate(text), "{text}");
        }
        let many: Vec<_> = (0..33).map(|number| format!("k{number}=1")).collect();
        let long = format!("a={}", "x".repeat(257));
        for text in ["a", "a=", "A=1", "a=1,a=2", "a=b=c", "a@b@c=1", "a=ä", &many.join(","), &long]
        {
            assert!(!is_tracestate(text), "{text}");
        }
    }

    // spec: META-11
    #[test]
    fn a_baggage_is_a_list_of_values_with_properties() {
        let good = ["", "user=ann", "a=1;secret;level = 2 , b=%20", "a = ", "x*y=c"];
        for text in good {
            assert!(is_baggage(text), "{text}");
        }
        let long = format!("a={}", "x".repeat(LONGEST_BAGGAGE));
        for text in ["a", "=1", "a b=1", "a=\"1\"", "a=b c", "a=1;b c", "a=ä", &long] {
            assert!(!is_baggage(text), "{text}");
        }
    }
}
