//! What a session has shown so far: requests, answers, capabilities, lists, subscriptions.
//!
//! Observers ask it and never change it. `Past::note` takes each message after all observers have
//! judged it.

mod notes;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bowline_types::meta::key;
use bowline_types::revision::Revision;
use serde_json::Value;

use crate::message::{Channel, WireMessage};

/// What carries a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Carrier {
    /// A process with lines on its standard input and output.
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// A request of the client.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its place among everything that the client sent.
    pub number: usize,
    /// What carried it.
    pub channel: Channel,
    /// Its id.
    pub id: Value,
    /// Its method.
    pub method: String,
    /// Its params.
    pub params: Value,
    /// The revision that it is in.
    pub revision: Revision,
    /// How often the server has answered it.
    pub answers: usize,
    /// Whether an answer was a result.
    pub has_result: bool,
    /// Whether the client has cancelled it.
    pub is_cancelled: bool,
    /// Whether the server has certainly read the cancellation: it has answered a later request on the
    /// same ordered channel.
    pub is_cancellation_read: bool,
    /// The largest progress that the server has sent for it.
    pub progress: Option<f64>,
    /// Whether it came in an array.
    pub is_in_batch: bool,
}

impl Asked {
    /// The progress token.
    pub fn token(&self) -> Option<&Value> {
        self.meta("progressToken")
    }

    /// A value of `_meta`.
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.params.get("_meta")?.get(key)
    }

    /// The capabilities of the client that the request itself declares.
    pub fn capabilities(&self) -> &Value {
        self.meta(key::CLIENT_CAPABILITIES).unwrap_or(&Value::Null)
    }

    /// A text among the params.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name)?.as_str()
    }

    /// Whether it waits for its answer.
    pub fn is_open(&self) -> bool {
        self.answers == 0
    }
}

/// The last thing that the client sent on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastSent {
    /// A request.
    Request,
    /// A notification.
    Notification,
    /// An answer to a request of the server.
    Answer,
    /// JSON that is no JSON-RPC message.
    NoMessage,
    /// An array of messages.
    Array,
    /// Text that is not JSON.
    NoJson,
}

/// A stream of changes that the client asked for by `subscriptions/listen`.
#[derive(Clone, Debug)]
pub struct Listened {
    /// The id of the request.
    pub id: Value,
    /// What the client wants.
    pub filter: Value,
    /// What the server agreed to.
    pub acknowledged: Option<Value>,
    /// Whether the server has answered the request, which ends the stream.
    pub is_over: bool,
}

/// A request of the server.
#[derive(Clone, Debug)]
pub struct ServerAsked {
    /// Whether the client has not answered it yet.
    pub is_open: bool,
    /// The progress token that it gave.
    pub token: Option<Value>,
}

/// What other sessions with the same server have shown.
#[derive(Clone, Debug, Default)]
pub struct KnownServer {
    /// Versions that the server has agreed to or named.
    pub versions: BTreeSet<String>,
    /// Session ids that it gave out.
    pub sessions: Vec<String>,
    /// The names in the first page of each list, by revision and method.
    pub lists: HashMap<(Revision, String), Vec<String>>,
    /// Revisions that the server has refused to speak.
    pub refused: BTreeSet<Revision>,
    /// Tools whose calls were not answered in time.
    pub slow_tools: BTreeSet<String>,
}

