//! Writes messages by joining text that is JSON already.
//!
//! A body is serialized once, where it is made. The other members of the message are written around
//! it and into it without parsing it again.
//!
//! Every message is one line: line ends inside a body, which are only white space in JSON, become
//! spaces. Text that is joined here was written by serde or checked by the parser; nothing else may
//! be passed in, since it is not looked at again.

use std::borrow::Cow;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bytes::Bytes;
use serde::Serialize;

use crate::one_line::in_one_line;

/// The `id` of an error that answers unreadable text. Used only for text whose id could not be read
/// (RPC-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoId {
    /// No `id` member (2025-11-25 and later).
    Absent,
    /// `"id": null`, the rule of JSON-RPC, in revisions of MCP without a rule of their own.
    Null,
}

/// A request.
pub(crate) fn request(id: &RequestId, method: Method, params: &str) -> Bytes {
    let (name, params) = (method.name(), Params(params));
    let [comma, params] = params.pieces();
    id.with_json(|id| {
        join(&[
            "{\"jsonrpc\":\"2.0\",\"id\":",
            id,
            ",\"method\":\"",
            name,
            "\"",
            comma,
            params,
            "}",
        ])
    })
}

/// A notification.
pub(crate) fn notification(method: Method, params: &str) -> Bytes {
    let [comma, params] = Params(params).pieces();
    join(&["{\"jsonrpc\":\"2.0\",\"method\":\"", method.name(), "\"", comma, params, "}"])
}

/// The params of a message. The member is omitted if there are none.
struct Params<'a>(&'a str);

impl<'a> Params<'a> {
    fn pieces(&self) -> [&'a str; 2] {
        if self.0 == "{}" { ["", ""] } else { [",\"params\":", self.0] }
    }
}

/// A response with a result. The members in `stamp` come before those of the body.
///
/// A long body that is owned is written around in its own buffer; a short or shared one is copied
/// once into a buffer of the exact size.
pub(crate) fn result(id: &RequestId, stamp: &[&str], body: Cow<'_, str>) -> Bytes {
    let inside = inside(&body);
    let is_stamped = stamp.iter().any(|piece| !piece.is_empty());
    let comma = if is_stamped && !inside.starts_with('}') { "," } else { "" };
    let text = match body {
        Cow::Owned(text) if text.len() >= LONG && text.starts_with('{') => {
            around(&front(id, stamp, comma, &[]), text)
        }
        body => front(id, stamp, comma, &[self::inside(&body), "}"]),
    };
    in_one_line(text.into())
}

/// From this many bytes on, writing the message around the result in place is faster than copying.
const LONG: usize = 4 * 1024;

/// The text of a response before and after the members of the result.
fn front(id: &RequestId, stamp: &[&str], comma: &str, rest: &[&str]) -> String {
    id.with_json(|id| {
        let begin = ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":{"];
        let pieces = || begin.iter().chain(stamp).chain([&comma]).chain(rest);
        // The capacity is exact, so that the buffer never grows.
        let mut text = String::with_capacity(pieces().map(|piece| piece.len()).sum());
        pieces().for_each(|piece| text.push_str(piece));
        text
    })
}

/// Writes the message around the text of a result, which is moved only if its buffer has no room.
fn around(front: &str, mut text: String) -> String {
    // The opening brace of the message replaces the opening brace of the result.
    text.reserve(front.len());
    text.insert_str(1, front.strip_prefix('{').unwrap_or(front));
    text.push('}');
    text
}

/// A response with an error.
#[cold]
pub(crate) fn error(id: Result<&RequestId, NoId>, error: &ErrorObject) -> Bytes {
    let error = json(error);
    let with = |id: [&str; 2]| {
        let [name, id] = id;
        join(&["{\"jsonrpc\":\"2.0\"", name, id, ",\"error\":", &error, "}"])
    };
    match id {
        Ok(id) => id.with_json(|id| with([",\"id\":", id])),
        Err(NoId::Null) => with([",\"id\":", "null"]),
        Err(NoId::Absent) => with(["", ""]),
    }
}

/// Several messages as one batch. The answers to the requests of one array (2025-03-26).
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

/// The text of an object with further members put in front. Used to put `_meta` into params that
/// are text already.
pub(crate) fn object(members: &str, body: &str) -> String {
    let inside = inside(body);
    let comma = if members.is_empty() || inside.starts_with('}') { "" } else { "," };
    ["{", members, comma, inside].concat()
}

/// A value as JSON text. The types of this crate can always be written.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// One member as JSON text, without a comma.
pub(crate) fn member<T: Serialize + ?Sized>(name: &str, value: &T) -> String {
    format!("{}:{}", json(name), json(value))
}

/// Joins the members of several pieces of text, in order. Empty pieces are left out, with their
/// comma.
pub(crate) fn list(text: &mut String, pieces: &[&str]) {
    let mut comma = "";
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        text.push_str(comma);
        text.push_str(piece);
        comma = ",";
    }
}

/// The text of an object without its braces.
pub(crate) fn members(object: &str) -> &str {
    inside(object).strip_suffix('}').map_or("", str::trim_ascii_end)
}

/// The text of an object without its opening brace.
pub(crate) fn inside(object: &str) -> &str {
    object.trim_ascii().strip_prefix('{').map_or("}", str::trim_ascii_start)
}

fn join(pieces: &[&str]) -> Bytes {
    in_one_line(pieces.concat().into())
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

    #[test]
    fn a_long_result_is_stamped_like_a_short_one() {
        let text = format!("{{\"text\":\"{}\"}}", "a".repeat(LONG));
        for stamp in [&[][..], &["\"resultType\":", "\"complete\""]] {
            let long = result(&1.into(), stamp, Cow::Owned(text.clone()));
            assert_eq!(long, result(&1.into(), stamp, Cow::Borrowed(&text)));
        }
        let nothing = format!("{{{}}}", " ".repeat(LONG));
        let stamped = result(&1.into(), &["\"a\":1"], Cow::Owned(nothing));
        assert!(serde_json::from_slice::<serde_json::Value>(&stamped).is_ok());
    }

    // spec: STDIO-2
    #[test]
    fn a_message_never_spans_lines() {
        let frame = result(&1.into(), &[], "{\n  \"text\": \"a\\nb\"\r\n}".into());
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
