//! The mirrored headers of a request, compared with its body.
//!
//! A proxy may route or limit requests by these headers without reading bodies. If the server then
//! acted on a body that says something else, the rule of the proxy would be void. So a server that
//! reads bodies must refuse a difference, with -32020 (HDR-6, HDR-10).

use std::borrow::Cow;

use bowline_types::error::{ErrorObject, code};
use bowline_types::meta::key;
use bowline_types::method::Method;

use super::value;
use crate::frame::{MethodName, value_within};
use crate::members::{Members, unescaped};

/// The value of a header, or why there is none. Kept apart from `Option<&str>`, because a header
/// that came twice is not the same as one that is missing (HDR-8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderField<'a> {
    /// The header is missing.
    #[default]
    Absent,
    /// The header came once and is readable.
    Value(&'a str),
    /// The header came more than once.
    Repeated,
    /// The header holds characters that are not allowed.
    Unreadable,
}

/// The mirrored headers of one request. Those of arguments are in
/// [`ParamHeaders`](super::ParamHeaders). Borrowed from the HTTP request, and copied freely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head<'a> {
    /// `MCP-Protocol-Version`.
    pub version: HeaderField<'a>,
    /// `Mcp-Method`.
    pub method: HeaderField<'a>,
    /// `Mcp-Name`.
    pub name: HeaderField<'a>,
}

impl Head<'_> {
    /// Compares the headers of a modern message with its body.
    ///
    /// `version` is the one in `_meta`, if any.
    ///
    /// Version and method are required of every request, the name only where the method has one
    /// (HDR-7).
    ///
    /// # Errors
    ///
    /// If a required header is missing, cannot be read, or differs from the body.
    pub fn check(
        &self,
        method: &MethodName,
        params: &Members,
        version: Option<&str>,
    ) -> Result<(), ErrorObject> {
        let claimed = self.version.required("MCP-Protocol-Version")?;
        let called = self.method.required("Mcp-Method")?;
        if called != method.as_str() {
            return Err(differs("Mcp-Method", called, "method", method.as_str()));
        }
        self.check_name(method, params)?;
        match version {
            Some(version) if version != claimed => {
                let place = format!("params._meta[\"{}\"]", key::PROTOCOL_VERSION);
                Err(differs("MCP-Protocol-Version", claimed, &place, version))
            }
            _ => Ok(()),
        }
    }

    /// Compares `Mcp-Name` with the member of the params that names the tool, prompt or resource.
    /// Decoded before it is compared (HDR-11).
    fn check_name(&self, method: &MethodName, params: &Members) -> Result<(), ErrorObject> {
        let MethodName::Known(method) = method else { return Ok(()) };
        let Some(member) = method.named_by() else { return Ok(()) };
        // The handler of the method checks the body itself.
        let Ok(Some(named)) = params.string(member) else { return Ok(()) };
        let header = self.name.required("Mcp-Name")?;
        let decoded = value::decode(header).ok_or_else(|| undecodable("Mcp-Name", header))?;
        if decoded == named {
            return Ok(());
        }
        Err(differs("Mcp-Name", &decoded, &format!("params.{member}"), &named))
    }
}

/// The tool, prompt or resource of an outgoing message, found in the text of its params. `None` for
/// methods that have no name, and for params that lack it.
pub fn name_of(method: Method, params: &str) -> Option<String> {
    let name = value_within(params, method.named_by()?)?;
    unescaped(name).map(str::to_owned).or_else(|| serde_json::from_str(name).ok())
}

impl<'a> HeaderField<'a> {
    /// The value, if the header came exactly once and is readable. Surrounding blanks are ignored.
    /// Surrounding blanks are no part of a header's value (HDR-14).
    ///
    /// # Errors
    ///
    /// If it is missing, repeated or unreadable.
    pub fn required(self, name: &str) -> Result<&'a str, ErrorObject> {
        let problem = match self {
            Self::Value(value) => return Ok(value.trim_matches([' ', '\t'])),
            Self::Absent => "is missing; send it with every request",
            Self::Repeated => "came more than once; send it once",
            Self::Unreadable => "holds characters that it must not; encode it as `=?base64?…?=`",
        };
        Err(mismatch(format!("the header `{name}` {problem}")))
    }
}

