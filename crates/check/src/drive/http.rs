//! A session over HTTP: single requests, and the messages in their answers.

use std::collections::BTreeSet;
use std::time::Duration;

use bowline_http::client::{Address, RawAnswer, RawHttp, connect_failure};
use bowline_proto::codec::Received;
use bowline_proto::codec::sse::SseReader;
use bowline_proto::members::Members;
use bowline_proto::mirror;
use bowline_proto::mirror::params::{ParamHeader, headers_for};
use bowline_proto::mirror::x_mcp_header::mirrored;
use bowline_proto::transmit::ConnectFailure;
use bowline_types::host::is_this_machine;
use bowline_types::json::{RawJson, Schema};
use bowline_types::meta::key;
use bowline_types::method::Method;
use bowline_types::text::with_causes;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, StatusCode};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::answers::answer_to;
use super::failure::CheckError;
use crate::message::{Channel, HttpFacts, Sender, excerpt};
use crate::watch::Watch;

/// The most bytes of a body or stream that are read.
const LONGEST: usize = 16 * 1024 * 1024;

/// How long a stream of the server is watched for messages that nothing asked for.
const GLANCE: Duration = Duration::from_millis(300);

/// Sends requests, and shows everything to the watch.
pub(super) struct Posts {
    raw: RawHttp,
    own: Vec<(String, String)>,
    number: usize,
    /// What the server gave out, and what was agreed on.
    pub(super) session: Option<String>,
    pub(super) version: Option<String>,
    /// Why the server cannot be reached, if so.
    pub(super) gone: Option<Gone>,
    /// Documents that the server names at other origins. They are not fetched: a stranger's server could
    /// make the check call any address that this machine reaches.
    pub(super) unfetched: BTreeSet<String>,
    /// The status and the body of the last answer.
    last: Option<(StatusCode, String)>,
}

/// Why a server cannot be reached, for programs and for people.
#[derive(Debug)]
pub(super) struct Gone {
    cause: ConnectFailure,
    pub(super) reason: String,
}

/// An HTTP request of the check, before the usual headers are added.
#[derive(Clone, Debug, Default)]
pub(super) struct Outgoing {
    pub(super) verb: Verb,
    pub(super) body: String,
    /// Headers that replace the usual ones; without a value, the header is left out.
    pub(super) headers: Vec<(&'static str, Option<String>)>,
}

impl Posts {
    pub(super) fn new(url: &str, own: &[(String, String)]) -> Result<Self, String> {
        let raw = RawHttp::new(url).map_err(|error| with_causes(&error))?;
        Ok(Self {
            raw,
            own: own.to_vec(),
            number: 0,
            session: None,
            version: None,
            gone: None,
            unfetched: BTreeSet::new(),
            last: None,
        })
    }

    /// Sends a request and reads its answer until the time is over, or until `is_done` likes a message.
    /// Returns the facts and the messages.
    pub(super) async fn send(
        &mut self,
        watch: &mut Watch,
        outgoing: Outgoing,
        end: Instant,
        is_done: impl Fn(&Value) -> bool,
    ) -> (HttpFacts, Vec<Value>) {
        self.number += 1;
        let is_get = outgoing.verb == Verb::GET;
        let number = self.number;
        let channel = if is_get { Channel::Get(number) } else { Channel::Post(number) };
        let (sent, headers) = self.headers(watch, &outgoing);
        let body = serde_json::from_str::<Value>(&outgoing.body).ok();
        if !outgoing.body.is_empty() {
            watch.frame(Sender::Client, channel, outgoing.body.as_bytes());
        }
        let mut facts = HttpFacts {
            number,
            verb: outgoing.verb.to_string(),
            sent,
            broken_json: body.is_none().then(|| outgoing.body.clone()).filter(|it| !it.is_empty()),
            body,
            ..HttpFacts::default()
        };
        let text = Bytes::from(outgoing.body);
        let answer = timeout_at(end, self.raw.send(outgoing.verb, headers, text)).await;
        self.last = None;
        let answer = match answer {
            Err(_) => return (facts, Vec::new()),
            Ok(Err(error)) => {
                let cause = connect_failure(&*error);
                self.gone.get_or_insert(Gone { cause, reason: with_causes(&*error) });
                return (facts, Vec::new());
            }
            Ok(Ok(answer)) => answer,
        };
        let status = answer.status;
        facts.status = status.as_u16();
        facts.headers = listed(&answer.headers);
        if facts.status == 401 {
            facts.metadata = self.metadata(&facts, end).await;
        }
        let mut reading = Reading { posts: self, watch, channel, end, messages: Vec::new() };
        if facts.media_type() == "text/event-stream" {
            reading.watch.http(&facts);
            if is_get {
                reading.end = end.min(Instant::now() + GLANCE);
            }
            reading.events(answer, is_done).await;
        } else {
            facts.answer = body_of(answer, end).await;
            reading.watch.http(&facts);
            reading.whole(&facts.answer);
        }
        let messages = reading.messages;
        self.last = Some((status, excerpt(facts.answer.trim())));
        (facts, messages)
    }

