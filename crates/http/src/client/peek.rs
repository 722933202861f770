//! Finds out whether a message is the answer that an exchange awaits.
//!
//! An exchange has to recognize its own answer among the messages of a stream, in order to stop
//! reading. Usually the parse that the client needs anyway gives the id. A text that is no valid
//! message is looked at once more, loosely: if it carries the awaited id, the call must fail now
//! instead of waiting for its timeout.

use bowline_proto::client::Delivery;
use bowline_proto::codec::Received;
use bowline_proto::frame::{Frame, Message};
use bowline_proto::limits::Limits;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

/// The members that tell which kind of message it is. Unlike [`Frame`] it takes almost anything.
#[derive(Deserialize)]
struct Outline<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    /// Present in requests and notifications only.
    method: Option<IgnoredAny>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Parses a text; returns whether it holds the answer to the request with this id. The parsed
/// response travels with its text in the [`Delivery`], so the state machine does not parse it again.
pub(super) fn answer(text: Bytes, id: Option<i64>, limits: &Limits) -> (Delivery, bool) {
    match Frame::parse(&text, limits) {
        Ok(Frame::Message(Message::Response(response))) => {
            let named = response.id.as_ref().and_then(RequestId::as_integer);
            (Delivery::Parsed(text, Box::new(response)), id.is_some() && named == id)
        }
        Ok(Frame::Message(_)) => match id {
            Some(id) => (Delivery::Within(id, text), false),
            None => (Received::Message(text).into(), false),
        },
        // An invalid message may still be the awaited answer.
        Ok(Frame::Batch(_)) | Err(_) => {
            let is_answer = id.is_some_and(|id| answers(&text, id));
            (Received::Message(text).into(), is_answer)
        }
    }
}

/// Whether a text holds the answer to the request with this id.
fn answers(text: &Bytes, id: i64) -> bool {
    match text.trim_ascii_start().first() {
        // A batch, as 2025-03-26 has them.
        Some(b'[') => serde_json::from_slice::<Vec<Outline<'_>>>(text)
            .is_ok_and(|messages| messages.iter().any(|message| message.answers(id))),
        _ => serde_json::from_slice::<Outline<'_>>(text).is_ok_and(|message| message.answers(id)),
    }
}

/// The JSON-RPC error in a text, if it has no id. Servers refuse HTTP requests so (HTTP-12).
pub(super) fn error_without_id(text: &[u8]) -> Option<ErrorObject> {
    let outline: Outline<'_> = serde_json::from_slice(text).ok()?;
    let is_nameless = outline.id.is_none_or(|id| id.get() == "null");
    outline.error.filter(|_| is_nameless).and_then(|it| serde_json::from_str(it.get()).ok())
}

impl Outline<'_> {
    fn answers(&self, id: i64) -> bool {
        let named = self.id.and_then(|it| RequestId::from_json(it.get()).ok());
        self.method.is_none() && named.and_then(|it| it.as_integer()) == Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_answer(text: &'static str, id: Option<i64>) -> bool {
        answer(text.into(), id, &Limits::default()).1
    }

    #[test]
    fn an_answer_has_the_id_and_no_method() {
        for answer in [
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            r#" {"error":{"code":1,"message":"\""},"id":7}"#,
            r#"{"method":null,"id":7,"result":{}}"#,
            r#"{"id":7,"result":{},"unusual":[]}"#,
            r#"[{"method":"x"},{"id":7,"result":{"deep":[[]]}}]"#,
        ] {
            assert!(answers(&answer.into(), 7), "{answer}");
            assert!(!answers(&answer.into(), 8), "{answer}");
            assert!(is_answer(answer, Some(7)), "{answer}");
            assert!(!is_answer(answer, Some(8)), "{answer}");
            assert!(!is_answer(answer, None), "{answer}");
        }
        for other in [r#"{"id":7,"method":"ping"}"#, r#"{"id":"7","result":{}}"#, "Accepted", ""] {
            assert!(!answers(&other.into(), 7), "{other}");
            assert!(!is_answer(other, Some(7)), "{other}");
        }
    }

    #[test]
    fn an_error_without_an_id_is_found() {
        let nameless = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}"#;
        assert_eq!(error_without_id(nameless.as_bytes()).unwrap().code, -32022);
        let named = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no"}}"#;
        assert!(error_without_id(named.as_bytes()).is_none());
        assert!(error_without_id(b"<html>").is_none());
    }
}
