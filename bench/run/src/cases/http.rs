//! `tools/call` of `echo` over HTTP.

use anyhow::Result;

use super::{REVISIONS, http_servers, load, size};
use crate::case::{Case, Figure, Repeats, Subject};
use crate::process::{Core, Server, figures, number};
use crate::programs::Bench;

/// Lengths of messages, and over how many connections they are sent.
const SHAPES: &[(usize, usize)] = &[(64, 1), (64, 32), (4096, 32), (262_144, 4), (1_048_576, 4)];

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let mut cases = Vec::new();
    for revision in REVISIONS {
        for &(bytes, connections) in SHAPES {
            let calls = Calls { revision, connections, bytes, tool: "echo".to_owned() };
            let name = format!("http/{revision}/{}/c{connections}", size(bytes));
            let measures =
                format!("echo of {} over {connections} connections, {revision}", size(bytes));
            cases.push(Case {
                name,
                measures,
                figures: vec![Figure::higher("calls/s"), Figure::lower("p50 µs")],
                subjects: http_servers(bench),
                repeats: Repeats::EveryRound,
                round: Box::new(move |bench, subject| calls.round(bench, subject)),
            });
        }
    }
    cases
}

/// The calls of the generator.
#[derive(Clone)]
pub(crate) struct Calls {
    pub(crate) revision: &'static str,
    pub(crate) connections: usize,
    pub(crate) bytes: usize,
    pub(crate) tool: String,
}

impl Calls {
    /// Starts the server and drives it; returns calls per second and the median time of a call.
    pub(crate) fn round(&self, bench: &Bench, subject: &Subject) -> Result<Vec<f64>> {
        let server = Server::start(&subject.command)?;
        self.drive(bench, &server)
    }

    /// Drives a running server.
    pub(crate) fn drive(&self, bench: &Bench, server: &Server) -> Result<Vec<f64>> {
        let Self { revision, connections, bytes, tool } = self;
        let (url, seconds) = (&server.url, bench.options.seconds);
        let line = format!(
            "http {url} --revision {revision} --connections {connections} --bytes {bytes} \
             --tool {tool} --seconds {seconds}"
        );
        let value = figures(Core::Generator, &load(bench, &line), bench.options.patience())?;
        Ok(vec![number(&value, "calls_per_second")?, number(&value, "p50_us")?])
    }
}
