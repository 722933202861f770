//! What one server does with the command, and with the clients of others.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::install::Workshop;
use super::listing::{self, Listing, PATIENCE, Target};
use super::server::{Registry, Server};

/// How long a check may take, in seconds.
const CHECK: u32 = 240;

/// The results of one server; each is an error text if the step failed.
pub(crate) struct Trial {
    pub(crate) name: String,
    pub(crate) package: String,
    pub(crate) registry: Registry,
    pub(crate) bowline: Found<Listing>,
    pub(crate) inspector: Found<Listing>,
    pub(crate) mcporter: Found<Listing>,
    /// Through `connect` into the other era: the same lists or not.
    pub(crate) connect: Found<Listing>,
    /// Through `serve`, over HTTP.
    pub(crate) serve: Found<Listing>,
    pub(crate) inspect: Found<()>,
    /// `None` if nothing harmless can be called without keys.
    pub(crate) call: Option<Found<()>>,
    pub(crate) check: Found<Verdicts>,
}

pub(crate) type Found<T> = Result<T, String>;

/// The rules that a server breaks, by their ids.
pub(crate) struct Verdicts {
    pub(crate) violated: Vec<String>,
    pub(crate) warned: Vec<String>,
}

impl Trial {
    /// What a client of others lists and the command does not.
    pub(crate) fn missing(&self) -> Option<String> {
        let empty = Listing::default();
        let own = self.bowline.as_ref().unwrap_or(&empty);
        let others = [("Inspector", &self.inspector), ("mcporter", &self.mcporter)];
        let lacks = |(client, listing): (&str, &Found<Listing>)| {
            let lacking = own.lacks(listing.as_ref().ok()?)?;
            Some(format!("{}: {client} lists {lacking}", self.name))
        };
        others.into_iter().find_map(lacks)
    }

    /// Whether a bridge shows the same lists.
    pub(crate) fn is_same(&self, bridged: &Found<Listing>) -> bool {
        matches!((&self.bowline, bridged), (Ok(own), Ok(bridged)) if own.names == bridged.names)
    }
}

/// Installs a server and tries everything.
pub(crate) fn run(workshop: &Workshop, server: &Server) -> Trial {
    let program = workshop.install(server);
    let target = program.map(|program| listing::target(&program, &server.arguments));
    let target = target.map_err(|error| format!("not installed: {error:#}"));
    let on = |step: fn((&Workshop, &Server), Target<'_>) -> Result<Listing>| {
        let listing = step((workshop, server), target.as_ref().map_err(Clone::clone)?);
        listing.map_err(|error| format!("{error:#}"))
    };
    let found = |outcome: Result<()>| outcome.map_err(|error| format!("{error:#}"));
    let target = target.as_ref().map_err(Clone::clone);
    Trial {
        name: server.name.clone(),
        package: server.package.clone(),
        registry: server.registry,
        bowline: on(direct),
        inspector: on(listing::of_inspector),
        mcporter: on(listing::of_mcporter),
        connect: on(through_connect),
        serve: on(through_serve),
        inspect: target.clone().and_then(|it| found(inspect((workshop, server), it))),
        call: server
            .call
            .as_ref()
            .map(|it| target.clone().and_then(|at| found(call((workshop, server), at, it)))),
        check: target
            .and_then(|it| check((workshop, server), it).map_err(|error| format!("{error:#}"))),
    }
}

fn direct(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    listing::of_bowline(at, &["--"], target)
}

/// A client of 2026-07-28 that starts `connect`, which starts the server in the revision that it has.
fn through_connect(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    let bridge = [at.0.bowline.to_string_lossy().into_owned()];
    let bridge = bridge.into_iter().chain(["connect", "--inherit-env", "--"].map(str::to_owned));
    let target: Vec<String> = bridge.chain(target.iter().cloned()).collect();
    listing::of_bowline(at, &["--revision", "2026-07-28", "--"], &target)
}

/// A client over HTTP of `serve`, which starts the server.
fn through_serve(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    let mut command = at.0.command(at.1, PATIENCE)?;
    command.arg(&at.0.bowline).args(["serve", "--json", "--inherit-env"]);
    command.args(["--http", "127.0.0.1:0", "--"]).args(target);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut serving = Serving(command.spawn()?);
    let output = serving.0.stdout.take().context("it has an output")?;
    let mut text = String::new();
    let mut lines = BufReader::new(output);
    while serde_json::from_str::<Value>(&text).is_err() {
        ensure!(lines.read_line(&mut text)? > 0, "`serve` ended before it printed its URL");
    }
    let answer: Value = serde_json::from_str(&text)?;
    let url = answer["url"].as_str().context("`serve --json` names no URL")?.to_owned();
    listing::of_bowline(at, &[], &[url])
}

/// A server that is ended with this value.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        // `timeout` passes the signal on. Fails if it has ended.
        let _ = std::process::Command::new("kill").arg(pid).status();
        let _ = self.0.wait();
    }
}

fn inspect((workshop, server): (&Workshop, &Server), target: Target<'_>) -> Result<()> {
    let mut command = workshop.command(server, PATIENCE)?;
    command.arg(&workshop.bowline).args(["inspect", "--json", "--inherit-env", "--"]);
    listing::json(command.args(target)).map(drop)
}

fn call(
    (workshop, server): (&Workshop, &Server),
    target: Target<'_>,
    (tool, arguments): &(String, Value),
) -> Result<()> {
    let mut command = workshop.command(server, PATIENCE)?;
    command.arg(&workshop.bowline).args(["call", tool, "--json", "--inherit-env"]);
    command.args(["--args", &arguments.to_string(), "--"]);
    let answer = listing::json(command.args(target))?;
    ensure!(answer["isError"] != true, "the tool failed: {}", answer["content"][0]["text"]);
    Ok(())
}

fn check((workshop, server): (&Workshop, &Server), target: Target<'_>) -> Result<Verdicts> {
    let mut command = workshop.command(server, CHECK)?;
    command.arg(&workshop.bowline).args(["check", "--format", "json", "--inherit-env", "--"]);
    let report = listing::json(command.args(target))?;
    workshop.keep_report(server, &report)?;
    let findings = report["findings"].as_array().context("the report has no findings")?;
    let rules = |verdict: &str| {
        let found = findings.iter().filter(|it| it["verdict"] == verdict);
        found.filter_map(|it| it["rule"].as_str().map(str::to_owned)).collect()
    };
    Ok(Verdicts { violated: rules("violated"), warned: rules("warning") })
}
