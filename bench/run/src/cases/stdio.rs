//! `tools/call` of `echo` over stdio.

use super::{REVISIONS, load, size, stdio_servers};
use crate::case::{Case, Figure, Repeats};
use crate::process::{Core, figures, number};
use crate::programs::Bench;

const SHAPES: &[(usize, usize)] = &[(64, 1), (64, 32), (65_536, 1), (65_536, 32)];

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let shapes = REVISIONS.iter().flat_map(|revision| SHAPES.iter().map(move |it| (revision, it)));
    shapes.map(|(revision, &(bytes, window))| case(bench, revision, bytes, window)).collect()
}

fn case(bench: &Bench, revision: &'static str, bytes: usize, window: usize) -> Case {
    Case {
        name: format!("stdio/{revision}/{}/w{window}", size(bytes)),
        measures: format!("echo of {} with {window} calls under way, {revision}", size(bytes)),
        figures: vec![Figure::higher("calls/s"), Figure::lower("p50 µs")],
        subjects: stdio_servers(bench),
        repeats: Repeats::EveryRound,
        round: Box::new(move |bench, subject| {
            // The generator starts the server, and `taskset` puts it on its core.
            let line = format!(
                "stdio taskset -c 0 {} --revision {revision} --window {window} --bytes {bytes} \
                 --seconds {}",
                subject.command.join(" "),
                bench.options.seconds,
            );
            let value = figures(Core::Generator, &load(bench, &line), bench.options.patience())?;
            Ok(vec![number(&value, "calls_per_second")?, number(&value, "p50_us")?])
        }),
    }
}
