//! Calls in several rounds (2026-07-28): their state, and when they end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_proto::request::Owner;
use bowline_server::{Args, Ask, Error, Result, Server, Tool};
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{Peer, accept};

/// How often something was done.
type Count = Arc<AtomicU32>;

fn yes() -> Value {
    accept(&json!({ "confirm": true }))
}

// spec: MRTR-18
#[tokio::test]
async fn an_answer_that_went_stale_is_asked_again_and_the_others_are_kept() {
    let price = Count::new(AtomicU32::new(10));
    let now = price.clone();
    let tool = Tool::new("buy", move |ask: Ask| {
        let price = now.load(Ordering::SeqCst);
        async move {
            let fine = ask.confirm(format!("Pay {price}?")).await?;
            let gift = ask.confirm("Wrap it?").await?;
            let sure = ask.confirm("Sure?").await?;
            Ok::<_, Error>(format!("{price} {fine} {gift} {sure}"))
        }
    });
    let peer = Peer::with_forms(&Server::new("shop", "1").tool(tool), Revision::LATEST);
    let round = async |answers, state: Option<&str>| {
        let (questions, state) = peer.round("buy", json!({}), answers, state).await.asks();
        (questions.into_iter().map(|(_, message)| message).collect::<String>(), state)
    };
    let (asked, state) = round(json!({}), None).await;
    assert_eq!(asked, "Pay 10?");
    let (asked, state) = round(json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(asked, "Wrap it?");
    price.store(99, Ordering::SeqCst);
    let (asked, state) = round(json!({ "q2": yes() }), Some(&state)).await;
    assert_eq!(asked, "Pay 99?");
    let (asked, state) = round(json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(asked, "Sure?");
    let done = peer.round("buy", json!({}), json!({ "q3": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "99 true true true");
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

// spec: MRTR-9, MRTR-10, MRTR-11, MRTR-13, MRTR-15
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

// spec: ST-3, ST-4
#[tokio::test]
async fn replicas_with_the_same_keys_go_on_with_each_others_calls() {
    let one = Peer::with_forms(&guarded().state_keys([[1; 32]]), Revision::LATEST);
    let (_, state) = one.round("wipe", json!({}), json!({}), None).await.asks();
    let other = Peer::with_forms(&guarded().state_keys([[2; 32], [1; 32]]), Revision::LATEST);
    let done = other.round("wipe", json!({}), json!({ "q1": yes() }), Some(&state)).await;
    assert_eq!(done.text(), "true 0");
    let (again, _) = one.round("wipe", json!({}), json!({}), None).await.asks();
    assert_eq!(again[0].0, "q1", "nothing is remembered of a client that does not name it");
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
    assert_eq!(done.text(), "the user was asked 3 times in a row; there must be an end");
}

#[tokio::test]
async fn the_error_after_too_many_rounds_says_that_the_questions_changed() {
    let runs = Count::default();
    let counted = runs.clone();
    let tool = Tool::new("ask", move |ask: Ask| {
        let run = counted.fetch_add(1, Ordering::SeqCst);
        async move { ask.confirm(format!("Is it {run} o'clock?")).await.map(|it| it.to_string()) }
    });
    let mut limits = Limits::default();
    limits.rounds = 3;
    let server = Server::new("clock", "1").tool(tool).limits(limits);
    let peer = Peer::with_forms(&server, Revision::LATEST);
    let (mut state, answers) = (None, json!({ "q1": yes() }));
    for _ in 0..3 {
        let round = peer.round("ask", json!({}), answers.clone(), state.as_deref()).await;
        state = Some(round.asks().1);
    }
    let done = peer.round("ask", json!({}), answers, state.as_deref()).await;
    let expected = "the user was asked 3 times in a row; there must be an end. The questions \
                    changed: the handler asked something else 3 times when it ran again, so the \
                    answers before did not count. Ask the same questions in the same order, and \
                    keep what they depend on with `Ask::once`";
    assert_eq!(done.text(), expected);
    // In a session the handler runs once, so nothing is asked anew.
    let peer = Peer::with_forms(&server, Revision::LATEST_LEGACY);
    peer.inbox.answer(Ok(yes()));
    assert_eq!(peer.text("ask", json!({})).await, "true");
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
async fn a_step_that_runs_is_not_interrupted_by_a_question() {
    let (holds, inside) = (Count::default(), Count::default());
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
