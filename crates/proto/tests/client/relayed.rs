//! Calls that a relay makes on behalf of its callers: capabilities, questions passed on, and which
//! call a question belongs to.

use bowline_proto::client::{Asker, Delivery, OnBehalf};
use bowline_proto::request::{Input, SuccessKind};
use bowline_types::input::InputResponses;

use super::*;

const MODERN: Revision = Revision::LATEST;
const WITH_TASKS: Revision = Revision::LATEST_LEGACY;

fn relaying(revision: Revision) -> Client {
    let declared = ClientCapabilities::new().with_form_elicitation();
    let config = ClientConfig::new(Implementation::new("test", "1"), declared);
    let mut client = Client::new(config.with_revisions([revision]));
    client.agree_on(revision, &json!({ "tools": {}, "logging": {}, "tasks": { "list": {} } }));
    client.events();
    client.said();
    client
}

impl Client {
    /// Makes a call on behalf of a caller with forms; gives its id on the wire.
    fn relay(&mut self, exchange: u64, asker: Asker) -> i64 {
        self.relay_with(exchange, asker, |_| {})["id"].as_i64().unwrap()
    }

    /// The same with changes; gives the message.
    fn relay_with(
        &mut self,
        exchange: u64,
        asker: Asker,
        change: impl FnOnce(&mut OnBehalf),
    ) -> Value {
        let params = RawJson::from_value(&json!({ "name": "a" })).unwrap();
        let mut request = CallRequest::new(Method::ToolsCall, Object::new(params).unwrap());
        let mut caller = OnBehalf::new(ClientCapabilities::new().with_form_elicitation(), asker);
        change(&mut caller);
        request.on_behalf = Some(Box::new(caller));
        self.connection.call(ExchangeId(exchange), request, self.now);
        self.said().pop().unwrap()
    }

    /// The call that the question belongs to which the server has just asked.
    fn asking(&mut self) -> Option<u64> {
        self.events().into_iter().find_map(|event| match event {
            ClientEvent::Ask(_, call, _) => Some(call.map(|call| call.0)),
            _ => None,
        })?
    }

    fn hear_within(&mut self, id: i64, message: &Value) {
        self.connection.receive(Delivery::Within(id, message.to_string().into()), self.now);
    }
}

fn question(id: i64) -> Value {
    let schema = json!({ "type": "object", "properties": {} });
    let params = json!({ "message": "Who?", "requestedSchema": schema });
    json!({ "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params })
}

fn log() -> Value {
    let params = json!({ "level": "info", "data": "x" });
    json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params })
}

// spec: HTTP-23
#[test]
fn a_question_on_the_stream_of_a_call_belongs_to_that_call() {
    let mut client = relaying(LEGACY);
    let first = client.relay(1, Asker::Session(1));
    client.relay(2, Asker::Session(2));
    client.hear_within(first, &question(7));
    assert_eq!(client.asking(), Some(1));
}

#[test]
fn a_question_without_a_stream_belongs_to_the_only_asker() {
    let mut client = relaying(LEGACY);
    client.relay(1, Asker::Session(1));
    client.relay(2, Asker::Session(1));
    // A call of the client itself is no asker.
    client.call(3);
    client.hear(question(7));
    assert_eq!(client.asking(), Some(2));
}

#[test]
fn a_question_that_two_callers_could_answer_belongs_to_none() {
    for other in [Asker::Session(2), Asker::Call] {
        let mut client = relaying(LEGACY);
        client.relay(1, Asker::Session(1));
        let second = client.relay(2, other);
        client.hear(question(7));
        assert_eq!(client.asking(), None);
        client.hear(json!({ "id": second, "result": { "content": [] } }));
        client.hear(question(8));
        assert_eq!(client.asking(), Some(1));
    }
    let mut client = relaying(LEGACY);
    client.relay(1, Asker::Call);
    client.relay(2, Asker::Call);
    client.hear(question(7));
    assert_eq!(client.asking(), None);
}

#[test]
fn a_question_that_names_a_task_belongs_to_the_call_that_awaits_the_task() {
    let mut client = relaying(WITH_TASKS);
    client.request(1, Method::TasksResult, &json!({ "taskId": "one" }));
    client.request(2, Method::TasksResult, &json!({ "taskId": "two" }));
    let mut asked = question(7);
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "one" } });
    asked["params"]["_meta"] = related;
    client.hear(asked);
    assert_eq!(client.asking(), Some(1));
}

