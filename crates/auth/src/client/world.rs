//! A world for the state machine of a login: addresses that answer, and a browser that comes back.
//!
//! Tests say what differs from a world in which everything works, run a login, and compare its trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{HeaderMap, StatusCode};

use super::dpop::DpopKey;
use super::flow::{Flow, Goal, Input, Output};
use super::moment::Moment;
use super::plan::Plan;
use super::record::Record;
use crate::challenge::Challenge;
use crate::error::Error;
use crate::fetch::{FetchRequest, Fetched};
use crate::form::{self, Form};
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::Url;

pub(crate) const MCP: &str = "https://mcp.example/mcp";
pub(crate) const AS: &str = "https://as.example";
pub(crate) const DOCUMENT: &str = "https://mcp.example/.well-known/oauth-protected-resource/mcp";
pub(crate) const METADATA: &str = "https://as.example/.well-known/oauth-authorization-server";
const TOKEN: &str = "https://as.example/token";

/// What is at which address, and how the browser comes back.
pub(crate) struct World {
    pub(crate) pages: BTreeMap<String, Vec<Fetched>>,
    /// The queries of the browser. `STATE` stands for the state; none means that the user gives up.
    pub(crate) returns: Vec<String>,
    pub(crate) mcp: &'static str,
    pub(crate) challenge: Option<String>,
    pub(crate) granted: Scopes,
    pub(crate) pinned: Option<String>,
    pub(crate) offers_origin: bool,
    pub(crate) assertion: Option<&'static str>,
    pub(crate) known: Option<Record>,
    pub(crate) port: u16,
    /// The redirect URI, if it is not on this machine.
    pub(crate) redirect: Option<&'static str>,
    /// Answers that come instead, whatever is asked.
    pub(crate) nonsense: Vec<Fetched>,
}

/// What a login did, and how it ended.
pub(crate) struct Played {
    /// One line for each output: `GET url`, `POST url members`, `VISIT url members`, `SAVE …`.
    pub(crate) trace: Vec<String>,
    pub(crate) requests: Vec<FetchRequest>,
    pub(crate) record: Option<Record>,
    pub(crate) end: Result<(), Error>,
}

pub(crate) fn json(status: u16, body: &str) -> Fetched {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let status = StatusCode::from_u16(status).unwrap();
    Fetched { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) }
}

pub(crate) fn with_header(mut answer: Fetched, name: &'static str, value: &str) -> Fetched {
    answer.headers.insert(HeaderName::from_static(name), value.parse().unwrap());
    answer
}

/// The metadata of an issuer with all endpoints, and more members.
pub(crate) fn metadata(issuer: &str, more: &str) -> String {
    format!(
        r#"{{"issuer":"{issuer}","authorization_endpoint":"{issuer}/authorize","token_endpoint":"{issuer}/token","registration_endpoint":"{issuer}/register","revocation_endpoint":"{issuer}/revoke","code_challenge_methods_supported":["S256"],"authorization_response_iss_parameter_supported":true{more}}}"#
    )
}

