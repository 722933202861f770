//! Every way in which a message can fail, as a sentence for the user.
//!
//! A sentence names the request, what came back, and where possible what to do. It may quote the
//! server, shortened and on one line, but no header and no query of the address, which may hold
//! secrets. The [`FailureKind`] beside it is for programs: it says whether the server can have
//! processed the message.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};

use bowline_proto::secrets::Secrets;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::text::with_causes;
use bytes::Bytes;
use http::{Method, StatusCode};
use hyper_util::client::legacy;

use super::address::Address;
use super::connect_failure::connect_failure;
use super::connector::{CutOff, Unreachable};
use super::events::Ended;
use super::fetch::BoxError;
use super::peek;

/// How many characters of a body are quoted.
const EXCERPT: usize = 200;

/// Method and address of a request, which begin every failure. Its methods make the failures; each
/// stands for one way in which a request goes wrong.
#[derive(Clone, Copy)]
pub(super) struct RequestLine<'a> {
    pub(super) method: &'a Method,
    pub(super) address: &'a Address,
    /// What no excerpt may show a part of.
    pub(super) secrets: &'a Secrets,
}

impl fmt::Display for RequestLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.address)
    }
}

impl RequestLine<'_> {
    /// No response came.
    ///
    /// [`FailureKind::Unreachable`] and [`FailureKind::NotSent`] only if that is certain: the
    /// connection was never made, or the server reported that it has not seen the request.
    pub(super) fn unanswered(self, error: &BoxError) -> SendFailure {
        if let Some(unreachable) = error.downcast_ref::<Unreachable>() {
            let kind = FailureKind::Unreachable(connect_failure(unreachable));
            return failure(kind, format!("{self}: {}", with_causes(unreachable)));
        }
        if let Some(cut_off) = error.downcast_ref::<CutOff>().filter(|it| it.is_unseen) {
            return failure(FailureKind::NotSent, format!("{self}: {}", with_causes(cut_off)));
        }
        // The HTTP client that callers use most often.
        let known = error.downcast_ref::<legacy::Error>();
        // Its own text says only which part of its code failed; the cause says why.
        let why = with_causes(known.and_then(StdError::source).unwrap_or(&**error));
        match known.filter(|known| known.is_connect()) {
            Some(known) => {
                let kind = FailureKind::Unreachable(connect_failure(known));
                failure(kind, format!("{self}: cannot connect: {why}"))
            }
            None => self.lost(format_args!("no answer: {why}")),
        }
    }

    /// The message was sent, and its outcome is unknown.
    pub(super) fn lost(self, how: impl fmt::Display) -> SendFailure {
        failure(FailureKind::Lost, format!("{self}: {how}"))
    }

    /// The answer to the message ended early, or cannot be read.
    pub(super) fn ended(self, how: &Ended) -> SendFailure {
        let lost = self.lost(how);
        match how {
            Ended::TooLong(why) => SendFailure { kind: FailureKind::TooLong(*why), ..lost },
            _ => lost,
        }
    }

    /// The server's response is not an answer to the message.
    pub(super) fn refused(self, status: StatusCode, body: &Bytes) -> SendFailure {
        // After a 2xx the call may have run, so it is not retried.
        let kind = match status.is_success() {
            true => FailureKind::NoAnswer,
            false => FailureKind::Refused(status.as_u16()),
        };
        let error = peek::error_without_id(body);
        let reason = match &error {
            Some(error) => format!("{status}: {}", self.excerpt(error.to_string())),
            None => self.status_and_body(status, body),
        };
        let advice = self.advice(status);
        SendFailure { error, ..failure(kind, format!("{self}: {reason}{advice}")) }
    }

    /// The server demands a credential, and none could be obtained for this reason.
    pub(super) fn unauthorized(self, why: Option<&BoxError>, body: &Bytes) -> SendFailure {
        let refused = self.refused(StatusCode::UNAUTHORIZED, body).reason;
        let reason = match why {
            Some(why) => format!("{self}: 401 Unauthorized: {}", with_causes(&**why)),
            None => refused,
        };
        failure(FailureKind::Unauthorized, reason)
    }

    /// The server demands more scopes than could be obtained, for this reason.
    pub(super) fn forbidden(self, why: &BoxError) -> SendFailure {
        let reason = format!("{self}: 403 Forbidden: {}", with_causes(&**why));
        failure(FailureKind::Refused(403), reason)
    }

    /// The request was not sent, because it lacks a credential.
    pub(super) fn without_credential(self, why: &BoxError) -> SendFailure {
        failure(FailureKind::Unauthorized, format!("{self}: not sent: {}", with_causes(&**why)))
    }

    /// Advice for some statuses.
    fn advice(self, status: StatusCode) -> &'static str {
        match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE
                if self.method == Method::POST =>
            {
                "; check the path of the address, which is often `/mcp`"
            }
            StatusCode::UNAUTHORIZED => {
                "; log in with `.auth(..)`, or send a header `Authorization`"
            }
            _ => "",
        }
    }

    /// The server does not know the session of the message any more. The message was not processed.
    /// The client opens a new session and may send it again.
    pub(super) fn session_lost(self, body: &Bytes) -> SendFailure {
        let said = self.status_and_body(StatusCode::NOT_FOUND, body);
        let reason = format!("{self}: the session is gone: {said}");
        failure(FailureKind::SessionLost, reason)
    }

    /// The server redirects to an address that the client does not follow.
    pub(super) fn not_followed(self, status: StatusCode, to: &str, why: &str) -> SendFailure {
        let to = self.excerpt(to.to_owned());
        let reason = format!("{self}: {status} to {to}, which is not followed: {why}");
        failure(FailureKind::Refused(status.as_u16()), reason)
    }

    /// A status and the beginning of the body. For bodies that are no JSON-RPC error, such as the
    /// page of a proxy.
    fn status_and_body(self, status: StatusCode, body: &Bytes) -> String {
        let text = String::from_utf8_lossy(body);
        match text.trim().is_empty() {
            true => format!("{status}, without a body"),
            false => format!("{status}: {}", self.excerpt(text.into_owned())),
        }
    }

    /// The beginning of a text of the server. Credentials are taken out of the whole text: the part
    /// of one that a cut leaves would not be recognized later.
    fn excerpt(self, mut text: String) -> String {
        self.secrets.replace(&mut text);
        Excerpt(&text).to_string()
    }
}

