//! Trace context and baggage as text: how `_meta` and HTTP headers carry them.
//!
//! The protocol fixes the format, W3C Trace Context and Baggage. So it does not depend on the
//! propagator that the program has set for its other messages.

use std::str::FromStr as _;

use bowline_types::trace;
use opentelemetry::Context;
use opentelemetry::baggage::{Baggage, BaggageExt as _};
use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

/// The span that `traceparent` and `tracestate` name; `None` if they break the rules of W3C.
pub(crate) fn span_context(traceparent: &str, tracestate: Option<&str>) -> Option<SpanContext> {
    if !trace::is_traceparent(traceparent) {
        return None;
    }
    let mut parts = traceparent.split('-').skip(1);
    let trace_id = TraceId::from_hex(parts.next()?).ok()?;
    let span_id = SpanId::from_hex(parts.next()?).ok()?;
    let flags = u8::from_str_radix(parts.next()?, 16).ok()?;
    let flags = TraceFlags::new(flags) & TraceFlags::SAMPLED;
    let state = tracestate.filter(|it| trace::is_tracestate(it));
    let state = state.and_then(|it| TraceState::from_str(it).ok()).unwrap_or_default();
    Some(SpanContext::new(trace_id, span_id, flags, true, state))
}

/// A span as `traceparent`.
pub(crate) fn traceparent(span: &SpanContext) -> String {
    let flags = span.trace_flags() & TraceFlags::SAMPLED;
    format!("00-{}-{}-{:02x}", span.trace_id(), span.span_id(), flags)
}

/// The context with the baggage of a text. A text that breaks the rules of W3C changes nothing.
pub(crate) fn with_baggage(context: Context, text: &str) -> Context {
    if !trace::is_baggage(text) {
        return context;
    }
    let mut baggage = Baggage::new();
    for member in text.split(',') {
        let (pair, properties) = member.split_once(';').unwrap_or((member, ""));
        let Some((name, value)) = pair.split_once('=') else { continue };
        let Some(value) = percent_decoded(value.trim()) else { continue };
        baggage.insert_with_metadata(name.trim().to_owned(), value, properties.trim());
    }
    match baggage.is_empty() {
        true => context,
        false => context.with_baggage(baggage),
    }
}

/// The baggage of a context as text; `None` if there is none.
pub(crate) fn baggage(context: &Context) -> Option<String> {
    let members = context.baggage().iter().map(|(name, (value, metadata))| {
        let value = percent_encoded(value.as_str());
        match metadata.as_str() {
            "" => format!("{name}={value}"),
            properties => format!("{name}={value};{properties}"),
        }
    });
    let mut members: Vec<_> = members.collect();
    members.sort_unstable();
    Some(members.join(",")).filter(|text| !text.is_empty() && trace::is_baggage(text))
}

/// Decodes `%20` and its like; `None` if the result is no UTF-8.
fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = std::str::from_utf8(after.get(..2).unwrap_or_default());
        let code = code.ok().and_then(|code| u8::from_str_radix(code, 16).ok());
        match code.filter(|_| *first == b'%' && after.len() >= 2) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// Encodes what baggage may not hold: everything but visible ASCII, and what separates members.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'"' | b',' | b';' | b'\\' | b'%' => encoded.push_str(&format!("%{byte:02X}")),
            b'!'..=b'~' => encoded.push(char::from(byte)),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn a_span_survives_as_text() {
        let span = span_context(PARENT, Some("congo=t61,rojo=00f")).unwrap();
        assert!(span.is_remote() && span.is_sampled() && span.is_valid());
        assert_eq!(span.trace_state().header(), "congo=t61,rojo=00f");
        assert_eq!(traceparent(&span), PARENT);
        let unsampled = PARENT.replace("-01", "-02");
        assert_eq!(
            traceparent(&span_context(&unsampled, None).unwrap()),
            PARENT.replace("-01", "-00")
        );
    }

    #[test]
    fn a_broken_state_loses_no_parent() {
        let span = span_context(PARENT, Some("a=1,a=2")).unwrap();
        assert_eq!(span.trace_state().header(), "");
        assert!(span_context("00-ab-cd-01", None).is_none());
        assert!(span_context(&PARENT.to_uppercase(), None).is_none());
    }

    #[test]
    fn baggage_survives_as_text() {
        let text = "city=K%C3%B6ln%2C%20Rhein,user=ann;level=2;hidden";
        let context = with_baggage(Context::new(), text);
        let city = context.baggage().get("city").map(ToString::to_string);
        assert_eq!(city.as_deref(), Some("Köln, Rhein"));
        assert_eq!(baggage(&context).as_deref(), Some(text));
    }

    #[test]
    fn baggage_that_breaks_the_rules_is_dropped() {
        for text in ["a", "a=\"1\"", "=1", ""] {
            assert_eq!(baggage(&with_baggage(Context::new(), text)), None, "{text}");
        }
        // Not hexadecimal, cut short, and not UTF-8: the last is dropped alone.
        let context = with_baggage(Context::new(), "a=%zz,b=%2,c=%ff");
        assert_eq!(baggage(&context).as_deref(), Some("a=%25zz,b=%252"));
    }
}
