//! The time from the start of a server on stdio to its first answer, and its memory then.

use super::{REVISIONS, load, stdio_servers};
use crate::case::{Case, Figure, Repeats};
use crate::process::{Core, figures, number};
use crate::programs::Bench;

/// How often a server is started in each round.
const STARTS: usize = 10;

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let case = |revision: &&'static str| {
        let revision = *revision;
        Case {
            name: format!("start/{revision}"),
            measures: format!("from start to first answer over stdio, and memory then, {revision}"),
            figures: vec![Figure::lower("ms"), Figure::lower("MB idle")],
            subjects: stdio_servers(bench),
            repeats: Repeats::EveryRound,
            round: Box::new(move |bench, subject| {
                let command = subject.command.join(" ");
                let line =
                    format!("start {command} --revision {revision} --count {STARTS} --core 0");
                let patience = bench.options.patience();
                let value = figures(Core::Generator, &load(bench, &line), patience)?;
                Ok(vec![number(&value, "p50_us")? / 1e3, number(&value, "rss_bytes")? / 1e6])
            }),
        }
    };
    REVISIONS.iter().map(case).collect()
}