/// What a session has shown so far.
#[derive(Clone, Debug)]
pub struct Past {
    /// What carries the session.
    pub carrier: Carrier,
    /// The revision of the session, or of requests that do not name one.
    pub revision: Revision,
    /// What other sessions have shown.
    pub known: KnownServer,
    /// What the client declared in the handshake.
    pub client_capabilities: Value,
    /// What the server declared; null before it did.
    pub server_capabilities: Value,
    /// Whether the client has sent `notifications/initialized`.
    pub is_initialized: bool,
    /// The level that the client set by `logging/setLevel`.
    pub log_level: Option<String>,
    /// Resources that the client subscribed to.
    pub subscribed: HashSet<String>,
    /// Streams of changes.
    pub listened: Vec<Listened>,
    /// Definitions of tools, by name.
    pub tools: BTreeMap<String, Value>,
    /// The `cacheScope` of the first page of each list.
    pub scopes: HashMap<String, String>,
    /// The states of tasks, by id.
    pub tasks: HashMap<String, String>,
    /// What tasks of the extension asked for, by task and key.
    pub task_inputs: HashMap<(String, String), String>,
    /// Entries of skills, by URI.
    pub skills: BTreeMap<String, Value>,
    /// The skills of the pages since the last first one.
    pub skills_of_pages: HashSet<String>,
    /// Ids of events on HTTP streams.
    pub event_ids: HashSet<String>,
    /// The id of the last event.
    pub last_event: Option<String>,
    /// The stream on which an event with this id came.
    pub event_channels: HashMap<String, Channel>,
    /// Texts of messages outside of answers, with their channels.
    pub standalone: HashMap<String, Channel>,
    /// Statuses of HTTP, by the number of the request.
    pub statuses: HashMap<usize, u16>,
    /// POSTs whose version header differs from their body: a server may answer by the rules of either.
    pub ambiguous: HashSet<usize>,
    /// GET streams that resume an earlier stream.
    pub resumed: HashSet<usize>,
    /// The streams that they resume, where that is known.
    pub resumed_from: HashMap<usize, Channel>,
    /// The session id of HTTP.
    pub session: Option<String>,
    /// Whether the client has ended the session by DELETE, and the server agreed.
    pub is_session_over: bool,
    /// Requests of the server, by their ids as JSON.
    pub server_requests: HashMap<String, ServerAsked>,
    /// URL elicitations by their ids.
    pub elicitations: HashSet<String>,
    requests: Vec<Asked>,
    sent: usize,
    last: HashMap<Channel, LastSent>,
}

impl Past {
    pub(crate) fn new(carrier: Carrier, revision: Revision, known: KnownServer) -> Self {
        Self {
            carrier,
            revision,
            known,
            client_capabilities: Value::Null,
            server_capabilities: Value::Null,
            is_initialized: false,
            log_level: None,
            subscribed: HashSet::new(),
            listened: Vec::new(),
            tools: BTreeMap::new(),
            scopes: HashMap::new(),
            tasks: HashMap::new(),
            task_inputs: HashMap::new(),
            skills: BTreeMap::new(),
            skills_of_pages: HashSet::new(),
            event_ids: HashSet::new(),
            last_event: None,
            event_channels: HashMap::new(),
            standalone: HashMap::new(),
            statuses: HashMap::new(),
            ambiguous: HashSet::new(),
            resumed: HashSet::new(),
            resumed_from: HashMap::new(),
            session: None,
            is_session_over: false,
            server_requests: HashMap::new(),
            elicitations: HashSet::new(),
            requests: Vec::new(),
            sent: 0,
            last: HashMap::new(),
        }
    }

    /// The request of the client with this id; the last one, if there are several.
    pub fn asked(&self, id: &Value) -> Option<&Asked> {
        self.requests.iter().rev().find(|asked| asked.id == *id)
    }

    /// The request that a POST carried.
    pub fn asked_on(&self, channel: Channel) -> Option<&Asked> {
        self.requests.iter().rev().find(|asked| asked.channel == channel)
    }

    /// Whether HTTP refused a request by its status.
    pub fn is_refused(&self, asked: &Asked) -> bool {
        match asked.channel {
            Channel::Post(number) => self.statuses.get(&number).is_some_and(|it| *it >= 400),
            _ => false,
        }
    }

    /// Whether the server may still work on a request that the client sent before this one.
    pub(crate) fn is_busy_before(&self, asked: &Asked) -> bool {
        let mut earlier = self.requests.iter().take_while(|other| other.id != asked.id);
        earlier.any(|other| {
            let has_no_answer = other.is_in_batch || other.method == "subscriptions/listen";
            other.is_open() && !has_no_answer && !self.is_refused(other)
        })
    }

    /// Whether a message answers a request of which its headers and its body name different versions.
    pub(crate) fn is_ambiguous(&self, message: &WireMessage) -> bool {
        matches!(message.channel, Channel::Post(number) if self.ambiguous.contains(&number))
    }

