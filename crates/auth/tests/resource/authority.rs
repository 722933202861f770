//! An authorization server in memory: it signs tokens, and answers requests of the resource server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline_auth::error::Error;
use bowline_auth::fetch::{BoxFuture, FetchRequest, Fetched, Fetcher};
use bowline_auth::jose::jws::Algorithm;
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_auth::resource::{Admission, AdmittedCaller, Rejection};
use http::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{Request, StatusCode};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

pub(crate) const ISSUER: &str = "https://as.example";
pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";
pub(crate) const DOCUMENT: &str =
    "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
pub(crate) const METADATA: &str = "https://as.example/.well-known/oauth-authorization-server";
pub(crate) const JWKS: &str = "https://as.example/jwks";

/// The time at which the tests happen.
pub(crate) fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
}

pub(crate) fn pem(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 => include_str!("../keys/rsa.pem"),
        Algorithm::Es256 => include_str!("../keys/p256.pem"),
        Algorithm::EdDsa => include_str!("../keys/ed25519.pem"),
    }
}

/// A key of the authorization server, whose id is the name of its algorithm.
pub(crate) fn key(algorithm: Algorithm) -> SigningKey {
    SigningKey::pem(pem(algorithm), algorithm).unwrap().with_id(algorithm.name())
}

/// The public half of a key, with more members.
pub(crate) fn jwk(key: &SigningKey, more: Value) -> Value {
    let mut jwk: Value = serde_json::from_str(&key.public().to_json()).unwrap();
    jwk.as_object_mut().unwrap().extend(members(more));
    jwk
}

/// The claims of a good token.
pub(crate) fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "ann", "aud": RESOURCE, "exp": 1_700_003_600, "nbf": 1_700_000_000,
        "iat": 1_700_000_000, "client_id": "app", "scope": "mcp",
    })
}

/// A good token with these claims changed; `null` removes one.
pub(crate) fn with(changes: Value) -> Value {
    let mut all = claims();
    change(&mut all, changes);
    all
}

/// Sets members of an object; `null` removes one.
pub(crate) fn change(object: &mut Value, changes: Value) {
    let object = object.as_object_mut().unwrap();
    for (name, value) in members(changes) {
        match value {
            Value::Null => drop(object.remove(&name)),
            value => drop(object.insert(name, value)),
        }
    }
}

fn members(object: Value) -> Map<String, Value> {
    match object {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

pub(crate) fn sign(key: &SigningKey, claims: &Value) -> String {
    key.sign("at+jwt", EmbeddedKey::Absent, claims).unwrap().expose().clone()
}

/// What the network answers, by URL; and what it was asked.
#[derive(Default)]
pub(crate) struct Network {
    routes: Mutex<HashMap<String, Fetched>>,
    asked: Mutex<Vec<(String, HeaderMap, String)>>,
    /// If set, each answer needs a permit.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Network {
    /// A network with an authorization server that has these keys.
    pub(crate) fn with_keys(keys: &[Value]) -> Arc<Self> {
        let network = Arc::new(Self::default());
        network.serve(METADATA, &json!({"issuer": ISSUER, "jwks_uri": JWKS}), "");
        network.serve(JWKS, &json!({"keys": keys}), "");
        network
    }

    /// Answers requests for a URL with this JSON.
    pub(crate) fn serve(&self, url: &str, body: &Value, cache_control: &str) {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "application/json".parse().unwrap());
        headers.insert("cache-control", cache_control.parse().unwrap());
        let answer = Fetched { status: StatusCode::OK, headers, body: body.to_string().into() };
        self.routes.lock().unwrap().insert(url.to_owned(), answer);
    }

    /// Answers requests for a URL with this status.
    pub(crate) fn fail(&self, url: &str, status: StatusCode) {
        let answer = Fetched { status, headers: HeaderMap::new(), body: Default::default() };
        self.routes.lock().unwrap().insert(url.to_owned(), answer);
    }

    /// Stops answering requests for a URL.
    pub(crate) fn cut(&self, url: &str) {
        self.routes.lock().unwrap().remove(url);
    }

    /// Holds back answers until the semaphore has permits.
    pub(crate) fn hold(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.gate.lock().unwrap() = Some(Arc::clone(&gate));
        gate
    }

    /// The URLs that were asked for since the last time.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().into_iter().map(|(url, ..)| url).collect()
    }

    /// The requests since the last time: URL, headers, body.
    pub(crate) fn requests(&self) -> Vec<(String, HeaderMap, String)> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

impl Fetcher for Network {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        Box::pin(async move {
            let url = request.url.to_string();
            let body = String::from_utf8(request.body.expose().clone()).unwrap();
            self.asked.lock().unwrap().push((url.clone(), request.headers, body));
            let gate = self.gate.lock().unwrap().clone();
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            let answer = self.routes.lock().unwrap().get(&url).cloned();
            answer.ok_or_else(|| Error::fetch("no route"))
        })
    }
}

/// The head of a POST with these headers.
pub(crate) fn head(uri: &str, headers: &[(&str, &[u8])]) -> Parts {
    let request = headers
        .iter()
        .fold(Request::post(uri), |request, (name, value)| request.header(*name, *value));
    request.body(()).unwrap().into_parts().0
}

/// The head of a POST with a bearer token.
pub(crate) fn bearer(token: &str) -> Parts {
    head("/mcp", &[(AUTHORIZATION.as_str(), format!("Bearer {token}").as_bytes())])
}

/// The status and the challenge of an answer.
pub(crate) fn outcome(result: &Result<AdmittedCaller, Rejection>) -> (u16, String) {
    match result {
        Ok(_) => (200, String::new()),
        Err(rejection) => {
            let headers = rejection.headers();
            let challenge = headers.get(WWW_AUTHENTICATE).map(|value| value.to_str().unwrap());
            (rejection.status.as_u16(), challenge.unwrap_or_default().to_owned())
        }
    }
}

/// The status for a bearer token.
pub(crate) async fn status(admission: &Admission, token: &str, now: SystemTime) -> u16 {
    outcome(&admission.admit(&bearer(token), now).await).0
}
