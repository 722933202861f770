//! Writes messages by joining text that is JSON already.
//!
//! Bodies are serialized once, by whoever made them. The envelope and what an era demands are put
//! around and into that text without reading it again.

use std::borrow::Cow;

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

/// The params of a message, left out if there are none.
struct Params<'a>(&'a str);

impl<'a> Params<'a> {
    fn pieces(&self) -> [&'a str; 2] {
        if self.0 == "{}" { ["", ""] } else { [",\"params\":", self.0] }
    }
}

/// A response with a result: the members that `stamp` spells come before those of the body.
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
    in_one_line(text)
}

/// From this many bytes on it pays to put a message around a result where it stands.
const LONG: usize = 4 * 1024;

/// A response up to the members of the result, and then the rest.
fn front(id: &RequestId, stamp: &[&str], comma: &str, rest: &[&str]) -> String {
    id.with_json(|id| {
        let begin = ["{\"jsonrpc\":\"2.0\",\"id\":", id, ",\"result\":{"];
        let pieces = || begin.iter().chain(stamp).chain([&comma]).chain(rest);
        // Exactly as long as it gets, so that nothing has to be moved.
        let mut text = String::with_capacity(pieces().map(|piece| piece.len()).sum());
        pieces().for_each(|piece| text.push_str(piece));
        text
    })
}

/// The text of a result with a message around it, moved only if it has no room for that.
fn around(front: &str, mut text: String) -> String {
    // The first brace of the message takes the place of the first brace of the result.
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
    let inside = inside(body);
    let comma = if members.is_empty() || inside.starts_with('}') { "" } else { "," };
    ["{", members, comma, inside].concat()
}

/// A value as JSON text. Our own wire types always can be written.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// One member as JSON text, without a comma.
pub(crate) fn member<T: Serialize + ?Sized>(name: &str, value: &T) -> String {
    format!("{}:{}", json(name), json(value))
}

/// Adds members that are text already to an object, those of each piece after those before.
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
    in_one_line(pieces.concat())
}

/// A message never spans lines; pretty-printed text from elsewhere is put on one. A raw newline can
/// only be white space between tokens, since strings escape it.
fn in_one_line(text: String) -> Bytes {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_none() {
        return text.into();
    }
    text.replace(['\n', '\r'], " ").into()
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
