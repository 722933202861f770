//! Session streams that a client stops reading, and the streams that replace them. There is no
//! socket, so that a stream is read exactly as far as a test reads it.

use std::sync::Arc;
use std::time::Duration;

use bowline::{Ask, Log, Notify, Server, State, Tool};
use bowline_http::server::{Body, Endpoint};
use bowline_http::store::MemoryBackend;
use bowline_http::store::backend::Position;
use bowline_http::store::events::EventLog;
use bowline_http::store::memory::MemoryLimits;
use bowline_proto::request::Owner;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use crate::faulty_store::{Fault, FaultyStore};
use crate::sessions::asked;
use crate::test_server::{
    Handlers, Session, TestServer, initialize, request, sample_server, text_of, within,
};
use crate::wire::{Request, Wire};

/// Opens a session at an endpoint.
pub(crate) async fn session_at(endpoint: &Endpoint) -> Session {
    // No request comes before the tasks of a new endpoint have begun.
    tokio::task::yield_now().await;
    let revision = Revision::V2025_11_25;
    let handshake = Request::post(initialize(revision));
    let (_, _, id) = asked(endpoint, &Owner::anonymous(), &handshake).await;
    let session = Session { id: id.unwrap(), revision };
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let initialized = session.post(initialized);
    assert_eq!(asked(endpoint, &Owner::anonymous(), &initialized).await.0, 202);
    session
}

/// A stream that the test reads event by event.
struct Unread(Body);

