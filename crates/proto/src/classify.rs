//! Decides the era of a message, once, before any other code looks at it.
//!
//! A request whose `_meta` names a protocol version is modern: it stands alone (2026-07-28). Every
//! other request is legacy: it belongs to a session that `initialize` opened, or opens one. Over
//! HTTP the header `MCP-Protocol-Version` decides for messages that name no version themselves.
//!
//! [`classify`] gives a [`Claim`] for a request, and [`era_of`] the era of any other message. The
//! claim travels with the request; no later step looks for the era again. What a legacy request may
//! do depends on the state of its connection and is decided there, by `session_step`.

use bowline_types::error::ErrorObject;
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::revision::{Era, Revision};
use bowline_types::text::excerpt;

use crate::frame::{Frame, Message, MethodName, NotificationMessage, RequestMessage};
use crate::members::Members;
use crate::mirror::{Head, HeaderField};

/// The era of a request, with its `_meta`.
///
/// Made by [`classify`] and consumed by admission ([`crate::admission`]). Era is a property of a
/// message, not of a connection: a server that speaks both may get both on one channel (ERA-1,
/// ERA-2).
#[derive(Debug)]
pub enum Claim {
    /// The request stands alone and says everything itself.
    Modern(ModernClaim),
    /// The request belongs to a session, or opens one. Holds `_meta` as it came.
    Legacy(Members),
}

/// What a modern request says of its sender, not yet read beyond the revision.
///
/// The rest of `_meta` is read by `wire::modern` when the request is admitted, so that a request
/// which is refused for its method costs no parsing.
#[derive(Debug)]
pub struct ModernClaim {
    /// The revision that the request names; the server speaks it.
    pub revision: Revision,
    /// `_meta` as it came.
    pub meta: Members,
}

/// A frame whose messages belong to a session.
///
/// The HTTP server decides the era of a frame before it knows the session, and hands the frame over
/// in this form. On stdio the connection classifies each request itself.
#[derive(Debug)]
pub struct LegacyFrame {
    /// The frame.
    pub frame: Frame,
    /// `_meta` of the request that the frame is, from [`Claim::Legacy`]; empty for other frames.
    pub meta: Members,
}

/// A frame that is no single request. Each request of a batch is classified by the connection.
impl From<Frame> for LegacyFrame {
    fn from(frame: Frame) -> Self {
        Self { frame, meta: Members::default() }
    }
}

/// Decides the era of a request. `head` holds the headers that came with it over HTTP, and is
/// `None` on channels without headers. `spoken` are the revisions of the server.
///
/// The order of the checks decides which error a client sees. Headers come before the revision, so
/// a proxy and the server never disagree unnoticed (HDR-6, HDR-7); an unknown revision is answered
/// with the list of those that are spoken (VER-1).
///
/// # Errors
///
/// If `_meta` cannot be read, the revision is not among `spoken`, or a header of a modern request
/// is missing or contradicts the body.
pub fn classify(
    request: &RequestMessage,
    head: Option<&Head<'_>>,
    spoken: &[Revision],
) -> Result<Claim, ErrorObject> {
    let meta = request.params.object("_meta").map_err(ErrorObject::misread_params)?;
    if era(&meta, head, spoken)? == Era::Legacy {
        return Ok(Claim::Legacy(meta));
    }
    if let Some(head) = head {
        let version = meta.string(key::PROTOCOL_VERSION).unwrap_or_default();
        head.check(&request.method, &request.params, version.as_deref())?;
    }
    let revision = modern_revision(&meta, spoken)?;
    Ok(Claim::Modern(ModernClaim { revision, meta }))
}

/// Decides the era of a frame that came over HTTP and is no request: a notification, an answer or a
/// batch.
///
/// # Errors
///
/// If `_meta` cannot be read, the revision is not among `spoken`, or a header of a modern
/// notification contradicts its body.
pub fn era_of(frame: &Frame, head: &Head<'_>, spoken: &[Revision]) -> Result<Era, ErrorObject> {
    let Frame::Message(Message::Notification(notification)) = frame else {
        return era(&Members::default(), Some(head), spoken);
    };
    let meta = notification.params.object("_meta").map_err(ErrorObject::misread_params)?;
    let era = era(&meta, Some(head), spoken)?;
    if era == Era::Modern {
        check_notification(notification, &meta, *head, spoken)?;
    }
    Ok(era)
}

/// What a legacy request may do, given the state of its connection. There is no step for a request
/// that breaks the order: [`session_step`] refuses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SessionStep {
    /// Opens a session: `initialize`.
    Handshake,
    /// Pings before the handshake. Clients may ping before the answer to `initialize` (LIFE-5); it
    /// needs no session.
    EarlyPing,
    /// Calls a method in the session, which has this revision.
    Call(Revision),
}

