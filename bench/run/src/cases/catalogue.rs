//! Long lists, progress, and notifications to all sessions.

use super::{REVISIONS, load, subject};
use crate::case::{Case, Figure, Repeats, Role, Subject};
use crate::process::{Core, Server, figures, number};
use crate::programs::Bench;

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let mut cases = Vec::new();
    for revision in REVISIONS {
        let mut subjects = catalogues(bench, "1000");
        let listing = ["http", "{addr}", "1000"];
        subjects.insert(0, subject(bench, Role::Ceiling, "ceiling-static", &listing));
        cases.push(calls("list", revision, 4, "the list of 1,000 tools", subjects));
    }
    for revision in REVISIONS {
        let says = "a call with eight reports of progress";
        cases.push(calls("progress", revision, 32, says, catalogues(bench, "0")));
    }
    cases.push(fan_out(bench));
    cases
}

/// Bowline's server and rmcp's, with so many tools.
pub(crate) fn catalogues(bench: &Bench, tools: &str) -> Vec<Subject> {
    let names = [(Role::Bowline, "echo-catalogue"), (Role::RmcpBest, "rmcp-catalogue")];
    names.map(|(role, name)| subject(bench, role, name, &["http", "{addr}", tools])).into()
}

fn calls(
    method: &'static str,
    revision: &'static str,
    connections: usize,
    says: &str,
    subjects: Vec<Subject>,
) -> Case {
    let mut figures_of_round = vec![Figure::higher("calls/s"), Figure::lower("p50 µs")];
    if method == "progress" {
        // A server may skip reports when it has a newer one, so their number is a figure too.
        figures_of_round.push(Figure::higher("notifications"));
    }
    Case {
        name: format!("{method}/{revision}"),
        measures: format!("{says} over {connections} connections, {revision}"),
        figures: figures_of_round,
        subjects,
        repeats: Repeats::EveryRound,
        round: Box::new(move |bench, subject| {
            let server = Server::start(&subject.command)?;
            let line = format!(
                "http {} --revision {revision} --connections {connections} --method {method} \
                 --seconds {}",
                server.url, bench.options.seconds,
            );
            let value = figures(Core::Generator, &load(bench, &line), bench.options.patience())?;
            let notifications = number(&value, "notifications")? / number(&value, "calls")?;
            let rate = number(&value, "calls_per_second")?;
            Ok(vec![rate, number(&value, "p50_us")?, notifications])
        }),
    }
}

fn fan_out(bench: &Bench) -> Case {
    Case {
        name: "fanout/1000".to_owned(),
        measures: "from a change until 1,000 streams have heard of it, 2025-11-25".to_owned(),
        figures: vec![Figure::lower("ms")],
        subjects: catalogues(bench, "0"),
        repeats: Repeats::EveryRound,
        round: Box::new(|bench, subject| {
            let server = Server::start(&subject.command)?;
            let words = load(bench, &format!("fanout {} --streams 1000", server.url));
            let value = figures(Core::Generator, &words, bench.options.patience())?;
            Ok(vec![number(&value, "seconds")? * 1e3])
        }),
    }
}
