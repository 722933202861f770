//! Counts the calls that reach the service, and notes which have ended.
//!
//! A play over HTTP has to know when the server has done what it can. A response shows it for some
//! messages; for a call that waits, this count does.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response};
use futures_core::future::BoxFuture;
use tokio::sync::watch;
use tower_service::Service;

use crate::server_under_test::ServerUnderTest;

/// The calls of a server, numbered from 1 in the order in which they reach the service. Cheap to
/// clone; all clones count together.
#[derive(Clone, Default)]
pub(super) struct CallCounter(watch::Sender<State>);

#[derive(Default)]
struct State {
    started: u64,
    ended: BTreeSet<u64>,
}

impl CallCounter {
    /// The number of calls that have reached the service.
    pub(super) fn started(&self) -> u64 {
        self.0.borrow().started
    }

    /// Waits until more than `count` calls have reached the service.
    pub(super) async fn wait_for_start_after(&self, count: u64) {
        self.wait(|state| state.started > count).await;
    }

    /// Waits until a call is complete or dropped.
    pub(super) async fn wait_for_end(&self, call: u64) {
        self.wait(|state| state.ended.contains(&call)).await;
    }

    async fn wait(&self, condition: impl FnMut(&State) -> bool) {
        // Cannot fail, because `self` is the sender.
        let _ = self.0.subscribe().wait_for(condition).await;
    }

    fn start(&self) -> RunningCall {
        let mut call = 0;
        self.0.send_modify(|state| {
            state.started += 1;
            call = state.started;
        });
        RunningCall { calls: self.clone(), call }
    }
}

/// Marks its call as ended when dropped. Dropped when the future of the call is, whether the call
/// ended or was cancelled.
struct RunningCall {
    calls: CallCounter,
    call: u64,
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        self.calls.0.send_modify(|state| {
            state.ended.insert(self.call);
        });
    }
}

/// A service that counts its calls.
#[derive(Clone)]
pub(super) struct CountingService {
    server: ServerUnderTest,
    calls: CallCounter,
}

impl CountingService {
    pub(super) fn new(server: ServerUnderTest, calls: &CallCounter) -> Self {
        Self { server, calls: calls.clone() }
    }
}

impl Service<Request> for CountingService {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.server.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let running = self.calls.start();
        let response = self.server.call(request);
        Box::pin(async move {
            let _running = running;
            response.await
        })
    }
}
