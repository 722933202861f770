//! Our client against our server with authorization.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bowline::Client;
use bowline::client::CacheOptions;
use bowline_http::client::{
    Authorize, AuthorizeMessage, BoxError, MessageOperation, RefusalVerdict,
};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use serde_json::json;

use super::start;
use crate::test_server::TestServer;

/// A user who logs in, or does not, and grants every scope that a server asks for.
#[derive(Clone, Default)]
struct User {
    /// The token, once there is one.
    token: Arc<Mutex<Option<String>>>,
    logins: Arc<AtomicUsize>,
    is_unwilling: bool,
}

/// One message of a user's client.
struct OfUser(User, MessageOperation);

impl User {
    fn authorize(&self) -> Arc<dyn Authorize> {
        Arc::new(self.clone())
    }

    fn logins(&self) -> usize {
        self.logins.swap(0, Ordering::Relaxed)
    }
}

impl Authorize for User {
    fn message(&self, operation: MessageOperation) -> Box<dyn AuthorizeMessage> {
        Box::new(OfUser(self.clone(), operation))
    }
}

impl AuthorizeMessage for OfUser {
    fn headers<'a>(
        &'a mut self,
        _: &'a Method,
        _: &'a Uri,
    ) -> BoxFuture<'a, Result<HeaderMap, BoxError>> {
        let token = self.0.token.lock().unwrap().clone();
        let value = token.map(|token| HeaderValue::from_str(&format!("Bearer {token}")).unwrap());
        let headers = value.map(|value| (AUTHORIZATION, value)).into_iter().collect();
        Box::pin(async move { Ok(headers) })
    }

    fn refused<'a>(
        &'a mut self,
        status: StatusCode,
        headers: &'a HeaderMap,
    ) -> BoxFuture<'a, RefusalVerdict> {
        assert!(self.1.may_log_in, "{:?}", self.1);
        self.0.logins.fetch_add(1, Ordering::Relaxed);
        let challenge = headers[WWW_AUTHENTICATE].to_str().unwrap().to_owned();
        let scopes = match status {
            StatusCode::UNAUTHORIZED => "mcp".to_owned(),
            _ => {
                challenge.split("scope=\"").nth(1).unwrap().trim_end_matches('"').replace(' ', ",")
            }
        };
        Box::pin(async move {
            if self.0.is_unwilling {
                return RefusalVerdict::Stands(Some("the user closed the page".into()));
            }
            *self.0.token.lock().unwrap() = Some(format!("ann@issuer {scopes}"));
            RefusalVerdict::SendAgain
        })
    }
}

fn url(server: &TestServer) -> String {
    format!("http://{}/mcp", server.address)
}

// spec: SCOPE-14, SCOPE-15
#[tokio::test]
async fn a_client_logs_in_and_obtains_more_scopes_when_a_call_needs_them() {
    let server = start().await;
    for revision in [Revision::V2026_07_28, Revision::V2025_11_25] {
        let user = User::default();
        let client = Client::http(url(&server)).auth(user.authorize()).revisions([revision]);
        let client = client.cache(CacheOptions::default()).connect().await.unwrap();
        assert_eq!(user.logins(), 1, "{revision}");
        assert_eq!(client.call("whoami", json!({})).await.unwrap().text(), "ann mcp");
        let has_purge = async || {
            let tools = client.tools().all().await.unwrap();
            tools.iter().any(|tool| tool.name == "purge")
        };
        assert!(!has_purge().await);
        assert_eq!(user.logins(), 0);
        assert_eq!(client.call("purge", json!({})).await.unwrap().text(), "gone");
        assert_eq!(user.logins(), 1);
        assert!(has_purge().await, "lists depend on scopes");
        client.close().await;
    }
}

#[tokio::test]
async fn a_user_who_does_not_log_in_is_asked_once() {
    let server = start().await;
    let legacy = [Revision::V2025_11_25];
    let user = User::default();
    // The client remembers that the server has a handshake.
    let client = Client::http(url(&server)).auth(user.authorize()).revisions(legacy);
    client.connect().await.unwrap().close().await;
    let unwilling = User { is_unwilling: true, ..User::default() };
    for revisions in [&Revision::ALL[..], &legacy] {
        let client = Client::http(url(&server)).auth(unwilling.authorize());
        let error = client.revisions(revisions.iter().copied()).connect().await.unwrap_err();
        assert!(error.is_unauthorized() && error.is_connect(), "{error}");
        assert!(error.to_string().contains("the user closed the page"), "{error}");
        assert_eq!(unwilling.logins(), 1);
    }
}
