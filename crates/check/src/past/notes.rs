//! How the past grows by each message.

use bowline_proto::mirror;
use bowline_types::meta::key;
use serde_json::Value;

use super::{Asked, LastSent, Listened, Past, ServerAsked};
use crate::message::{Channel, HttpFacts, Sender, WireMessage};

/// Lists whose items have a name, with the member that holds the items and that of the name.
const LISTS: &[(&str, &str, &str)] = &[
    ("tools/list", "tools", "name"),
    ("resources/list", "resources", "uri"),
    ("prompts/list", "prompts", "name"),
    ("resources/templates/list", "resourceTemplates", "uriTemplate"),
];

impl Past {
    /// Takes a message, after all observers have judged it.
    pub(crate) fn note(&mut self, message: &WireMessage) {
        match message.sender {
            Sender::Client => self.note_client(message),
            Sender::Server => self.note_server(message),
        }
    }

    /// Takes text of the client that is no message.
    pub(crate) fn note_refusable(&mut self, channel: Channel, kind: LastSent) {
        self.sent += 1;
        self.last.insert(channel, kind);
    }

    /// Takes a request that was not answered in time.
    pub(crate) fn note_unanswered(&mut self, asked: &Asked) {
        let tool = asked.param("name").filter(|_| asked.method == "tools/call");
        self.known.slow_tools.extend(tool.map(str::to_owned));
    }

    /// Takes facts of HTTP.
    pub(crate) fn note_http(&mut self, facts: &HttpFacts) {
        self.statuses.insert(facts.number, facts.status);
        let meta = facts.body.as_ref().and_then(|body| body.get("params")?.get("_meta"));
        let version = meta.and_then(|meta| meta.get(key::PROTOCOL_VERSION)?.as_str());
        if version.is_some() && version != facts.sent_header(mirror::PROTOCOL_VERSION) {
            self.ambiguous.insert(facts.number);
        }
        let opens = facts.method() == Some("initialize") && facts.is_success();
        if let Some(session) = facts.header("mcp-session-id").filter(|_| opens) {
            self.session = Some(session.to_owned());
            self.known.sessions.push(session.to_owned());
        }
        if let Some(id) = facts.sent_header("last-event-id").filter(|_| facts.verb == "GET") {
            self.resumed.insert(facts.number);
            if let Some(channel) = self.event_channels.get(id) {
                self.resumed_from.insert(facts.number, *channel);
            }
        }
        if facts.verb == "DELETE" && facts.is_success() {
            self.is_session_over = true;
        }
    }

    fn note_client(&mut self, message: &WireMessage) {
        self.sent += 1;
        let kind = if message.is_request() {
            self.note_request(message);
            LastSent::Request
        } else if message.is_notification() {
            self.note_client_notification(message);
            LastSent::Notification
        } else if message.is_answer() {
            let id = message.id().map(Value::to_string).unwrap_or_default();
            if let Some(asked) = self.server_requests.get_mut(&id) {
                asked.is_open = false;
            }
            LastSent::Answer
        } else {
            LastSent::NoMessage
        };
        let kind = if message.is_in_batch { LastSent::Array } else { kind };
        self.last.insert(message.channel, kind);
    }

    fn note_request(&mut self, message: &WireMessage) {
        let revision = self.revision_of(message);
        let params = message.params().clone();
        let id = message.value.get("id").cloned().unwrap_or_default();
        let method = message.method().unwrap_or_default().to_owned();
        match method.as_str() {
            "initialize" => {
                self.client_capabilities = params.get("capabilities").cloned().unwrap_or_default();
            }
            "subscriptions/listen" => {
                let filter = params.get("notifications").cloned().unwrap_or_default();
                let id = id.clone();
                self.listened.push(Listened { id, filter, acknowledged: None, is_over: false });
            }
            _ => {}
        }
        self.requests.push(Asked {
            number: self.sent,
            channel: message.channel,
            id,
            method,
            params,
            revision,
            answers: 0,
            has_result: false,
            is_cancelled: false,
            is_cancellation_read: false,
            progress: None,
            is_in_batch: message.is_in_batch,
        });
    }

    fn note_client_notification(&mut self, message: &WireMessage) {
        match message.method() {
            Some("notifications/initialized") => self.is_initialized = true,
            Some("notifications/cancelled") => {
                let id = message.params().get("requestId").cloned().unwrap_or_default();
                let sent = self.sent;
                let mut open = self.requests.iter_mut().rev();
                if let Some(asked) = open.find(|asked| asked.id == id && asked.is_open()) {
                    asked.is_cancelled = true;
                    // From here on `number` is the place of the cancellation, which a later answer is
                    // compared with.
                    asked.number = sent;
                }
            }
            _ => {}
        }
    }

