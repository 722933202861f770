//! Headers that repeat arguments of tools: made by clients, compared by servers.
//!
//! Which arguments are repeated is marked in the schema of the tool
//! ([`x_mcp_header`](super::x_mcp_header)). A client that has seen the schema sends the headers; a
//! server that knows its own schema compares them with the body (XMH-21).

use std::fmt;

use bowline_types::error::ErrorObject;

use super::head::{differs, mismatch, undecodable};
use super::value;
use super::x_mcp_header::MirroredParam;
use crate::members::Members;

/// The largest integer that every JSON reader keeps exact.
const SAFE: i64 = (1 << 53) - 1;

/// An argument to be sent as a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamHeader {
    /// The name of the header without `Mcp-Param-`.
    pub name: String,
    /// The value, not yet encoded.
    pub value: String,
}

/// The headers of one request that repeat arguments. Collected by the HTTP server before the tool
/// is known, so it holds every `Mcp-Param-…` header, also those that no mark asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders(Box<[(String, Option<String>)]>);

impl<'a> FromIterator<(&'a str, Option<&'a str>)> for ParamHeaders {
    /// Takes the names of the headers without `Mcp-Param-`, and their values; `None` for a value that
    /// is unreadable.
    fn from_iter<I: IntoIterator<Item = (&'a str, Option<&'a str>)>>(headers: I) -> Self {
        let headers = headers.into_iter();
        let kept =
            headers.map(|(name, value)| (name.to_ascii_lowercase(), value.map(str::to_owned)));
        Self(kept.collect())
    }
}

/// The value of an argument, as far as headers can repeat it. Numbers with a fraction have no
/// single spelling, so the specification leaves them out (XMH-7).
#[derive(Debug, PartialEq)]
enum Scalar {
    Text(String),
    Integer(i64),
    Boolean(bool),
}

/// The headers for a call of a tool with these marks. An argument that is absent or `null` gets no
/// header (XMH-19).
///
/// # Errors
///
/// If an integer is outside the range that every JSON reader keeps exact.
pub fn headers_for(
    marks: &[MirroredParam],
    arguments: &Members,
) -> Result<Vec<ParamHeader>, InexactInteger> {
    let mut headers = Vec::new();
    for mark in marks {
        let value = match scalar(arguments, &mark.path) {
            Some(Scalar::Text(text)) => text,
            Some(Scalar::Boolean(boolean)) => boolean.to_string(),
            Some(Scalar::Integer(integer)) if (-SAFE..=SAFE).contains(&integer) => {
                integer.to_string()
            }
            Some(Scalar::Integer(_)) => return Err(InexactInteger(mark.path.join("."))),
            None => continue,
        };
        headers.push(ParamHeader { name: mark.name.clone(), value });
    }
    Ok(headers)
}

/// An argument that is to be repeated in a header is beyond ±(2⁵³−1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InexactInteger(String);

impl fmt::Display for InexactInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`arguments.{}` is beyond ±(2^53-1), which a header cannot repeat", self.0)
    }
}

impl std::error::Error for InexactInteger {}

impl ParamHeaders {
    /// Whether the request had no such header.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares the headers with the arguments that they repeat. Headers without a mark are
    /// ignored.
    ///
    /// Nothing is expected for an argument that is absent or `null` (XMH-20). A header for such an
    /// argument differs from the body and is refused.
    ///
    /// # Errors
    ///
    /// If a header is missing, came twice, cannot be read or differs.
    pub fn check(&self, marks: &[MirroredParam], arguments: &Members) -> Result<(), ErrorObject> {
        for mark in marks {
            let header = format!("Mcp-Param-{}", mark.name);
            let place = || format!("params.arguments.{}", mark.path.join("."));
            let value = self.once(&mark.name, &header)?;
            let (value, argument) = match (value, scalar(arguments, &mark.path)) {
                (None, None) => continue,
                (None, Some(_)) => {
                    let place = place();
                    return Err(mismatch(format!(
                        "the header `{header}` is missing; it repeats `{place}`"
                    )));
                }
                (Some(value), argument) => (value, argument),
            };
            let decoded = value::decode(value).ok_or_else(|| undecodable(&header, value))?;
            if !argument.as_ref().is_some_and(|argument| argument.equals_header(&decoded)) {
                let argument =
                    argument.map_or_else(|| "nothing".to_owned(), |argument| argument.to_string());
                return Err(differs(&header, &decoded, &place(), &argument));
            }
        }
        Ok(())
    }

    /// The headers that no mark asks for. A server between others passes them on (XMH-25); those that
    /// cannot be decoded are left out.
    pub fn unmarked(&self, marks: &[MirroredParam]) -> Vec<ParamHeader> {
        let is_marked = |name: &str| marks.iter().any(|mark| mark.name.eq_ignore_ascii_case(name));
        let unmarked = self.0.iter().filter(|(name, _)| !is_marked(name));
        let passed = unmarked.filter_map(|(name, value)| {
            let value = value::decode(value.as_deref()?.trim_matches([' ', '\t']))?;
            Some(ParamHeader { name: name.clone(), value: value.into_owned() })
        });
        passed.collect()
    }

