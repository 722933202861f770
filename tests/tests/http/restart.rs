//! A server process that is killed and started again. Its sessions are in a file.
#![cfg(unix)]

use std::net::SocketAddr;

use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};

use crate::test_server::{Session, initialize, request, text_of, within};
use crate::wire::{Answer, Event, Request, Wire};

/// A server in its own process, and the folder of its file.
pub(crate) struct Durable {
    pub(crate) address: SocketAddr,
    pub(crate) folder: TempDir,
    pub(crate) process: Child,
    /// Holds the port, so that no other process gets it.
    _held: TcpSocket,
}

impl Durable {
    pub(crate) async fn start() -> Self {
        Self::start_with(&[]).await
    }

    /// A server whose sessions and tasks are in Redis.
    pub(crate) async fn start_on(redis: &str) -> Self {
        Self::start_with(&[redis]).await
    }

    async fn start_with(arguments: &[&str]) -> Self {
        let held = TcpSocket::new_v4().unwrap();
        // The server sets this too, and may then listen here.
        held.set_reuseaddr(true).unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = held.local_addr().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let process = spawn(address, &folder, arguments).await;
        Self { address, folder, process, _held: held }
    }

    pub(crate) async fn kill_and_restart(&mut self) {
        // SIGKILL: the process cannot do anything about it.
        within(self.process.kill()).await.unwrap();
        self.process = spawn(self.address, &self.folder, &[]).await;
    }

    pub(crate) async fn ask(&self, request: &Request) -> Answer {
        within(async { Wire::send(self.address, request).await.answer().await }).await
    }

    async fn stream(&self, request: &Request) -> Wire {
        let mut wire = Wire::send(self.address, request).await;
        let head = within(wire.head()).await;
        assert!(head.status == 200 && head.is_stream(), "{head:?}");
        wire
    }

    pub(crate) async fn session(&self) -> Session {
        let revision = Revision::V2025_11_25;
        let answer = self.ask(&Request::post(initialize(revision))).await;
        let id = answer.header("mcp-session-id").expect("a session id").to_owned();
        let session = Session { id, revision };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.ask(&session.post(initialized)).await.status(), 202);
        session
    }

    /// The rest of a stream after an event.
    async fn resumed(&self, session: &Session, after: &Event) -> Wire {
        self.stream(&session.resume(after.id.as_ref().expect("events have ids"))).await
    }
}

async fn spawn(address: SocketAddr, folder: &TempDir, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_durable"));
    command.arg(address.to_string()).arg(folder.path().join("mcp.db")).args(arguments);
    let process = command.kill_on_drop(true).spawn().unwrap();
    within(async { while TcpStream::connect(address).await.is_err() {} }).await;
    process
}

fn messages(events: &[Event]) -> Vec<Value> {
    events.iter().map(Event::json).collect()
}

// spec: RESUME-5, SESS-5
#[tokio::test]
async fn a_client_resumes_its_stream_and_its_session_after_its_server_was_killed() {
    let mut server = Durable::start().await;
    let session = server.session().await;
    let mut wire = server.stream(&session.call("count", json!({ "to": 5 }))).await;
    let first = within(wire.message()).await.unwrap();
    let rest = within(wire.messages()).await;
    assert_eq!(rest.len(), 5, "four numbers and the answer: {rest:?}");
    for _ in 0..2 {
        server.kill_and_restart().await;
        let mut resumed = server.resumed(&session, &first).await;
        let again = within(resumed.messages()).await;
        assert_eq!(messages(&again), messages(&rest), "every message after the first, once");
        assert_eq!(text_of(&again[4].json()), "counted 5");
        let ids = |events: &[Event]| -> Vec<_> { events.iter().map(|it| it.id.clone()).collect() };
        assert_eq!(ids(&again), ids(&rest));
    }
    // The session is not only readable: it can be used, and its streams have new ids.
    let mut wire = server.stream(&session.call("count", json!({ "to": 1 }))).await;
    let later = within(wire.messages()).await;
    assert_eq!(text_of(&later[1].json()), "counted 1");
    let stream = |event: &Event| event.id.as_ref().unwrap().split_once('.').unwrap().0.to_owned();
    assert_ne!(stream(&later[0]), stream(&first));
}

// spec: RESUME-5
#[tokio::test]
async fn a_client_gets_the_changes_that_it_missed_before_its_server_was_killed() {
    let mut server = Durable::start().await;
    let session = server.session().await;
    let mut get = server.stream(&session.get()).await;
    let change = session.call("change", json!({}));
    assert_eq!(text_of(&server.ask(&change).await.json()), "changed");
    let seen = within(get.message()).await.unwrap();
    drop(get);
    assert_eq!(text_of(&server.ask(&change).await.json()), "changed");
    // The change is stored by the time that a client can resume it.
    let missed = within(server.resumed(&session, &seen).await.message()).await.unwrap();
    server.kill_and_restart().await;
    let mut get = server.resumed(&session, &seen).await;
    assert_eq!(within(get.message()).await.unwrap(), missed);
    assert_eq!(text_of(&server.ask(&change).await.json()), "changed");
    let next = within(get.message()).await.unwrap();
    assert_eq!(next.json()["method"], "notifications/tools/list_changed");
    assert_ne!(next.id, missed.id);
}

#[tokio::test]
async fn settings_and_the_end_of_a_session_survive_a_restart() {
    let mut server = Durable::start().await;
    let (session, ended) = (server.session().await, server.session().await);
    let level = request(2, "logging/setLevel", json!({ "level": "error" }));
    assert_eq!(server.ask(&session.post(level)).await.status(), 200);
    assert!(matches!(server.ask(&ended.delete()).await.status(), 200 | 204));
    server.kill_and_restart().await;
    let answer = server.ask(&session.call("count", json!({ "to": 3 }))).await;
    assert_eq!(text_of(&answer.json()), "counted 3", "an answer without log messages is no stream");
    assert_eq!(server.ask(&ended.call("count", json!({ "to": 1 }))).await.status(), 404);
}
