//! Requests with credentials: obtained for every attempt, and better ones after a refusal. All of
//! it in virtual time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_http::client::{
    Authorize, AuthorizeMessage, BoxError, MessageOperation, RefusalVerdict,
};
use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::{Link, connect};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::support::{FakeServer, ReceivedRequest, User, config, done, fake, tool};

const JSON: (&str, &str) = ("content-type", "application/json");

/// Gives every attempt another token, and judges refusals as a test wants it.
#[derive(Clone, Default)]
struct Credentials(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    tokens: usize,
    /// The operations of all messages, with whether they may log in.
    operations: Vec<(String, bool)>,
    /// The refusals that it was asked about.
    refusals: Vec<StatusCode>,
    /// The verdicts, the last one first; without any the refusal stands.
    verdicts: Vec<Verdict>,
    /// How long it takes to obtain a token before a request.
    delay: Duration,
    /// Why there is no token.
    failure: Option<&'static str>,
}

#[derive(Clone, Copy)]
enum Verdict {
    /// After so long.
    SendAgain(Duration),
    Stands(&'static str),
}

impl Authorize for Credentials {
    fn message(&self, operation: MessageOperation) -> Box<dyn AuthorizeMessage> {
        self.0.lock().unwrap().operations.push((operation.name, operation.may_log_in));
        Box::new(self.clone())
    }
}

impl AuthorizeMessage for Credentials {
    fn headers<'a>(
        &'a mut self,
        _: &'a Method,
        _: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, BoxError>> {
        Box::pin(async move {
            let delay = self.0.lock().unwrap().delay;
            if !delay.is_zero() {
                sleep(delay).await;
            }
            let mut state = self.0.lock().unwrap();
            if let Some(failure) = state.failure {
                return Err(failure.into());
            }
            state.tokens += 1;
            let token = HeaderValue::from_str(&format!("Bearer {}", state.tokens)).unwrap();
            Ok(HeaderMap::from_iter([(AUTHORIZATION, token)]))
        })
    }

    fn refused<'a>(
        &'a mut self,
        status: StatusCode,
        _: &'a HeaderMap,
    ) -> BoxFuture<'a, RefusalVerdict> {
        Box::pin(async move {
            let verdict = {
                let mut state = self.0.lock().unwrap();
                state.refusals.push(status);
                state.verdicts.pop()
            };
            match verdict {
                None => RefusalVerdict::Stands(None),
                Some(Verdict::Stands(why)) => RefusalVerdict::Stands(Some(why.into())),
                Some(Verdict::SendAgain(after)) => {
                    sleep(after).await;
                    RefusalVerdict::SendAgain
                }
            }
        })
    }
}

impl Credentials {
    /// Sets the verdicts, the first one first.
    fn will(&self, verdicts: &[Verdict]) {
        self.0.lock().unwrap().verdicts = verdicts.iter().rev().copied().collect();
    }

    fn operations(&self) -> Vec<(String, bool)> {
        std::mem::take(&mut self.0.lock().unwrap().operations)
    }
}

/// A modern connection with credentials.
async fn modern(credentials: &Credentials) -> (Link, FakeServer) {
    let (transport, mut fake) = fake();
    let transport = transport
        .with_header(AUTHORIZATION, HeaderValue::from_static("Bearer standing"))
        .with_authorization(Arc::new(credentials.clone()));
    let revisions = config(&[Revision::V2026_07_28]);
    let connecting = connect(transport, revisions, Arc::new(User::default()));
    let (link, ()) = tokio::join!(connecting, fake.discover());
    (link.unwrap(), fake)
}

fn token(received: &ReceivedRequest) -> &str {
    assert_eq!(received.headers.get_all(AUTHORIZATION).iter().count(), 1);
    received.header("authorization").unwrap()
}

/// Refuses a request with a JSON-RPC error that answers it.
fn refuse(received: ReceivedRequest, status: u16) {
    let error = json!({ "code": -32600, "message": "a token is required" });
    let body = json!({ "jsonrpc": "2.0", "id": received.id(), "error": error }).to_string();
    received.respond(status, &[JSON, ("www-authenticate", "Bearer")], &body);
}

