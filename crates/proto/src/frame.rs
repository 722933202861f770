//! Text to JSON-RPC messages, strictly, with params and results left as text.
//!
//! A frame is one message, or an array of them where the revision has batches. The members of a
//! message are read by hand: names are case-sensitive and occur once, `jsonrpc` is `"2.0"`, an id
//! is a string or an integer, and a response has exactly one of `result` and `error`. Text that is
//! no message becomes a [`Malformed`], which says whether to answer it and under which id.
//!
//! Two parsers do the work. The scanner (`scan.rs`) reads usual text in one pass and finds the
//! members of `params` or `result` on the way. Text that it is not sure of is read again with
//! serde, which decides and words the error. Both fill the same `Envelope`, and `into_message`
//! applies the rules to either.
//!
//! The rules are those of JSON-RPC as the specification narrows it: no `null` id (RPC-3), params
//! only as an object (RPC-17), results only as objects (RPC-7). Text that is no JSON gets -32700
//! (ERR-1), JSON that is no message -32600 (ERR-2).

use std::fmt;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::json::RawJson;
use bowline_types::method::{MessageKind, Method};
use bowline_types::read::{ReadError, read};
use bowline_types::text::{counted, excerpt};
use bytes::Bytes;
use bytestring::ByteString;
use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::limits::Limits;
use crate::members::scan::Scanner;
use crate::members::{MemberName, Members, Names, TWICE, unescaped};

mod tail;

pub(crate) use self::tail::last_members;

/// One message, or one batch. Made by [`Frame::parse`] from one line, one HTTP body or one event;
/// gone once its messages are handled.
#[derive(Debug)]
pub enum Frame {
    /// One message.
    Message(Message),
    /// An array of messages, each read on its own.
    ///
    /// Only 2025-03-26 has them (RPC-19, RPC-22); the connection refuses an array in any other
    /// session. One malformed item does not spoil the others.
    Batch(Vec<Result<Message, Malformed>>),
}

/// One JSON-RPC message.
#[derive(Debug)]
pub enum Message {
    /// A request, to be answered.
    Request(RequestMessage),
    /// A notification, never answered.
    Notification(NotificationMessage),
    /// An answer to a request of this side.
    Response(ResponseMessage),
}

/// A request as it is on the wire.
#[derive(Debug)]
pub struct RequestMessage {
    /// Repeated in the answer.
    pub id: RequestId,
    /// The method that is called.
    pub method: MethodName,
    /// The members of `params`; none if it is missing.
    pub params: Members,
}

/// A notification as it is on the wire.
#[derive(Debug)]
pub struct NotificationMessage {
    /// The event that is reported.
    pub method: MethodName,
    /// The members of `params`; none if it is missing.
    pub params: Members,
}

/// A response as it is on the wire. A server gets one when a client answers a question, a client
/// when a server answers a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseMessage {
    /// The request that it answers. An error about an unreadable message has none.
    pub id: Option<RequestId>,
    /// The text of the result, or the error.
    pub outcome: Result<RawJson, ErrorObject>,
    /// The members of the result, if the parser has found them already.
    pub members: Option<Members>,
}

/// The name of a method, known or not. Whether a known method exists in the revision of the caller
/// is decided later, by [`admission`](crate::admission).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MethodName {
    /// A method that the specification defines.
    Known(Method),
    /// Any other name.
    Unknown(String),
}

impl MethodName {
    /// The name as it is on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(method) => method.name(),
            Self::Unknown(name) => name,
        }
    }
}

/// Text that is not a valid message. The connection decides what becomes of it: an answer, a failed
/// call of its own, or a count of noise.
#[derive(Debug)]
pub struct Malformed {
    /// The problem, as the answer to the peer names it.
    pub error: ErrorObject,
    /// The kind of message that it was meant to be, as far as can be seen.
    pub kind: MalformedKind,
}

/// The kind of message that malformed text was meant to be.
///
/// The difference matters because a notification must never be answered (RPC-16), and because an
/// answer to a response could start an endless exchange of errors.
#[derive(Debug, PartialEq, Eq)]
pub enum MalformedKind {
    /// A request, or unrecognisable text. It is answered with the error.
    Request(Option<RequestId>),
    /// A notification. It is never answered.
    Notification,
    /// A response. It is never answered, but a call of this side may wait for it.
    Response(Option<RequestId>),
}

