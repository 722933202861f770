//! Asking the user, in both eras.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_proto::request::{Owner, QuestionError};
use bowline_server::{Args, Ask, AskError, Error, Result, Server, State, Tool};
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
    accept(json!({ "city": "Oslo", "nights": 2 }))
}

fn agreed() -> Value {
    accept(json!({ "agreed": true }))
}

fn yes() -> Value {
    accept(json!({ "confirm": true }))
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
async fn what_the_user_did_is_told_to_the_model() {
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
            Err(AskError::Unsupported(_)) => "nobody to ask".to_owned(),
            Err(error) => error.to_string(),
        }
    });
    let server = Server::new("ask", "1").tool(tool);
    for revision in BOTH {
        let peer = Peer::new(&server, revision);
        assert_eq!(peer.text("ask", json!({})).await, "nobody to ask");
        assert!(peer.inbox.questions().is_empty());
    }
}

// spec: RQM-7, RQM-8, MRTR-7, ELIC-5
#[tokio::test]
async fn a_modern_client_that_cannot_be_asked_is_told_what_it_lacks() {
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
async fn a_legacy_model_is_told_what_to_do_without_questions() {
    let (server, _) = hotel();
    for revision in [Revision::V2024_11_05, Revision::LATEST_LEGACY] {
        let peer = Peer::new(&server, revision);
        let text = peer.failure("book", json!({})).await;
        assert!(text.contains("ask the user yourself"), "{text}");
        assert!(peer.inbox.questions().is_empty());
    }
}

#[tokio::test]
async fn a_connection_without_a_way_back_is_one_that_cannot_be_asked() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    let text = peer.failure("book", json!({})).await;
    assert!(text.contains("ask the user yourself"), "{text}");
}

#[tokio::test]
async fn a_question_that_nobody_answers_fails() {
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
    peer.inbox.answer(Ok(accept(json!({ "city": "Oslo", "nights": 10 }))));
    let text = peer.failure("book", json!({})).await;
    assert!(text.starts_with("the user's answer does not fit:"), "{text}");
    assert!(text.contains("nights"), "{text}");
}

