//! Looks at a server from its address to its lists, step by step.
//!
//! * `path`: the way to a server over the network, from its name to TLS;
//! * `lint`: what hosts and models stumble over in the lists;
//! * `tokens`: what the list of tools costs a model;
//! * `rules`: what the lists tell about the entries of a file;
//! * `report`: the findings as text and as JSON;
//! * `all`: every configured server, side by side; `overview`: the table of them.

pub(crate) mod all;
pub(crate) mod lint;
mod overview;
mod path;
pub(crate) mod report;
mod rules;
pub(crate) mod tokens;

use std::time::{Duration, Instant};

use bowline::Client;
use bowline::client::{List, Result as ClientResult};
use bowline::types::text::counted;
use serde::Serialize;

use self::lint::{Finding, Lists};
use self::rules::ListedNames;
use crate::exit::{Exit, Failure};
use crate::request::{late, within};
use crate::target::{Place, Target, client};
use crate::{demand, hints};

/// A server, as far as the inspection came.
#[derive(Debug)]
pub(crate) struct Inspection {
    /// How the user named it.
    pub(crate) label: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) server: Option<Described>,
    pub(crate) authorization: Authorization,
    /// What is wrong with its lists.
    pub(crate) findings: Vec<Finding>,
    /// The names in its lists.
    names: ListedNames,
    /// Why the last step failed.
    pub(crate) failure: Option<Failure>,
}

/// Whether a server wants a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Authorization {
    /// It is a process of this machine.
    Local,
    /// It was not reached.
    Unknown,
    NotNeeded,
    /// It accepted the credential.
    Accepted,
    /// It wants a credential, or another one.
    Needed,
}

/// One step of the way.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) is_done: bool,
    pub(crate) took: Duration,
    pub(crate) note: String,
}

/// What a server says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) revision: String,
    pub(crate) has_handshake: bool,
    /// How long it took from the start to the first answer.
    pub(crate) start: Duration,
    pub(crate) tools: usize,
    /// What the list of tools costs a model, estimated.
    pub(crate) tokens: usize,
}

impl Inspection {
    /// Looks at a server. Every step has this much time.
    pub(crate) async fn of(target: Target, patience: Duration) -> Self {
        let mut inspection = Self {
            label: target.label.clone(),
            steps: Vec::new(),
            server: None,
            authorization: match target.place {
                Place::Url(_) => Authorization::Unknown,
                Place::Command(_) => Authorization::Local,
            },
            findings: Vec::new(),
            names: ListedNames::default(),
            failure: None,
        };
        let outcome = Box::pin(inspection.walk(target, patience)).await;
        inspection.failure = outcome.err();
        inspection
    }

    async fn walk(&mut self, target: Target, patience: Duration) -> Result<(), Failure> {
        let begun = Instant::now();
        let has_token = target.headers.iter().any(|(name, _)| is_credential(name));
        let is_http = match &target.place {
            Place::Url(url) => {
                let url = url.clone();
                self.walk_path(&url, patience).await?;
                true
            }
            Place::Command(_) => false,
        };
        let connected = Instant::now();
        let client = within(patience, target.connect(client())).await;
        let client = client.map_err(|failure| self.not_connected(failure, is_http, connected))?;
        if is_http {
            let (state, note) = match has_token {
                true => (Authorization::Accepted, "the credential was accepted"),
                false if demand::is_used_for(&self.label).await => {
                    (Authorization::Accepted, "the login was accepted")
                }
                false => (Authorization::NotNeeded, "not needed"),
            };
            self.authorization = state;
            self.done("authorization", Duration::ZERO, note.to_owned());
        }
        let (name, version) = match client.server_info() {
            Some(info) => (info.name.clone(), info.version.clone()),
            None => ("(no name)".to_owned(), String::new()),
        };
        let has_handshake = client.revision().has_handshake();
        let era = if has_handshake { "with a handshake" } else { "without a handshake" };
        let step = if is_http { "handshake" } else { "start" };
        let note = format!("{name} {version}, {}, {era}", client.revision());
        self.done(step, connected.elapsed(), note);
        self.server = Some(Described {
            name,
            version,
            revision: client.revision().to_string(),
            has_handshake,
            start: begun.elapsed(),
            tools: 0,
            tokens: 0,
        });
        let outcome = self.read_lists(&client, patience).await;
        client.close().await;
        outcome
    }

    async fn walk_path(&mut self, url: &str, patience: Duration) -> Result<(), Failure> {
        let mut path = path::Path::new(url)?;
        while let Some(name) = path.next_step() {
            let begun = Instant::now();
            match within(patience, path.take_step()).await {
                Ok(note) => self.done(name, begun.elapsed(), note),
                Err(failure) => return Err(self.stopped(name, begun.elapsed(), failure)),
            }
        }
        Ok(())
    }

    /// The step at which connecting failed: the server wants a credential, could not be started, or
    /// speaks something else.
    fn not_connected(&mut self, failure: Failure, is_http: bool, since: Instant) -> Failure {
        if failure.exit() == Exit::Unauthorized {
            self.authorization = Authorization::Needed;
        }
        let name = match failure.exit() {
            Exit::Unauthorized => "authorization",
            Exit::Unreachable if !is_http => "start",
            _ => "handshake",
        };
        let failure = match name {
            "handshake" if failure.advice().is_none() => failure.hint(hints::ADDRESS),
            _ => failure,
        };
        self.stopped(name, since.elapsed(), failure)
    }

    async fn read_lists(&mut self, client: &Client, patience: Duration) -> Result<(), Failure> {
        let offered = client.capabilities().clone();
        let mut lists = Lists::default();
        if offered.tools.is_some() {
            lists.tools = self.list("tools", "tool", client.tools(), patience).await?;
            let tokens = tokens::of_tools(&lists.tools);
            if let Some(step) = self.steps.last_mut() {
                step.note = format!("{}, about {tokens} tokens", step.note);
            }
            if let Some(server) = &mut self.server {
                (server.tools, server.tokens) = (lists.tools.len(), tokens);
            }
        }
        if offered.resources.is_some() {
            lists.resources =
                self.list("resources", "resource", client.resources(), patience).await?;
            lists.templates =
                self.list("templates", "template", client.resource_templates(), patience).await?;
        }
        if offered.prompts.is_some() {
            lists.prompts = self.list("prompts", "prompt", client.prompts(), patience).await?;
        }
        self.names = ListedNames::of(&lists);
        self.findings = lint::findings(&lists);
        Ok(())
    }

    async fn list<T: Send + 'static>(
        &mut self,
        name: &'static str,
        noun: &str,
        list: List<T>,
        patience: Duration,
    ) -> Result<Vec<T>, Failure> {
        let begun = Instant::now();
        let read: ClientResult<Vec<T>> = match tokio::time::timeout(patience, list.all()).await {
            Ok(read) => read,
            Err(_) => return Err(self.stopped(name, begun.elapsed(), late(patience))),
        };
        match read {
            Ok(items) => {
                self.done(name, begun.elapsed(), counted(items.len(), noun));
                Ok(items)
            }
            Err(error) => Err(self.stopped(name, begun.elapsed(), error.into())),
        }
    }

    fn done(&mut self, name: &'static str, took: Duration, note: String) {
        self.steps.push(Step { name, is_done: true, took, note });
    }

    fn stopped(&mut self, name: &'static str, took: Duration, failure: Failure) -> Failure {
        self.steps.push(Step { name, is_done: false, took, note: failure.to_string() });
        failure
    }
}

/// Whether a header carries a credential.
fn is_credential(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name == "authorization" || name.contains("api-key") || name.contains("token")
}
