//! Every way for a message to come to nothing, in a sentence for people.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};

use bowline_proto::transmit::{FailureKind, SendFailure};
use bytes::Bytes;
use http::{Method, StatusCode};
use hyper_util::client::legacy;

use super::address::Address;
use super::connector::{CutOff, Unreachable};
use super::fetch::BoxError;
use super::peek;

/// Characters of a body that a sentence quotes.
const EXCERPT: usize = 200;

/// A request as errors name it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    pub(super) address: &'a Address,
}

impl fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.address)
    }
}

impl Asked<'_> {
    /// There was no answer at all.
    pub(super) fn unanswered(self, error: &BoxError) -> SendFailure {
        if let Some(unreachable) = error.downcast_ref::<Unreachable>() {
            return failure(FailureKind::NotSent, format!("{self}: {}", Chain(unreachable)));
        }
        if let Some(cut_off) = error.downcast_ref::<CutOff>().filter(|it| it.is_unseen) {
            return failure(FailureKind::NotSent, format!("{self}: {}", Chain(cut_off)));
        }
        // The client that callers most often bring.
        let known = error.downcast_ref::<legacy::Error>();
        // What this error says by itself is only which half of its code failed.
        let why = Chain(known.and_then(StdError::source).unwrap_or(&**error));
        match known.is_some_and(legacy::Error::is_connect) {
            true => failure(FailureKind::NotSent, format!("{self}: cannot connect: {why}")),
            false => self.lost(format_args!("no answer: {why}")),
        }
    }

    /// Something was sent, and what became of it is unknown.
    pub(super) fn lost(self, how: impl fmt::Display) -> SendFailure {
        failure(FailureKind::Lost, format!("{self}: {how}"))
    }

    /// The server answered with something that is no answer to the message.
    pub(super) fn refused(self, status: StatusCode, body: &Bytes) -> SendFailure {
        // Whoever says that all is well has done something.
        let kind = match status.is_success() {
            true => FailureKind::Lost,
            false => FailureKind::Refused(status.as_u16()),
        };
        let error = peek::error_without_id(body);
        let said = match &error {
            Some(error) => format!("{status}: {}", Excerpt(&error.to_string())),
            None => Said { status, body }.to_string(),
        };
        let advice = self.advice(status);
        SendFailure { error, ..failure(kind, format!("{self}: {said}{advice}")) }
    }

    /// What to do about a status that says nothing about the message.
    fn advice(self, status: StatusCode) -> &'static str {
        match status {
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::GONE
                if self.method == Method::POST =>
            {
                "; check the path of the address, which is often `/mcp`"
            }
            StatusCode::UNAUTHORIZED => "; send credentials, such as a header `Authorization`",
            _ => "",
        }
    }

    /// The session that the message belongs to is gone.
    pub(super) fn session_lost(self, body: &Bytes) -> SendFailure {
        let said = Said { status: StatusCode::NOT_FOUND, body };
        let reason = format!("{self}: the session is gone: {said}");
        failure(FailureKind::SessionLost, reason)
    }

    /// The server points to somewhere that we do not go.
    pub(super) fn sent_away(self, status: StatusCode, to: &str, why: &str) -> SendFailure {
        let to = Excerpt(to);
        let reason = format!("{self}: {status} to {to}, which is not followed: {why}");
        failure(FailureKind::Refused(status.as_u16()), reason)
    }
}

fn failure(kind: FailureKind, reason: String) -> SendFailure {
    SendFailure { id: None, kind, error: None, reason }
}

/// A status with what the body says.
struct Said<'a> {
    status: StatusCode,
    body: &'a Bytes,
}

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = String::from_utf8_lossy(self.body);
        match text.trim().is_empty() {
            true => write!(f, "{}, without a body", self.status),
            false => write!(f, "{}: {}", self.status, Excerpt(&text)),
        }
    }
}

/// The beginning of what a peer said, on one line.
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

/// An error with its causes.
pub(super) struct Chain<'a>(pub(super) &'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_what_where_and_how() {
        let address = Address::parse("https://example.com/mcp?key=1").unwrap();
        let asked = Asked { method: &Method::POST, address: &address };
        let body = Bytes::from_static(b"<html>\n  <h1>Bad\x1b[31m gateway</h1>");
        let failure = asked.refused(StatusCode::BAD_GATEWAY, &body);
        let expected =
            "POST https://example.com/mcp?…: 502 Bad Gateway: <html> <h1>Bad [31m gateway</h1>";
        assert_eq!(failure.reason, expected);
        assert_eq!(failure.kind, FailureKind::Refused(502));
        let failure = asked.refused(StatusCode::OK, &Bytes::new());
        assert_eq!(failure.kind, FailureKind::Lost);
        assert!(failure.reason.ends_with("200 OK, without a body"), "{}", failure.reason);
    }

    #[test]
    fn a_refusal_says_what_to_do_if_that_is_known() {
        let address = Address::parse("http://localhost/wrong").unwrap();
        let asked = Asked { method: &Method::POST, address: &address };
        let body = Bytes::from_static(br#"{"error":{"code":-32600,"message":"nothing here"}}"#);
        let failure = asked.refused(StatusCode::NOT_FOUND, &body);
        let expected = "POST http://localhost/wrong: 404 Not Found: nothing here (-32600); check the \
                        path of the address, which is often `/mcp`";
        assert_eq!(failure.reason, expected);
        let failure = asked.refused(StatusCode::UNAUTHORIZED, &Bytes::new());
        assert!(failure.reason.ends_with("; send credentials, such as a header `Authorization`"));
        let asked = Asked { method: &Method::GET, address: &address };
        let failure = asked.refused(StatusCode::METHOD_NOT_ALLOWED, &Bytes::new());
        assert!(failure.reason.ends_with("405 Method Not Allowed, without a body"));
    }

    #[test]
    fn a_long_body_is_quoted_in_short() {
        let text = "ß ".repeat(10_000);
        let excerpt = Excerpt(&text).to_string();
        assert_eq!(excerpt.chars().count(), EXCERPT + 1);
        assert!(excerpt.ends_with('…'));
    }
}