impl Frame {
    /// Parses one piece of text.
    ///
    /// Params share the memory of `text`. Depth is bounded before anything recurses.
    ///
    /// # Errors
    ///
    /// If the text is not JSON, or JSON but no message.
    pub fn parse(text: &Bytes, limits: &Limits) -> Result<Self, Malformed> {
        let unreadable = |message| Malformed {
            error: ErrorObject::parse_error(message),
            kind: MalformedKind::Request(None),
        };
        let string = ByteString::try_from(text.clone())
            .map_err(|error| unreadable(format!("the message is not UTF-8: {error}")))?;
        if let Some(envelope) = Envelope::scan(&string, limits.depth) {
            return envelope.into_message(text).map(Self::Message);
        }
        if is_deeper_than(text, limits.depth) {
            let message =
                format!("the message nests deeper than {}", counted(limits.depth, "level"));
            return Err(Malformed {
                error: ErrorObject::invalid_request(message),
                kind: MalformedKind::Request(id_within(text)),
            });
        }
        if string.trim_ascii_start().starts_with('[') {
            return parse_batch(text, &string, limits);
        }
        parse_message(text, &string).map(Self::Message)
    }

    /// The id, if the frame is one request.
    pub fn id(&self) -> Option<&RequestId> {
        match self {
            Self::Message(Message::Request(request)) => Some(&request.id),
            Self::Message(_) | Self::Batch(_) => None,
        }
    }

    /// The requests of the frame, in order.
    pub fn requests(&self) -> impl Iterator<Item = &RequestMessage> {
        let (one, items) = match self {
            Self::Message(message) => (Some(message), &[][..]),
            Self::Batch(items) => (None, items.as_slice()),
        };
        one.into_iter().chain(items.iter().flatten()).filter_map(|message| match message {
            Message::Request(request) => Some(request),
            Message::Notification(_) | Message::Response(_) => None,
        })
    }

    /// How many messages of the frame run a handler: requests, and notifications of extensions.
    ///
    /// Rate limits and slots count these and not frames, so neither a batch nor a notification
    /// gets around them.
    pub fn calls(&self) -> usize {
        match self {
            Self::Message(message) => usize::from(message.is_call()),
            Self::Batch(items) => items.iter().flatten().filter(|item| item.is_call()).count(),
        }
    }
}

impl Message {
    /// Whether it runs a handler.
    fn is_call(&self) -> bool {
        match self {
            Self::Request(_) => true,
            Self::Notification(notification) => notification.extension_method().is_some(),
            Self::Response(_) => false,
        }
    }
}

impl NotificationMessage {
    /// The method, if it is a notification of an extension: one that the program registered. Such a
    /// notification runs a handler, like a request.
    pub fn extension_method(&self) -> Option<Method> {
        match self.method {
            MethodName::Known(method @ Method::Custom(_))
                if method.row().kind == MessageKind::Notification =>
            {
                Some(method)
            }
            _ => None,
        }
    }
}

/// The id of a message that is no valid one, or of which only the first bytes are known. Gives `None`
/// if they do not contain it.
pub fn id_within(head: &[u8]) -> Option<RequestId> {
    value_within(whole_characters(head), "id").and_then(|id| RequestId::from_json(id).ok())
}

/// The beginning of a text as far as it is UTF-8. A cut may have split a character.
pub(crate) fn whole_characters(head: &[u8]) -> &str {
    let whole = match std::str::from_utf8(head) {
        Ok(text) => return text,
        Err(error) => head.get(..error.valid_up_to()).unwrap_or_default(),
    };
    std::str::from_utf8(whole).unwrap_or_default()
}

/// The value of the first member with this name. The text after it is not read. For texts that are
/// cut off, and for outgoing params of which one member is needed.
pub(crate) fn value_within<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    /// Stores the value as soon as it is found, because the rest of the text may be invalid.
    struct Finder<'a, 'de>(&'a str, &'a mut Option<&'de str>);

    impl<'de> Visitor<'de> for Finder<'_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            while let Some(name) = map.next_key::<MemberName<'de>>()? {
                let value: &'de RawValue = map.next_value()?;
                if name.as_str() == self.0 {
                    *self.1 = Some(value.get());
                    return Err(A::Error::custom("found"));
                }
            }
            Ok(())
        }
    }

    let mut value = None;
    let finder = Finder(name, &mut value);
    let _ = serde_json::Deserializer::from_str(text).deserialize_map(finder);
    value
}

/// Whether the text nests deeper than this many levels. Brackets inside of strings do not count.
/// The text need not be valid JSON.
fn is_deeper_than(text: &[u8], depth: usize) -> bool {
    // Text with few brackets cannot nest deep, and counting all brackets is far cheaper than
    // following them.
    let brackets = text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if brackets <= depth {
        return false;
    }
    let (mut level, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => level += 1,
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
        if level > depth {
            return true;
        }
    }
    false
}