    /// All requests of the client.
    pub fn requests(&self) -> &[Asked] {
        &self.requests
    }

    /// The request that gave this progress token.
    pub fn asked_with_token(&self, token: &Value) -> Option<&Asked> {
        self.requests.iter().rev().find(|asked| asked.token() == Some(token))
    }

    /// The last thing that the client sent on this channel.
    pub fn last_sent(&self, channel: Channel) -> Option<LastSent> {
        self.last.get(&channel).copied()
    }

    /// Whether the server declared a capability, such as `tools` or `resources.subscribe`.
    pub fn declares(&self, path: &str) -> bool {
        has(&self.server_capabilities, path)
    }

    /// Whether the server's capabilities are known.
    pub fn knows_capabilities(&self) -> bool {
        self.server_capabilities.is_object()
    }

    /// The revision that a message is judged by: the one that its request names, or that of the
    /// session.
    pub(crate) fn revision_of(&self, message: &WireMessage) -> Revision {
        let named = message.params().get("_meta").and_then(|meta| meta.get(key::PROTOCOL_VERSION));
        let named = named.and_then(Value::as_str).and_then(|version| version.parse().ok());
        let asked = message.id().filter(|_| message.is_answer()).and_then(|id| self.asked(id));
        named.or(asked.map(|asked| asked.revision)).unwrap_or(self.revision)
    }

    /// The type of the table that the result, params or question of a server's message has.
    pub(crate) fn type_of(&self, message: &WireMessage) -> Option<&'static str> {
        if let Some(method) = message.method() {
            return match method {
                "notifications/progress" => Some("Progress"),
                "notifications/cancelled" => Some("Cancelled"),
                "notifications/message" => Some("LogMessage"),
                "notifications/resources/updated" => Some("ResourceUpdated"),
                "notifications/subscriptions/acknowledged" => Some("Acknowledged"),
                "notifications/elicitation/complete" => Some("ElicitationComplete"),
                "notifications/tasks/status" => Some("Task"),
                "sampling/createMessage" => Some("CreateMessageRequest"),
                "elicitation/create" => Some(elicitation(message.params())),
                _ => None,
            };
        }
        let result = message.value.get("result")?;
        match result.get("resultType").and_then(Value::as_str) {
            Some("input_required") => return Some("InputRequiredResult"),
            None | Some("complete") => {}
            Some(_) => return None,
        }
        let asked = self.asked(message.id()?)?;
        result_type(asked, result)
    }
}

/// The type of a question's params.
pub(crate) fn elicitation(params: &Value) -> &'static str {
    if params.get("mode").is_some_and(|mode| mode == "url") { "ElicitUrl" } else { "ElicitForm" }
}

fn result_type(asked: &Asked, result: &Value) -> Option<&'static str> {
    match asked.method.as_str() {
        "initialize" => Some("InitializeResult"),
        "server/discover" => Some("DiscoverResult"),
        "tools/list" => Some("ListToolsResult"),
        "tools/call" if result.get("task").is_some() && asked.params.get("task").is_some() => {
            Some("CreateTaskResult")
        }
        "tools/call" => Some("CallToolResult"),
        "resources/list" => Some("ListResourcesResult"),
        "resources/templates/list" => Some("ListResourceTemplatesResult"),
        "resources/read" => Some("ReadResourceResult"),
        "prompts/list" => Some("ListPromptsResult"),
        "prompts/get" => Some("GetPromptResult"),
        "completion/complete" => Some("CompleteResult"),
        "tasks/list" => Some("ListTasksResult"),
        "tasks/get" | "tasks/cancel" if asked.revision.has_core_tasks() => Some("Task"),
        _ => None,
    }
}

/// Whether capabilities have a member, by its path; `false` counts as absent.
pub(crate) fn has(capabilities: &Value, path: &str) -> bool {
    let mut place = capabilities;
    for name in path.split('.') {
        match place.get(name) {
            Some(inner) => place = inner,
            None => return false,
        }
    }
    !place.is_null() && *place != Value::Bool(false)
}
