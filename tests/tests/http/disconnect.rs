//! A client that disconnects: this cancels its call since 2026-07-28, and does not before.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bowline::{Ask, AskError, Server, Tool};
use bowline_proto::request::{Owner, QuestionError};
use bowline_server::http::Http;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::sync::{Notify, mpsc};

use crate::http2::Http2Client;
use crate::owners::ask;
use crate::test_server::{
    Handlers, Random, TestServer, call, limits, listen, request, sample_server, text_of, within,
};
use crate::unread_streams::session_at;
use crate::wire::Wire;

/// Disconnects, with FIN or RST.
fn hang_up(wire: Wire, random: &mut Random) {
    match random.below(2) {
        0 => wire.reset(),
        _ => drop(wire),
    }
}

// spec: CANC-16, HTTP-37, CANC-20
#[tokio::test]
async fn the_server_drops_a_modern_call_when_its_client_disconnects() {
    let server = TestServer::open().await;
    let mut random = Random(11);
    for _ in 0..100 {
        let mut wire = match random.below(3) {
            0 => Wire::send(server.address, &call("hold", json!({}))).await,
            1 => Wire::send(server.address, &call("tell", json!({ "count": 2 }))).await,
            _ => {
                server.handlers.step(1);
                let mut wire = server.stream(&call("tell", json!({ "count": 2 }))).await;
                within(wire.message()).await.unwrap();
                wire
            }
        };
        server.handlers.running(1).await;
        let hung_up = Instant::now();
        hang_up(wire, &mut random);
        server.handlers.running(0).await;
        assert!(hung_up.elapsed() < Duration::from_secs(1), "{:?}", hung_up.elapsed());
        wire = Wire::send(server.address, &call("echo", json!({ "text": "next" }))).await;
        assert_eq!(text_of(&within(wire.answer()).await.json()), "next");
    }
}

// spec: CANC-16
#[tokio::test]
async fn an_incomplete_http_request_starts_no_call() {
    let server = TestServer::open().await;
    let bytes = call("hold", json!({})).bytes();
    let mut random = Random(12);
    for _ in 0..100 {
        let mut wire = Wire::open(server.address).await;
        wire.write(&bytes[..random.below(bytes.len() as u64) as usize]).await;
        hang_up(wire, &mut random);
    }
    let answer = server.ask(&call("echo", json!({ "text": "fine" }))).await;
    assert_eq!(text_of(&answer.json()), "fine");
    server.handlers.running(0).await;
}

// spec: CANC-16, HTTP-37
#[tokio::test]
async fn over_http2_a_client_cancels_one_stream_and_keeps_the_connection() {
    let server = TestServer::with(Http::http2).await;
    let mut client = Http2Client::open(server.address).await;
    server.handlers.step(1);
    let answer = within(client.stream(&call("tell", json!({ "count": 2 })))).await;
    server.handlers.running(1).await;
    drop(answer);
    server.handlers.running(0).await;
    let request = call("echo", json!({ "text": "still here" }));
    let (status, body) = within(client.ask(b"localhost", &request)).await.unwrap();
    assert!(status == 200 && body.contains("still here"), "{body}");
}

// spec: SUB-11
#[tokio::test]
async fn a_subscription_ends_when_its_client_disconnects() {
    let server = TestServer::limited(|it| it.streams = 1).await;
    let listen = listen(json!({ "toolsListChanged": true }));
    let mut wire = server.stream(&listen).await;
    within(wire.message()).await.unwrap();
    assert_eq!(server.ask(&listen).await.status(), 503, "the first takes the one place");
    drop(wire);
    within(async { while server.ask_head(&listen).await.status != 200 {} }).await;
}

// spec: HTTP-27
#[tokio::test]
async fn a_call_of_a_session_runs_on_after_its_client_disconnects() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut random = Random(13);
    for round in 1..=10 {
        let silent = Wire::send(server.address, &session.call("hold", json!({}))).await;
        server.handlers.running(1).await;
        hang_up(silent, &mut random);
        server.handlers.step(1);
        server.handlers.ended(2 * round - 1).await;
        server.handlers.step(1);
        let mut told = server.stream(&session.call("tell", json!({ "count": 1 }))).await;
        let first = within(told.message()).await.unwrap().id.unwrap();
        hang_up(told, &mut random);
        server.handlers.step(1);
        server.handlers.ended(2 * round).await;
        let mut again = server.stream(&session.resume(&first)).await;
        assert_eq!(text_of(&within(again.messages()).await[0].json()), "told 1");
    }
}

