//! Asking the user, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bowline_proto::request::QuestionError;
use bowline_server::{Ask, AskError, Error, Result, Server, State, Tool};
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::ElicitParams;
use bowline_types::input::InputRequest;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer, accept};

#[derive(Deserialize, JsonSchema)]
struct Trip {
    /// Where to
    city: String,
    #[schemars(range(min = 1, max = 9))]
    nights: u8,
}

#[derive(Deserialize, JsonSchema)]
struct Fee {
    agreed: bool,
}

/// How often a hotel was held.
type Holds = Arc<AtomicU32>;

async fn book(State(holds): State<Holds>, ask: Ask) -> Result<String> {
    let (trip, fee): (Trip, Fee) =
        futures_util::try_join!(ask.form("Where to?"), ask.form("Is the fee fine?"))?;
    let hold = || async {
        tokio::task::yield_now().await;
        Ok::<_, std::io::Error>(holds.fetch_add(1, Ordering::SeqCst) + 1)
    };
    let number = ask.once("hold", hold).await?;
    if !ask.confirm(format!("Book hold {number}?")).await? {
        return Ok("Not booked".to_owned());
    }
    Ok(format!("{} for {} nights, {} {number}", trip.city, trip.nights, fee.agreed))
}

fn hotel() -> (Server, Holds) {
    let holds = Holds::default();
    let server = Server::new("hotel", "1").tool(Tool::new("book", book)).state(holds.clone());
    (server, holds)
}

fn oslo() -> Value {
    accept(&json!({ "city": "Oslo", "nights": 2 }))
}

fn agreed() -> Value {
    accept(&json!({ "agreed": true }))
}

fn yes() -> Value {
    accept(&json!({ "confirm": true }))
}

// spec: ELIC-15, ELIC-18
#[tokio::test]
async fn a_legacy_client_is_asked_while_the_call_waits() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let (server, holds) = hotel();
        let peer = Peer::with_forms(&server, revision);
        [oslo(), agreed(), yes()].into_iter().for_each(|answer| peer.inbox.answer(Ok(answer)));
        assert_eq!(peer.text("book", json!({})).await, "Oslo for 2 nights, true 1");
        assert_eq!(holds.load(Ordering::SeqCst), 1);
        let questions = peer.inbox.questions();
        let InputRequest::Elicit(ElicitParams::Form(form)) = &questions[0] else {
            panic!("{questions:?}")
        };
        assert_eq!(form.message, "Where to?");
        let fields: Vec<_> = form.requested_schema.fields().map(|(name, _)| name).collect();
        assert_eq!(fields, ["city", "nights"]);
        assert_eq!(questions.len(), 3);
    }
}