    /// Whether the last answer demands a credential.
    pub(super) fn demands_login(&self) -> bool {
        self.last.as_ref().is_some_and(|(status, _)| *status == StatusCode::UNAUTHORIZED)
    }

    /// Why a request got no answer.
    pub(super) fn silence(&self) -> CheckError {
        let place = self.raw.address();
        if let Some(Gone { cause, reason }) = &self.gone {
            return CheckError::unreachable(*cause, format!("{place}: {reason}"));
        }
        let Some((status, body)) = &self.last else { return CheckError::silent() };
        let body = if body.is_empty() { "no body" } else { body };
        let text = format!("{place}: {status}: {body}");
        match status.is_success() {
            true => CheckError::invalid(format!("{text}, which is no message")),
            false => CheckError::status(status.as_u16(), text),
        }
    }

    /// Answers a question of the server with a POST of its own.
    async fn answer(&mut self, watch: &mut Watch, message: &Value, end: Instant) {
        self.number += 1;
        let (number, body) = (self.number, message.to_string());
        let outgoing = Outgoing { verb: Verb::POST, body: body.clone(), headers: Vec::new() };
        let (sent, headers) = self.headers(watch, &outgoing);
        watch.frame(Sender::Client, Channel::Post(number), body.as_bytes());
        let answer = timeout_at(end, self.raw.send(Verb::POST, headers, Bytes::from(body))).await;
        let Ok(Ok(answer)) = answer else { return };
        let mut facts = HttpFacts {
            number,
            verb: Verb::POST.to_string(),
            sent,
            body: Some(message.clone()),
            status: answer.status.as_u16(),
            headers: listed(&answer.headers),
            ..HttpFacts::default()
        };
        facts.answer = body_of(answer, end).await;
        watch.http(&facts);
    }

    /// The metadata document of the resource: where the challenge names it, or at a well-known place.
    async fn metadata(&mut self, facts: &HttpFacts, end: Instant) -> Option<Value> {
        let challenge = facts.header("www-authenticate").unwrap_or_default();
        let named = challenge.split_once("resource_metadata=\"").and_then(|(_, rest)| {
            let (url, _) = rest.split_once('"')?;
            Some(url.to_owned())
        });
        let named = named.filter(|url| {
            let is_near = is_near(url, self.raw.address());
            if !is_near {
                self.unfetched.insert(excerpt(url));
            }
            is_near
        });
        let address = self.raw.address();
        let well_known = format!("{}/.well-known/oauth-protected-resource", address.origin());
        let path = address.path().trim_end_matches('/');
        let places = [named, Some(format!("{well_known}{path}")), Some(well_known)];
        for place in places.into_iter().flatten() {
            let Ok(raw) = RawHttp::new(&place) else { continue };
            let sent = raw.send(Verb::GET, HeaderMap::new(), Bytes::new());
            let Ok(Ok(answer)) = timeout_at(end, sent).await else { continue };
            if answer.status.is_success() {
                let text = body_of(answer, end).await;
                if let Ok(document @ Value::Object(_)) = serde_json::from_str(&text) {
                    return Some(document);
                }
            }
        }
        None
    }