/// An error about a mirrored header.
pub(super) fn mismatch(message: impl Into<String>) -> ErrorObject {
    ErrorObject::new(code::HEADER_MISMATCH, message)
}

/// The error for a header that is not valid base64.
pub(super) fn undecodable(name: &str, header: &str) -> ErrorObject {
    mismatch(format!("the header `{name}` is not base64 of UTF-8: `{}`", shown(header)))
}

/// The error for a header that differs from the body.
pub(super) fn differs(name: &str, header: &str, place: &str, body: &str) -> ErrorObject {
    let (header, body) = (shown(header), shown(body));
    mismatch(format!("the header `{name}` says `{header}`, but `{place}` says `{body}`"))
}

/// The beginning of a text of the peer, short enough for an error message.
fn shown(text: &str) -> Cow<'_, str> {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const GOOD: Head<'_> = Head {
        version: HeaderField::Value("2026-07-28"),
        method: HeaderField::Value("tools/call"),
        name: HeaderField::Value("echo"),
    };

    fn check(head: Head<'_>, name: &str, version: Option<&str>) -> Result<(), String> {
        let params = format!("{{\"name\":{}}}", serde_json::to_string(name).unwrap());
        let params = Members::cut(Bytes::from(params)).unwrap();
        head.check(&MethodName::Known(Method::ToolsCall), &params, version).map_err(|error| {
            assert_eq!(error.code, code::HEADER_MISMATCH);
            error.message
        })
    }

    // spec: HDR-2, HDR-6, HDR-11, HDR-14
    #[test]
    fn headers_that_say_what_the_body_says_pass() {
        assert_eq!(check(GOOD, "echo", Some("2026-07-28")), Ok(()));
        let blanks = Head { name: HeaderField::Value("  echo \t"), ..GOOD };
        assert_eq!(check(blanks, "echo", Some("2026-07-28")), Ok(()));
        let encoded = Head { name: HeaderField::Value("=?base64?w6k=?="), ..GOOD };
        assert_eq!(check(encoded, "é", Some("2026-07-28")), Ok(()));
    }

    // spec: HDR-6, HDR-7, HDR-8, HDR-10, HDR-12
    #[test]
    fn each_header_must_come_once_readable_and_equal() {
        type ReportedChange = fn(HeaderField<'static>) -> Head<'static>;
        let headers: [(&str, ReportedChange); 3] = [
            ("MCP-Protocol-Version", |version| Head { version, ..GOOD }),
            ("Mcp-Method", |method| Head { method, ..GOOD }),
            ("Mcp-Name", |name| Head { name, ..GOOD }),
        ];
        for (name, with) in headers {
            for field in [
                HeaderField::Absent,
                HeaderField::Repeated,
                HeaderField::Unreadable,
                HeaderField::Value(""),
                HeaderField::Value("other"),
                HeaderField::Value("ECHO"),
                HeaderField::Value("TOOLS/CALL"),
            ] {
                let error = check(with(field), "echo", Some("2026-07-28")).unwrap_err();
                assert!(error.contains(&format!("`{name}`")), "{field:?}: {error}");
            }
        }
        let broken = Head { name: HeaderField::Value("=?base64?w6k?="), ..GOOD };
        assert!(check(broken, "é", None).unwrap_err().contains("base64"));
    }

    #[test]
    fn a_long_value_is_quoted_in_short() {
        let long = "x".repeat(10_000);
        let head = Head { name: HeaderField::Value(&long), ..GOOD };
        assert!(check(head, "echo", None).unwrap_err().len() < 250);
    }

    #[test]
    fn a_method_without_a_name_needs_no_header_for_it() {
        let head =
            Head { method: HeaderField::Value("tools/list"), name: HeaderField::Absent, ..GOOD };
        let list = MethodName::Known(Method::ToolsList);
        assert_eq!(head.check(&list, &Members::default(), Some("2026-07-28")), Ok(()));
    }
}