// spec: MRTR-1, MRTR-2, MRTR-4, MRTR-5, MRTR-6, MRTR-18, TOOL-52, ELIC-76
#[tokio::test]
async fn a_modern_call_asks_in_rounds_and_does_each_step_once() {
    let (server, holds) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (questions, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let expected = [("q1", "Where to?"), ("q2", "Is the fee fine?")];
    assert_eq!(questions, expected.map(|(key, message)| (key.to_owned(), message.to_owned())));
    let answers = json!({ "q1": oslo(), "q2": agreed() });
    let (questions, state) = peer.round("book", json!({}), answers, Some(&state)).await.asks();
    assert_eq!(questions, [("q3".to_owned(), "Book hold 1?".to_owned())]);
    let done = peer.round("book", json!({}), json!({ "q3": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "Oslo for 2 nights, true 1");
    assert_eq!(holds.load(Ordering::SeqCst), 1);
}

// spec: ELIC-18, ELIC-19, MRTR-6
#[tokio::test]
async fn a_modern_question_is_a_request_without_envelope() {
    let server = Server::new("ask", "1").tool(Tool::new("sure", |ask: Ask| async move {
        ask.confirm("Sure?").await.map(|sure| sure.to_string())
    }));
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let body = peer.call("sure", json!({})).await.unwrap();
    let expected = json!({
        "method": "elicitation/create",
        "params": {
            "message": "Sure?",
            "requestedSchema": {
                "type": "object",
                "properties": { "confirm": { "type": "boolean", "title": "Confirm" } },
                "required": ["confirm"],
            },
        },
    });
    assert_eq!(body["inputRequests"], json!({ "q1": expected }));
    assert!(body["requestState"].is_string());
}

// spec: ELIC-29, ELIC-78
#[tokio::test]
async fn the_model_sees_what_the_user_did() {
    let cases = [
        (json!({ "action": "decline" }), "the user declined to answer"),
        (json!({ "action": "cancel" }), "the user closed the question without answering"),
    ];
    for (answer, text) in cases {
        let (server, _) = hotel();
        let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
        peer.inbox.answer(Ok(answer.clone()));
        peer.inbox.answer(Ok(agreed()));
        assert_eq!(peer.failure("book", json!({})).await, text);
        let peer = Peer::with_forms(&server, Revision::LATEST);
        let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
        let answers = json!({ "q1": answer, "q2": agreed() });
        let done = peer.round("book", json!({}), answers, Some(&state)).await;
        assert_eq!(done.text(), text);
    }
}

// spec: ELIC-29
#[tokio::test]
async fn declining_to_confirm_is_a_no() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    let no = json!({ "action": "decline" });
    [oslo(), agreed(), no].into_iter().for_each(|answer| peer.inbox.answer(Ok(answer)));
    assert_eq!(peer.text("book", json!({})).await, "Not booked");
}

#[tokio::test]
async fn a_handler_may_go_on_without_an_answer() {
    let tool = Tool::new("ask", |ask: Ask| async move {
        match ask.confirm("Sure?").await {
            Ok(sure) => sure.to_string(),
            Err(AskError::Unsupported(_)) => "cannot ask".to_owned(),
            Err(error) => error.to_string(),
        }
    });
    let server = Server::new("ask", "1").tool(tool);
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        assert_eq!(peer.text("ask", json!({})).await, "cannot ask");
        assert!(peer.inbox.questions().is_empty());
    }
}

// spec: RQM-7, RQM-8, MRTR-7, ELIC-5
#[tokio::test]
async fn a_modern_client_that_cannot_be_asked_gets_the_missing_capability() {
    let (server, _) = hotel();
    let mut peer = Peer::new(&server, Revision::LATEST);
    let error = peer.round("book", json!({}), json!({}), None).await.error();
    assert_eq!(error.code, -32021);
    let required = r#"{"requiredCapabilities":{"elicitation":{"form":{}}}}"#;
    assert_eq!(error.data.unwrap().as_str(), required);
    peer.client.capabilities = ClientCapabilities::new().with_url_elicitation();
    assert_eq!(peer.round("book", json!({}), json!({}), None).await.error().code, -32021);
}

// spec: ELIC-4
#[tokio::test]
async fn a_client_with_an_empty_elicitation_shows_forms() {
    let (server, _) = hotel();
    let mut peer = Peer::new(&server, Revision::LATEST);
    peer.client.capabilities = serde_json::from_value(json!({ "elicitation": {} })).unwrap();
    peer.round("book", json!({}), json!({}), None).await.asks();
}

// spec: ELIC-5
#[tokio::test]
async fn a_legacy_model_gets_advice_when_questions_are_impossible() {
    let (server, _) = hotel();
    for revision in [Revision::V2024_11_05, Revision::LATEST_LEGACY] {
        let peer = Peer::new(&server, revision);
        let text = peer.failure("book", json!({})).await;
        assert!(text.contains("ask the user yourself"), "{text}");
        assert!(peer.inbox.questions().is_empty());
    }
}

// spec: ELIC-5
#[tokio::test]
async fn a_question_that_the_revision_does_not_have_is_not_blamed_on_the_client() {
    let (server, _) = hotel();
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        // Whatever such a client declares.
        for peer in [Peer::new(&server, revision), Peer::with_forms(&server, revision)] {
            let text = peer.failure("book", json!({})).await;
            let expected = format!(
                "this needs input from the user, but revision {revision}, which the client speaks, \
                 has no elicitation: that came with 2025-06-18; ask the user yourself, or use a \
                 client that speaks a later revision"
            );
            assert_eq!(text, expected);
            assert!(peer.inbox.questions().is_empty());
        }
    }
    let visit = async |ask: Ask| ask.url("Sign in", "https://example.com/in").await.map(|_| "in");
    let server = Server::new("pages", "1").tool(Tool::new("visit", visit));
    let peer = Peer::with_forms(&server, Revision::V2025_06_18);
    let text = peer.failure("visit", json!({})).await;
    assert!(text.contains("has no elicitation by URL: that came with 2025-11-25"), "{text}");
    let peer = Peer::with_forms(&server, Revision::V2025_11_25);
    let text = peer.failure("visit", json!({})).await;
    assert!(text.contains("the client does not declare"), "{text}");
}

#[tokio::test]
async fn a_connection_without_a_way_back_is_one_that_cannot_be_asked() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    let text = peer.failure("book", json!({})).await;
    assert!(text.contains("ask the user yourself"), "{text}");
}

