//! One session of the check: sends, waits, answers questions, and shows everything to the watch.

use std::collections::BTreeSet;
use std::time::Duration;

use bowline_types::meta::key;
use bowline_types::revision::Revision;
use http::Method as Verb;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::answers::answer_to;
use super::failure::CheckError;
use super::http::{Outgoing, Posts};
use super::stdio::{Line, Lines};
use super::{CheckOptions, CheckedServer, LateRequest};
use crate::message::{Channel, HttpFacts, Sender};
use crate::past::{Carrier, KnownServer};
use crate::seen::EndOfSession;
use crate::watch::Watch;

/// How long to wait for messages that nothing asked for.
const BRIEF: Duration = Duration::from_millis(333);

/// How many times longer the first answer of a process may take, which has to start.
const START: u32 = 4;

enum Link {
    Stdio(Box<Lines>),
    Http(Box<Posts>),
}

/// A session.
pub(crate) struct Probe {
    pub(super) watch: Watch,
    pub(super) revision: Revision,
    pub(super) callable: Vec<String>,
    /// Tools that are not called, because no arguments that fit their schema were found.
    pub(super) uncalled: BTreeSet<String>,
    /// Requests that were not answered in time.
    pub(super) late: Vec<LateRequest>,
    link: Link,
    timeout: Duration,
    next_id: i64,
}

/// Whether a session could be opened.
pub(super) enum Opened {
    Yes,
    No(CheckError),
}

impl Probe {
    pub(super) fn start(
        server: &CheckedServer,
        options: &CheckOptions,
        revision: Revision,
        known: KnownServer,
    ) -> Result<Self, CheckError> {
        let (link, carrier) = match server {
            CheckedServer::Command(command) => {
                let lines = Lines::start(command).map_err(CheckError::start)?;
                (Link::Stdio(Box::new(lines)), Carrier::Stdio)
            }
            CheckedServer::Url { url, headers } => {
                let mut posts = Posts::new(url, headers).map_err(CheckError::start)?;
                posts.version = (!revision.has_handshake()).then(|| revision.as_str().to_owned());
                (Link::Http(Box::new(posts)), Carrier::Http)
            }
        };
        Ok(Self {
            watch: Watch::knowing(carrier, revision, known),
            revision,
            callable: options.callable.clone(),
            uncalled: BTreeSet::new(),
            late: Vec::new(),
            link,
            timeout: options.timeout,
            next_id: 1,
        })
    }

    pub(super) fn carrier(&self) -> Carrier {
        match self.link {
            Link::Stdio(_) => Carrier::Stdio,
            Link::Http(_) => Carrier::Http,
        }
    }

    /// Whether the server is gone.
    pub(super) fn is_over(&self) -> bool {
        self.gone().is_some()
    }

    /// Documents that the server names and that are not fetched.
    pub(super) fn unfetched(&self) -> impl Iterator<Item = &String> {
        let posts = match &self.link {
            Link::Stdio(_) => None,
            Link::Http(posts) => Some(posts),
        };
        posts.into_iter().flat_map(|posts| &posts.unfetched)
    }

    /// Why the server is gone, if it is.
    pub(super) fn gone(&self) -> Option<&String> {
        match &self.link {
            Link::Stdio(lines) => lines.gone.as_ref(),
            Link::Http(posts) => posts.gone.as_ref().map(|gone| &gone.reason),
        }
    }

    /// Begins a session in the revision.
    pub(super) async fn open(&mut self) -> Opened {
        match self.revision.has_handshake() {
            true => self.shake_hands(self.revision.as_str()).await,
            false => self.discover().await,
        }
    }

    async fn shake_hands(&mut self, version: &str) -> Opened {
        if let Link::Http(posts) = &mut self.link {
            posts.version = None;
        }
        let params = json!({
            "protocolVersion": version,
            "capabilities": self.declared(),
            "clientInfo": {"name": "bowline-check", "version": env!("CARGO_PKG_VERSION")},
        });
        let answer = match self.first_request("initialize", params).await {
            Ok(answer) => answer,
            Err(reason) => return Opened::No(reason),
        };
        let agreed = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
        if agreed != Some(version) {
            return Opened::No(CheckError::refusal(&answer, agreed));
        }
        let session = self.watch.past().session.clone();
        if let Link::Http(posts) = &mut self.link {
            posts.session = session;
            posts.version = Some(version.to_owned());
        }
        self.notify("notifications/initialized", Value::Null).await;
        Opened::Yes
    }

    async fn discover(&mut self) -> Opened {
        let answer = match self.first_request("server/discover", json!({})).await {
            Ok(answer) => answer,
            Err(reason) => return Opened::No(reason),
        };
        match answer.pointer("/result/supportedVersions") {
            Some(versions)
                if versions
                    .as_array()
                    .is_some_and(|it| it.contains(&json!(self.revision.as_str()))) =>
            {
                Opened::Yes
            }
            _ => Opened::No(CheckError::refusal(&answer, None)),
        }
    }

