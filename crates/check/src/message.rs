//! What goes over the wire, as observers see it: messages, and facts of HTTP.

use std::fmt;

use serde_json::Value;

/// Which side sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// What carries a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// Lines of a process, or any other ordered channel.
    Stdio,
    /// The body or the answer of the POST with this number.
    Post(usize),
    /// A stream that the GET with this number opened.
    Get(usize),
}

/// One JSON-RPC message; of a batch, each is one.
#[derive(Clone, Debug)]
pub struct WireMessage {
    /// Which side sent it.
    pub sender: Sender,
    /// What carried it.
    pub channel: Channel,
    /// The message.
    pub value: Value,
    /// Whether it was an item of an array.
    pub is_in_batch: bool,
    /// Keys that an object of it has twice, as paths.
    pub repeated_keys: Vec<String>,
}

impl WireMessage {
    /// The method of a request or notification.
    pub fn method(&self) -> Option<&str> {
        self.value.get("method").and_then(Value::as_str)
    }

    /// The params; null if there are none.
    pub fn params(&self) -> &Value {
        self.value.get("params").unwrap_or(&Value::Null)
    }

    /// The id, if there is one and it is not null.
    pub fn id(&self) -> Option<&Value> {
        self.value.get("id").filter(|id| !id.is_null())
    }

    /// Whether it is a request.
    pub fn is_request(&self) -> bool {
        self.method().is_some() && self.value.get("id").is_some()
    }

    /// Whether it is a notification.
    pub fn is_notification(&self) -> bool {
        self.method().is_some() && self.value.get("id").is_none()
    }

    /// Whether it answers a request, with a result or an error.
    pub fn is_answer(&self) -> bool {
        self.method().is_none()
            && (self.value.get("result").is_some() || self.value.get("error").is_some())
    }
}

impl fmt::Display for WireMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&excerpt(&self.value.to_string()))
    }
}

/// An HTTP request and the head of its answer; if the answer is no stream, also its body.
#[derive(Clone, Debug, Default)]
pub struct HttpFacts {
    /// The number of the request; its messages have the channel with this number.
    pub number: usize,
    /// `POST`, `GET` or `DELETE`.
    pub verb: String,
    /// Headers of the request, names in lower case.
    pub sent: Vec<(String, String)>,
    /// The body of the request, if it was JSON.
    pub body: Option<Value>,
    /// The body of the request, if it was no JSON.
    pub broken_json: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// Headers of the answer, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body of the answer, unless it is a stream.
    pub answer: String,
    /// The metadata document of the resource, if the client looked for it after a 401 and found it.
    pub metadata: Option<Value>,
}

impl HttpFacts {
    /// A header of the answer.
    pub fn header(&self, name: &str) -> Option<&str> {
        find(&self.headers, name)
    }

    /// A header of the request.
    pub fn sent_header(&self, name: &str) -> Option<&str> {
        find(&self.sent, name)
    }

    /// The media type of the answer, without parameters.
    pub fn media_type(&self) -> String {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The code of the JSON-RPC error in the answer.
    pub fn error_code(&self) -> Option<i64> {
        let answer: Value = serde_json::from_str(&self.answer).ok()?;
        answer.get("error")?.get("code")?.as_i64()
    }

    /// The method in the request.
    pub fn method(&self) -> Option<&str> {
        self.body.as_ref()?.get("method")?.as_str()
    }

    /// Whether the request was a JSON-RPC request, which expects an answer.
    pub fn is_request(&self) -> bool {
        self.method().is_some() && self.body.as_ref().is_some_and(|body| body.get("id").is_some())
    }

    /// Whether the request was a notification.
    pub fn is_notification(&self) -> bool {
        self.method().is_some() && self.body.as_ref().is_some_and(|body| body.get("id").is_none())
    }

    /// Whether the status says that the request was processed.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl fmt::Display for HttpFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verb)?;
        if let Some(method) = self.method() {
            write!(f, " `{method}`")?;
        }
        write!(f, " → {} {}", self.status, excerpt(&self.answer))
    }
}

fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// The longest piece of a message that a finding shows, in characters.
const EXCERPT: usize = 240;

/// The beginning of a text.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
