//! What one server does with the command, and with the clients of others.

use std::collections::BTreeMap;
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
    /// Tools that a bridge may list or not, with the reason.
    pub(crate) conditional: BTreeMap<String, String>,
    pub(crate) bowline: Found<Listing>,
    pub(crate) inspector: Found<Listing>,
    pub(crate) mcporter: Found<Listing>,
    /// Through `connect`, for a client of 2026-07-28.
    pub(crate) connect: Found<Listing>,
    /// Through `connect`, for a client of 2025-11-25; only of a server that speaks 2026-07-28.
    pub(crate) connect_back: Option<Found<Listing>>,
    /// Through `serve`, over HTTP.
    pub(crate) serve: Found<Listing>,
    pub(crate) inspect: Found<()>,
    /// `None` if nothing harmless can be called without keys.
    pub(crate) call: Option<Found<()>>,
    pub(crate) check: Found<Verdicts>,
}

pub(crate) type Found<T> = Result<T, String>;

/// What a check says of a server.
pub(crate) struct Verdicts {
    pub(crate) is_modern: bool,
    /// The rules that it breaks, by their ids.
    pub(crate) violated: Vec<String>,
    pub(crate) warned: Vec<String>,
}

impl Trial {
    /// What is wrong with the command: a client of others lists more, or a bridge shows other lists.
    pub(crate) fn faults(&self) -> Vec<String> {
        let empty = Listing::default();
        let own = self.bowline.as_ref().unwrap_or(&empty);
        let others = [("Inspector", &self.inspector), ("mcporter", &self.mcporter)];
        let missing = others.into_iter().filter_map(|(client, listing)| {
            let lacking = own.lacks(listing.as_ref().ok()?)?;
            Some(format!("{}: {client} lists {lacking}", self.name))
        });
        let bridged = self
            .bridges()
            .into_iter()
            .filter(|(_, listing)| self.bowline.is_ok() && !self.is_same(listing));
        let changed = bridged.map(|(bridge, listing)| {
            let why = listing.as_ref().map_or_else(Clone::clone, |it| own.difference(it));
            format!("{}: through {bridge}: {why}", self.name)
        });
        missing.chain(changed).collect()
    }

    fn bridges(&self) -> Vec<(&'static str, &Found<Listing>)> {
        let back = self.connect_back.as_ref().map(|it| ("`connect` as 2025-11-25", it));
        let bridges = [("`connect` as 2026-07-28", &self.connect), ("`serve`", &self.serve)];
        bridges.into_iter().chain(back).collect()
    }

    /// Whether a bridge shows the same lists, but for tools that depend on the client.
    pub(crate) fn is_same(&self, bridged: &Found<Listing>) -> bool {
        let (Ok(own), Ok(bridged)) = (&self.bowline, bridged) else { return false };
        own.without(&self.conditional) == bridged.without(&self.conditional)
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
    let check = target
        .clone()
        .and_then(|it| check((workshop, server), it).map_err(|error| format!("{error:#}")));
    let is_modern = check.as_ref().is_ok_and(|it| it.is_modern);
    Trial {
        name: server.name.clone(),
        package: server.package.clone(),
        registry: server.registry,
        conditional: server.conditional.clone(),
        bowline: on(direct),
        inspector: on(listing::of_inspector),
        mcporter: on(listing::of_mcporter),
        connect: on(through_connect),
        connect_back: is_modern.then(|| on(back_through_connect)),
        serve: on(through_serve),
        inspect: target.clone().and_then(|it| found(inspect((workshop, server), it))),
        call: server
            .call
            .as_ref()
            .map(|it| target.clone().and_then(|at| found(call((workshop, server), at, it)))),
        check,
    }
}

fn direct(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    listing::of_bowline(at, &["--"], target)
}

/// A client of 2026-07-28 that starts `connect`, which starts the server in the revision that it has.
fn through_connect(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    bridged(at, "2026-07-28", &[], target)
}

/// A client of 2025-11-25 that starts `connect`, which talks to the server as a client of 2026-07-28.
fn back_through_connect(at: (&Workshop, &Server), target: Target<'_>) -> Result<Listing> {
    bridged(at, "2025-11-25", &["--revision", "2026-07-28"], target)
}

fn bridged(
    at: (&Workshop, &Server),
    revision: &str,
    options: &[&str],
    target: Target<'_>,
) -> Result<Listing> {
    let program = at.0.bowline.to_string_lossy();
    let bridge = [&program, "connect", "--inherit-env"];
    let bridge = bridge.iter().chain(options).chain(&["--"]).map(|it| (*it).to_owned());
    let target: Vec<String> = bridge.chain(target.iter().cloned()).collect();
    listing::of_bowline(at, &["--revision", revision, "--"], &target)
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
    let report = listing::json(command.args(target))?;
    let steps = report["steps"].as_array().into_iter().flatten();
    let failed = steps.into_iter().find(|step| step["ok"] == false);
    ensure!(report["ok"] == true, "{}", failed.map_or(&report, |step| &step["note"]));
    Ok(())
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
    let revisions = report["revisions"].as_array().into_iter().flatten();
    let mut spoken = revisions.filter(|it| it["spoken"] == true);
    let is_modern = spoken.any(|it| it["revision"] == "2026-07-28");
    Ok(Verdicts { is_modern, violated: rules("violated"), warned: rules("warning") })
}