pub(crate) fn document(resource: &str, issuer: &str, more: &str) -> String {
    format!(r#"{{"resource":"{resource}","authorization_servers":["{issuer}"]{more}}}"#)
}

pub(crate) const TOKENS: &str =
    r#"{"access_token":"at","token_type":"Bearer","expires_in":3600,"refresh_token":"rt"}"#;

impl World {
    /// A world in which everything works: the challenge names the document, the server registers.
    pub(crate) fn new() -> Self {
        let world = Self {
            pages: BTreeMap::new(),
            returns: vec![format!("code=the-code&state=STATE&iss={AS}")],
            mcp: MCP,
            challenge: Some(format!(r#"Bearer resource_metadata="{DOCUMENT}""#)),
            granted: Scopes::new(),
            pinned: None,
            offers_origin: true,
            assertion: None,
            known: None,
            port: 4000,
            redirect: None,
            nonsense: Vec::new(),
        };
        world
            .page(DOCUMENT, json(200, &document(MCP, AS, "")))
            .page(METADATA, json(200, &metadata(AS, "")))
            .page("https://as.example/register", json(201, r#"{"client_id":"dyn"}"#))
            .page(TOKEN, json(200, TOKENS))
    }

    /// Puts an answer at an address, instead of those that were there.
    pub(crate) fn page(mut self, url: &str, answer: Fetched) -> Self {
        self.pages.insert(url.to_owned(), vec![answer]);
        self
    }

    /// Adds an answer, for the request after the earlier ones. The last one stays.
    pub(crate) fn then(mut self, url: &str, answer: Fetched) -> Self {
        self.pages.get_mut(url).unwrap().push(answer);
        self
    }

    pub(crate) fn without(mut self, url: &str) -> Self {
        self.pages.remove(url);
        self
    }

    pub(crate) fn returns(mut self, queries: &[&str]) -> Self {
        self.returns = queries.iter().map(|query| (*query).to_owned()).collect();
        self
    }

    pub(crate) fn challenge(mut self, challenge: Option<&str>) -> Self {
        self.challenge = challenge.map(str::to_owned);
        self
    }

    fn goal(&self) -> Goal {
        let mut headers = HeaderMap::new();
        if let Some(challenge) = &self.challenge {
            headers.insert(WWW_AUTHENTICATE, challenge.parse().unwrap());
        }
        Goal {
            mcp: Url::parse(self.mcp).unwrap(),
            challenge: Challenge::read(&headers).into_iter().next(),
            granted: self.granted.clone(),
            pinned: self.pinned.clone(),
            offers_origin: self.offers_origin,
            assertion: self.assertion.map(Secret::from),
            is_bound: false,
            key: DpopKey::generate().unwrap(),
        }
    }

    /// Runs a login to its end.
    pub(crate) fn play(mut self, plan: impl Into<Plan>) -> Played {
        let mut flow = Flow::new(Arc::new(plan.into()), self.goal());
        let mut played =
            Played { trace: Vec::new(), requests: Vec::new(), record: None, end: Ok(()) };
        let (mut input, mut state) = (Input::Begin, String::new());
        for seed in 0..u8::MAX {
            let output = flow.step(input, &Moment::fixed(1000, seed));
            input = match output {
                Output::Fetch(request) => {
                    played.trace.push(line(&request));
                    let answer = self.answer(request.url.as_str());
                    played.requests.push(request);
                    Input::Fetched(answer)
                }
                Output::Recall { resource, issuers } => {
                    let known = self.known.clone();
                    let is_known = |it: &Record| {
                        it.resource == resource && issuers.iter().any(|i| i == it.server.issuer())
                    };
                    Input::Recalled(known.filter(is_known).map(Box::new))
                }
                Output::Listen(port) => {
                    let port = port.unwrap_or(self.port);
                    let local = format!("http://127.0.0.1:{port}/callback");
                    Input::Listening(Url::parse(self.redirect.unwrap_or(&local)).unwrap())
                }
                Output::Visit(page, _) => {
                    let query = Form::parse(page.url().query().unwrap()).unwrap();
                    state = query.value("state").unwrap().unwrap().to_owned();
                    let (place, _) = page.url().as_str().split_once('?').unwrap();
                    played.trace.push(format!("VISIT {place} {}", members(&query)));
                    self.come_back(&state)
                }
                Output::Await => {
                    played.trace.push("AWAIT".into());
                    self.come_back(&state)
                }
                Output::Save(record) => {
                    let kind = if record.tokens.is_some() { "tokens" } else { "client" };
                    played.trace.push(format!("SAVE {kind} of {}", record.server.issuer()));
                    played.record = Some(*record);
                    Input::Saved
                }
                Output::Done => return played,
                Output::Refused(error) => {
                    played.end = Err(error);
                    return played;
                }
            };
        }
        panic!("the login does not end: {:?}", played.trace);
    }

    fn answer(&mut self, url: &str) -> Result<Fetched, Error> {
        if let Some(answer) = self.nonsense.pop() {
            return Ok(answer);
        }
        match self.pages.get_mut(url) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) if answers[0].status == StatusCode::IM_A_TEAPOT => {
                Err(Error::fetch("connection refused"))
            }
            Some(answers) => Ok(answers[0].clone()),
            None => Ok(json(404, "{}")),
        }
    }

    fn come_back(&mut self, state: &str) -> Input {
        if self.returns.is_empty() {
            return Input::Abandoned;
        }
        Input::Returned(Secret::new(self.returns.remove(0).replace("STATE", state)))
    }
}

/// An address that cannot be reached.
pub(crate) fn unreachable() -> Fetched {
    json(418, "")
}

impl Played {
    /// The lines that begin with a word, without it.
    pub(crate) fn lines(&self, word: &str) -> Vec<&str> {
        self.trace.iter().filter_map(|line| line.strip_prefix(word)?.strip_prefix(' ')).collect()
    }

    pub(crate) fn refusal(&self) -> String {
        self.end.as_ref().unwrap_err().to_string()
    }

    /// The members of the only visit.
    pub(crate) fn visit(&self) -> &str {
        let [visit] = self.lines("VISIT")[..] else { panic!("{:?}", self.trace) };
        visit
    }

    /// The requests to the token endpoint.
    pub(crate) fn redemptions(&self) -> Vec<&str> {
        let posts = self.lines("POST").into_iter();
        posts.filter_map(|line| line.strip_prefix(TOKEN)).map(str::trim).collect()
    }
}

fn line(request: &FetchRequest) -> String {
    let body = std::str::from_utf8(request.body.expose()).unwrap();
    let is_form = request.headers.get(CONTENT_TYPE).is_some_and(|it| it == form::MEDIA_TYPE);
    let body = if is_form { members(&Form::parse(body).unwrap()) } else { body.to_owned() };
    let basic = request.headers.get(AUTHORIZATION).map(|it| format!(" [{}]", it.to_str().unwrap()));
    let proof = request.headers.get("dpop").map(|_| " [proof]");
    let line = format!("{} {} {body}", request.method, request.url);
    format!("{}{}{}", line.trim(), basic.unwrap_or_default(), proof.unwrap_or_default())
}

/// The members of a form, with the random ones left out.
fn members(form: &Form) -> String {
    let random = ["state", "code_challenge", "code_verifier", "dpop_jkt", "client_assertion"];
    let text = form.encode();
    let decoded = text.expose().split('&').map(|member| {
        let (name, _) = member.split_once('=').unwrap();
        let value = form.value(name).unwrap().unwrap();
        if random.contains(&name) { format!("{name}=…") } else { format!("{name}={value}") }
    });
    decoded.collect::<Vec<_>>().join("&")
}
