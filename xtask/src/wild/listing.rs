//! What a server offers, as one client lists it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::install::Workshop;
use super::server::Server;

/// How long one command may take, in seconds.
pub(crate) const PATIENCE: u32 = 90;

/// The kinds of features: how our JSON names the list, the method that lists it, the name of an item.
const KINDS: [(&str, &str, &str); 4] = [
    ("tools", "tools/list", "name"),
    ("resources", "resources/list", "uri"),
    ("templates", "resources/templates/list", "uriTemplate"),
    ("prompts", "prompts/list", "name"),
];

/// The names of features by kind, and the time until they were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listing {
    pub(crate) names: [BTreeSet<String>; 4],
    pub(crate) time: Duration,
}

impl Listing {
    pub(crate) fn tools(&self) -> usize {
        self.names[0].len()
    }

    /// What the other one has and this one does not, such as ``tools `a`, `b` ``.
    pub(crate) fn lacks(&self, other: &Self) -> Option<String> {
        let lists = KINDS.iter().zip(self.names.iter().zip(&other.names));
        let lacking = lists.filter_map(|((kind, ..), (own, others))| {
            let names: Vec<&str> = others.difference(own).map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("{kind} `{}`", names.join("`, `")))
        });
        let lacking: Vec<String> = lacking.collect();
        (!lacking.is_empty()).then(|| lacking.join("; "))
    }

    /// The names but for some tools.
    pub(crate) fn without(&self, tools: &BTreeMap<String, String>) -> [BTreeSet<String>; 4] {
        let mut names = self.names.clone();
        names[0].retain(|name| !tools.contains_key(name));
        names
    }

    /// How a bridge has changed these lists.
    pub(crate) fn difference(&self, bridged: &Self) -> String {
        let lost = bridged.lacks(self).map(|names| format!("without {names}"));
        let added = self.lacks(bridged).map(|names| format!("with {names}"));
        lost.into_iter().chain(added).collect::<Vec<_>>().join("; ")
    }
}

/// A server as the command line of a client names it: a program with arguments, or a URL.
pub(crate) type Target<'t> = &'t [String];

/// What `bowline list` shows. `options` come before the target. It declares a root, as Inspector does:
/// some servers have tools for such clients only.
pub(crate) fn of_bowline(
    (workshop, server): (&Workshop, &Server),
    options: &[&str],
    target: Target<'_>,
) -> Result<Listing> {
    let mut command = workshop.command(server, PATIENCE)?;
    command.arg(&workshop.bowline).args(["list", "--json", "--inherit-env", "--root", "."]);
    let begin = Instant::now();
    let lists = json(command.args(options).args(target))?;
    let mut listing = Listing { time: begin.elapsed(), ..Listing::default() };
    for (names, (kind, _, key)) in listing.names.iter_mut().zip(KINDS) {
        *names = names_of(&lists[kind], key);
    }
    Ok(listing)
}

/// What Inspector shows, one method at a time. A list that it cannot get is empty, but that of tools.
pub(crate) fn of_inspector(
    (workshop, server): (&Workshop, &Server),
    target: Target<'_>,
) -> Result<Listing> {
    let mut listing = Listing::default();
    for (names, (kind, method, key)) in listing.names.iter_mut().zip(KINDS) {
        let mut command = workshop.command(server, PATIENCE)?;
        command.arg(workshop.client("mcp-inspector")).arg("--cli");
        for (name, value) in &server.variables {
            command.args(["-e", &format!("{name}={value}")]);
        }
        let begin = Instant::now();
        let answer = json(command.args(["--method", method]).args(target));
        if kind == "tools" {
            listing.time = begin.elapsed();
        }
        let member = if kind == "templates" { "resourceTemplates" } else { kind };
        match answer {
            Ok(answer) => *names = names_of(&answer[member], key),
            Err(error) if kind == "tools" => return Err(error),
            Err(_) => {}
        }
    }
    Ok(listing)
}

/// What mcporter shows: tools only.
pub(crate) fn of_mcporter(
    (workshop, server): (&Workshop, &Server),
    target: Target<'_>,
) -> Result<Listing> {
    let (program, arguments) = target.split_first().context("a target has a program")?;
    let mut command = workshop.command(server, PATIENCE)?;
    command.arg(workshop.client("mcporter")).args(["list", "--json", "--timeout", "60000"]);
    command.args(["--stdio", program]);
    for argument in arguments {
        command.args(["--stdio-arg", argument]);
    }
    for (name, value) in &server.variables {
        command.args(["--env", &format!("{name}={value}")]);
    }
    let begin = Instant::now();
    let answer = json(&mut command)?;
    ensure!(answer["status"] == "ok", "{}", answer["error"]);
    let tools = names_of(&answer["tools"], "name");
    Ok(Listing {
        names: [tools, BTreeSet::new(), BTreeSet::new(), BTreeSet::new()],
        time: begin.elapsed(),
    })
}

/// Runs a command that prints JSON.
pub(crate) fn json(command: &mut Command) -> Result<Value> {
    let output = command.output().context("it cannot be started")?;
    match serde_json::from_slice(&output.stdout) {
        Ok(value) => Ok(value),
        Err(_) => {
            let words = String::from_utf8_lossy(&output.stderr);
            let error = words
                .lines()
                .find(|line| line.to_lowercase().contains("error"))
                .or_else(|| words.lines().last());
            bail!("{}: {}", output.status, error.unwrap_or("no output").trim())
        }
    }
}

fn names_of(list: &Value, key: &str) -> BTreeSet<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item[key].as_str().map(str::to_owned)).collect()
}

/// A program and its arguments as a target.
pub(crate) fn target(program: &Path, arguments: &[String]) -> Vec<String> {
    let program = program.to_string_lossy().into_owned();
    std::iter::once(program).chain(arguments.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(names: &[&str]) -> Listing {
        let mut listing = Listing::default();
        listing.names[0] = names.iter().map(|it| (*it).to_owned()).collect();
        listing
    }

    #[test]
    fn what_another_client_lists_and_this_one_does_not_is_named() {
        let (fewer, more) = (tools(&["b"]), tools(&["a", "b", "c"]));
        assert_eq!(fewer.lacks(&more).as_deref(), Some("tools `a`, `c`"));
        assert_eq!(more.lacks(&fewer), None);
        assert_eq!(more.difference(&tools(&["b", "c", "d"])), "without tools `a`; with tools `d`");
    }
}