// spec: TOK-1, TOK-2
#[tokio::test(start_paused = true)]
async fn every_attempt_gets_headers_of_its_own() {
    let credentials = Credentials::default();
    let (link, mut fake) = modern(&credentials).await;
    let call = link.call(tool("echo"), None);
    let first = fake.next().await;
    assert_eq!(token(&first), "Bearer 2");
    assert!(!format!("{:?}", first.headers).contains("Bearer"), "it is sensitive");
    first.respond(307, &[("location", "/elsewhere")], "");
    let second = fake.next().await;
    assert_eq!(
        (second.uri.as_str(), token(&second)),
        ("http://server.example/elsewhere", "Bearer 3")
    );
    second.respond(503, &[("retry-after", "1")], "");
    let third = fake.next().await;
    assert_eq!(token(&third), "Bearer 4");
    third.result(&done());
    assert!(call.await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_refused_call_is_sent_again_if_that_may_help() {
    for status in [401, 403] {
        let credentials = Credentials::default();
        let (link, mut fake) = modern(&credentials).await;
        credentials.operations();
        credentials.will(&[Verdict::SendAgain(Duration::from_secs(300))]);
        let begin = Instant::now();
        let call = link.call(tool("echo"), None);
        refuse(fake.next().await, status);
        let again = fake.next().await;
        assert_eq!((begin.elapsed(), token(&again)), (Duration::from_secs(300), "Bearer 3"));
        again.result(&done());
        assert!(call.await.is_ok(), "the login is longer than the timeout of the call");
        assert_eq!(credentials.operations(), [("tools/call echo".to_owned(), true)]);
    }
}

#[tokio::test(start_paused = true)]
async fn no_message_is_sent_more_than_five_times() {
    let credentials = Credentials::default();
    let (link, mut fake) = modern(&credentials).await;
    credentials.will(&[Verdict::SendAgain(Duration::ZERO); 100]);
    let call = link.call(tool("echo"), None);
    for _ in 0..5 {
        refuse(fake.next().await, 401);
    }
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Unauthorized);
    assert!(reason.contains("401 Unauthorized"), "{reason}");
    assert!(fake.is_idle());
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_stands_is_reported_with_its_reason() {
    let credentials = Credentials::default();
    let (link, mut fake) = modern(&credentials).await;
    for (status, kind) in [(401, FailureKind::Unauthorized), (403, FailureKind::Refused(403))] {
        credentials.will(&[Verdict::Stands("the user closed the page")]);
        let call = link.call(tool("echo"), None);
        refuse(fake.next().await, status);
        let CallError::Failed { kind: seen, reason } = call.await.unwrap_err() else { panic!() };
        assert_eq!(seen, kind);
        assert!(reason.contains("the user closed the page"), "{reason}");
    }
    // Without a reason, the server's own error is the answer.
    let call = link.call(tool("echo"), None);
    refuse(fake.next().await, 403);
    let CallError::Refused(error) = call.await.unwrap_err() else { panic!() };
    assert_eq!(error.message, "a token is required");
}

#[tokio::test(start_paused = true)]
async fn a_message_without_a_credential_that_it_should_have_is_not_sent() {
    let credentials = Credentials::default();
    let (link, mut fake) = modern(&credentials).await;
    credentials.0.lock().unwrap().failure = Some("the store is locked");
    let error = link.call(tool("echo"), None).await.unwrap_err();
    let CallError::Failed { kind, reason } = error else { panic!("{error:?}") };
    assert_eq!(kind, FailureKind::Unauthorized);
    assert!(reason.ends_with("not sent: the store is locked"), "{reason}");
    assert!(fake.is_idle());
}

/// Connects in both eras.
async fn negotiate(
    credentials: &Credentials,
    play: impl AsyncFnOnce(&mut FakeServer),
) -> Result<Link, String> {
    let (transport, mut fake) = fake();
    let transport = transport.with_authorization(Arc::new(credentials.clone()));
    let revisions = config(&[Revision::V2026_07_28, Revision::V2025_11_25]);
    let connecting = connect(transport, revisions, Arc::new(User::default()));
    let (link, ()) = tokio::join!(connecting, play(&mut fake));
    assert!(fake.is_idle(), "nothing else was sent");
    link.map_err(|error| error.to_string())
}

#[tokio::test(start_paused = true)]
async fn held_clock() {
    let credentials = Credentials::default();
    credentials.will(&[Verdict::SendAgain(Duration::from_secs(600))]);
    let link = negotiate(&credentials, async |fake| {
        refuse(fake.expect("server/discover").await, 401);
        fake.discover().await;
    });
    assert_eq!(link.await.unwrap().profile().revision, Revision::V2026_07_28);
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_probe_stands_still_while_its_token_is_renewed() {
    let credentials = Credentials::default();
    credentials.0.lock().unwrap().delay = Duration::from_secs(60);
    let link = negotiate(&credentials, async |fake| fake.discover().await);
    assert_eq!(link.await.unwrap().profile().revision, Revision::V2026_07_28);
}

#[tokio::test(start_paused = true)]
async fn a_refused_login_ends_the_negotiation() {
    let credentials = Credentials::default();
    credentials.will(&[Verdict::Stands("the user closed the page")]);
    let link = negotiate(&credentials, async |fake| {
        refuse(fake.expect("server/discover").await, 401);
    });
    let error = link.await.unwrap_err();
    assert!(error.contains("the user closed the page"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn only_requests_that_a_caller_waits_for_may_log_in() {
    let credentials = Credentials::default();
    let (transport, mut fake) = fake();
    let transport = transport.with_authorization(Arc::new(credentials.clone()));
    let revisions = config(&[Revision::V2025_11_25]);
    let connecting = connect(transport, revisions, Arc::new(User::default()));
    let (link, ()) = tokio::join!(connecting, fake.shake_hands(Some("first")));
    let link = link.unwrap();
    let call = link.call(tool("echo"), None);
    fake.expect("tools/call").await.result(&done());
    assert!(call.await.is_ok());
    let closing = link.close();
    let closed = async {
        let delete = fake.next().await;
        assert_eq!((&delete.method, token(&delete)), (&Method::DELETE, "Bearer 5"));
        delete.status(204);
    };
    tokio::join!(closing, closed);
    let expected = [
        ("initialize", true),
        ("notifications/initialized", false),
        ("GET", false),
        ("tools/call echo", true),
        ("DELETE", false),
    ];
    let expected = expected.map(|(name, may)| (name.to_owned(), may));
    assert_eq!(credentials.operations(), expected);
}
