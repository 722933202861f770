//! All cases, one file for each topic.

pub(crate) mod build;
pub(crate) mod catalogue;
pub(crate) mod client;
pub(crate) mod cost;
pub(crate) mod http;
pub(crate) mod memory;
pub(crate) mod start;
pub(crate) mod stdio;

use crate::case::{Case, Role, Subject};
use crate::programs::Bench;

/// The revisions that are measured.
pub(crate) const REVISIONS: &[&str] = &["2025-11-25", "2026-07-28"];

/// The cases that the options ask for.
pub(crate) fn chosen(bench: &Bench) -> Vec<Case> {
    let wanted = &bench.options.cases;
    let is_wanted = |case: &Case| match &wanted[..] {
        // Clean builds take minutes.
        [] => !(bench.options.quick && case.name.starts_with("build")),
        names => names.iter().any(|name| case.name.contains(name.as_str())),
    };
    all(bench).into_iter().filter(is_wanted).collect()
}

fn all(bench: &Bench) -> Vec<Case> {
    let groups = [
        http::cases(bench),
        stdio::cases(bench),
        client::cases(bench),
        catalogue::cases(bench),
        memory::cases(bench),
        start::cases(bench),
        cost::cases(bench),
        build::cases(),
    ];
    groups.into_iter().flatten().collect()
}

/// The echo servers over HTTP, peers included.
pub(crate) fn http_servers(bench: &Bench) -> Vec<Subject> {
    let mut subjects = servers(bench, &["http", "{addr}"]);
    subjects.extend(bench.options.peers.iter().map(|peer| Subject {
        role: Role::Peer(peer.name.clone()),
        command: peer.command.clone(),
    }));
    subjects
}

/// The echo servers over stdio.
pub(crate) fn stdio_servers(bench: &Bench) -> Vec<Subject> {
    servers(bench, &["stdio"])
}

fn servers(bench: &Bench, arguments: &[&str]) -> Vec<Subject> {
    let names = [
        (Role::Ceiling, "ceiling"),
        (Role::Bowline, "echo"),
        (Role::RmcpBest, "rmcp-best"),
        (Role::RmcpDefault, "rmcp-default"),
    ];
    names.map(|(role, name)| subject(bench, role, name, arguments)).into()
}

/// One of our programs in a role.
pub(crate) fn subject(bench: &Bench, role: Role, name: &str, arguments: &[&str]) -> Subject {
    let arguments = arguments.iter().map(|word| (*word).to_owned());
    Subject { role, command: [bench.binary(name)].into_iter().chain(arguments).collect() }
}

/// The command line of the generator.
pub(crate) fn load(bench: &Bench, line: &str) -> Vec<String> {
    let words = line.split_whitespace().map(str::to_owned);
    [bench.binary("load")].into_iter().chain(words).collect()
}

/// A length with its unit.
pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        0..1024 => format!("{bytes}B"),
        1024..1_048_576 => format!("{}KiB", bytes / 1024),
        _ => format!("{}MiB", bytes / 1_048_576),
    }
}
