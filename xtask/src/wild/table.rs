//! The results as tables of `docs/wild.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::listing::Listing;
use super::trial::{Found, Trial};
use crate::tree::root;

const BEGIN: &str = "<!-- results -->\n";
const END: &str = "<!-- end of results -->\n";

/// The page with new results.
pub(crate) fn replaced(page: &str, trials: &[Trial]) -> Result<String> {
    let (head, rest) = page.split_once(BEGIN).context("docs/wild.md has no begin of results")?;
    let (_, tail) = rest.split_once(END).context("docs/wild.md has no end of results")?;
    let results =
        [summary(trials), rows(trials), conditional(trials), rules(trials), failures(trials)]
            .join("\n");
    Ok(format!("{head}{BEGIN}\n{results}\n{END}{tail}"))
}

/// How many servers each client lists, and how fast.
fn summary(trials: &[Trial]) -> String {
    let mut text = String::from("| | Bowline | Inspector | mcporter |\n|---|---|---|---|\n");
    let clients: [fn(&Trial) -> &Found<Listing>; 3] =
        [|it| &it.bowline, |it| &it.inspector, |it| &it.mcporter];
    let listed = clients.map(|of| trials.iter().filter(|it| of(it).is_ok()).count());
    let of = trials.len();
    let [own, inspector, mcporter] = listed;
    let _ = writeln!(text, "| lists tools | {own} of {of} | {inspector} | {mcporter} |");
    let times = clients.map(|of| {
        median(trials.iter().filter_map(|it| of(it).as_ref().ok().map(|it| it.time)).collect())
    });
    let [own, inspector, mcporter] = times;
    let _ = writeln!(text, "| median time | {own:.1} s | {inspector:.1} s | {mcporter:.1} s |");
    let same =
        |of: fn(&Trial) -> &Found<Listing>| trials.iter().filter(|it| it.is_same(of(it))).count();
    let (connect, serve) = (same(|it| &it.connect), same(|it| &it.serve));
    let _ = writeln!(text, "| the same through `connect`, as 2026-07-28 | {connect} | – | – |");
    let back = || trials.iter().filter_map(|it| Some((it, it.connect_back.as_ref()?)));
    let (same, of) = (back().filter(|(it, lists)| it.is_same(lists)).count(), back().count());
    let label = "the same through `connect`, from 2025-11-25 to 2026-07-28";
    let _ = writeln!(text, "| {label} | {same} of {of} | – | – |");
    let _ = writeln!(text, "| the same through `serve`, over HTTP | {serve} | – | – |");
    text
}

/// A row for each server.
pub(crate) fn rows(trials: &[Trial]) -> String {
    let mut text = String::from(
        "| server | package | tools | Inspector | mcporter | `connect` | back | `serve` | `inspect` | `call` | MUST broken | warnings |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for trial in trials {
        let tools = [&trial.bowline, &trial.inspector, &trial.mcporter].map(tools);
        let bridged = [Some(&trial.connect), trial.connect_back.as_ref(), Some(&trial.serve)];
        let bridged = bridged.map(|it| it.map_or("–", |it| mark(trial.is_same(it))));
        let call = trial.call.as_ref().map_or("–", |it| mark(it.is_ok()));
        let (violated, warned) = match &trial.check {
            Ok(verdicts) => (list(&verdicts.violated), list(&verdicts.warned)),
            Err(_) => ("?".to_owned(), "?".to_owned()),
        };
        let (package, registry) = (&trial.package, trial.registry.name());
        let _ = writeln!(
            text,
            "| {} | `{package}` ({registry}) | {} | {} | {} | {call} | {violated} | {warned} |",
            trial.name,
            tools.join(" | "),
            bridged.join(" | "),
            mark(trial.inspect.is_ok()),
        );
    }
    text
}

/// The tools that bridges list or not, depending on what clients declare.
fn conditional(trials: &[Trial]) -> String {
    let mut text =
        String::from("| server | tool that a bridge lists or not | why |\n|---|---|---|\n");
    for trial in trials {
        for (tool, why) in &trial.conditional {
            let _ = writeln!(text, "| {} | `{tool}` | {why} |", trial.name);
        }
    }
    text
}

/// How many servers break each rule.
fn rules(trials: &[Trial]) -> String {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for verdicts in trials.iter().filter_map(|trial| trial.check.as_ref().ok()) {
        let violated = verdicts.violated.iter().map(|rule| (rule.as_str(), "MUST"));
        let warned = verdicts.warned.iter().map(|rule| (rule.as_str(), "warning"));
        for row in violated.chain(warned) {
            *counts.entry(row).or_default() += 1;
        }
    }
    let mut text = String::from("| rule | level | servers |\n|---|---|---|\n");
    for ((rule, level), count) in counts {
        let _ = writeln!(text, "| {rule} | {level} | {count} |");
    }
    text
}

/// Why a step failed, in the words of the program that failed.
fn failures(trials: &[Trial]) -> String {
    let mut text = String::from("| server | step | why |\n|---|---|---|\n");
    for trial in trials {
        let lists = [
            ("list", &trial.bowline),
            ("Inspector", &trial.inspector),
            ("mcporter", &trial.mcporter),
            ("connect", &trial.connect),
            ("serve", &trial.serve),
        ];
        let back = trial.connect_back.as_ref().map(|it| ("connect back", it));
        let lists =
            lists.into_iter().chain(back).filter_map(|(step, it)| Some((step, it.as_ref().err()?)));
        let inspect = trial.inspect.as_ref().err().map(|why| ("inspect", why));
        let call = trial.call.as_ref().and_then(|it| Some(("call", it.as_ref().err()?)));
        let check = trial.check.as_ref().err().map(|why| ("check", why));
        for (step, why) in lists.chain(inspect).chain(call).chain(check) {
            let _ = writeln!(text, "| {} | {step} | {} |", trial.name, cell(why));
        }
    }
    text
}

fn tools(listing: &Found<Listing>) -> String {
    listing.as_ref().map_or_else(|_| "failed".to_owned(), |it| it.tools().to_string())
}

fn mark(holds: bool) -> &'static str {
    if holds { "✓" } else { "✗" }
}

fn list(rules: &[String]) -> String {
    if rules.is_empty() { "–".to_owned() } else { rules.join(", ") }
}

/// Text for a cell of a table: one line, bounded, without the folder of this repository.
fn cell(text: &str) -> String {
    let text = text.replace(&format!("{}/", root().display()), "");
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line: String = line.chars().take(160).collect();
    line.replace('|', "\\|").replace('<', "&lt;")
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, Duration::as_secs_f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_one_bounded_cell() {
        assert_eq!(cell("a |\n  b <c>"), "a \\| b &lt;c>");
        assert_eq!(cell(&"x".repeat(500)).len(), 160);
        assert_eq!(cell(&format!("{}/a is gone", root().display())), "a is gone");
    }

    #[test]
    fn a_page_without_marks_is_not_overwritten() {
        assert!(replaced("# Wild\n", &[]).is_err());
    }
}