#[test]
fn a_log_message_belongs_to_the_call_of_its_stream_or_to_a_lone_call_without_a_session() {
    let logged = |client: &mut Client| {
        client.events().into_iter().find_map(|event| match event {
            ClientEvent::Log(call, _) => Some(call.map(|call| call.0)),
            _ => None,
        })
    };
    let mut client = relaying(LEGACY);
    let first = client.relay(1, Asker::Call);
    client.hear(log());
    assert_eq!(logged(&mut client), Some(Some(1)));
    client.relay(2, Asker::Session(1));
    client.hear(log());
    assert_eq!(logged(&mut client), Some(None));
    client.hear_within(first, &log());
    assert_eq!(logged(&mut client), Some(Some(1)));
}

// spec: RQM-2
#[test]
fn a_request_states_the_capabilities_of_its_caller() {
    let mut client = relaying(MODERN);
    let sent = client.relay_with(1, Asker::Call, |caller| {
        caller.capabilities = ClientCapabilities::new().with_sampling();
    });
    let meta = &sent["params"]["_meta"];
    let stated = &meta["io.modelcontextprotocol/clientCapabilities"];
    assert_eq!(*stated, json!({ "sampling": {} }));
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "test");
    // A question for something else breaks the protocol, whatever the client itself declared.
    let ask = json!({ "q": { "method": "elicitation/create", "params": question(1)["params"] } });
    let result = json!({ "resultType": "input_required", "inputRequests": ask });
    client.hear(json!({ "id": sent["id"], "result": result }));
    let events = client.events();
    let [ClientEvent::Answered(_, Err(CallError::Invalid(_)))] = &events[..] else {
        panic!("{events:?}")
    };
}

// spec: MRTR-21, MRTR-26
#[test]
fn questions_are_passed_on_as_a_result_and_the_answers_with_the_next_call() {
    let mut client = relaying(MODERN);
    let sent = client.relay_with(1, Asker::Call, |caller| caller.passes_on = true);
    let ask = json!({ "q": { "method": "elicitation/create", "params": question(1)["params"] } });
    let result =
        json!({ "resultType": "input_required", "inputRequests": ask, "requestState": "s" });
    client.hear(json!({ "id": sent["id"], "result": result }));
    let events = client.events();
    let [ClientEvent::Answered(_, Ok(answer))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(answer.kind, SuccessKind::InputRequired);
    assert!(answer.result.as_str().contains(r#""requestState":"s""#));
    let mut responses = InputResponses::new();
    responses.set("q", &json!({ "action": "decline" })).unwrap();
    let again = client.relay_with(2, Asker::Call, |caller| {
        caller.passes_on = true;
        caller.input = Some(Box::new(Input { responses, state: Some("s".to_owned()) }));
    });
    assert_eq!(again["params"]["inputResponses"], json!({ "q": { "action": "decline" } }));
    assert_eq!(again["params"]["requestState"], "s");
    assert_eq!(again["params"]["name"], "a");
}

/// On other channels the server withdraws the question. Over HTTP that would come on the stream which
/// the client has closed. A question that stays open would also keep calls from timing out.
#[test]
fn a_question_on_the_stream_of_a_call_ends_when_the_client_gives_the_call_up() {
    for is_late in [false, true] {
        let mut client = relaying(LEGACY);
        let [first, _] = [1, 2].map(|exchange| client.call(exchange));
        // The second belongs to no stream, so only its server or the host ends it.
        client.hear_within(first, &question(7));
        client.hear(question(8));
        let asks: Vec<_> = client.events().iter().filter_map(ask_of).collect();
        match is_late {
            false => client.connection.cancel(ExchangeId(1), "not needed"),
            true => client.pass(seconds(24 * 3600)),
        }
        let answers: Vec<_> =
            client.said().into_iter().filter(|message| message.get("method").is_none()).collect();
        assert_eq!(answers.len(), 1, "{answers:?}");
        let expected = json!("the client has cancelled the call that asks");
        assert_eq!((&answers[0]["id"], &answers[0]["error"]["message"]), (&json!(7), &expected));
        let cancelled = client.events().into_iter().filter_map(|event| match event {
            ClientEvent::AskCancelled(ask) => Some(ask),
            _ => None,
        });
        assert_eq!(cancelled.collect::<Vec<_>>(), [asks[0]]);
    }
}

/// The number of the question that an event asks.
fn ask_of(event: &ClientEvent) -> Option<AskId> {
    match event {
        ClientEvent::Ask(ask, ..) => Some(*ask),
        _ => None,
    }
}
