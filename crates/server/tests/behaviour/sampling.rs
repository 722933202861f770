//! Asking the client's model, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline_proto::request::QuestionError;
use bowline_server::{Args, Ask, Error, Json, Result, Server, State, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::content::{Content, ToolResultContent};
use bowline_types::deprecated::sampling::{
    CreateMessageParams, IncludeContext, ModelPreferences, SamplingMessage, StopReason,
    ToolChoiceMode,
};
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};
use crate::wire::{Wire, answer, call};

fn able(server: &Server, revision: Revision) -> Peer {
    Peer::able(server, revision, ClientCapabilities::new().with_sampling())
}

fn with_tools(server: &Server, revision: Revision) -> Peer {
    Peer::able(server, revision, ClientCapabilities::new().with_sampling_tools())
}

fn said(text: &str) -> Value {
    json!({ "role": "assistant", "model": "m-1", "content": { "type": "text", "text": text } })
}

/// What the client was asked.
fn asked(peer: &Peer) -> Vec<Value> {
    let params = |question: InputRequest| serde_json::to_value(question).unwrap()["params"].clone();
    peer.inbox.questions().into_iter().map(params).collect()
}

async fn describe(ask: Ask) -> Result<String> {
    let preferences =
        ModelPreferences::new().with_hint("haiku").with_speed_priority(7.0).with_cost_priority(0.5);
    let sampled = ask
        .sample("What is this?")
        .image(b"png", "image/png")
        .audio(b"wav", "audio/wav")
        .system("Be brief")
        .max_tokens(200)
        .temperature(0.5)
        .stop("END")
        .prefer(preferences)
        .await?;
    let reason = sampled.stop_reason.as_ref().map_or("none", StopReason::as_str);
    Ok(format!("{} says {}, {reason}", sampled.model, sampled.text()))
}

fn server() -> Server {
    Server::new("vision", "1").tool(Tool::new("describe", describe))
}

fn expected() -> Value {
    json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "What is this?" } },
            { "role": "user", "content": { "type": "image", "data": "cG5n", "mimeType": "image/png" } },
            { "role": "user", "content": { "type": "audio", "data": "d2F2", "mimeType": "audio/wav" } },
        ],
        "modelPreferences": {
            "hints": [{ "name": "haiku" }], "speedPriority": 1, "costPriority": 0.5,
        },
        "systemPrompt": "Be brief",
        "temperature": 0.5,
        "maxTokens": 200,
        "stopSequences": ["END"],
    })
}

// spec: SAMP-10, SAMP-29, SAMP-30
#[tokio::test]
async fn a_legacy_client_asks_its_model_while_the_call_waits() {
    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        let peer = able(&server(), revision);
        let mut answer = said("a cat");
        answer["stopReason"] = json!("endTurn");
        peer.inbox.answer(Ok(answer));
        assert_eq!(peer.text("describe", json!({})).await, "m-1 says a cat, endTurn");
        assert_eq!(asked(&peer), [expected()]);
    }
}

// spec: SAMP-10, SAMP-29, SAMP-30, MRTR-1, MRTR-6
#[tokio::test]
async fn a_modern_client_is_answered_with_the_question() {
    let peer = able(&server(), Revision::LATEST);
    let body = peer.call("describe", json!({})).await.unwrap();
    let question = &body["inputRequests"]["q1"];
    assert_eq!(question["method"], "sampling/createMessage");
    assert_eq!(question["params"], expected());
    let state = body["requestState"].as_str();
    let answers = json!({ "q1": said("a cat") });
    let done = peer.round("describe", json!({}), answers, state).await;
    assert_eq!(done.text(), "m-1 says a cat, none");
}

// spec: SAMP-37, SAMP-34
#[tokio::test]
async fn an_answer_may_have_several_blocks_and_reasons_of_its_own() {
    let peer = able(&server(), Revision::LATEST_LEGACY);
    let blocks = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "cat" }]);
    let answer =
        json!({ "role": "assistant", "model": "m", "content": blocks, "stopReason": "bored" });
    peer.inbox.answer(Ok(answer));
    assert_eq!(peer.text("describe", json!({})).await, "m says a\ncat, bored");
}