/// A tool that asks when the test allows it, and tells the test what came of the question. It asks in
/// a task of its own, so that it asks even while no task polls the call.
struct LateQuestion {
    may_ask: Arc<Notify>,
    asked: Arc<Notify>,
    outcomes: mpsc::UnboundedReceiver<Result<bool, AskError>>,
}

impl LateQuestion {
    fn add_to((server, handlers): (Server, Handlers)) -> ((Server, Handlers), Self) {
        let (may_ask, asked) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (tell, outcomes) = mpsc::unbounded_channel();
        let late = Self { may_ask: may_ask.clone(), asked: asked.clone(), outcomes };
        let running = handlers.clone();
        let tool = Tool::new("ask_late", move |ask: Ask| {
            let (may_ask, asked, tell) = (may_ask.clone(), asked.clone(), tell.clone());
            let running = running.run();
            async move {
                let asking = tokio::spawn(async move {
                    may_ask.notified().await;
                    asked.notify_one();
                    let _ = tell.send(ask.confirm("Sure?").await);
                });
                let _ = asking.await;
                drop(running);
                "over"
            }
        });
        ((server.tool(tool), handlers), late)
    }

    async fn outcome(&mut self) -> Result<bool, AskError> {
        within(self.outcomes.recv()).await.unwrap()
    }
}

const UNREACHABLE: Result<bool, AskError> = Err(AskError::Failed(QuestionError::Unreachable));

// The call runs on, but there is no stream that the client could resume. The GET stream is for
// messages of no call.
// spec: HTTP-27, HTTP-42
#[tokio::test]
async fn a_question_fails_at_once_if_the_client_disconnected_before_its_answer_was_a_stream() {
    let (server, mut late) = LateQuestion::add_to(sample_server());
    // With two connections a request is served only when the one before it has ended.
    let two = limits(|it| it.connections = 2);
    let server = TestServer::of(server, |http| http.limits(two)).await;
    let mut random = Random(14);
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let session = server.session(revision).await;
        let mut get = server.stream(&session.get()).await;
        for _ in 0..5 {
            let wire = Wire::send(server.address, &session.call("ask_late", json!({}))).await;
            server.handlers.running(1).await;
            hang_up(wire, &mut random);
            let ping = session.post(request(9, "ping", json!({})));
            assert_eq!(server.ask(&ping).await.status(), 200, "the call has no client now");
            server.handlers.running(1).await;
            late.may_ask.notify_one();
            assert_eq!(late.outcome().await, UNREACHABLE);
            server.handlers.running(0).await;
        }
        server.notify.tools_changed();
        let told = within(get.message()).await.unwrap().json();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
}

// spec: HTTP-27
#[tokio::test]
async fn a_question_fails_at_once_if_the_client_disconnects_before_it_is_sent() {
    let (server, mut late) = LateQuestion::add_to(sample_server());
    let endpoint = server.0.http().build().unwrap();
    let session = session_at(&endpoint).await;
    {
        let (owner, call) = (Owner::anonymous(), session.call("ask_late", json!({})));
        let mut answer = pin!(ask(&endpoint, &owner, &call));
        let is_answered = poll_fn(|cx| Poll::Ready(answer.as_mut().poll(cx).is_ready())).await;
        assert!(!is_answered);
        // The question is put onto the line of the call, from which no task reads it.
        late.may_ask.notify_one();
        within(late.asked.notified()).await;
        assert!(late.outcomes.try_recv().is_err(), "the client may still take it");
    }
    assert_eq!(late.outcome().await, UNREACHABLE);
}

// spec: HTTP-27, HTTP-29, RESUME-5
#[tokio::test]
async fn a_question_waits_for_a_client_that_can_resume_the_stream_of_its_call() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut wire = server.stream(&session.call("withdraw", json!({}))).await;
    let first = within(wire.event()).await.unwrap().id.unwrap();
    drop(wire);
    let mut resumed = server.stream(&session.resume(&first)).await;
    let question = within(resumed.message()).await.unwrap().json();
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({ "action": "decline" });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(server.ask(&session.post(answer.to_string())).await.status(), 202);
    assert_eq!(text_of(&within(resumed.message()).await.unwrap().json()), "answered");
}
