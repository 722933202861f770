//! Clients calling the ceiling: the bare generator, Bowline's and rmcp's.

use anyhow::Result;

use super::{REVISIONS, subject};
use crate::case::{Case, Figure, Repeats, Role, Subject};
use crate::process::{Core, Server, figures, number};
use crate::programs::Bench;

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let mut cases = Vec::new();
    for transport in [Transport::Http, Transport::Stdio] {
        for revision in REVISIONS {
            for in_flight in [1, 16] {
                cases.push(case(bench, transport, revision, in_flight));
            }
        }
    }
    cases
}

#[derive(Clone, Copy)]
enum Transport {
    Http,
    Stdio,
}

fn case(bench: &Bench, transport: Transport, revision: &'static str, in_flight: usize) -> Case {
    let clients = [
        (Role::Ceiling, "bare-client"),
        (Role::Bowline, "echo-client"),
        (Role::RmcpBest, "rmcp-client"),
    ];
    let word = match transport {
        Transport::Http => "http",
        Transport::Stdio => "stdio",
    };
    Case {
        name: format!("client/{word}/{revision}/{in_flight}"),
        measures: format!(
            "a client over {word} with {in_flight} calls in flight, against the ceiling, {revision}"
        ),
        figures: vec![Figure::higher("calls/s"), Figure::lower("p50 µs")],
        subjects: clients.map(|(role, name)| subject(bench, role, name, &[])).into(),
        repeats: Repeats::EveryRound,
        round: Box::new(move |bench, subject| match transport {
            Transport::Http => {
                let server =
                    Server::start(&[bench.binary("ceiling"), "http".into(), "{addr}".into()])?;
                drive(bench, subject, &["http", &server.url, revision], in_flight)
            }
            Transport::Stdio => {
                let server = bench.on_core_of_server("ceiling")?;
                drive(bench, subject, &["stdio", &server, revision], in_flight)
            }
        }),
    }
}

fn drive(bench: &Bench, client: &Subject, to: &[&str], in_flight: usize) -> Result<Vec<f64>> {
    // Clients count calls; at these rates a round lasts about as long as those of servers.
    let rate = if to[0] == "http" { 20_000.0 } else { 100_000.0 };
    let calls = (bench.options.seconds * rate) as u64;
    let mut words = client.command.clone();
    words.extend(to.iter().map(|word| (*word).to_owned()));
    words.extend([in_flight.to_string(), calls.to_string()]);
    let value = figures(Core::Generator, &words, bench.options.patience())?;
    let per_second = number(&value, "calls")? / number(&value, "seconds")?;
    Ok(vec![per_second, number(&value, "p50_us")?])
}