// spec: CAP-5, MRTR-7
#[tokio::test]
async fn a_client_without_a_model_is_not_asked() {
    let peer = Peer::with_forms(&server(), Revision::LATEST_LEGACY);
    let text = peer.failure("describe", json!({})).await;
    assert!(
        text.contains("input from the client") && text.contains(r#"{"sampling":{}}"#),
        "{text}"
    );
    assert!(peer.inbox.questions().is_empty());
    let error = Peer::with_forms(&server(), Revision::LATEST).call("describe", json!({})).await;
    let error = error.unwrap_err();
    let required = json!({ "requiredCapabilities": { "sampling": {} } });
    assert_eq!((error.code, error.parse_data()), (-32021, Some(required)));
}

#[tokio::test]
async fn a_user_who_refuses_declines() {
    let peer = able(&server(), Revision::LATEST_LEGACY);
    peer.inbox.answer(Err(QuestionError::Refused(ErrorObject::new(-1, "User rejected"))));
    assert_eq!(peer.failure("describe", json!({})).await, "the user declined to answer");
    peer.inbox.answer(Err(QuestionError::Refused(ErrorObject::internal("no model"))));
    assert!(peer.failure("describe", json!({})).await.contains("no model"));
}

// spec: SAMP-21, MRTR-27, MRTR-28
#[tokio::test]
async fn what_is_no_answer_of_a_model_is_refused() {
    let peer = able(&server(), Revision::LATEST);
    let (_, state) = peer.round("describe", json!({}), json!({}), None).await.asks();
    let answers = json!({ "q1": { "action": "accept" } });
    let error = peer.round("describe", json!({}), answers, Some(&state)).await.error();
    assert_eq!(error.code, -32602);
    assert!(error.message.contains("sampling/createMessage"), "{error}");
}

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    #[schemars(range(max = 60))]
    celsius: i32,
}

fn weather() -> Tool {
    Tool::new("weather", |Args(City { city }): Args<City>| async move {
        Json(Weather { celsius: i32::try_from(city.len()).unwrap_or_default() })
    })
}

/// How often the weather was looked up.
type Lookups = Arc<AtomicU32>;

async fn advise(State(lookups): State<Lookups>, ask: Ask) -> Result<String> {
    let look_up = |wish: bowline_types::content::ToolUseContent| {
        let celsius = 20 + lookups.fetch_add(1, Ordering::SeqCst);
        async move {
            let City { city } = wish.input.parse()?;
            match city.as_str() {
                "Atlantis" => Err(Error::from("it is under water")),
                "Mercury" => Ok(Json(Weather { celsius: 430 })),
                _ => Ok(Json(Weather { celsius: i32::try_from(celsius)? })),
            }
        }
    };
    let advice = ask.sample("What should I wear?").tools([weather()]).turns(3).run(look_up).await?;
    Ok(advice.text())
}

fn advisor() -> (Server, Lookups) {
    let lookups = Lookups::default();
    let server = Server::new("advisor", "1").tool(Tool::new("advise", advise));
    (server.state(lookups.clone()), lookups)
}

fn wishes(wishes: &[(&str, &str, &str)]) -> Value {
    let wish = |(id, name, city): &(&str, &str, &str)| json!({ "type": "tool_use", "id": id, "name": name, "input": { "city": city } });
    let content: Vec<_> = wishes.iter().map(wish).collect();
    json!({ "role": "assistant", "model": "m", "content": content, "stopReason": "toolUse" })
}

// spec: SAMP-12, SAMP-13, SAMP-14, SAMP-15, SAMP-36
#[tokio::test]
async fn a_model_calls_tools_until_it_has_an_answer() {
    let (server, lookups) = advisor();
    let peer = with_tools(&server, Revision::V2025_11_25);
    let first = wishes(&[("a", "weather", "Oslo"), ("b", "nope", "x")]);
    peer.inbox.answer(Ok(first.clone()));
    peer.inbox.answer(Ok(wishes(&[("c", "weather", "Atlantis"), ("d", "weather", "Mercury")])));
    peer.inbox.answer(Ok(said("a coat")));
    assert_eq!(peer.text("advise", json!({})).await, "a coat");
    assert_eq!(lookups.load(Ordering::SeqCst), 3);
    let asked = asked(&peer);
    assert_eq!(asked[0]["tools"][0]["name"], "weather");
    let messages = asked[2]["messages"].as_array().unwrap();
    assert_eq!(messages[1]["content"], first["content"]);
    let results = messages[2]["content"].as_array().unwrap();
    assert_eq!(results[0]["toolUseId"], "a");
    assert_eq!(results[0]["structuredContent"], json!({ "celsius": 20 }));
    assert_eq!((&results[1]["toolUseId"], &results[1]["isError"]), (&json!("b"), &json!(true)));
    assert_eq!(results[1]["content"][0]["text"], "no tool is named `nope`");
    let results = messages[4]["content"].as_array().unwrap();
    assert_eq!(results[0]["content"][0]["text"], "it is under water");
    // What breaks the promise of its schema is not handed on.
    assert_eq!(results[1]["isError"], true);
    assert_eq!(results[1]["structuredContent"], Value::Null);
}