/// Parses an array of messages, each by itself. The array must be neither empty nor longer than
/// [`Limits::batch`].
fn parse_batch(text: &Bytes, string: &str, limits: &Limits) -> Result<Frame, Malformed> {
    let answer = |error| Malformed { error, kind: MalformedKind::Request(None) };
    let items: Vec<&RawValue> = read(string)
        .map_err(|error| answer(ErrorObject::parse_error(format!("the text is {error}"))))?;
    if items.is_empty() {
        return Err(answer(ErrorObject::invalid_request("a batch holds at least one message")));
    }
    if items.len() > limits.batch {
        let message = format!(
            "a batch holds at most {}, not {}",
            counted(limits.batch, "message"),
            items.len()
        );
        return Err(answer(ErrorObject::invalid_request(message)));
    }
    let parse =
        |item: &&RawValue| parse_message(&text.slice_ref(item.get().as_bytes()), item.get());
    Ok(Frame::Batch(items.iter().map(parse).collect()))
}

/// Parses a message with serde, for text that the scanner left.
fn parse_message(text: &Bytes, string: &str) -> Result<Message, Malformed> {
    let envelope: Envelope<'_> = match read_envelope(string) {
        Ok(envelope) => envelope,
        Err(error) => {
            let error = ReadError::new(&error, string);
            let (error, id) = if error.is_json() {
                let message = format!("the message is no JSON-RPC object: {}", error.reason());
                (ErrorObject::invalid_request(message), id_within(text))
            } else {
                (ErrorObject::parse_error(format!("the text is {error}")), None)
            };
            return Err(Malformed { error, kind: MalformedKind::Request(id) });
        }
    };
    envelope.into_message(text)
}

/// Reads the members of a message with serde.
fn read_envelope(string: &str) -> Result<Envelope<'_>, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(string);
    let envelope = deserializer.deserialize_map(EnvelopeVisitor)?;
    deserializer.end()?;
    Ok(envelope)
}

/// The members of a message that JSON-RPC defines, as text. Both parsers fill it. Nothing is
/// decoded yet, so a slice is enough for each member.
#[derive(Default)]
struct Envelope<'de> {
    jsonrpc: Option<&'de str>,
    id: Option<&'de str>,
    method: Option<&'de str>,
    params: Option<&'de str>,
    result: Option<&'de str>,
    error: Option<&'de str>,
    /// The members of `params` or `result`, if the scanner has found them already.
    members: Option<Members>,
}

/// Reads members by hand, so that names which JSON-RPC does not define are checked for repetition
/// too.
struct EnvelopeVisitor;

impl<'de> Visitor<'de> for EnvelopeVisitor {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        let mut others = Names::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            let value: &'de RawValue = map.next_value()?;
            let slot = match name.as_str() {
                "jsonrpc" => &mut envelope.jsonrpc,
                "id" => &mut envelope.id,
                "method" => &mut envelope.method,
                "params" => &mut envelope.params,
                "result" => &mut envelope.result,
                "error" => &mut envelope.error,
                other => {
                    others.add(other).map_err(|reason| misplaced(other, reason))?;
                    continue;
                }
            };
            if slot.replace(value.get()).is_some() {
                return Err(misplaced(name.as_str(), TWICE));
            }
        }
        Ok(envelope)
    }
}

/// The method that a JSON string names.
fn method_named(text: &str) -> Option<MethodName> {
    if let Some(method) = unescaped(text).and_then(Method::named) {
        return Some(MethodName::Known(method));
    }
    let name: String = serde_json::from_str(text).ok()?;
    Some(Method::named(&name).map_or(MethodName::Unknown(name), MethodName::Known))
}

/// The error for a member that a message must not have.
fn misplaced<E: serde::de::Error>(name: &str, reason: &str) -> E {
    E::custom(format_args!("`{}`: {reason}", excerpt(name)))
}