    /// Sends the request that opens the session, and waits for its answer.
    async fn first_request(&mut self, method: &str, params: Value) -> Result<Value, CheckError> {
        let answer = self.request(method, params).await;
        match (answer, &self.link) {
            (Some(answer), Link::Http(posts)) if !posts.demands_login() => Ok(answer),
            (Some(answer), Link::Stdio(_)) => Ok(answer),
            (_, Link::Stdio(lines)) => Err(lines.silence()),
            (_, Link::Http(posts)) => Err(posts.silence()),
        }
    }

    /// What the client declares: everything, and something that no server knows.
    fn declared(&self) -> Value {
        let elicitation = match self.revision.has_elicitation_modes() {
            true => json!({"form": {}, "url": {}}),
            false => json!({}),
        };
        json!({"roots": {}, "sampling": {}, "elicitation": elicitation, "bowline/unknown": {}})
    }

    /// The `_meta` of requests without a handshake.
    pub(super) fn meta(&self) -> Value {
        json!({
            key::PROTOCOL_VERSION: self.revision.as_str(),
            key::CLIENT_CAPABILITIES: self.declared(),
            key::CLIENT_INFO: {"name": "bowline-check", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    /// A number that no request has had.
    pub(super) fn fresh_id(&mut self) -> Value {
        self.next_id += 1;
        json!(self.next_id)
    }

    /// Sends a request as the revision has it, and waits for its answer.
    pub(super) async fn request(&mut self, method: &str, params: Value) -> Option<Value> {
        let id = self.fresh_id();
        self.request_as(id, method, params).await
    }

    /// The same under this id.
    pub(super) async fn request_as(
        &mut self,
        id: Value,
        method: &str,
        mut params: Value,
    ) -> Option<Value> {
        if !self.revision.has_handshake() {
            let own = params.get("_meta").cloned().unwrap_or(json!({}));
            let mut meta = self.meta();
            merge(&mut meta, own);
            params["_meta"] = meta;
        }
        self.exactly(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await
    }

    /// Sends a request as it stands, and waits for its answer.
    pub(super) async fn exactly(&mut self, message: Value) -> Option<Value> {
        let id = message["id"].clone();
        self.exchange(&message.to_string(), &id, Vec::new()).await.1
    }

    /// Sends a request over HTTP with other headers; does nothing on stdio.
    pub(super) async fn with_headers(
        &mut self,
        message: &Value,
        headers: Vec<(&'static str, Option<String>)>,
    ) -> Option<HttpFacts> {
        let id = message["id"].clone();
        self.exchange(&message.to_string(), &id, headers).await.0
    }

    /// How long to wait for the next answer.
    fn timeout(&self) -> Duration {
        let has_answered = self.watch.past().requests().iter().any(|asked| !asked.is_open());
        match self.link {
            Link::Stdio(_) if !has_answered => self.timeout * START,
            _ => self.timeout,
        }
    }

    /// Sends a text and waits for the answer with this id.
    async fn exchange(
        &mut self,
        text: &str,
        id: &Value,
        headers: Vec<(&'static str, Option<String>)>,
    ) -> (Option<HttpFacts>, Option<Value>) {
        let end = Instant::now() + self.timeout();
        let (facts, answer) = match &mut self.link {
            Link::Stdio(lines) => {
                self.watch.frame(Sender::Client, Channel::Stdio, text.as_bytes());
                lines.send(text).await;
                (None, self.await_line(end, |it| is_answer_to(it, id)).await)
            }
            Link::Http(posts) => {
                let outgoing = Outgoing { verb: Verb::POST, body: text.to_owned(), headers };
                let done = |it: &Value| is_answer_to(it, id);
                let (facts, messages) = posts.send(&mut self.watch, outgoing, end, done).await;
                let answer = messages.into_iter().find(|it| is_answer_to(it, id) || is_error(it));
                (Some(facts), answer)
            }
        };
        let is_refused = facts.as_ref().is_some_and(|facts| facts.status >= 400);
        let is_done = answer.is_some() || is_refused;
        if !is_done && !id.is_null() && !self.is_over() {
            self.give_up(id).await;
        }
        (facts, answer)
    }

    /// Notes a request that was not answered in time, and cancels it, as clients should.
    async fn give_up(&mut self, id: &Value) {
        self.watch.unanswered(id);
        let Some(asked) = self.watch.past().asked(id).filter(|asked| asked.is_open()) else {
            return;
        };
        let (method, is_in_batch) = (asked.method.clone(), asked.is_in_batch);
        let tool = asked.param("name").filter(|_| method == "tools/call").map(str::to_owned);
        // Without a handshake the end of the stream of HTTP is the cancellation.
        let has_cancellation = matches!(self.link, Link::Stdio(_)) || self.revision.has_handshake();
        let may_cancel = has_cancellation && !is_in_batch && method != "initialize";
        if !is_in_batch && method != "subscriptions/listen" {
            self.late.push(LateRequest { revision: self.revision, method, tool });
        }
        if may_cancel {
            self.notify("notifications/cancelled", json!({"requestId": id})).await;
        }
    }

    /// Reads lines until one fits. Questions are answered meanwhile.
    async fn await_line(&mut self, end: Instant, fits: impl Fn(&Value) -> bool) -> Option<Value> {
        loop {
            let Link::Stdio(lines) = &mut self.link else { return None };
            let Line::Text(text) = lines.next(end).await else { return None };
            self.watch.frame(Sender::Server, Channel::Stdio, &text);
            let message: Value = serde_json::from_slice(&text).unwrap_or_default();
            if !message.is_object() && !message.is_array() {
                lines.note_noise(&text);
            }
            let items = match message {
                Value::Array(items) => items,
                one => vec![one],
            };
            for item in items {
                if fits(&item) {
                    return Some(item);
                }
                if let Some(answer) = answer_to(&item) {
                    let text = answer.to_string();
                    self.watch.frame(Sender::Client, Channel::Stdio, text.as_bytes());
                    if let Link::Stdio(lines) = &mut self.link {
                        lines.send(&text).await;
                    }
                }
            }
        }
    }

    /// Sends an array with one request, and waits for its answer.
    pub(super) async fn batch(&mut self, text: &str, id: &Value) {
        self.exchange(text, id, Vec::new()).await;
    }

    /// Sends a notification.
    pub(super) async fn notify(&mut self, method: &str, mut params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        // Headers repeat it.
        if !self.revision.has_handshake() && matches!(self.link, Link::Http(_)) {
            params["_meta"] = self.meta();
        }
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message.to_string()).await;
    }

    /// Sends a text that nothing answers.
    pub(super) async fn send(&mut self, text: &str) {
        let end = Instant::now() + self.timeout;
        match &mut self.link {
            Link::Stdio(lines) => {
                self.watch.frame(Sender::Client, Channel::Stdio, text.as_bytes());
                lines.send(text).await;
            }
            Link::Http(posts) => {
                let outgoing =
                    Outgoing { verb: Verb::POST, body: text.to_owned(), ..Outgoing::default() };
                posts.send(&mut self.watch, outgoing, end, |_| true).await;
            }
        }
    }

    /// Waits a moment for messages that nothing asked for.
    pub(super) async fn listen(&mut self) {
        let end = Instant::now() + self.timeout.min(BRIEF);
        self.await_line(end, |_| false).await;
    }

    /// Sends a GET with these headers.
    pub(super) async fn get_with(&mut self, headers: Vec<(&'static str, Option<String>)>) {
        let outgoing = Outgoing { verb: Verb::GET, headers, ..Outgoing::default() };
        self.bodiless(outgoing).await;
    }

    /// Sends a GET or DELETE.
    pub(super) async fn verb(&mut self, verb: Verb) -> Option<HttpFacts> {
        self.bodiless(Outgoing { verb, ..Outgoing::default() }).await
    }

    async fn bodiless(&mut self, outgoing: Outgoing) -> Option<HttpFacts> {
        let end = Instant::now() + self.timeout;
        let Link::Http(posts) = &mut self.link else { return None };
        Some(posts.send(&mut self.watch, outgoing, end, |_| false).await.0)
    }

    /// Ends the session.
    pub(super) async fn close(&mut self) {
        if let Link::Stdio(lines) = &mut self.link {
            let was_over = lines.gone.is_some();
            let left = lines.close().await;
            self.watch.end(match (was_over, left) {
                (true, _) => EndOfSession::ByServer,
                (false, true) => EndOfSession::Orderly,
                (false, false) => EndOfSession::Lingering,
            });
        }
    }
}

/// Adds the members of an object; null removes one.
fn merge(base: &mut Value, own: Value) {
    let (Some(base), Value::Object(own)) = (base.as_object_mut(), own) else { return };
    for (name, value) in own {
        match value.is_null() {
            true => drop(base.remove(&name)),
            false => drop(base.insert(name, value)),
        }
    }
}

fn is_answer_to(message: &Value, id: &Value) -> bool {
    message.get("id") == Some(id) && message.get("method").is_none()
}

fn is_error(message: &Value) -> bool {
    message.get("error").is_some() && message.get("id").is_none_or(Value::is_null)
}
