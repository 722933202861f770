//! A message of the client as an HTTP request, with its target and its headers.
//!
//! Written apart from the client of this workspace on purpose: a fault that both the client and the
//! server had would otherwise hide itself.

use bowline_proto::mirror::{self, value};
use bowline_types::meta::key;
use bowline_types::method::Method as Called;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;
use serde_json::Value;

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";

/// The header that names a session.
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

/// A message of the client. Loosely parsed: a transcript may send text that is no message at all.
#[derive(Clone, Debug)]
pub(super) struct ClientMessage {
    body: Bytes,
    /// Null if it is not JSON.
    value: Value,
    /// Its revision, if that is 2026-07-28 or later: from `_meta`, or that of the play.
    modern: Option<String>,
}

/// A session of the client. Every later request repeats its id, and from 2025-06-18 on the revision
/// (SESS-5, PV-1).
#[derive(Clone, Debug)]
pub(super) struct ClientSession {
    id: String,
    /// The revision that was agreed on.
    revision: Option<Revision>,
}

impl ClientSession {
    /// Reads the session out of the response to `initialize`.
    pub(super) fn opened(id: String, answer: &str) -> Self {
        let answer: Value = serde_json::from_str(answer).unwrap_or_default();
        let agreed = answer["result"]["protocolVersion"].as_str();
        Self { id, revision: agreed.and_then(|agreed| agreed.parse().ok()) }
    }
}

impl ClientMessage {
    /// `_meta` decides the era as for the server; without it, the revision of the play does.
    pub(super) fn parse(body: &[u8], revision: Revision) -> Self {
        let value: Value = serde_json::from_slice(body).unwrap_or_default();
        let claimed = value["params"]["_meta"][key::PROTOCOL_VERSION].as_str().map(str::to_owned);
        let modern = claimed.or_else(|| revision.is_modern().then(|| revision.to_string()));
        Self { body: Bytes::copy_from_slice(body), value, modern }
    }

    /// Whether it belongs to no session.
    pub(super) fn is_modern(&self) -> bool {
        self.modern.is_some()
    }

    /// Whether it has a request, whose answer may take time.
    pub(super) fn has_request(&self) -> bool {
        !self.request_ids().is_empty()
    }

    /// The ids of the requests in it.
    pub(super) fn request_ids(&self) -> Vec<Value> {
        let messages = match &self.value {
            Value::Array(messages) => messages.as_slice(),
            message => std::slice::from_ref(message),
        };
        let requests = messages.iter().filter(|message| message.get("method").is_some());
        requests.filter_map(|request| request.get("id").cloned()).collect()
    }

    pub(super) fn is_handshake(&self) -> bool {
        self.method() == Some("initialize") && !self.is_modern()
    }

    pub(super) fn is_initialized(&self) -> bool {
        self.method() == Some("notifications/initialized") && !self.has_request()
    }

    /// Whether it is the request with this id.
    pub(super) fn is_request(&self, id: &Value) -> bool {
        self.is_modern() && self.request_ids() == [id.clone()]
    }

    /// The id of the request that it cancels, if it belongs to no session.
    pub(super) fn cancels(&self) -> Option<&Value> {
        let is_meant = self.method() == Some("notifications/cancelled")
            && self.is_modern()
            && !self.has_request();
        is_meant.then(|| &self.value["params"]["requestId"])
    }

    /// The POST that carries it. With the headers that the specification demands of a client of
    /// this era.
    pub(super) fn post(
        &self,
        target: &str,
        session: Option<&ClientSession>,
    ) -> Request<Full<Bytes>> {
        let mut request = request(Method::POST, target, self.body.clone());
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        if let Some(version) = &self.modern {
            set(&mut request, mirror::PROTOCOL_VERSION, version);
            self.mirror(&mut request);
        } else if let Some(session) = session {
            session.add_headers(&mut request);
        }
        request
    }

    /// Repeats method and name in headers. No tool of the transcripts has arguments that headers repeat.
    fn mirror(&self, request: &mut Request<Full<Bytes>>) {
        let Some(method) = self.method() else { return };
        set(request, mirror::METHOD, method);
        let member = Called::named(method).and_then(Called::named_by);
        let name = member.and_then(|member| self.value["params"][member].as_str());
        if let Some(name) = name {
            set(request, mirror::NAME, &value::encode(name));
        }
    }

    fn method(&self) -> Option<&str> {
        self.value["method"].as_str()
    }
}

impl ClientSession {
    /// Adds the headers of the session to a request.
    fn add_headers(&self, request: &mut Request<Full<Bytes>>) {
        set(request, SESSION_ID.as_str(), &self.id);
        if let Some(revision) = self.revision.filter(|it| it.has_version_header()) {
            set(request, mirror::PROTOCOL_VERSION, revision.as_str());
        }
    }
}

/// The GET that opens the stream of a session; without a session, the stream of 2024-11-05.
pub(super) fn open_stream(session: Option<&ClientSession>) -> Request<Full<Bytes>> {
    let mut request = request(Method::GET, PATH, Bytes::new());
    request.headers_mut().insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(session) = session {
        session.add_headers(&mut request);
    }
    request
}

/// The DELETE that ends a session.
pub(super) fn delete(session: &ClientSession) -> Request<Full<Bytes>> {
    let mut request = request(Method::DELETE, PATH, Bytes::new());
    session.add_headers(&mut request);
    request
}

fn request(method: Method, target: &str, body: Bytes) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    // If the URL in the `endpoint` event is not valid, the server refuses the default target.
    *request.uri_mut() = target.parse().unwrap_or_default();
    request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
    request
}

/// Sets a header, if its value is allowed in headers.
fn set(request: &mut Request<Full<Bytes>>, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        request.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(body: &str, revision: Revision, session: Option<&ClientSession>) -> Vec<String> {
        let request = ClientMessage::parse(body.as_bytes(), revision).post(PATH, session);
        let named = |name: &HeaderName| name.as_str().starts_with("mcp-");
        let headers = request.headers().iter().filter(|(name, _)| named(name));
        headers.map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn the_headers_of_a_modern_request_repeat_method_and_name() {
        let body = r#"{"id":1,"method":"resources/read","params":{"uri":"a:ö"}}"#;
        let expected = [
            "mcp-protocol-version: 2026-07-28",
            "mcp-method: resources/read",
            "mcp-name: =?base64?YTrDtg==?=",
        ];
        assert_eq!(headers(body, Revision::V2026_07_28, None), expected);
        let claimed = r#"{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}"#;
        assert_eq!(headers(claimed, Revision::V2025_06_18, None), ["mcp-protocol-version: x"]);
    }

    #[test]
    fn a_message_of_a_session_has_headers_for_session_and_negotiated_revision() {
        let answer = r#"{"result":{"protocolVersion":"2025-06-18"}}"#;
        let session = ClientSession::opened("s".to_owned(), answer);
        let expected = ["mcp-session-id: s", "mcp-protocol-version: 2025-06-18"];
        let found = headers(r#"{"id":1,"method":"ping"}"#, Revision::V2025_11_25, Some(&session));
        assert_eq!(found, expected);
        let older =
            ClientSession::opened("s".to_owned(), r#"{"result":{"protocolVersion":"2025-03-26"}}"#);
        assert_eq!(headers("{}", Revision::V2025_03_26, Some(&older)), ["mcp-session-id: s"]);
    }
}