// spec: MRTR-27, ELIC-58
#[tokio::test]
async fn a_modern_answer_that_does_not_fit_is_asked_again_with_the_reason() {
    let (server, _) = hotel();
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("book", json!({}), json!({}), None).await.asks();
    let bad = json!({ "q1": accept(json!({ "city": "Oslo", "nights": "two" })), "q2": agreed() });
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

async fn refused(peer: &Peer, name: &str, arguments: Value, state: &str) {
    let answers = json!({ "q1": yes() });
    let error = peer.round(name, arguments, answers, Some(state)).await.error();
    assert_eq!(error.code, -32602);
    assert!(error.message.starts_with("`requestState` is not one"), "{error}");
}

/// Two tools that ask before they do something with their arguments.
fn guarded() -> Server {
    let sure = |Args(arguments): Args<BTreeMap<String, Value>>, ask: Ask| async move {
        let sure = ask.confirm("Sure?").await?;
        Ok::<_, Error>(format!("{sure} {}", arguments.len()))
    };
    Server::new("guarded", "1").tool(Tool::new("wipe", sure)).tool(Tool::new("drop", sure))
}

// spec: MRTR-9, MRTR-10, MRTR-11, MRTR-13, MRTR-15, MRTR-25
#[tokio::test]
async fn state_opens_only_for_the_call_it_was_given_to() {
    let server = guarded();
    let arguments = json!({ "disk": 1, "deep": { "a": 1, "b": [1.5] } });
    let mut peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("wipe", arguments.clone(), json!({}), None).await.asks();
    let answers = json!({ "q1": yes() });
    let done = peer.round("wipe", arguments.clone(), answers, Some(&state)).await;
    assert_eq!(done.text(), "true 2");
    refused(&peer, "wipe", json!({ "disk": 2, "deep": { "a": 1, "b": [1.5] } }), &state).await;
    refused(&peer, "drop", arguments.clone(), &state).await;
    refused(&peer, "wipe", arguments.clone(), "").await;
    refused(&peer, "wipe", arguments.clone(), &state.replacen(['a', 'b', 'c'], "d", 1)).await;
    let elsewhere = Peer::with_forms(&guarded(), Revision::LATEST);
    refused(&elsewhere, "wipe", arguments.clone(), &state).await;
    peer.owner = Owner::known("https://issuer.example", "eve");
    refused(&peer, "wipe", arguments, &state).await;
}

// spec: MRTR-14
#[tokio::test]
async fn state_expires() {
    let server = guarded().state_expiry(Duration::ZERO);
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("wipe", json!({}), json!({}), None).await.asks();
    refused(&peer, "wipe", json!({}), &state).await;
}

// spec: ST-3
#[tokio::test]
async fn replicas_with_the_same_keys_go_on_with_each_others_calls() {
    let one = Peer::with_forms(&guarded().state_keys([[1; 32]]), Revision::LATEST);
    let (_, state) = one.round("wipe", json!({}), json!({}), None).await.asks();
    let other = Peer::with_forms(&guarded().state_keys([[2; 32], [1; 32]]), Revision::LATEST);
    let done = other.round("wipe", json!({}), json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "true 0");
}

#[tokio::test]
async fn there_is_an_end_to_asking() {
    async fn endless(ask: Ask) -> Result {
        loop {
            ask.confirm("Again?").await?;
        }
    }
    let mut limits = Limits::default();
    limits.rounds = 3;
    let server = Server::new("endless", "1").tool(Tool::new("ask", endless)).limits(limits);
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (mut state, mut answers) = (None, json!({}));
    for round in 1..=3 {
        let (questions, next) =
            peer.round("ask", json!({}), answers, state.as_deref()).await.asks();
        assert_eq!(questions[0].0, format!("q{round}"));
        answers = json!({ (questions[0].0.clone()): yes() });
        state = Some(next);
    }
    let done = peer.round("ask", json!({}), answers, state.as_deref()).await;
    assert!(done.text().contains("3 times"));
}

#[tokio::test]
async fn too_many_questions_at_once_are_asked_in_several_rounds() {
    let many = |ask: Ask| async move {
        let all = (0..100).map(|number| ask.confirm(format!("Number {number}?")));
        futures_util::future::try_join_all(all).await.map(|answers| answers.len().to_string())
    };
    let server = Server::new("many", "1").tool(Tool::new("ask", many));
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (questions, state) = peer.round("ask", json!({}), json!({}), None).await.asks();
    assert_eq!(questions.len(), Limits::default().questions);
    let answers: Value = questions.into_iter().map(|(key, _)| (key, yes())).collect();
    let (questions, state) = peer.round("ask", json!({}), answers, Some(&state)).await.asks();
    let answers: Value = questions.into_iter().map(|(key, _)| (key, yes())).collect();
    let done = peer.round("ask", json!({}), answers, Some(&state)).await;
    assert_eq!(done.text(), "100");
}

#[tokio::test]
async fn a_question_from_another_task_is_asked_too() {
    let spawning = |ask: Ask| async move {
        let asking = tokio::spawn(async move { ask.confirm("Sure?").await });
        Ok::<_, Error>(asking.await??.to_string())
    };
    let server = Server::new("tasks", "1").tool(Tool::new("ask", spawning));
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (_, state) = peer.round("ask", json!({}), json!({}), None).await.asks();
    let done = peer.round("ask", json!({}), json!({ "q1": yes() }), Some(&state)).await;
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

#[tokio::test]
async fn a_step_that_runs_is_not_interrupted_by_a_question() {
    let (holds, inside) = (Holds::default(), Holds::default());
    let counted = holds.clone();
    let tool = Tool::new("both", move |ask: Ask| {
        let (holds, inside) = (counted.clone(), inside.clone());
        async move {
            let step = || async {
                inside.fetch_add(1, Ordering::SeqCst);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                Ok::<_, std::io::Error>(holds.fetch_add(1, Ordering::SeqCst))
            };
            let asked = async { ask.confirm("Sure?").await.map_err(Into::into) };
            let (sure, _) = futures_util::try_join!(asked, ask.once("step", step))?;
            assert_eq!(inside.load(Ordering::SeqCst), 1);
            Ok::<_, Error>(sure.to_string())
        }
    });
    let peer = Peer::with_forms(&Server::new("steps", "1").tool(tool), Revision::LATEST);
    let (_, state) = peer.round("both", json!({}), json!({}), None).await.asks();
    assert_eq!(holds.load(Ordering::SeqCst), 1);
    let done = peer.round("both", json!({}), json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "true");
    assert_eq!(holds.load(Ordering::SeqCst), 1);
}
