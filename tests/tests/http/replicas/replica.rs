//! An endpoint without sockets, in virtual time, on a store that it shares with others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline::{Notify, Server};
use bowline_http::server::{Body, Endpoint};
use bowline_http::store::MemoryBackend;
use bowline_http::store::backend::{
    Appended, Backend, BoxFuture, Entry, Error, Expect, Key, NewItem, Result, Written,
};
use bowline_http::store::memory::MemoryLimits;
use bowline_http::store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
use bowline_types::revision::Revision;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::test_server::{Handlers, Session, initialize, sample_server};
use crate::wire::{Event, Request};

/// Lets all other tasks run.
pub(super) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

/// A store in memory, by the clock of the runtime.
pub(super) fn store() -> Arc<MemoryBackend> {
    let clock = || tokio::time::Instant::now().into_std();
    Arc::new(MemoryBackend::new(MemoryLimits::default()).clock(clock))
}

/// One of several endpoints on a store.
pub(super) struct Replica {
    pub(super) endpoint: Endpoint,
    pub(super) handlers: Handlers,
    pub(super) notify: Notify,
    pub(super) link: Arc<Wrapped<Link>>,
}

/// What one endpoint does with the store. A test can cut it off.
pub(super) struct Link {
    memory: Arc<MemoryBackend>,
    is_cut: AtomicBool,
    refused: Mutex<Vec<OperationKind>>,
    loses_appended: AtomicBool,
    operations: Mutex<Vec<(OperationKind, String)>>,
    held: watch::Sender<Option<OperationKind>>,
    before_look: Mutex<Option<BoxFuture<'static, ()>>>,
}

impl Link {
    /// Every operation fails from now on, or works again.
    pub(super) fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::Relaxed);
    }

    /// Operations of these kinds fail from now on, and others work again.
    pub(super) fn refuse(&self, kinds: impl IntoIterator<Item = OperationKind>) {
        *self.refused.lock().unwrap() = kinds.into_iter().collect();
    }

    /// From now on the store appends items and its replies are lost, or they come again.
    pub(super) fn lose_appended(&self, loses: bool) {
        self.loses_appended.store(loses, Ordering::Relaxed);
    }

    fn refuses(&self, kind: OperationKind) -> bool {
        self.refused.lock().unwrap().contains(&kind)
    }

    /// From now on the store carries out operations of this kind, and its replies wait until this is
    /// called with `None`.
    pub(super) fn hold_replies(&self, to: impl Into<Option<OperationKind>>) {
        self.held.send_replace(to.into());
    }

    /// Carries out an operation, and replies when it may.
    async fn reply<T>(
        &self,
        kind: OperationKind,
        operation: BoxFuture<'_, Result<T>>,
    ) -> Result<T> {
        let mut held = self.held.subscribe();
        let result = operation.await;
        if *held.borrow() == Some(kind) {
            held.wait_for(Option::is_none).await.unwrap();
        }
        result
    }

    /// Does something just before this endpoint looks whether a stream of another one is open.
    pub(super) fn before_look(&self, work: impl Future<Output = ()> + Send + 'static) {
        *self.before_look.lock().unwrap() = Some(Box::pin(work));
    }

    /// The operations since the last time.
    pub(super) fn take(&self) -> Vec<(OperationKind, String)> {
        std::mem::take(&mut *self.operations.lock().unwrap())
    }

    /// The kinds of operations since the last time that belong to a session: not the lease and the
    /// beats of the endpoint, nor changes that concern all sessions.
    pub(super) fn kinds(&self) -> Vec<OperationKind> {
        let is_of_session =
            |key: &str| !key.starts_with("replica/") && !["replicas", "changes"].contains(&key);
        let operations = self.take().into_iter().filter(|(_, key)| is_of_session(key));
        operations.map(|(kind, _)| kind).collect()
    }
}

fn out_of_reach() -> Error {
    Error::new("out of reach")
}

impl Wrapper for Link {
    fn inner(&self) -> &dyn Backend {
        &self.memory
    }

    fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
        let of = (operation.kind, operation.key.as_str().to_owned());
        self.operations.lock().unwrap().push(of);
        // Of a put and an append, the reply is the refusal.
        let is_replied = matches!(operation.kind, OperationKind::Put | OperationKind::Append);
        let is_refused = !is_replied && self.refuses(operation.kind);
        let result = match is_refused || self.is_cut.load(Ordering::Relaxed) {
            true => Err(out_of_reach()),
            false => Ok(()),
        };
        Box::pin(std::future::ready(result))
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        let work = match key.as_str().starts_with("stream/") {
            true => self.before_look.lock().unwrap().take(),
            false => None,
        };
        Box::pin(async move {
            if let Some(work) = work {
                work.await;
            }
            self.memory.get(key).await
        })
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        let appended: BoxFuture<'a, _> = match self.refuses(OperationKind::Append) {
            true => Box::pin(std::future::ready(Err(out_of_reach()))),
            false if self.loses_appended.load(Ordering::Relaxed) => Box::pin(async move {
                self.memory.append(log, item).await?;
                Err(out_of_reach())
            }),
            false => self.memory.append(log, item),
        };
        Box::pin(self.reply(OperationKind::Append, appended))
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.reply(OperationKind::Renew, self.memory.renew(key, expiry)))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        let written: BoxFuture<'a, _> = match self.refuses(OperationKind::Put) {
            true => Box::pin(std::future::ready(Err(out_of_reach()))),
            false => self.memory.put(key, value, expiry, expect),
        };
        match key.as_str().starts_with("session/") {
            true => Box::pin(self.reply(OperationKind::Put, written)),
            false => written,
        }
    }
}

impl Replica {
    pub(super) fn on(memory: &Arc<MemoryBackend>) -> Self {
        let (server, handlers) = sample_server();
        Self::of(&server, handlers, memory)
    }

    /// An endpoint of a server.
    pub(super) fn of(server: &Server, handlers: Handlers, memory: &Arc<MemoryBackend>) -> Self {
        let link = Link {
            memory: memory.clone(),
            is_cut: AtomicBool::default(),
            refused: Mutex::default(),
            loses_appended: AtomicBool::default(),
            operations: Mutex::default(),
            held: watch::Sender::default(),
            before_look: Mutex::default(),
        };
        let link = Arc::new(Wrapped(link));
        let notify = server.notify();
        let endpoint = server.http().store(link.clone()).build().unwrap();
        Self { endpoint, handlers, notify, link }
    }

    pub(super) async fn send(&self, request: &Request) -> http::Response<Body> {
        let (method, headers, body) = request.parts();
        let mut asked = http::Request::builder().method(method).uri("/mcp");
        for (name, value) in headers {
            asked = asked.header(name, value.as_slice());
        }
        let body = Full::new(Bytes::copy_from_slice(body));
        // No request comes before the tasks of a new endpoint have begun.
        tokio::task::yield_now().await;
        self.endpoint.answer(asked.body(body).unwrap()).await
    }

    /// Sends a request whose answer is JSON, or nothing.
    pub(super) async fn ask(&self, request: &Request) -> (u16, String) {
        let answer = self.send(request).await;
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(body.to_vec()).unwrap())
    }

    /// Sends a request whose answer is a stream.
    pub(super) async fn stream(&self, request: &Request) -> Events {
        let answer = self.send(request).await;
        assert_eq!(answer.status(), 200);
        Events { body: answer.into_body(), text: String::new() }
    }

    /// The stream of a call that sends so many messages and its answer, and the id of its first event.
    pub(super) async fn first_of(&self, messages: u32, session: &Session) -> (Events, String) {
        self.handlers.step(1);
        let mut stream = self.stream(&session.call("tell", json!({ "count": messages }))).await;
        let first = stream.message().await.unwrap().id.unwrap();
        (stream, first)
    }

    /// Opens a session by a handshake.
    pub(super) async fn session(&self) -> Session {
        self.session_of(Revision::V2025_11_25).await
    }

    /// Opens a session of this revision.
    pub(super) async fn session_of(&self, revision: Revision) -> Session {
        let answer = self.send(&Request::post(initialize(revision))).await;
        let id = answer.headers()["mcp-session-id"].to_str().unwrap().to_owned();
        let session = Session { id, revision };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.ask(&session.post(initialized)).await.0, 202);
        session
    }
}

/// The events of an answer.
pub(super) struct Events {
    body: Body,
    text: String,
}

impl Events {
    /// The next event with a message. `None` at the end of the stream.
    pub(super) async fn message(&mut self) -> Option<Event> {
        loop {
            while let Some((event, rest)) = self.text.split_once("\n\n") {
                let event = Event::parse(event);
                self.text = rest.to_owned();
                if event.has_message() {
                    return Some(event);
                }
            }
            let frame = self.body.frame().await?.unwrap();
            let piece = frame.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&piece).unwrap());
        }
    }

    /// All messages up to the end of the stream.
    pub(super) async fn messages(&mut self) -> Vec<Event> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            messages.push(message);
        }
        messages
    }
}