impl<'de> Envelope<'de> {
    /// Reads a message in one pass. Gives `None` for unusual text, which the slow path reads.
    ///
    /// Unusual is: a member that JSON-RPC does not define, a name that occurs twice or has escapes,
    /// a result that is no object, text that is not JSON.
    fn scan(text: &'de ByteString, depth: usize) -> Option<Self> {
        let mut scanner = Scanner::new(text, depth);
        let mut envelope = Self::default();
        // The braces of the message itself count as one level.
        scanner.enter()?;
        loop {
            let slot = match scanner.name()?.as_bytes() {
                b"jsonrpc" => &mut envelope.jsonrpc,
                b"id" => &mut envelope.id,
                b"method" => &mut envelope.method,
                b"params" if envelope.members.is_none() => {
                    envelope.members = Some(scanner.members()?);
                    if scanner.leaves()? {
                        break;
                    }
                    continue;
                }
                b"result" if envelope.members.is_none() => {
                    let (text, members) = scanner.object_and_members()?;
                    envelope.result = Some(text);
                    envelope.members = Some(members);
                    if scanner.leaves()? {
                        break;
                    }
                    continue;
                }
                b"error" => &mut envelope.error,
                _ => return None,
            };
            if slot.replace(scanner.value()?).is_some() {
                return None;
            }
            if scanner.leaves()? {
                break;
            }
        }
        scanner.is_over().then_some(envelope)
    }
}

impl Envelope<'_> {
    /// Decides between request, notification and response, and checks the members of each. A
    /// message with `method` is a call even if it also has `result`; it is then refused.
    fn into_message(self, text: &Bytes) -> Result<Message, Malformed> {
        let is_response = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        if self.jsonrpc != Some("\"2.0\"") {
            let error = ErrorObject::invalid_request("`jsonrpc` must be the string \"2.0\"");
            return Err(self.malformed(error));
        }
        if is_response { self.into_response() } else { self.into_call(text) }
    }

    /// A request or a notification. An id makes it a request, its absence a notification. `"id":
    /// null` is neither and is refused (RPC-3).
    fn into_call(mut self, text: &Bytes) -> Result<Message, Malformed> {
        if self.result.is_some() || self.error.is_some() {
            let reason = "a message has either `method`, or one of `result` and `error`";
            return Err(self.malformed(ErrorObject::invalid_request(reason)));
        }
        let Some(method) = self.method.and_then(method_named) else {
            return Err(self.malformed(ErrorObject::invalid_request("`method` must be a string")));
        };
        let params = match (self.members.take(), self.params) {
            (Some(members), _) => members,
            (None, None | Some("null")) => Members::default(),
            (None, Some(params)) => Members::cut(text.slice_ref(params.as_bytes()))
                .map_err(|error| self.malformed(ErrorObject::misread_params(error)))?,
        };
        match self.id {
            None => Ok(Message::Notification(NotificationMessage { method, params })),
            Some(id) => match RequestId::from_json(id) {
                Ok(id) => Ok(Message::Request(RequestMessage { id, method, params })),
                Err(error) => {
                    Err(self.malformed(ErrorObject::invalid_request(format!("`id`: {error}"))))
                }
            },
        }
    }

    /// A response, which has exactly one of `result` and `error`. An error may lack the id, if the
    /// peer could not read the message that it is about (RPC-11). A result may not.
    fn into_response(self) -> Result<Message, Malformed> {
        let outcome = match (self.result, self.error) {
            (Some(result), None) if result.starts_with('{') => Ok(RawJson::from_checked(result)),
            (Some(_), None) => {
                return Err(
                    self.malformed(ErrorObject::invalid_request("`result` must be an object"))
                );
            }
            (None, Some(error)) => Err(read::<ErrorObject>(error).map_err(|error| {
                self.malformed(ErrorObject::invalid_request(error.within("error").to_string()))
            })?),
            _ => {
                let reason = "a response has exactly one of `result` and `error`";
                return Err(self.malformed(ErrorObject::invalid_request(reason)));
            }
        };
        let id = self.readable_id();
        if id.is_none() && outcome.is_ok() {
            return Err(self
                .malformed(ErrorObject::invalid_request("a result names the request it answers")));
        }
        let members = self.members.filter(|_| outcome.is_ok());
        Ok(Message::Response(ResponseMessage { id, outcome, members }))
    }

    /// An error about this message, under its id if it is readable.
    #[cold]
    fn malformed(&self, error: ErrorObject) -> Malformed {
        let kind = match (self.method, self.id) {
            (None, _) if self.result.is_some() || self.error.is_some() => {
                MalformedKind::Response(self.readable_id())
            }
            (Some(method), None) if method.starts_with('"') => MalformedKind::Notification,
            _ => MalformedKind::Request(self.readable_id()),
        };
        Malformed { error, kind }
    }

    /// The id, if it is a string or an integer.
    fn readable_id(&self) -> Option<RequestId> {
        self.id.and_then(|id| RequestId::from_json(id).ok())
    }
}

#[cfg(test)]
mod tests;
