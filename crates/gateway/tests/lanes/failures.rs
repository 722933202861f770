//! What callers hear of a server that fails: its name, and whether the call may have run.

use std::sync::Arc;
use std::time::Duration;

use bowline_client::Client;
use bowline_gateway::{Dial, DialError, GatewayLimits, Lanes, UpstreamFailure, client_builder};
use bowline_server::Server;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::code;
use futures_core::future::BoxFuture;
use serde_json::json;

use crate::support::{BOTH, Fake, connect, echo, ways};

/// What a failed call tells: the server, and whether it may have run.
fn failure(error: &bowline_client::Error) -> (String, bool) {
    let error = error.rpc().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(error.code, code::INTERNAL_ERROR, "{error}");
    assert!(error.message.contains("`fake`"), "{error}");
    let failure: UpstreamFailure = error.parse_data().unwrap_or_else(|| panic!("{error}"));
    (failure.server, failure.may_have_run)
}

fn mounted(lanes: &Lanes) -> Server {
    Server::new("gateway", "1.0.0").mount("fake", lanes.clone())
}

#[tokio::test(start_paused = true)]
async fn a_call_to_a_server_that_does_not_start_has_not_run() {
    for way in ways() {
        let fake = Fake::new(echo());
        fake.set_failing(true);
        let lanes = fake.lanes(GatewayLimits::default());
        let caller = connect(&mounted(&lanes), way, |builder| builder).await;
        // The second call comes during the pause after the failed start.
        for _ in 0..2 {
            let error = caller.call("fake__say", json!({ "message": "hi" })).await.unwrap_err();
            assert_eq!(failure(&error), ("fake".to_owned(), false), "{way:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_server_dies_may_have_run() {
    for way in ways() {
        for upstream in BOTH {
            let fake = Fake::speaking(upstream, echo());
            let lanes = fake.lanes(GatewayLimits::default());
            let caller = connect(&mounted(&lanes), way, |builder| builder).await;
            let hanging = tokio::spawn(caller.call("fake__hang", ()).into_future());
            while fake.running().await == 0 {}
            fake.kill().await;
            let error = hanging.await.unwrap().unwrap_err();
            assert_eq!(failure(&error), ("fake".to_owned(), true), "{way:?} {upstream}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_not_answered_in_time_may_have_run() {
    for way in ways() {
        let mut limits = GatewayLimits::default();
        limits.call = Duration::from_secs(20);
        let lanes = Fake::new(echo()).lanes(limits);
        let caller = connect(&mounted(&lanes), way, |builder| builder).await;
        let error = caller.call("fake__hang", ()).timeout(Duration::from_secs(60)).await;
        assert_eq!(failure(&error.unwrap_err()), ("fake".to_owned(), true), "{way:?}");
    }
}

/// A server at a URL.
struct Remote(String);

impl Dial for Remote {
    fn dial(
        &self,
        declared: ClientCapabilities,
        limits: &GatewayLimits,
    ) -> BoxFuture<'static, Result<Client, DialError>> {
        let http = client_builder(declared, limits).http(&self.0);
        Box::pin(async move { Ok(http.connect().await?) })
    }

    fn is_process(&self) -> bool {
        false
    }
}

/// Over HTTP a server can go away while the connection of the gateway counts as open.
#[tokio::test]
async fn a_call_that_does_not_reach_a_remote_server_has_not_run() {
    for way in ways() {
        let bound = echo().http().listen("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", bound.address().unwrap());
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = tokio::spawn(bound.serve_until(async move { _ = stopped.await }));
        let lanes = Lanes::new("fake", Arc::new(Remote(url)), GatewayLimits::default());
        let caller = connect(&mounted(&lanes), way, |builder| builder).await;
        caller.call("fake__say", json!({ "message": "hi" })).await.unwrap();
        drop(stop);
        serving.await.unwrap();
        let error = caller.call("fake__say", json!({ "message": "hi" })).await.unwrap_err();
        assert_eq!(failure(&error), ("fake".to_owned(), false), "{way:?}");
    }
}