    fn note_server(&mut self, message: &WireMessage) {
        if message.is_answer() {
            return self.note_answer(message);
        }
        if let (true, Some(id)) = (message.is_request(), message.id()) {
            let token = message.params().pointer("/_meta/progressToken").cloned();
            self.server_requests.insert(id.to_string(), ServerAsked { is_open: true, token });
        }
        let params = message.params();
        if let Some(id) = params.get("elicitationId").and_then(Value::as_str) {
            self.elicitations.insert(id.to_owned());
        }
        if matches!(message.channel, Channel::Post(_) | Channel::Get(_)) {
            self.standalone.insert(message.value.to_string(), message.channel);
        }
        match message.method() {
            Some("notifications/progress") => {
                let token = params.get("progressToken").cloned().unwrap_or_default();
                let mut asked = self.requests.iter_mut().rev();
                if let Some(asked) = asked.find(|asked| asked.token() == Some(&token)) {
                    asked.progress = params.get("progress").and_then(Value::as_f64);
                }
            }
            Some("notifications/subscriptions/acknowledged") => {
                let id = params.get("_meta").and_then(|meta| meta.get(key::SUBSCRIPTION_ID));
                let mut listened = self.listened.iter_mut();
                if let Some(listened) = listened.find(|listened| Some(&listened.id) == id) {
                    listened.acknowledged = params.get("notifications").cloned();
                }
            }
            Some("notifications/tasks/status") => self.note_task(params),
            _ => {}
        }
    }

    fn note_answer(&mut self, message: &WireMessage) {
        let Some(id) = message.id() else { return };
        let mut number = 0;
        let mut answered = None;
        if let Some(asked) = self.requests.iter_mut().rev().find(|asked| asked.id == *id) {
            asked.answers += 1;
            asked.has_result |= message.value.get("result").is_some();
            number = asked.number;
            answered = Some(asked.clone());
        }
        let Some(asked) = answered else { return };
        if !asked.is_cancelled {
            let ordered = self.requests.iter_mut().filter(|other| other.channel == asked.channel);
            for cancelled in ordered.filter(|other| other.is_cancelled && other.number < number) {
                cancelled.is_cancellation_read = true;
            }
        }
        for listened in self.listened.iter_mut().filter(|listened| listened.id == *id) {
            listened.is_over = true;
        }
        if let Some(result) = message.value.get("result") {
            self.note_result(&asked, result);
        }
        let supported = message.value.pointer("/error/data/supported").and_then(Value::as_array);
        self.note_versions(supported);
    }

    fn note_result(&mut self, asked: &Asked, result: &Value) {
        match asked.method.as_str() {
            "initialize" => {
                self.server_capabilities = result.get("capabilities").cloned().unwrap_or_default();
                if let Some(version) = result.get("protocolVersion").and_then(Value::as_str) {
                    self.known.versions.insert(version.to_owned());
                    self.revision = version.parse().unwrap_or(self.revision);
                }
            }
            "server/discover" => {
                self.server_capabilities = result.get("capabilities").cloned().unwrap_or_default();
                self.note_versions(result.get("supportedVersions").and_then(Value::as_array));
            }
            "logging/setLevel" => self.log_level = asked.param("level").map(str::to_owned),
            "resources/subscribe" => {
                self.subscribed.extend(asked.param("uri").map(str::to_owned));
            }
            "resources/unsubscribe" => {
                self.subscribed.remove(asked.param("uri").unwrap_or_default());
            }
            "tasks/get" | "tasks/cancel" => {
                self.note_task(result);
                self.note_inputs(result);
            }
            "skills/list" => self.note_skills(asked, result),
            _ => {}
        }
        if let Some(task) = result.get("task").filter(|task| task.is_object()) {
            self.note_task(task);
        }
        if result.get("resultType").is_some_and(|kind| kind == "task") {
            self.note_task(result);
        }
        self.note_list(asked, result);
    }

    fn note_list(&mut self, asked: &Asked, result: &Value) {
        let Some((method, items, name)) = LISTS.iter().find(|list| list.0 == asked.method) else {
            return;
        };
        let items = result.get(items).and_then(Value::as_array).into_iter().flatten();
        let mut names = Vec::new();
        for item in items {
            let Some(name) = item.get(name).and_then(Value::as_str) else { continue };
            names.push(name.to_owned());
            if *method == "tools/list" {
                self.tools.insert(name.to_owned(), item.clone());
            }
        }
        if asked.params.get("cursor").is_none() {
            let key = (asked.revision, (*method).to_owned());
            self.known.lists.entry(key).or_insert(names);
            if let Some(scope) = result.get("cacheScope").and_then(Value::as_str) {
                self.scopes.insert((*method).to_owned(), scope.to_owned());
            }
        }
    }

    fn note_skills(&mut self, asked: &Asked, result: &Value) {
        if asked.params.get("cursor").is_none() {
            self.skills_of_pages.clear();
        }
        let entries = result.get("skills").and_then(Value::as_array).into_iter().flatten();
        for entry in entries {
            if let Some(uri) = entry.get("uri").and_then(Value::as_str) {
                self.skills.insert(uri.to_owned(), entry.clone());
                self.skills_of_pages.insert(uri.to_owned());
            }
        }
    }

    /// The questions of a task. Those that a key stood for first count.
    fn note_inputs(&mut self, task: &Value) {
        let Some(id) = task.get("taskId").and_then(Value::as_str) else { return };
        let inputs = task.get("inputRequests").and_then(Value::as_object).into_iter().flatten();
        for (key, request) in inputs {
            let input = (id.to_owned(), key.clone());
            self.task_inputs.entry(input).or_insert_with(|| request.to_string());
        }
    }

    fn note_versions(&mut self, versions: Option<&Vec<Value>>) {
        let versions = versions.into_iter().flatten().filter_map(Value::as_str);
        self.known.versions.extend(versions.map(str::to_owned));
    }

    fn note_task(&mut self, task: &Value) {
        let text = |name| task.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some(id), Some(status)) = (text("taskId"), text("status")) {
            self.tasks.insert(id, status);
        }
    }
}