    /// The value of a header that may come only once.
    fn once(&self, name: &str, header: &str) -> Result<Option<&str>, ErrorObject> {
        let mut found = self.0.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
        let (first, second) = (found.next(), found.next());
        if second.is_some() {
            return Err(mismatch(format!(
                "the header `{header}` came more than once; send it once"
            )));
        }
        match first {
            Some((_, None)) => Err(mismatch(format!(
                "the header `{header}` holds characters that it must not; encode it as `=?base64?…?=`"
            ))),
            Some((_, Some(value))) => Ok(Some(value.trim_matches([' ', '\t']))),
            None => Ok(None),
        }
    }
}

impl Scalar {
    /// Whether the decoded value of a header equals this value. Integers are compared as numbers,
    /// so `42.0` equals `42` (HDR-13).
    fn equals_header(&self, value: &str) -> bool {
        match self {
            Self::Text(text) => value == text,
            Self::Boolean(boolean) => value == boolean.to_string(),
            Self::Integer(integer) => read_integer(value) == Some(*integer),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Integer(integer) => integer.fmt(f),
            Self::Boolean(boolean) => boolean.fmt(f),
        }
    }
}

/// The argument at a path; `None` if it is absent, `null`, or of a type that headers do not repeat.
fn scalar(arguments: &Members, path: &[String]) -> Option<Scalar> {
    let (last, parents) = path.split_last()?;
    let mut object = arguments.clone();
    for parent in parents {
        object = object.object(parent).ok()?;
    }
    match object.value(last)? {
        "true" => Some(Scalar::Boolean(true)),
        "false" => Some(Scalar::Boolean(false)),
        text if text.starts_with('"') => serde_json::from_str(text).ok().map(Scalar::Text),
        number => read_integer(number).map(Scalar::Integer),
    }
}

/// An integer, also when it is written as `42.0` or `4.2e1`. JSON has one kind of number, and some
/// writers put a point into every one.
fn read_integer(text: &str) -> Option<i64> {
    if let Ok(integer) = text.parse() {
        return Some(integer);
    }
    let number: f64 = text.parse().ok()?;
    let exact = number.fract() == 0.0 && number.abs() <= SAFE as f64;
    exact.then_some(number as i64)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn marks(paths: &[(&str, &str)]) -> Vec<MirroredParam> {
        paths.iter().map(|(path, name)| MirroredParam::new(path.split('.'), name)).collect()
    }

    fn arguments(json: &'static str) -> Members {
        Members::cut(Bytes::from_static(json.as_bytes())).unwrap()
    }

    fn headers(headers: &[(&str, Option<&str>)]) -> ParamHeaders {
        headers.iter().copied().collect()
    }

    // spec: XMH-2, XMH-14, XMH-18, XMH-19
    #[test]
    fn arguments_become_headers_where_they_have_a_value() {
        let marks = marks(&[("a.b", "B"), ("n", "N"), ("yes", "Yes"), ("no", "No"), ("x", "X")]);
        let given = arguments(r#"{"a":{"b":" é"},"n":42.0,"yes":true,"no":null}"#);
        let made = headers_for(&marks, &given).unwrap();
        let made: Vec<_> = made.iter().map(|h| format!("{}={}", h.name, h.value)).collect();
        assert_eq!(made, ["B= é", "N=42", "Yes=true"]);
    }

    // spec: XMH-8
    #[test]
    fn integers_that_not_every_reader_keeps_are_refused() {
        let marks = marks(&[("n", "N")]);
        for (given, fits) in [
            (r#"{"n":9007199254740991}"#, true),
            (r#"{"n":-9007199254740991}"#, true),
            (r#"{"n":9007199254740992}"#, false),
        ] {
            assert_eq!(headers_for(&marks, &arguments(given)).is_ok(), fits, "{given}");
        }
    }

    // spec: XMH-20, XMH-21, HDR-13
    #[test]
    fn headers_that_repeat_their_arguments_pass() {
        let marks = marks(&[("a", "A"), ("n", "N")]);
        for (given, sent) in [
            (r#"{"a":"Hello"}"#, headers(&[("a", Some("=?base64?SGVsbG8=?="))])),
            (r#"{"a":"SGVsbG8="}"#, headers(&[("A", Some("SGVsbG8="))])),
            (r#"{"a":"x","n":42}"#, headers(&[("a", Some(" x ")), ("n", Some("42.0"))])),
            (r#"{"a":null}"#, headers(&[("other", None)])),
            ("{}", headers(&[])),
        ] {
            assert_eq!(sent.check(&marks, &arguments(given)), Ok(()), "{given}");
        }
    }

    // spec: XMH-21, XMH-22, XMH-23
    #[test]
    fn headers_that_do_not_are_refused() {
        let marks = marks(&[("a", "A")]);
        for sent in [
            headers(&[]),
            headers(&[("a", Some("other"))]),
            headers(&[("a", Some("=?base64?SGVsbG8?="))]),
            headers(&[("a", None)]),
            headers(&[("a", Some("Hello")), ("A", Some("Hello"))]),
        ] {
            let error = sent.check(&marks, &arguments(r#"{"a":"Hello"}"#)).unwrap_err();
            assert_eq!(error.code, bowline_types::error::code::HEADER_MISMATCH);
            assert!(error.message.contains("`Mcp-Param-A`"), "{error}");
        }
        let unasked = headers(&[("a", Some("Hello"))]);
        assert!(unasked.check(&marks, &arguments("{}")).is_err());
    }
}