impl Unread {
    async fn open(endpoint: &Endpoint, request: &Request) -> Self {
        let (method, headers, body) = request.parts();
        let mut asked = http::Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            asked = asked.header(name, value.as_slice());
        }
        let body = Full::new(Bytes::copy_from_slice(body));
        let answer = within(endpoint.answer(asked.body(body).unwrap())).await;
        assert_eq!(answer.status(), 200);
        Self(answer.into_body())
    }

    /// Reads the next message with the id of its event; `None` at the end.
    async fn message(&mut self) -> Option<(String, Value)> {
        within(self.next()).await
    }

    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            let frame = self.0.frame().await?.unwrap();
            let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
            // An event with only an id may come before the message.
            let event = text.trim_end().rsplit("\n\n").next().unwrap_or_default();
            let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name));
            if let Some(data) = field("data: ").filter(|data| !data.is_empty()) {
                let id = field("id: ").unwrap_or_default();
                return Some((id.to_owned(), serde_json::from_str(data).unwrap()));
            }
        }
    }

    /// Reads as far as possible without waiting; there must be no message.
    async fn read_on(&mut self) {
        for _ in 0..10 {
            tokio::select! {
                biased;
                message = self.next() => panic!("{message:?}"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
}

fn endpoint(server: &Server) -> (Endpoint, Notify) {
    (server.http().build().unwrap(), server.notify())
}

// spec: HTTP-40, HTTP-46, HTTP-47
#[tokio::test]
async fn a_new_stream_gets_every_message_although_the_old_one_is_not_read() {
    let (endpoint, notify) = endpoint(&sample_server().0);
    let session = session_at(&endpoint).await;
    let mut first = Unread::open(&endpoint, &session.get()).await;
    first.read_on().await;
    // From here on the first stream is not even polled, as if its client read no more bytes.
    let mut second = Unread::open(&endpoint, &session.get()).await;
    for _ in 0..3 {
        notify.tools_changed();
        let (_, told) = second.message().await.unwrap();
        assert_eq!(told["method"], "notifications/tools/list_changed");
    }
    assert_eq!(first.message().await, None, "it has ended without a message");
}

// spec: HTTP-47, HTTP-48
#[tokio::test]
async fn a_change_during_the_replacement_of_a_stream_is_sent_once() {
    let store = FaultyStore::new();
    let server = sample_server().0;
    let endpoint = server.http().store(store.clone()).build().unwrap();
    let session = session_at(&endpoint).await;
    let mut first = Unread::open(&endpoint, &session.get()).await;
    first.read_on().await;
    // The first stream has written the change into its log, and is about to send it.
    let until = Arc::new(Semaphore::new(0));
    store.set_fault(Fault::DelaysRead(until.clone()));
    server.notify().tools_changed();
    first.read_on().await;
    let mut second = Unread::open(&endpoint, &session.get()).await;
    until.add_permits(1);
    let (id, told) = first.message().await.expect("it is the first one's to tell");
    assert_eq!((id.as_str(), &told["method"]), ("0.1", &json!("notifications/tools/list_changed")));
    assert_eq!(first.message().await, None);
    server.notify().tools_changed();
    assert_eq!(second.message().await.unwrap().0, "0.2");
}

// spec: RESUME-5, HTTP-25
#[tokio::test]
async fn an_unread_stream_ends_at_the_other_endpoint_when_its_own_is_gone() {
    let store = Arc::new(MemoryBackend::default());
    let (server, handlers) = sample_server();
    let a = server.http().store(store.clone()).build().unwrap();
    let b = TestServer::with(|http| http.store(store)).await;
    let session = session_at(&a).await;
    handlers.step(1);
    let tell = session.call("tell", json!({ "count": 2 }));
    let mut unread = Unread::open(&a, &tell).await;
    let (id, _) = unread.message().await.unwrap();
    let mut resumed = b.stream(&session.resume(&id)).await;
    // No task drives the call any more, so only the end of the session ends its stream.
    drop(a);
    assert_eq!(within(resumed.messages()).await, []);
    assert!(resumed.is_whole());
    drop(unread);
}

// spec: HTTP-27, RESUME-5
#[tokio::test]
async fn an_answer_behind_an_unread_message_is_kept_after_its_stream_closes() {
    let (server, handlers) = sample_server();
    let (endpoint, _) = endpoint(&server);
    let session = session_at(&endpoint).await;
    let mut unread = Unread::open(&endpoint, &session.call("withdraw", json!({}))).await;
    let (_, question) = unread.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    // The call cancels its question and ends: two messages at once, of which one is read.
    handlers.step(1);
    let (id, cancelled) = unread.message().await.unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    drop(unread);
    let mut resumed = Unread::open(&endpoint, &session.resume(&id)).await;
    let (_, answer) = resumed.message().await.expect("the answer is kept");
    assert_eq!(text_of(&answer), "withdrawn");
}

#[tokio::test]
async fn a_question_that_the_store_refuses_fails_if_its_client_is_gone() {
    let store = FaultyStore::new();
    let (server, handlers) = sample_server();
    let (sender, mut outcomes) = mpsc::unbounded_channel();
    let tell_and_ask = move |State(handlers): State<Handlers>, log: Log, ask: Ask| {
        let sender = sender.clone();
        async move {
            log.info("soon");
            handlers.may_step().await;
            let outcome = ask.confirm("Sure?").await;
            sender.send(outcome.map_err(|error| error.to_string())).unwrap();
        }
    };
    let server = server.tool(Tool::new("tell_and_ask", tell_and_ask));
    let endpoint = server.http().store(store.clone()).build().unwrap();
    let session = session_at(&endpoint).await;
    let mut stream = Unread::open(&endpoint, &session.call("tell_and_ask", json!({}))).await;
    assert!(stream.message().await.is_some());
    // The answer is a stream now, so a client that hangs up could come back for a question.
    drop(stream);
    store.set_fault(Fault::RefusesEvents);
    handlers.step(1);
    assert!(within(outcomes.recv()).await.unwrap().is_err());
}

/// Waits until the log of a stream has so many events.
async fn logged(store: &Arc<MemoryBackend>, session: &Session, stream: u64, events: u64) {
    let log = EventLog::new(store.clone(), &session.id, stream, Duration::ZERO);
    within(async {
        while log.follow().await.unwrap().position() != Position(events) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// A store that keeps the last three events of each stream.
fn short_memory() -> Arc<MemoryBackend> {
    let mut limits = MemoryLimits::default();
    limits.log_items = 3;
    Arc::new(MemoryBackend::new(limits))
}

/// Expects that a stream cannot be resumed after this event, because the next one is lost.
async fn refuses(endpoint: &Endpoint, session: &Session, id: &str) {
    let (status, body, _) = asked(endpoint, &Owner::anonymous(), &session.resume(id)).await;
    assert_eq!(status, 400, "{body}");
    assert!(body.contains("not kept any more"), "{body}");
}

// spec: RESUME-5
#[tokio::test]
async fn a_resumed_stream_ends_when_events_are_lost_before_it_is_read() {
    let store = short_memory();
    let (server, handlers) = sample_server();
    let endpoint = server.http().store(store.clone()).build().unwrap();
    let session = session_at(&endpoint).await;
    handlers.step(2);
    let mut first = Unread::open(&endpoint, &session.call("tell", json!({ "count": 8 }))).await;
    let (id, _) = first.message().await.unwrap();
    drop(first);
    let mut resumed = Unread::open(&endpoint, &session.resume(&id)).await;
    assert_eq!(resumed.message().await.unwrap().0, "1.2");
    // The client reads no more, and the third event is lost meanwhile.
    handlers.step(4);
    logged(&store, &session, 1, 6).await;
    assert_eq!(resumed.message().await, None, "it skips nothing");
    refuses(&endpoint, &session, "1.2").await;
    let mut resumed = Unread::open(&endpoint, &session.resume("1.3")).await;
    handlers.step(3);
    for position in 4..=9 {
        assert_eq!(resumed.message().await.unwrap().0, format!("1.{position}"));
    }
    assert_eq!(resumed.message().await, None);
}

// spec: RESUME-5
#[tokio::test]
async fn the_get_stream_ends_when_events_of_another_endpoint_are_lost_before_it_is_read() {
    let store = short_memory();
    let server = sample_server().0;
    let a = server.http().store(store.clone()).build().unwrap();
    let session = session_at(&a).await;
    let mut get = Unread::open(&a, &session.get()).await;
    get.read_on().await;
    server.notify().tools_changed();
    assert_eq!(get.message().await.unwrap().0, "0.1");
    // The client reads no more, and the second event is lost meanwhile.
    let of_another = EventLog::new(store.clone(), &session.id, 0, Duration::from_secs(60));
    for events in 2..=5 {
        of_another.append(b"{}", false).await.unwrap();
        logged(&store, &session, 0, events).await;
    }
    assert_eq!(get.message().await, None, "it skips nothing");
    refuses(&a, &session, "0.1").await;
    let mut resumed = Unread::open(&a, &session.resume("0.2")).await;
    for position in 3..=5 {
        assert_eq!(resumed.message().await.unwrap().0, format!("0.{position}"));
    }
}

// spec: HTTP-5, HTTP-27
#[tokio::test]
async fn the_server_runs_the_rest_of_a_batch_after_its_client_disconnects() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_03_26).await;
    let call = |id: u32, name: &str, arguments: Value| {
        let params = json!({ "name": name, "arguments": arguments });
        serde_json::from_str::<Value>(&request(id, "tools/call", params)).unwrap()
    };
    for round in 1..=5 {
        let batch = json!([
            call(1, "echo", json!({ "text": "a" })),
            call(2, "hold", json!({})),
            call(3, "echo", json!({ "text": "b", "turns": 1 })),
        ]);
        let wire = Wire::send(server.address, &session.post(batch.to_string())).await;
        server.handlers.running(1).await;
        // Whichever calls are answered by now, the one that waits is not.
        let ping = session.post(request(9, "ping", json!({})));
        assert_eq!(server.ask(&ping).await.status(), 200);
        drop(wire);
        assert_eq!(server.ask(&ping).await.status(), 200);
        server.handlers.step(1);
        server.handlers.ended(round).await;
    }
}