// spec: SAMP-14, SAMP-25
#[tokio::test]
async fn a_tool_of_a_model_is_called_once_however_often_the_handler_runs() {
    let (server, lookups) = advisor();
    let peer = with_tools(&server, Revision::LATEST);
    let (_, state) = peer.round("advise", json!({}), json!({}), None).await.asks();
    let wish = json!({ "q1": wishes(&[("a", "weather", "Oslo")]) });
    let (_, state) = peer.round("advise", json!({}), wish, Some(&state)).await.asks();
    let wish = json!({ "q2": wishes(&[("a", "weather", "Rome")]) });
    let (questions, state) = peer.round("advise", json!({}), wish, Some(&state)).await.asks();
    assert_eq!(questions[0].0, "q3");
    let done = peer.round("advise", json!({}), json!({ "q3": said("a hat") }), Some(&state)).await;
    assert_eq!(done.text(), "a hat");
    assert_eq!(lookups.load(Ordering::SeqCst), 2);
}

// spec: SAMP-25
#[tokio::test]
async fn a_model_that_does_not_stop_is_stopped() {
    let (server, lookups) = advisor();
    let peer = with_tools(&server, Revision::LATEST_LEGACY);
    (0..9).for_each(|_| peer.inbox.answer(Ok(wishes(&[("a", "weather", "Oslo")]))));
    let text = peer.failure("advise", json!({})).await;
    assert!(text.contains("still wishes to call tools after 3 turns"), "{text}");
    let asked = asked(&peer);
    let choices: Vec<_> = asked.iter().map(|params| params["toolChoice"].clone()).collect();
    assert_eq!(choices, [Value::Null, Value::Null, json!({ "mode": "none" })]);
    assert_eq!(lookups.load(Ordering::SeqCst), 3);
}

// spec: SAMP-8, MRTR-7
#[tokio::test]
async fn tools_are_not_offered_to_a_client_that_did_not_ask_for_them() {
    let choose = |ask: Ask| async move {
        Ok::<_, Error>(ask.sample("Hi").tool_choice(ToolChoiceMode::None).await?.text())
    };
    let (server, _) = advisor();
    let server = server.tool(Tool::new("choose", choose));
    for name in ["advise", "choose"] {
        let peer = able(&server, Revision::LATEST_LEGACY);
        let text = peer.failure(name, json!({})).await;
        assert!(text.contains(r#"{"sampling":{"tools":{}}}"#), "{text}");
        assert!(peer.inbox.questions().is_empty());
        let error = able(&server, Revision::LATEST).call(name, json!({})).await.unwrap_err();
        assert_eq!(error.code, -32021);
    }
}

// spec: SAMP-8, CAP-2
#[tokio::test]
async fn tools_are_not_offered_in_a_revision_that_has_none() {
    let mut wire = Wire::to(&advisor().0);
    wire.initialize_in("2025-06-18", json!({ "sampling": { "tools": {} } })).await;
    assert_eq!(wire.ask(call(2, "advise")).await["result"]["isError"], true);
    let mut wire = Wire::to(&advisor().0);
    wire.initialize_in("2025-11-25", json!({ "sampling": { "tools": {} } })).await;
    let question = wire.ask(call(2, "advise")).await;
    assert_eq!(question["method"], "sampling/createMessage");
    let done = wire.ask(answer(&question, &said("a hat"))).await;
    assert_eq!(done["result"]["content"][0]["text"], "a hat");
}

// spec: SAMP-12, SAMP-13, SAMP-15
#[tokio::test]
async fn a_conversation_that_makes_no_sense_is_a_fault_of_the_server() {
    let ask = |ask: Ask| async move {
        let orphan = Content::ToolResult(ToolResultContent::new("a", Vec::new()));
        Ok::<_, Error>(ask.sample("Hi").message(SamplingMessage::user(orphan)).await?.text())
    };
    let server = Server::new("odd", "1").tool(Tool::new("ask", ask));
    for revision in BOTH {
        let peer = with_tools(&server, revision);
        let error = peer.call("ask", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(error.message.contains("`messages[1]`"), "{error}");
        assert!(peer.inbox.questions().is_empty());
    }
}

// spec: SAMP-10, SAMP-11
#[tokio::test]
async fn context_is_asked_of_those_who_give_it_only() {
    let ask = |ask: Ask| async move {
        let mut params = CreateMessageParams::new([SamplingMessage::user("Hi")], 10);
        params.include_context = Some(IncludeContext::ThisServer);
        Ok::<_, Error>(ask.sample_with(params).await?.text())
    };
    let server = Server::new("nosy", "1").tool(Tool::new("ask", ask));
    let giving = ClientCapabilities::new().with_sampling_context();
    for (can, context) in
        [(ClientCapabilities::new().with_sampling(), Value::Null), (giving, json!("thisServer"))]
    {
        let peer = Peer::able(&server, Revision::LATEST_LEGACY, can);
        peer.inbox.answer(Ok(said("Hello")));
        assert_eq!(peer.text("ask", json!({})).await, "Hello");
        assert_eq!(asked(&peer)[0]["includeContext"], context);
    }
}
