//! Writes messages by joining text that is JSON already.
//!
//! Bodies are serialized once, by whoever made them. The envelope and what an era demands are put
//! around and into that text without reading it again.

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bytes::Bytes;
use serde::Serialize;

/// What stands in the `id` member of an error that answers nothing readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoId {
    /// The member is left out (2025-11-25 and later).
    Absent,
    /// JSON-RPC's own rule, where MCP had none of its own yet.
    Null,
}

/// Bytes that stand around a result in most answers.
const STAMP: usize = 256;

/// A request.
pub(crate) fn request(id: &RequestId, method: Method, params: &str) -> Bytes {
    let mut text = Text::with_capacity(64 + params.len());
    text.push("{\"jsonrpc\":\"2.0\",\"id\":").push_id(id);
    text.push(",\"method\":\"").push(method.name()).push("\"");
    if params != "{}" {
        text.push(",\"params\":").push(params);
    }
    text.push("}").finish()
}

/// A notification.
pub(crate) fn notification(method: Method, params: &str) -> Bytes {
    let mut text = Text::with_capacity(64 + params.len());
    text.push("{\"jsonrpc\":\"2.0\",\"method\":\"").push(method.name()).push("\"");
    if params != "{}" {
        text.push(",\"params\":").push(params);
    }
    text.push("}").finish()
}

/// A response with a result: what `stamp` writes comes before the members of the body.
pub(crate) fn result(id: &RequestId, body: &str, stamp: impl FnOnce(&mut Text)) -> Bytes {
    let mut text = Text::with_capacity(STAMP + body.len());
    text.push("{\"jsonrpc\":\"2.0\",\"id\":").push_id(id).push(",\"result\":");
    text.push_object(stamp, body);
    text.push("}").finish()
}

/// A response with a result that is written as it is.
pub(crate) fn plain_result(id: &RequestId, body: &str) -> Bytes {
    result(id, body, |_| ())
}

/// A response with an error.
pub(crate) fn error(id: Result<&RequestId, NoId>, error: &ErrorObject) -> Bytes {
    let mut text = Text::with_capacity(128);
    text.push("{\"jsonrpc\":\"2.0\"");
    match id {
        Ok(id) => text.push(",\"id\":").push_id(id),
        Err(NoId::Null) => text.push(",\"id\":null"),
        Err(NoId::Absent) => &mut text,
    };
    text.push(",\"error\":").push(&json(error)).push("}").finish()
}

/// Several messages as one batch.
pub(crate) fn batch(frames: &[Bytes]) -> Bytes {
    let mut text = vec![b'['];
    for (position, frame) in frames.iter().enumerate() {
        if position > 0 {
            text.push(b',');
        }
        text.extend_from_slice(frame);
    }
    text.push(b']');
    text.into()
}

/// The text of an object with further members put in front.
pub(crate) fn object(members: &str, body: &str) -> String {
    let mut text = Text::with_capacity(members.len() + body.len() + 1);
    text.push_object(|text| text.put(members), body);
    text.0
}

/// A value as JSON text. Our own wire types always can be written.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// One member as JSON text, without a comma.
pub(crate) fn member<T: Serialize + ?Sized>(name: &str, value: &T) -> String {
    format!("{}:{}", json(name), json(value))
}

/// A message being written.
pub(crate) struct Text(String);

impl Text {
    fn with_capacity(capacity: usize) -> Self {
        Self(String::with_capacity(capacity))
    }

    pub(crate) fn push(&mut self, piece: &str) -> &mut Self {
        self.0.push_str(piece);
        self
    }

    /// The same, as the last of several.
    pub(crate) fn put(&mut self, piece: &str) {
        self.push(piece);
    }

    /// A value as JSON text.
    pub(crate) fn push_json<T: Serialize + ?Sized>(&mut self, value: &T) -> &mut Self {
        self.push(&json(value))
    }

    fn push_id(&mut self, id: &RequestId) -> &mut Self {
        id.write_json(&mut self.0);
        self
    }

    /// An object: what `front` writes, then the members of the body.
    pub(crate) fn push_object(&mut self, front: impl FnOnce(&mut Self), body: &str) -> &mut Self {
        let inside = body.trim_ascii().strip_prefix('{').map_or("}", str::trim_ascii_start);
        self.push("{");
        let before = self.0.len();
        front(self);
        let is_first = self.0.len() == before || inside.starts_with('}');
        self.push(if is_first { "" } else { "," }).push(inside)
    }

    fn finish(&mut self) -> Bytes {
        // A message never spans lines; pretty-printed text from elsewhere is put on one. A raw
        // newline can only be white space between tokens, since strings escape it.
        if memchr::memchr2(b'\n', b'\r', self.0.as_bytes()).is_some() {
            self.0 = self.0.replace(['\n', '\r'], " ");
        }
        std::mem::take(&mut self.0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_go_in_front_of_those_of_the_body() {
        assert_eq!(object("\"a\":1", "{}"), "{\"a\":1}");
        assert_eq!(object("\"a\":1", " { \"b\":2} "), "{\"a\":1,\"b\":2}");
        assert_eq!(object("", "{\"b\":2}"), "{\"b\":2}");
        assert_eq!(object("", "{}"), "{}");
    }

    // spec: STDIO-2
    #[test]
    fn a_message_never_spans_lines() {
        let frame = plain_result(&1.into(), "{\n  \"text\": \"a\\nb\"\r\n}");
        assert_eq!(frame, r#"{"jsonrpc":"2.0","id":1,"result":{"text": "a\nb"  }}"#.as_bytes());
    }

    // spec: RPC-11
    #[test]
    fn an_error_that_answers_nothing_readable_has_no_id() {
        let object = ErrorObject::parse_error("m");
        let frame = error(Err(NoId::Absent), &object);
        assert_eq!(frame, r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#.as_bytes());
        let frame = error(Err(NoId::Null), &object);
        assert!(frame.starts_with(br#"{"jsonrpc":"2.0","id":null,"#));
    }
}