#[tokio::test]
async fn a_question_that_is_not_answered_fails() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    peer.inbox.answer(Err(QuestionError::TimedOut));
    let text = peer.failure("book", json!({})).await;
    assert!(text.contains("did not answer in time"), "{text}");
}

// spec: ELIC-56, ELIC-58
#[tokio::test]
async fn a_legacy_answer_that_does_not_fit_fails() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    peer.inbox.answer(Ok(accept(&json!({ "city": "Oslo", "nights": 10 }))));
    let text = peer.failure("book", json!({})).await;
    assert!(text.starts_with("the answer does not fit:"), "{text}");
    assert!(text.contains("nights"), "{text}");
}

// spec: MRTR-27, ELIC-58
#[tokio::test]
async fn a_modern_answer_that_does_not_fit_is_asked_again_with_the_reason() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let bad = json!({ "q1": accept(&json!({ "city": "Oslo", "nights": "two" })), "q2": agreed() });
    let (questions, state) = peer.round("book", json!({}), bad, Some(&state)).await.asks();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].0, "q1");
    assert!(
        questions[0].1.starts_with("Where to?\n\nThe last answer did not fit:"),
        "{questions:?}"
    );
    let good = json!({ "q1": oslo() });
    let (questions, _) = peer.round("book", json!({}), good, Some(&state)).await.asks();
    assert_eq!(questions[0].0, "q3");
}

// spec: MRTR-28
#[tokio::test]
async fn a_modern_answer_that_is_none_is_an_error_of_the_request() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let bad = json!({ "q1": { "roots": [] }, "q2": agreed() });
    let error = peer.round("book", json!({}), bad, Some(&state)).await.error();
    assert_eq!(error.code, -32602);
    assert!(error.message.contains("action"), "{error}");
}

// spec: MRTR-29, MRTR-30
#[tokio::test]
async fn missing_answers_are_asked_again_and_unknown_ones_ignored() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let some = json!({ "q2": agreed(), "q9": yes(), "x": 7 });
    let (questions, state) = peer.round("book", json!({}), some, Some(&state)).await.asks();
    assert_eq!(questions, [("q1".to_owned(), "Where to?".to_owned())]);
    let (questions, _) =
        peer.round("book", json!({}), json!({ "q1": oslo() }), Some(&state)).await.asks();
    assert_eq!(questions[0].0, "q3");
}

// spec: MRTR-9, MRTR-30
#[tokio::test]
async fn answers_without_state_answer_nothing() {
    let (server, holds) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let answers = json!({ "q1": oslo(), "q2": agreed(), "q3": yes() });
    let (questions, _) = peer.round("book", json!({}), answers, None).await.asks();
    assert_eq!(questions.len(), 2);
    assert_eq!(holds.load(Ordering::SeqCst), 0);
}

// spec: MRTR-9
#[tokio::test]
async fn a_question_that_was_not_asked_yet_cannot_be_answered() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let answers = json!({ "q1": oslo(), "q2": agreed(), "q3": yes() });
    let (questions, _) = peer.round("book", json!({}), answers, Some(&state)).await.asks();
    assert_eq!(questions, [("q3".to_owned(), "Book hold 1?".to_owned())]);
}

#[tokio::test]
async fn an_answer_to_another_question_is_asked_again() {
    let price = Arc::new(AtomicU32::new(10));
    let now = price.clone();
    let tool = Tool::new("buy", move |ask: Ask| {
        let price = now.load(Ordering::SeqCst);
        async move { ask.confirm(format!("Buy for {price}?")).await.map(|sure| sure.to_string()) }
    });
    let peer = Peer::with_forms(&Server::new("shop", "1").tool(tool), Revision::LATEST);
    let (_, state) = peer.round("buy", json!({}), json!({}), None).await.asks();
    price.store(99, Ordering::SeqCst);
    let answers = json!({ "q1": yes() });
    let (questions, state) = peer.round("buy", json!({}), answers, Some(&state)).await.asks();
    assert_eq!(questions, [("q1".to_owned(), "Buy for 99?".to_owned())]);
    let done = peer.round("buy", json!({}), json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "true");
}

#[tokio::test]
async fn a_type_that_is_no_form_is_a_fault_of_the_server() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Deep {
        trip: Trip,
    }
    let tool = Tool::new("ask", |ask: Ask| async move {
        ask.form::<Deep>("Deep?").await?;
        Ok::<_, Error>(())
    });
    let server = Server::new("deep", "1").tool(tool);
    for revision in BOTH {
        let error = Peer::with_forms(&server, revision).call("ask", json!({})).await.unwrap_err();
        assert_eq!(error.code, -32603);
        assert!(error.message.contains("`trip`"), "{error}");
    }
}