fn failure(kind: FailureKind, reason: String) -> SendFailure {
    SendFailure { id: None, kind, error: None, reason }
}

/// The beginning of a peer's text, on one line. Control characters become spaces, so that a server
/// cannot forge lines of a log or move a terminal's cursor.
struct Excerpt<'a>(&'a str);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = 0;
        for word in
            self.0.split(|character: char| character.is_whitespace() || character.is_control())
        {
            let is_first = written == 0;
            for character in (!is_first).then_some(' ').into_iter().chain(word.chars()) {
                if word.is_empty() {
                    break;
                }
                if written == EXCERPT {
                    return f.write_char('…');
                }
                f.write_char(character)?;
                written += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_request_and_quotes_the_response() {
        let address = Address::parse("https://example.com/mcp?key=1").unwrap();
        let asked =
            RequestLine { method: &Method::POST, address: &address, secrets: &Secrets::default() };
        let body = Bytes::from_static(b"<html>\n  <h1>Bad\x1b[31m gateway</h1>");
        let failure = asked.refused(StatusCode::BAD_GATEWAY, &body);
        let expected =
            "POST https://example.com/mcp?…: 502 Bad Gateway: <html> <h1>Bad [31m gateway</h1>";
        assert_eq!(failure.reason, expected);
        assert_eq!(failure.kind, FailureKind::Refused(502));
        let failure = asked.refused(StatusCode::OK, &Bytes::new());
        assert_eq!(failure.kind, FailureKind::NoAnswer);
        assert!(failure.reason.ends_with("200 OK, without a body"), "{}", failure.reason);
    }

    #[test]
    fn a_refusal_gives_advice_for_some_statuses() {
        let address = Address::parse("http://localhost/wrong").unwrap();
        let asked =
            RequestLine { method: &Method::POST, address: &address, secrets: &Secrets::default() };
        let body = Bytes::from_static(br#"{"error":{"code":-32600,"message":"nothing here"}}"#);
        let failure = asked.refused(StatusCode::NOT_FOUND, &body);
        let expected = "POST http://localhost/wrong: 404 Not Found: nothing here (-32600); check the \
                        path of the address, which is often `/mcp`";
        assert_eq!(failure.reason, expected);
        let failure = asked.refused(StatusCode::UNAUTHORIZED, &Bytes::new());
        assert!(
            failure.reason.ends_with("; log in with `.auth(..)`, or send a header `Authorization`")
        );
        let asked =
            RequestLine { method: &Method::GET, address: &address, secrets: &Secrets::default() };
        let failure = asked.refused(StatusCode::METHOD_NOT_ALLOWED, &Bytes::new());
        assert!(failure.reason.ends_with("405 Method Not Allowed, without a body"));
    }

    #[test]
    fn a_long_body_is_cut() {
        let text = "ß ".repeat(10_000);
        let excerpt = Excerpt(&text).to_string();
        assert_eq!(excerpt.chars().count(), EXCERPT + 1);
        assert!(excerpt.ends_with('…'));
    }
}
