//! Decides which era a request belongs to, once, before anything else looks at it.
//!
//! A request whose `_meta` names a protocol version stands alone (2026-07-28). Without it,
//! `initialize` opens the legacy era for this connection, and everything after the handshake
//! belongs to the revision that was agreed there. Anything else cannot be served, and the error
//! says both ways out.

use bowline_types::error::ErrorObject;
use bowline_types::meta::key;
use bowline_types::method::{Kind, Method};
use bowline_types::revision::Revision;
use bowline_types::text::excerpt;

use crate::frame::{MethodName, RequestMessage};
use crate::members::Members;

/// What a request turns out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It stands alone and says everything itself.
    Modern(Revision),
    /// It belongs to the session on this connection.
    Legacy(Revision),
    /// It is the handshake that opens a session.
    Handshake,
    /// It is a sign of life before the handshake.
    EarlyPing,
}

/// Decides the era of a request, given the revision of the session that stands, if one does.
///
/// # Errors
///
/// If the revision is not among `spoken`, or the request belongs to no era.
pub fn classify(
    request: &RequestMessage,
    meta: &Members,
    session: Option<Revision>,
    spoken: &[Revision],
) -> Result<Claim, ErrorObject> {
    if meta.value(key::PROTOCOL_VERSION).is_some() {
        return modern(meta, spoken);
    }
    if meta.value(key::CLIENT_CAPABILITIES).is_some() {
        return Err(missing(key::PROTOCOL_VERSION));
    }
    match (session, &request.method) {
        (Some(_), MethodName::Known(Method::Initialize)) => {
            Err(ErrorObject::invalid_request("this connection is initialized already"))
        }
        (Some(revision), _) => Ok(Claim::Legacy(revision)),
        (None, MethodName::Known(Method::Initialize)) => handshake(spoken),
        (None, MethodName::Known(Method::Ping)) if speaks_legacy(spoken) => Ok(Claim::EarlyPing),
        (None, _) if speaks_legacy(spoken) => Err(ErrorObject::invalid_params(format!(
            "`{}` came before any handshake: send `initialize` first, or put `{}` and `{}` into `params._meta`",
            excerpt(request.method.as_str()),
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES,
        ))),
        (None, _) => Err(missing(key::PROTOCOL_VERSION)),
    }
}

/// The method of a request, if clients may send it in this revision.
///
/// # Errors
///
/// If there is none.
pub fn method_of(name: &MethodName, revision: Revision) -> Result<Method, ErrorObject> {
    match name {
        MethodName::Known(method)
            if method.row().kind == Kind::Request && method.is_from_client(revision) =>
        {
            Ok(*method)
        }
        _ => Err(ErrorObject::method_not_found(format!(
            "{revision} has no method `{}`",
            excerpt(name.as_str())
        ))),
    }
}

/// The error for a required key that a request's `_meta` lacks.
pub fn missing(key: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("`params._meta` lacks the required key `{key}`"))
}

fn modern(meta: &Members, spoken: &[Revision]) -> Result<Claim, ErrorObject> {
    let Ok(Some(version)) = meta.string(key::PROTOCOL_VERSION) else {
        let message = format!("`params._meta[\"{}\"]` must be a string", key::PROTOCOL_VERSION);
        return Err(ErrorObject::invalid_params(message));
    };
    let revision = version.parse::<Revision>().ok().filter(|revision| revision.is_modern());
    match revision {
        Some(revision) if spoken.contains(&revision) => Ok(Claim::Modern(revision)),
        _ => Err(ErrorObject::unsupported_version(&version, spoken)),
    }
}

/// A server that speaks no legacy revision names those it speaks, since an old client has nothing
/// else to show its user.
fn handshake(spoken: &[Revision]) -> Result<Claim, ErrorObject> {
    if speaks_legacy(spoken) {
        return Ok(Claim::Handshake);
    }
    let dates: Vec<_> = spoken.iter().map(ToString::to_string).collect();
    Err(ErrorObject::method_not_found(format!(
        "this server has no `initialize` handshake; it speaks {}",
        dates.join(", "),
    )))
}

fn speaks_legacy(spoken: &[Revision]) -> bool {
    spoken.iter().any(|revision| !revision.is_modern())
}

