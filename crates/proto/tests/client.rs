//! The client as a machine: what its options change, and what it does when time goes by, messages
//! come to nothing and sessions are lost. All in virtual time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_proto::client::{
    AskId, CallError, CallRequest, ClientConfig, ClientConnection, Event, NegotiationError,
};
use bowline_proto::codec::lines::Unit;
use bowline_proto::frame::ResponseMessage;
use bowline_proto::limits::Limits;
use bowline_proto::request::ExchangeId;
use bowline_proto::transmit::{Failure, FailureKind};
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Json, Object};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

const LEGACY: Revision = Revision::V2025_06_18;

fn config() -> ClientConfig {
    let capabilities = ClientCapabilities::new().with_roots_list_changed();
    ClientConfig::new(Implementation::new("test", "1"), capabilities)
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn limits(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

/// A client, and the time.
struct Client {
    connection: ClientConnection,
    now: Instant,
}

impl Client {
    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn new(config: ClientConfig) -> Self {
        let mut connection = ClientConnection::new(Arc::new(config));
        let now = Instant::now();
        connection.begin(now);
        Self { connection, now }
    }

    /// A client that has agreed with its server on a revision.
    fn agreed(revision: Revision, limits: Limits) -> Self {
        let mut client = Self::new(config().with_revisions([revision]).with_limits(limits));
        client.agree(revision);
        assert!(matches!(client.events()[..], [Event::Ready(_)]));
        client.said();
        client
    }

    /// Answers the probe or the handshake that the client sent last.
    fn agree(&mut self, revision: Revision) {
        let tools = json!({ "listChanged": true });
        let capabilities = json!({ "tools": tools, "resources": { "subscribe": true } });
        self.agree_on(revision, &capabilities);
    }

    /// The same, with a server that can do this.
    fn agree_on(&mut self, revision: Revision, capabilities: &Value) {
        let id = self.said().pop().unwrap()["id"].clone();
        let result = match revision.is_modern() {
            true => json!({
                "resultType": "complete", "supportedVersions": [revision.to_string()],
                "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
            }),
            false => json!({
                "protocolVersion": revision.to_string(), "capabilities": capabilities,
                "serverInfo": { "name": "s", "version": "1" },
            }),
        };
        self.hear(json!({ "id": id, "result": result }));
    }

    fn hear(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.hear_text(&message.to_string());
    }

    fn hear_text(&mut self, text: &str) {
        self.connection.receive(Unit::Text(text.to_owned().into()), self.now);
    }

    /// Makes a call; gives its id on the wire.
    fn call(&mut self, exchange: u64) -> i64 {
        self.request(exchange, Method::ToolsCall, &json!({ "name": "a" }));
        self.said().pop().unwrap()["id"].as_i64().unwrap()
    }

    fn listen(&mut self, exchange: u64) {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        self.request(exchange, Method::SubscriptionsListen, &filter);
    }

    fn request(&mut self, exchange: u64, method: Method, params: &Value) {
        let params = Object::new(Json::from_value(params).unwrap()).unwrap();
        self.connection.call(ExchangeId(exchange), CallRequest::new(method, params), self.now);
    }

    fn fail(&mut self, id: i64, kind: FailureKind) {
        let failure = Failure { id: Some(id), kind, error: None, reason: "no".to_owned() };
        self.connection.receive(Unit::Failed(Box::new(failure)), self.now);
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.connection.handle_timeout(self.now);
    }

    fn said(&mut self) -> Vec<Value> {
        let frames = std::iter::from_fn(|| self.connection.poll_transmit());
        frames.map(|it| serde_json::from_slice(&it.frame).unwrap()).collect()
    }

    fn methods(&mut self) -> Vec<String> {
        let said = self.said().into_iter();
        said.map(|message| message["method"].as_str().unwrap_or("answer").to_owned()).collect()
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// The calls that timed out.
    fn timed_out(&mut self) -> Vec<u64> {
        let ended = self.events().into_iter().filter_map(|event| match event {
            Event::Answered(exchange, Err(CallError::TimedOut(_))) => Some(exchange.0),
            _ => None,
        });
        ended.collect()
    }

    /// The question that the server has just asked.
    fn asked(&mut self) -> AskId {
        let asked = self.events().into_iter().find_map(|event| match event {
            Event::Ask(ask, _) => Some(ask),
            _ => None,
        });
        asked.unwrap()
    }
}

#[test]
fn revisions_are_tried_from_the_newest_whatever_order_they_are_given_in() {
    let given = [Revision::V2025_06_18, Revision::V2026_07_28, Revision::V2025_06_18];
    let config = config().with_revisions(given);
    assert_eq!(config.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
    let unchanged = config.with_revisions([]);
    assert_eq!(unchanged.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
}

/// Only HTTP repeats parts of a message in headers.
#[test]
fn messages_have_mirrors_only_where_they_are_asked_for() {
    for (config, expected) in [(config(), None), (config().with_mirrors(), Some(Revision::LATEST))]
    {
        let mirror = Client::new(config).connection.poll_transmit().unwrap().mirror;
        assert_eq!(mirror.map(|mirror| mirror.revision.unwrap()), expected);
    }
}

/// A session names in headers neither what a call is about nor its arguments.
#[test]
fn only_a_modern_call_has_its_name_in_its_mirror() {
    for (revision, name) in [(LEGACY, None), (Revision::LATEST, Some("a".to_owned()))] {
        let mut client = Client::new(config().with_revisions([revision]).with_mirrors());
        client.agree(revision);
        client.said();
        client.request(1, Method::ToolsCall, &json!({ "name": "a" }));
        assert_eq!(client.connection.poll_transmit().unwrap().mirror.unwrap().name, name);
    }
}

#[test]
fn time_for_a_call_begins_again_when_its_server_has_its_answer() {
    let limits = limits(|limits| limits.request_timeout = seconds(10));
    let mut client = Client::agreed(LEGACY, limits);
    client.call(1);
    client.hear(json!({ "id": "q", "method": "roots/list" }));
    let ask = client.asked();
    client.now += seconds(9);
    client.connection.answer(
        ask,
        Ok(Json::from_value(&json!({ "roots": [] })).unwrap()),
        client.now,
    );
    client.pass(seconds(9));
    assert_eq!(client.timed_out(), [0; 0]);
    client.pass(seconds(1));
    assert_eq!(client.timed_out(), [1]);
}

#[test]
fn a_question_of_one_call_does_not_stop_the_clock_of_another() {
    let limits = limits(|limits| limits.request_timeout = seconds(10));
    let mut client = Client::agreed(Revision::LATEST, limits);
    let asking = client.call(1);
    client.call(2);
    let question = json!({ "method": "roots/list" });
    client.hear(json!({ "id": asking, "result": {
        "resultType": "input_required", "inputRequests": { "q": question },
    } }));
    client.asked();
    client.pass(seconds(10));
    assert_eq!(client.timed_out(), [2]);
}

/// Over HTTP the transport has to look at a response before the machine does.
#[test]
fn noise_counts_from_the_last_message_also_if_that_was_read_elsewhere() {
    let mut client = Client::agreed(LEGACY, limits(|limits| limits.noise = 2));
    let noise = |client: &mut Client| {
        client.hear_text("noise");
        let is_noise = |event: &Event| matches!(event, Event::Failed(NegotiationError::Noise(_)));
        client.events().iter().any(is_noise)
    };
    for _ in 0..2 {
        let id = client.call(1);
        assert!(!noise(&mut client) && !noise(&mut client));
        let result = Json::from_value(&json!({ "content": [] })).unwrap();
        let response = ResponseMessage { id: Some(id.into()), outcome: Ok(result), members: None };
        client.connection.receive(Unit::Read("".into(), Box::new(response)), client.now);
    }
    assert!(!noise(&mut client) && !noise(&mut client) && noise(&mut client));
}

#[test]
fn a_call_that_is_cancelled_while_the_session_is_renewed_is_not_made_again() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    let (kept, cancelled) = (client.call(1), client.call(2));
    client.fail(cancelled, FailureKind::SessionLost);
    client.fail(kept, FailureKind::SessionLost);
    client.connection.cancel(ExchangeId(2), "not wanted");
    client.agree(LEGACY);
    assert_eq!(client.methods(), ["notifications/initialized", "tools/call"]);
    assert!(!client.events().iter().any(|event| matches!(event, Event::Answered(..))));
}

#[test]
fn a_connection_that_is_closed_ends_each_call_once_and_says_what_became_of_it() {
    for revision in [LEGACY, Revision::LATEST] {
        let mut client = Client::agreed(revision, Limits::default());
        let id = client.call(1);
        client.listen(2);
        client.events();
        client.connection.close();
        let mut closed: Vec<_> = client.events().into_iter().map(end_of).collect();
        closed.sort_unstable();
        assert_eq!(closed, [(1, "closed"), (2, "closed")], "{revision}");
        client.hear(json!({ "id": id, "result": { "resultType": "complete", "content": [] } }));
        assert!(client.events().is_empty(), "{revision}: an answer that comes too late");
    }
}

#[test]
fn of_the_calls_that_wait_for_a_new_server_only_those_that_were_never_sent_are_told_so() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    client.listen(1);
    client.connection.lost("it died");
    client.request(2, Method::ToolsCall, &json!({ "name": "a" }));
    client.events();
    client.connection.close();
    let closed: Vec<_> = client.events().into_iter().map(end_of).collect();
    assert_eq!(closed, [(1, "closed"), (2, "not sent")]);

    let mut client = Client::agreed(LEGACY, Limits::default());
    let sent = client.call(1);
    client.fail(sent, FailureKind::SessionLost);
    client.connection.close();
    let closed: Vec<_> = client.events().into_iter().map(end_of).collect();
    assert_eq!(closed, [(1, "closed")]);
}

fn end_of(event: Event) -> (u64, &'static str) {
    match event {
        Event::Answered(call, Err(CallError::Closed)) => (call.0, "closed"),
        Event::Answered(call, Err(CallError::Failed { kind: FailureKind::NotSent, .. })) => {
            (call.0, "not sent")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_machine_wakes_for_whichever_comes_first_the_end_of_a_call_or_of_silence() {
    for (timeout, interval) in [(60, 5), (5, 60)] {
        let limits = limits(|limits| limits.request_timeout = seconds(timeout));
        let config = config().with_revisions([LEGACY]).with_limits(limits);
        let mut client = Client::new(config.with_keep_alive(seconds(interval), seconds(1)));
        client.agree(LEGACY);
        client.call(1);
        assert_eq!(client.connection.poll_timeout(), Some(client.now + seconds(5)));
    }
}

/// One that has just learned a revision may contradict itself once.
#[test]
fn a_server_that_refuses_the_version_it_offers_is_given_up_the_second_time() {
    let mut client = Client::new(config());
    for _ in 0..2 {
        let id = client.said().pop().unwrap()["id"].clone();
        let data = json!({ "supported": [Revision::LATEST.to_string()], "requested": "?" });
        let error = json!({ "code": -32022, "message": "no", "data": data });
        assert!(client.events().is_empty());
        client.hear(json!({ "id": id, "error": error }));
    }
    assert!(client.said().is_empty());
    let events = client.events();
    assert!(matches!(events[..], [Event::Failed(NegotiationError::Refused(_))]), "{events:?}");
}

#[test]
fn a_call_that_timed_out_is_not_cancelled_again() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.call(1);
    client.pass(Limits::default().request_timeout);
    assert_eq!(client.methods(), ["notifications/cancelled"]);
    client.connection.cancel(ExchangeId(1), "not wanted");
    assert!(client.said().is_empty());
}

#[test]
fn nothing_is_said_to_a_server_that_is_gone() {
    let mut client = Client::agreed(LEGACY, Limits::default());
    client.call(1);
    client.connection.lost("it died");
    client.request(2, Method::ToolsCall, &json!({ "name": "a" }));
    for call in [1, 2] {
        client.connection.cancel(ExchangeId(call), "not wanted");
    }
    client.connection.notify(Method::RootsListChanged, &Object::default());
    assert!(client.said().is_empty());
}

/// In 2025-11-25 tasks are a capability with parts, since 2026-07-28 an extension.
// spec: CAP-2
#[test]
fn methods_of_tasks_are_sent_only_to_servers_that_offer_them() {
    let parts = |parts: Value| json!({ "tasks": parts });
    let extension = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
    for (revision, capabilities, method, missing) in [
        (old, json!({}), Method::TasksGet, Some("`tasks`")),
        (old, extension.clone(), Method::TasksGet, Some("`tasks`")),
        (old, parts(json!({})), Method::TasksGet, None),
        (old, parts(json!({ "cancel": {} })), Method::TasksList, Some("`tasks.list`")),
        (old, parts(json!({ "list": {} })), Method::TasksList, None),
        (old, parts(json!({ "list": {} })), Method::TasksCancel, Some("`tasks.cancel`")),
        (old, parts(json!({ "cancel": {} })), Method::TasksCancel, None),
        (new, parts(json!({ "cancel": {} })), Method::TasksCancel, Some("/tasks`")),
        (new, extension, Method::TasksCancel, None),
    ] {
        let mut client = Client::new(config().with_revisions([revision]));
        client.agree_on(revision, &capabilities);
        client.said();
        client.events();
        client.request(1, method, &json!({ "taskId": "t" }));
        let told = client.events().pop().map(|event| match event {
            Event::Answered(_, Err(CallError::NotOffered { missing, .. })) => missing,
            other => panic!("{other:?}"),
        });
        let is_as_expected = match (&told, missing) {
            (Some(told), Some(missing)) => told.ends_with(missing) && client.said().is_empty(),
            (told, missing) => told.is_none() && missing.is_none() && client.said().len() == 1,
        };
        assert!(is_as_expected, "{method} in {revision} with {capabilities}: {told:?}");
    }
}

#[test]
fn news_for_a_call_that_is_no_subscription_concerns_nobody() {
    let mut client = Client::agreed(Revision::LATEST, Limits::default());
    let id = client.call(1);
    let params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": id } });
    client.hear(json!({ "method": "notifications/tools/list_changed", "params": params }));
    assert!(client.events().is_empty());
}

/// Over HTTP each request has a fate of its own, those of a subscription on a session too.
#[test]
fn a_call_whose_request_comes_to_nothing_ends_with_the_error_or_the_reason() {
    let filter = json!({ "notifications": { "resourceSubscriptions": ["a:/1"] } });
    let calls =
        [(Method::ToolsCall, json!({ "name": "a" })), (Method::SubscriptionsListen, filter)];
    let refused = Some(ErrorObject::invalid_params("no such thing"));
    let cases = [(refused, "refused"), (None, "lost")];
    for ((method, params), (error, expected)) in
        calls.iter().flat_map(|call| cases.iter().map(move |case| (call, case.clone())))
    {
        let mut client = Client::agreed(LEGACY, Limits::default());
        client.request(1, *method, params);
        let id = client.said().pop().unwrap()["id"].as_i64();
        let failure = Failure { id, kind: FailureKind::Lost, error, reason: "no".to_owned() };
        client.connection.receive(Unit::Failed(Box::new(failure)), client.now);
        let ended = match &client.events()[..] {
            [Event::Answered(ExchangeId(1), Err(CallError::Refused(_)))] => "refused",
            [Event::Answered(ExchangeId(1), Err(CallError::Failed { .. }))] => "lost",
            other => panic!("{other:?}"),
        };
        assert_eq!(ended, expected);
    }
}
