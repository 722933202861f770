//! The memory of an idle session, alone and with an open stream.

use anyhow::Result;

use super::{http_servers, load};
use crate::case::{Case, Figure, Repeats, Subject};
use crate::process::{Core, Server, Waiting, figures};
use crate::programs::Bench;

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    // If the limit of open files is lower, the server or the generator reports it.
    let count = if bench.options.quick { 1000 } else { 10_000 };
    let kinds = [
        ("memory/session", "an idle session", ""),
        ("memory/stream", "an idle session with an open stream", "--streams"),
    ];
    kinds
        .map(|(name, says, option)| Case {
            name: name.to_owned(),
            measures: format!("what {says} weighs, one of {count}, 2025-11-25"),
            figures: vec![Figure::lower("bytes")],
            subjects: http_servers(bench),
            repeats: Repeats::Once,
            round: Box::new(move |bench, subject| weigh(bench, subject, count, option)),
        })
        .into()
}

fn weigh(bench: &Bench, subject: &Subject, count: usize, option: &str) -> Result<Vec<f64>> {
    let server = Server::start(&subject.command)?;
    let url = &server.url;
    // Memory that the first calls allocate does not belong to a session.
    let warm_up = format!("http {url} --revision 2025-11-25 --connections 4 --calls 400");
    figures(Core::Generator, &load(bench, &warm_up), bench.options.patience())?;
    let before = server.process.memory()?;
    let sessions =
        Waiting::start(&load(bench, &format!("sessions {url} --count {count} {option}")))?;
    let after = server.process.memory()?;
    sessions.end()?;
    Ok(vec![(after - before) / count as f64])
}
