//! An MCP server and authorization servers in memory, and a user who approves at once.
//!
//! Every secret names the server that issued it, so a test can tell whether it went astray.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;
use http::header::{AUTHORIZATION, HeaderMap, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use tokio::sync::Notify;

use crate::client::open::BrowserUrl;
use crate::client::visit::{PasteVisitor, Visitor};
use crate::client::world::{document, json, metadata, with_header};
use crate::error::Error;
use crate::fetch::{FetchRequest, Fetched, Fetcher};
use crate::form::Form;
use crate::url::Url;

pub(super) const MCP: &str = "https://mcp.example/mcp";
pub(super) const AS: &str = "https://as.example";
pub(super) const TWO: &str = "https://two.example";

/// All servers.
pub(super) struct Network {
    state: Mutex<State>,
    visits: AtomicUsize,
    pub(super) hold_visits: AtomicBool,
    pub(super) visited: Notify,
    pub(super) release: Notify,
}

pub(super) struct State {
    /// The authorization server that the MCP server names.
    pub(super) issuer: String,
    /// The path of the document of the MCP server, as its challenges name it.
    pub(super) place: &'static str,
    /// The seconds that a token lives, as the server says.
    pub(super) life: u64,
    pub(super) rotates: bool,
    pub(super) gives_refresh: bool,
    pub(super) refuses_users: bool,
    pub(super) never_granted: Option<&'static str>,
    pub(super) always_forbids: bool,
    /// The MCP server refuses every token with this error.
    pub(super) refuses_tokens: Option<&'static str>,
    pub(super) is_bound: bool,
    /// The nonce that every proof must have.
    pub(super) nonce: Option<String>,
    pub(super) revocation_status: u16,
    /// The scopes of each visit.
    pub(super) asked: Vec<String>,
    /// Each request: its address, its headers and its body.
    pub(super) log: Vec<(String, String)>,
    pub(super) proofs: Vec<String>,
    /// How often a refresh token came that was used before.
    pub(super) reuses: usize,
    /// What an adversary puts in place of an answer, by the address.
    pub(super) faults: BTreeMap<String, (u16, String)>,
    codes: BTreeMap<String, String>,
    access: BTreeMap<String, String>,
    refresh: BTreeMap<String, String>,
    spent: BTreeSet<String>,
    count: usize,
}

impl Network {
    pub(super) fn new() -> Arc<Self> {
        let state = State {
            issuer: AS.into(),
            place: "/.well-known/oauth-protected-resource/mcp",
            life: 3600,
            rotates: true,
            gives_refresh: true,
            refuses_users: false,
            never_granted: None,
            always_forbids: false,
            refuses_tokens: None,
            is_bound: false,
            nonce: None,
            revocation_status: 200,
            asked: Vec::new(),
            log: Vec::new(),
            proofs: Vec::new(),
            reuses: 0,
            faults: BTreeMap::new(),
            codes: BTreeMap::new(),
            access: BTreeMap::new(),
            refresh: BTreeMap::new(),
            spent: BTreeSet::new(),
            count: 0,
        };
        Arc::new(Self {
            state: Mutex::new(state),
            visits: AtomicUsize::new(0),
            hold_visits: AtomicBool::new(false),
            visited: Notify::new(),
            release: Notify::new(),
        })
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// A user who approves as soon as the test lets it, or gives up.
    pub(super) fn visitor(self: &Arc<Self>) -> Arc<dyn Visitor> {
        let network = self.clone();
        Arc::new(PasteVisitor(Arc::new(move |page| {
            let network = network.clone();
            Box::pin(async move { network.visit(&page).await })
        })))
    }

    async fn visit(&self, page: &BrowserUrl) -> Option<String> {
        self.visits.fetch_add(1, Ordering::SeqCst);
        self.visited.notify_one();
        while self.hold_visits.load(Ordering::SeqCst) {
            self.release.notified().await;
        }
        let mut state = self.state();
        (!state.refuses_users).then(|| state.approve(page.url()))
    }

    pub(super) fn visits(&self) -> usize {
        self.visits.load(Ordering::SeqCst)
    }

    /// How many requests contain a text in their address or body.
    pub(super) fn count(&self, text: &str) -> usize {
        let state = self.state();
        let grant = format!("grant_type={text}");
        let has = |(url, body): &&(String, String)| url.contains(text) || body.contains(&grant);
        state.log.iter().filter(has).count()
    }

    pub(super) fn bodies(&self, text: &str) -> Vec<String> {
        let state = self.state();
        let found = state.log.iter().filter(|(url, _)| url.contains(text));
        found.map(|(_, body)| body.clone()).collect()
    }

    pub(super) fn revoke_access(&self) {
        self.state().access.clear();
    }

    pub(super) fn revoke_all(&self) {
        let mut state = self.state();
        state.access.clear();
        state.refresh.clear();
    }

    /// The MCP server: answers a message.
    pub(super) fn call(&self, operation: &str, headers: &HeaderMap) -> (StatusCode, HeaderMap) {
        let mut state = self.state();
        let scheme = if state.is_bound { "DPoP" } else { "Bearer" };
        let header = headers.get(AUTHORIZATION).and_then(|it| it.to_str().ok());
        let token = header.and_then(|it| it.strip_prefix(scheme)?.strip_prefix(' '));
        let place = format!("https://mcp.example{}", state.place);
        let challenge = format!(r#"{scheme} resource_metadata="{place}""#);
        if let Some(answer) = state.check_proof(headers, token.is_some()) {
            let mut headers = HeaderMap::new();
            headers.insert("dpop-nonce", answer.parse().unwrap());
            let challenge = format!(r#"{challenge}, error="use_dpop_nonce""#);
            headers.insert(WWW_AUTHENTICATE, challenge.parse().unwrap());
            return (StatusCode::UNAUTHORIZED, headers);
        }
        let is_of_issuer = |token: &&str| token.contains(&state.issuer);
        let scopes = token.filter(is_of_issuer).and_then(|token| state.access.get(token));
        let needed = operation.strip_prefix("needs ");
        let (status, more) = match (scopes, needed) {
            (Some(_), _) if state.refuses_tokens.is_some() => {
                let error = state.refuses_tokens.unwrap_or_default();
                let token = token.unwrap_or_default();
                let more = format!(r#", error="{error}", error_description="not {token}""#);
                (StatusCode::UNAUTHORIZED, more)
            }
            (None, _) => (StatusCode::UNAUTHORIZED, r#", scope="basic""#.to_owned()),
            (Some(scopes), Some(needed))
                if state.always_forbids || !scopes.split(' ').any(|it| it == needed) =>
            {
                let more = format!(r#", error="insufficient_scope", scope="{needed}""#);
                (StatusCode::FORBIDDEN, more)
            }
            _ => return (StatusCode::OK, HeaderMap::new()),
        };
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, format!("{challenge}{more}").parse().unwrap());
        (status, headers)
    }

    fn answer(&self, request: &FetchRequest) -> Fetched {
        let mut state = self.state();
        let body = String::from_utf8(request.body.expose().clone()).unwrap();
        let basic = request.headers.get(AUTHORIZATION).map(|it| it.to_str().unwrap().to_owned());
        let url = request.url.as_str();
        state.log.push((url.to_owned(), format!("{body} {}", basic.unwrap_or_default())));
        let path = request.url.path();
        if let Some((status, body)) = state.faults.get(path) {
            return json(*status, body);
        }
        let issuer = request.url.origin();
        match (&request.method, path) {
            (&Method::GET, path) if path == state.place => {
                json(200, &document(MCP, &state.issuer, ""))
            }
            (&Method::GET, path) if path.ends_with("oauth-authorization-server") => {
                json(200, &metadata(&issuer, ""))
            }
            (&Method::POST, "/register") => {
                state.count += 1;
                let id = format!("{issuer}!client{}", state.count);
                let secret = format!("{issuer}!secret{}", state.count);
                json(
                    201,
                    &format!(
                        r#"{{"client_id":"{id}","client_secret":"{secret}","token_endpoint_auth_method":"client_secret_post"}}"#
                    ),
                )
            }
            (&Method::POST, "/token") => {
                let proof = state.check_proof(&request.headers, true);
                match proof {
                    Some(nonce) => with_header(
                        json(400, r#"{"error":"use_dpop_nonce"}"#),
                        "dpop-nonce",
                        &nonce,
                    ),
                    None => state.token(&issuer, &Form::parse(&body).unwrap()),
                }
            }
            (&Method::POST, "/revoke") => json(state.revocation_status, "{}"),
            _ => json(404, "{}"),
        }
    }
}

impl State {
    /// The nonce that a proof lacks. Panics if a bound token comes without proof.
    fn check_proof(&mut self, headers: &HeaderMap, has_token: bool) -> Option<String> {
        if !self.is_bound || !has_token {
            return None;
        }
        let proof = headers["dpop"].to_str().unwrap().to_owned();
        let payload = crate::jose::from_base64(proof.split('.').nth(1).unwrap()).unwrap();
        let payload = String::from_utf8(payload).unwrap();
        self.proofs.push(proof);
        let nonce = self.nonce.clone()?;
        (!payload.contains(&format!(r#""nonce":"{nonce}""#))).then_some(nonce)
    }

    fn token(&mut self, issuer: &str, form: &Form) -> Fetched {
        let value = |name: &str| form.value(name).unwrap().unwrap_or_default().to_owned();
        let scopes = match value("grant_type").as_str() {
            "authorization_code" => self.codes.remove(&value("code")),
            "client_credentials" => Some(value("scope")),
            _ => {
                let token = value("refresh_token");
                if self.spent.contains(&token) {
                    // The family is revoked, as servers do that detect reuse.
                    self.reuses += 1;
                    self.access.clear();
                    self.refresh.clear();
                }
                let scopes = self.refresh.get(&token).cloned();
                if self.rotates && scopes.is_some() {
                    self.refresh.remove(&token);
                    self.spent.insert(token);
                }
                scopes
            }
        };
        let Some(scopes) = scopes else { return json(400, r#"{"error":"invalid_grant"}"#) };
        let granted: Vec<&str> =
            scopes.split(' ').filter(|scope| Some(*scope) != self.never_granted).collect();
        let granted = granted.join(" ");
        self.count += 1;
        let (access, refresh) =
            (format!("{issuer}!access{}", self.count), format!("{issuer}!refresh{}", self.count));
        self.access.insert(access.clone(), granted.clone());
        let kind = if self.is_bound { "DPoP" } else { "Bearer" };
        let is_refresh = form.value("grant_type").unwrap() == Some("refresh_token");
        let more = match self.gives_refresh && (self.rotates || !is_refresh) {
            true => {
                self.refresh.insert(refresh.clone(), scopes);
                format!(r#","refresh_token":"{refresh}""#)
            }
            false => String::new(),
        };
        let life = self.life;
        json(
            200,
            &format!(
                r#"{{"access_token":"{access}","token_type":"{kind}","expires_in":{life},"scope":"{granted}"{more}}}"#
            ),
        )
    }

    /// The page of an authorization server: gives the query with which the browser goes back.
    fn approve(&mut self, page: &Url) -> String {
        let query = Form::parse(page.query().unwrap()).unwrap();
        let value = |name: &str| query.value(name).unwrap().unwrap_or_default().to_owned();
        self.log.push((page.as_str().to_owned(), page.query().unwrap().to_owned()));
        self.asked.push(value("scope"));
        self.count += 1;
        let issuer = page.origin();
        let code = format!("{issuer}!code{}", self.count);
        self.codes.insert(code.clone(), value("scope"));
        let form = Form::new().with("code", &code).with("state", &value("state"));
        form.with("iss", &issuer).encode().expose().clone()
    }
}

impl Fetcher for Network {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        Box::pin(async move {
            // Other tasks run while a request is under way.
            tokio::task::yield_now().await;
            let answer = self.answer(&request);
            tokio::task::yield_now().await;
            Ok(answer)
        })
    }
}