/// Decides what a legacy request may do. `session` is the revision of the open session, if any.
///
/// A request that declares client capabilities in `_meta`, but no version, was meant to be modern;
/// the error names the missing key instead of asking for a handshake (RQM-4).
///
/// # Errors
///
/// If the request comes before the handshake, or is a second handshake. The error for a client that
/// did neither `initialize` nor name a version says both ways out.
pub(crate) fn session_step(
    request: &RequestMessage,
    meta: &Members,
    session: Option<Revision>,
    spoken: &[Revision],
) -> Result<SessionStep, ErrorObject> {
    if meta.value(key::CLIENT_CAPABILITIES).is_some() {
        return Err(missing(key::PROTOCOL_VERSION));
    }
    match (session, &request.method) {
        (Some(_), MethodName::Known(Method::Initialize)) => {
            Err(ErrorObject::invalid_request("this connection is initialized already"))
        }
        (Some(revision), _) => Ok(SessionStep::Call(revision)),
        (None, MethodName::Known(Method::Initialize)) => handshake(spoken),
        (None, MethodName::Known(Method::Ping)) if speaks_legacy(spoken) => {
            Ok(SessionStep::EarlyPing)
        }
        (None, _) if speaks_legacy(spoken) => Err(ErrorObject::invalid_params(format!(
            "`{}` came before any handshake: send `initialize` first, or put `{}` and `{}` into `params._meta`",
            excerpt(request.method.as_str()),
            key::PROTOCOL_VERSION,
            key::CLIENT_CAPABILITIES,
        ))),
        (None, _) => Err(missing(key::PROTOCOL_VERSION)),
    }
}

/// The error for a required key that a request's `_meta` lacks.
pub(crate) fn missing(key: &str) -> ErrorObject {
    ErrorObject::invalid_params(format!("`params._meta` lacks the required key `{key}`"))
}

/// The era of a message: `_meta` decides, then the header. Without either it is legacy, except over
/// HTTP at a server that speaks no legacy revision: there the header is required (H26-3).
fn era(meta: &Members, head: Option<&Head<'_>>, spoken: &[Revision]) -> Result<Era, ErrorObject> {
    if meta.value(key::PROTOCOL_VERSION).is_some() {
        return Ok(Era::Modern);
    }
    let Some(head) = head else { return Ok(Era::Legacy) };
    if head.version == HeaderField::Absent && speaks_legacy(spoken) {
        return Ok(Era::Legacy);
    }
    let version = head.version.required("MCP-Protocol-Version")?;
    match version.parse::<Revision>() {
        Ok(revision) if revision.is_modern() || spoken.contains(&revision) => Ok(revision.era()),
        _ => Err(ErrorObject::unsupported_version(version, spoken)),
    }
}

/// The revision that a modern request names. A header alone is not enough: the request itself must
/// name it. A legacy revision in `_meta` is refused like an unknown one, because no legacy request
/// names its revision there.
pub(crate) fn modern_revision(
    meta: &Members,
    spoken: &[Revision],
) -> Result<Revision, ErrorObject> {
    if meta.value(key::PROTOCOL_VERSION).is_none() {
        return Err(missing(key::PROTOCOL_VERSION));
    }
    let Ok(Some(version)) = meta.string(key::PROTOCOL_VERSION) else {
        let message = format!("`params._meta[\"{}\"]` must be a string", key::PROTOCOL_VERSION);
        return Err(ErrorObject::invalid_params(message));
    };
    let revision = version.parse::<Revision>().ok().filter(|revision| revision.is_modern());
    match revision {
        Some(revision) if spoken.contains(&revision) => Ok(revision),
        _ => Err(ErrorObject::unsupported_version(&version, spoken)),
    }
}

/// Checks the headers of a modern notification. The specification requires only the version of
/// them, but those that are present must agree with the body.
fn check_notification(
    notification: &NotificationMessage,
    meta: &Members,
    head: Head<'_>,
    spoken: &[Revision],
) -> Result<(), ErrorObject> {
    let version = meta.string(key::PROTOCOL_VERSION).unwrap_or_default();
    let method = match head.method {
        HeaderField::Absent => HeaderField::Value(notification.method.as_str()),
        method => method,
    };
    Head { method, ..head }.check(
        &notification.method,
        &notification.params,
        version.as_deref(),
    )?;
    let version = head.version.required("MCP-Protocol-Version")?;
    match version.parse() {
        Ok(version) if spoken.contains(&version) => Ok(()),
        _ => Err(ErrorObject::unsupported_version(version, spoken)),
    }
}

/// Accepts a handshake if the server speaks a legacy revision. Otherwise the error names the
/// revisions that it speaks: an old client has nothing else to show its user. That is what the
/// specification asks of servers without a handshake (ERA-13).
fn handshake(spoken: &[Revision]) -> Result<SessionStep, ErrorObject> {
    if speaks_legacy(spoken) {
        return Ok(SessionStep::Handshake);
    }
    let dates: Vec<_> = spoken.iter().map(ToString::to_string).collect();
    Err(ErrorObject::method_not_found(format!(
        "this server has no `initialize` handshake; it speaks {}",
        dates.join(", "),
    )))
}