#[cfg(test)]
mod tests {
    use bowline_types::error::code;
    use bytes::Bytes;

    use super::*;
    use crate::frame::{Frame, Message};
    use crate::limits::Limits;

    fn claim(
        text: &str,
        session: Option<Revision>,
        spoken: &[Revision],
    ) -> Result<Claim, ErrorObject> {
        let text = Bytes::copy_from_slice(text.as_bytes());
        let Ok(Frame::Message(Message::Request(request))) = Frame::parse(&text, &Limits::default())
        else {
            panic!("no request");
        };
        classify(&request, &request.params.object("_meta").unwrap(), session, spoken)
    }

    fn with_meta(method: &str, meta: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#)
    }

    const MODERN: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    // spec: ERA-1, ERA-2
    #[test]
    fn a_request_with_modern_meta_is_modern_even_in_a_legacy_session() {
        for session in [None, Some(Revision::V2025_06_18)] {
            let claim = claim(&with_meta("tools/list", MODERN), session, &Revision::ALL);
            assert_eq!(claim, Ok(Claim::Modern(Revision::V2026_07_28)));
        }
    }

    // spec: ERA-2
    #[test]
    fn initialize_without_modern_meta_opens_a_legacy_session() {
        let text = with_meta("initialize", "{}");
        assert_eq!(claim(&text, None, &Revision::ALL), Ok(Claim::Handshake));
        let again = claim(&text, Some(Revision::V2025_11_25), &Revision::ALL).unwrap_err();
        assert_eq!(again.code, code::INVALID_REQUEST);
    }

    // spec: RQM-4
    #[test]
    fn a_request_that_lacks_the_version_is_refused() {
        let meta = r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#;
        for session in [None, Some(Revision::V2025_06_18)] {
            let error = claim(&with_meta("tools/list", meta), session, &Revision::ALL).unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS);
            assert!(error.message.contains("protocolVersion"), "{error}");
        }
        let error = claim(&with_meta("tools/list", "{}"), None, &[Revision::LATEST]).unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }

    // spec: VER-1
    #[test]
    fn a_version_that_is_not_spoken_is_refused_with_those_that_are() {
        for version in ["1900-01-01", "2025-11-25", "2026-07-29"] {
            let meta = format!(r#"{{"io.modelcontextprotocol/protocolVersion":"{version}"}}"#);
            let error =
                claim(&with_meta("tools/list", &meta), None, &[Revision::LATEST]).unwrap_err();
            assert_eq!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION);
            let data = format!(r#"{{"supported":["2026-07-28"],"requested":"{version}"}}"#);
            assert_eq!(error.data.unwrap().as_str(), data);
        }
    }

    /// A server may speak the old revisions only; then a modern claim is as foreign as any other.
    // spec: VER-1
    #[test]
    fn a_modern_version_is_refused_where_only_old_ones_are_spoken() {
        let old = [Revision::V2025_06_18];
        let error = claim(&with_meta("tools/list", MODERN), None, &old).unwrap_err();
        assert_eq!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION);
    }

    /// Where there is no handshake, nothing before it is special, and nobody is sent to it.
    // spec: RQM-4
    #[test]
    fn a_modern_only_server_wants_the_version_of_every_request() {
        for method in ["ping", "tools/list"] {
            let error = claim(&with_meta(method, "{}"), None, &[Revision::LATEST]).unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
            assert!(!error.message.contains("initialize"), "{error}");
        }
    }

    // spec: ERA-13
    #[test]
    fn a_modern_only_server_names_its_versions_to_a_legacy_client() {
        let error = claim(&with_meta("initialize", "{}"), None, &[Revision::LATEST]).unwrap_err();
        assert!(error.message.contains("2026-07-28"), "{error}");
    }

    // spec: LIFE-1
    #[test]
    fn a_request_before_any_handshake_is_told_both_ways_out() {
        let error = claim(&with_meta("tools/list", "{}"), None, &Revision::ALL).unwrap_err();
        assert!(
            error.message.contains("`initialize`") && error.message.contains("_meta"),
            "{error}"
        );
        assert_eq!(claim(&with_meta("ping", "{}"), None, &Revision::ALL), Ok(Claim::EarlyPing));
    }
}