    /// The headers of a request, as a list for the facts and as a map for the wire.
    fn headers(&self, watch: &Watch, outgoing: &Outgoing) -> (Vec<(String, String)>, HeaderMap) {
        let mut headers = self.own.clone();
        let mut add = |name: &str, value: &str| headers.push((name.to_owned(), value.to_owned()));
        match outgoing.verb == Verb::POST {
            true => {
                add("content-type", "application/json");
                add("accept", "application/json, text/event-stream");
            }
            false => add("accept", "text/event-stream"),
        }
        let body: Value = serde_json::from_str(&outgoing.body).unwrap_or_default();
        match body.pointer("/params/_meta").and_then(|meta| meta.get(key::PROTOCOL_VERSION)) {
            Some(version) => {
                mirrors(&body, version, &mut add);
                for (name, value) in repeated(watch, &body) {
                    add(&name, &value);
                }
            }
            None => {
                if let Some(session) = &self.session {
                    add("mcp-session-id", session);
                }
                if let Some(version) = &self.version {
                    add(mirror::PROTOCOL_VERSION, version);
                }
            }
        }
        for (name, value) in &outgoing.headers {
            headers.retain(|(known, _)| known != name);
            if let Some(value) = value {
                headers.push(((*name).to_owned(), value.clone()));
            }
        }
        let mut map = HeaderMap::new();
        for (name, value) in &headers {
            let name = HeaderName::try_from(name.as_str());
            let value = HeaderValue::from_bytes(value.as_bytes());
            if let (Ok(name), Ok(value)) = (name, value) {
                map.append(name, value);
            }
        }
        (headers, map)
    }
}

/// Adds the headers that repeat parts of the body.
fn mirrors(body: &Value, version: &Value, add: &mut impl FnMut(&str, &str)) {
    let method = body.get("method").and_then(Value::as_str).unwrap_or_default();
    add(mirror::PROTOCOL_VERSION, version.as_str().unwrap_or_default());
    add(mirror::METHOD, method);
    let member = Method::named(method).and_then(Method::named_by);
    let name = member.and_then(|member| body.get("params")?.get(member)?.as_str());
    if let Some(name) = name {
        add(mirror::NAME, &mirror::value::encode(name));
    }
}

/// The headers that repeat arguments of a tool that was listed, as its schema demands.
fn repeated(watch: &Watch, body: &Value) -> Vec<(String, String)> {
    let is_call = body.get("method").is_some_and(|method| method == "tools/call");
    let headers = || {
        let params = body.get("params").filter(|_| is_call)?;
        let tool = watch.past().tools.get(params.get("name")?.as_str()?)?;
        let schema = Schema::new(RawJson::from_value(tool.get("inputSchema")?).ok()?).ok()?;
        let marks = mirrored(&schema).ok()?;
        let arguments = Members::cut(params.get("arguments")?.to_string().into()).ok()?;
        headers_for(&marks, &arguments).ok()
    };
    let headers = headers().unwrap_or_default().into_iter();
    let named = headers.map(|ParamHeader { name, value }| {
        let name = format!("{}{}", mirror::PARAM_PREFIX, name.to_ascii_lowercase());
        (name, mirror::value::encode(&value).into_owned())
    });
    named.collect()
}

fn listed(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
}

/// Whether a URL that a server names is fetched: at the server's own origin, and from a server of this
/// machine also elsewhere on this machine.
fn is_near(url: &str, server: &Address) -> bool {
    let Ok(named) = Address::parse(url) else { return false };
    let is_here = |address: &Address| is_this_machine(address.host());
    named.is_same_origin(server) || is_here(&named) && is_here(server)
}

async fn body_of(mut answer: RawAnswer, end: Instant) -> String {
    let mut body = Vec::new();
    while let Ok(Ok(Some(piece))) = timeout_at(end, answer.next()).await {
        body.extend_from_slice(&piece);
        if body.len() > LONGEST {
            break;
        }
    }
    String::from_utf8_lossy(&body).into_owned()
}

/// An answer that is being read.
struct Reading<'a> {
    posts: &'a mut Posts,
    watch: &'a mut Watch,
    channel: Channel,
    end: Instant,
    messages: Vec<Value>,
}

impl Reading<'_> {
    fn message(&mut self, text: &[u8]) {
        self.watch.frame(Sender::Server, self.channel, text);
        match serde_json::from_slice(text) {
            Ok(Value::Array(items)) => self.messages.extend(items),
            Ok(value) => self.messages.push(value),
            Err(_) => {}
        }
    }

    /// A body that is one message; error pages and empty bodies are none.
    fn whole(&mut self, body: &str) {
        if body.trim_start().starts_with(['{', '[']) {
            self.message(body.as_bytes());
        }
    }

    async fn events(&mut self, mut answer: RawAnswer, is_done: impl Fn(&Value) -> bool) {
        let mut reader = SseReader::new(LONGEST);
        let (mut last_id, mut length) = (None, 0);
        while let Ok(Ok(Some(piece))) = timeout_at(self.end, answer.next()).await {
            length += piece.len();
            if length > LONGEST {
                let reason = format!("a stream has more than {LONGEST} bytes");
                self.posts.gone.get_or_insert(Gone { cause: ConnectFailure::Other, reason });
                return;
            }
            reader.feed(&piece);
            while let Some(event) = reader.next() {
                let Received::Message(text) = event.data else { continue };
                let id = reader.last_id().map(str::to_owned);
                if id.is_some() && id != last_id {
                    self.watch.event_id(self.channel, id.as_deref().unwrap_or_default());
                    last_id = id;
                }
                let read = self.messages.len();
                self.message(&text);
                let new: Vec<Value> = self.messages.get(read..).unwrap_or_default().to_vec();
                for answer in new.iter().filter_map(answer_to) {
                    self.posts.answer(self.watch, &answer, self.end).await;
                }
                if new.last().is_some_and(&is_done) {
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