/// Whether the server speaks a revision with a handshake.
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

    /// What a connection without headers makes of a request.
    #[derive(Debug, PartialEq, Eq)]
    enum Decided {
        Modern(Revision),
        Legacy(SessionStep),
    }

    fn decide(
        text: &str,
        session: Option<Revision>,
        spoken: &[Revision],
    ) -> Result<Decided, ErrorObject> {
        let text = Bytes::copy_from_slice(text.as_bytes());
        let Ok(Frame::Message(Message::Request(request))) = Frame::parse(&text, &Limits::default())
        else {
            panic!("no request");
        };
        match classify(&request, None, spoken)? {
            Claim::Modern(claim) => Ok(Decided::Modern(claim.revision)),
            Claim::Legacy(meta) => {
                session_step(&request, &meta, session, spoken).map(Decided::Legacy)
            }
        }
    }

    fn with_meta(method: &str, meta: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#)
    }

    const MODERN: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    // spec: ERA-1, ERA-2
    #[test]
    fn a_request_with_modern_meta_is_modern_even_in_a_legacy_session() {
        for session in [None, Some(Revision::V2025_06_18)] {
            let decided = decide(&with_meta("tools/list", MODERN), session, &Revision::ALL);
            assert_eq!(decided, Ok(Decided::Modern(Revision::V2026_07_28)));
        }
    }

    // spec: ERA-2
    #[test]
    fn initialize_without_modern_meta_opens_a_legacy_session() {
        let text = with_meta("initialize", "{}");
        assert_eq!(
            decide(&text, None, &Revision::ALL),
            Ok(Decided::Legacy(SessionStep::Handshake))
        );
        let again = decide(&text, Some(Revision::V2025_11_25), &Revision::ALL).unwrap_err();
        assert_eq!(again.code, code::INVALID_REQUEST);
    }

    // spec: RQM-4
    #[test]
    fn a_request_that_lacks_the_version_is_refused() {
        let meta = r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#;
        for session in [None, Some(Revision::V2025_06_18)] {
            let error =
                decide(&with_meta("tools/list", meta), session, &Revision::ALL).unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS);
            assert!(error.message.contains("protocolVersion"), "{error}");
        }
        let error = decide(&with_meta("tools/list", "{}"), None, &[Revision::LATEST]).unwrap_err();
        assert_eq!(error.code, code::INVALID_PARAMS);
    }

    // spec: VER-1
    #[test]
    fn a_version_that_is_not_spoken_is_refused_with_those_that_are() {
        for version in ["1900-01-01", "2025-11-25", "2026-07-29"] {
            let meta = format!(r#"{{"io.modelcontextprotocol/protocolVersion":"{version}"}}"#);
            let error =
                decide(&with_meta("tools/list", &meta), None, &[Revision::LATEST]).unwrap_err();
            assert_eq!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION);
            let data = format!(r#"{{"supported":["2026-07-28"],"requested":"{version}"}}"#);
            assert_eq!(error.data.unwrap().as_str(), data);
        }
    }

    /// A server may speak only legacy revisions; then it refuses a modern version like an unknown
    /// one.
    // spec: VER-1
    #[test]
    fn a_modern_version_is_refused_where_only_old_ones_are_spoken() {
        let old = [Revision::V2025_06_18];
        let error = decide(&with_meta("tools/list", MODERN), None, &old).unwrap_err();
        assert_eq!(error.code, code::UNSUPPORTED_PROTOCOL_VERSION);
    }

    /// A server without a handshake treats no method specially before it, and sends no client to
    /// it.
    // spec: RQM-4
    #[test]
    fn a_modern_only_server_wants_the_version_of_every_request() {
        for method in ["ping", "tools/list"] {
            let error = decide(&with_meta(method, "{}"), None, &[Revision::LATEST]).unwrap_err();
            assert_eq!(error.code, code::INVALID_PARAMS, "{method}");
            assert!(!error.message.contains("initialize"), "{error}");
        }
    }

    // spec: ERA-13
    #[test]
    fn a_modern_only_server_names_its_versions_to_a_legacy_client() {
        let error = decide(&with_meta("initialize", "{}"), None, &[Revision::LATEST]).unwrap_err();
        assert!(error.message.contains("2026-07-28"), "{error}");
    }

    // spec: LIFE-1
    #[test]
    fn the_error_before_any_handshake_names_both_ways_out() {
        let error = decide(&with_meta("tools/list", "{}"), None, &Revision::ALL).unwrap_err();
        assert!(
            error.message.contains("`initialize`") && error.message.contains("_meta"),
            "{error}"
        );
        assert_eq!(
            decide(&with_meta("ping", "{}"), None, &Revision::ALL),
            Ok(Decided::Legacy(SessionStep::EarlyPing))
        );
    }
}
