//! Which calls have reached the service, and which of them are over.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use tokio::sync::watch;
use tower_service::Service;

use crate::subject::Subject;

/// The calls of a server, numbered from 1 in the order in which they reach the service.
#[derive(Clone, Default)]
pub(super) struct Calls(watch::Sender<State>);

#[derive(Default)]
struct State {
    started: u64,
    ended: BTreeSet<u64>,
}

impl Calls {
    /// How many have reached the service.
    pub(super) fn started(&self) -> u64 {
        self.0.borrow().started
    }

    /// Waits until another one has reached the service after so many.
    pub(super) async fn started_after(&self, count: u64) {
        self.wait(|state| state.started > count).await;
    }

    /// Waits until a call is answered or given up.
    pub(super) async fn ended(&self, call: u64) {
        self.wait(|state| state.ended.contains(&call)).await;
    }

    async fn wait(&self, is_so: impl FnMut(&State) -> bool) {
        // Its sender is `self`, so it cannot fail.
        let _ = self.0.subscribe().wait_for(is_so).await;
    }

    fn start(&self) -> Running {
        let mut call = 0;
        self.0.send_modify(|state| {
            state.started += 1;
            call = state.started;
        });
        Running { calls: self.clone(), call }
    }
}

/// A call until it is dropped.
struct Running {
    calls: Calls,
    call: u64,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.calls.0.send_modify(|state| {
            state.ended.insert(self.call);
        });
    }
}

/// A server whose calls are counted.
#[derive(Clone)]
pub(super) struct Watched {
    subject: Subject,
    calls: Calls,
}

impl Watched {
    pub(super) fn new(subject: Subject, calls: &Calls) -> Self {
        Self { subject, calls: calls.clone() }
    }
}

impl Service<Request> for Watched {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.subject.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let running = self.calls.start();
        let response = self.subject.call(request);
        Box::pin(async move {
            let _running = running;
            response.await
        })
    }
}
