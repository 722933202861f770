//! Looks at a server from its address to its lists, step by step.
//!
//! * `path`: the way to a server over the network, from its name to TLS;
//! * `report`: the findings as text and as JSON;
//! * `all`: every configured server, side by side; `overview`: the table of them.

pub(crate) mod all;
mod overview;
mod path;
pub(crate) mod report;

use std::time::{Duration, Instant};

use bowline::Client;
use bowline::client::ClientBuilder;
use bowline_gateway::config::Launch;
use bowline_ops::lint::{self, Finding, Lists};
use bowline_ops::listed_names::ListedNames;
use bowline_ops::{hints, tokens};
use bowline_types::text::counted;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::interrupt::closing;
use crate::lists::{Kinds, ReadList, ServerLists};
use crate::logins::TargetLogin;
use crate::request::within;
use crate::target::Target;

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
    /// How many tools it lists; `None` if the list could not be read.
    pub(crate) tools: Option<usize>,
    /// What the list of tools costs a model, estimated.
    pub(crate) tokens: Option<usize>,
}

impl Inspection {
    /// Looks at a server, with a client of this configuration. Every step has this much time.
    pub(crate) async fn of(target: Target, builder: ClientBuilder, timeout: Duration) -> Self {
        let mut inspection = Self {
            label: target.label.clone(),
            steps: Vec::new(),
            server: None,
            authorization: match target.launch {
                Launch::Http(_) => Authorization::Unknown,
                Launch::Command(_) => Authorization::Local,
            },
            findings: Vec::new(),
            names: ListedNames::default(),
            failure: None,
        };
        let outcome = Box::pin(inspection.walk(target, builder, timeout)).await;
        inspection.failure = outcome.err();
        inspection
    }

    async fn walk(
        &mut self,
        target: Target,
        builder: ClientBuilder,
        timeout: Duration,
    ) -> Result<(), Failure> {
        let begun = Instant::now();
        let (is_http, has_token) = match &target.launch {
            Launch::Http(launch) => {
                self.walk_path(&launch.url, timeout).await?;
                (true, launch.headers.iter().any(|(name, _)| is_credential(name)))
            }
            Launch::Command(_) => (false, false),
        };
        let noise = target.watch.noise.clone();
        let connected = Instant::now();
        let client = target.connect_within(timeout, builder).await;
        let (client, login) =
            client.map_err(|failure| self.not_connected(failure, is_http, connected))?;
        if is_http {
            self.authorized(has_token, &login).await;
        }
        self.describe(&client, is_http, (begun, connected));
        let outcome = self.read_lists(&client, timeout, &login).await;
        closing(client.close()).await;
        if let Some(noise) = noise.and_then(|noise| noise.described()) {
            self.findings.push(lint::noise(noise.as_str()));
        }
        outcome
    }

    async fn authorized(&mut self, has_token: bool, login: &TargetLogin) {
        let (state, note) = match has_token {
            true => (Authorization::Accepted, "the credential was accepted"),
            false if login.is_logged_in().await => {
                (Authorization::Accepted, "the login was accepted")
            }
            false => (Authorization::NotNeeded, "not needed"),
        };
        self.authorization = state;
        self.done("authorization", Duration::ZERO, note.to_owned());
    }

    /// Notes what a server says of itself.
    fn describe(&mut self, client: &Client, is_http: bool, times: (Instant, Instant)) {
        let (begun, connected) = times;
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
            tools: None,
            tokens: None,
        });
    }

    async fn walk_path(&mut self, url: &str, timeout: Duration) -> Result<(), Failure> {
        let mut path = path::Path::new(url)?;
        while let Some(name) = path.next_step() {
            let begun = Instant::now();
            match within(timeout, path.take_step()).await {
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

    /// Reads the lists side by side, so that a slow one holds up no other.
    ///
    /// # Errors
    ///
    /// If none of them can be read.
    async fn read_lists(
        &mut self,
        client: &Client,
        timeout: Duration,
        login: &TargetLogin,
    ) -> Result<(), Failure> {
        let mut read = ServerLists::read(client, Kinds::ALL, timeout, login).await;
        let is_of_use = read.is_of_use();
        let has_failed = read.tools.as_ref().is_some_and(|list| list.items.is_err());
        let tools = self.listed("tools", "tool", &mut read.tools);
        let tokens = tokens::of_tools(&tools);
        if let Some(server) = self.server.as_mut().filter(|_| !has_failed) {
            (server.tools, server.tokens) = (Some(tools.len()), Some(tokens));
        }
        if let Some(step) = self.steps.iter_mut().find(|it| it.name == "tools" && it.is_done) {
            step.note = format!("{}, about {tokens} tokens", step.note);
        }
        let lists = Lists {
            tools,
            resources: self.listed("resources", "resource", &mut read.resources),
            templates: self.listed("templates", "template", &mut read.templates),
            prompts: self.listed("prompts", "prompt", &mut read.prompts),
        };
        self.names = ListedNames::of(&lists);
        self.findings = lint::findings(&lists);
        self.findings.extend(read.left_out().iter().map(|(it, kinds)| lint::left_out(it, kinds)));
        match read.take_failures().into_iter().next() {
            Some((_, failure)) if !is_of_use => Err(failure),
            _ => Ok(()),
        }
    }

    /// Notes the step of a list, and takes its items out.
    fn listed<T>(
        &mut self,
        name: &'static str,
        noun: &str,
        list: &mut Option<ReadList<T>>,
    ) -> Vec<T> {
        let Some(ReadList { items, took, .. }) = list else { return Vec::new() };
        let (is_done, note) = match items {
            Ok(items) => (true, counted(items.len(), noun)),
            Err(failure) => (false, failure.to_string()),
        };
        self.steps.push(Step { name, is_done, took: *took, note });
        items.as_mut().map(std::mem::take).unwrap_or_default()
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
