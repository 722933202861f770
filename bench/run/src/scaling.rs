//! How cost grows: calls per second against connections, payload, tools and sessions.

use std::fs;

use anyhow::Result;
use serde_json::{Value, json};

use crate::case::{Role, Subject};
use crate::cases::catalogue::catalogues;
use crate::cases::http::Calls;
use crate::cases::{http_servers, load, subject};
use crate::plot::{Line, Plot};
use crate::process::{Server, Waiting};
use crate::programs::{Bench, workspace};
use crate::report;
use crate::rounds::Cell;

/// Above this power, cost grows faster than its cause; a little is left for noise.
const LINEAR: f64 = 1.15;

/// One quantity that grows.
struct Growth {
    name: &'static str,
    across: &'static str,
    sizes: Vec<usize>,
    round: fn(&Bench, &Role, usize) -> Result<f64>,
}

/// Measures all growth and draws it.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    let folder = workspace().join("../docs/performance");
    fs::create_dir_all(&folder)?;
    let mut documents = Vec::new();
    for growth in growths(bench.options.quick) {
        let wanted = &bench.options.cases;
        if !wanted.is_empty() && !wanted.iter().any(|name| growth.name.contains(name.as_str())) {
            continue;
        }
        let lines = measure(bench, &growth)?;
        documents.push(describe(&growth, &lines));
        let plot = Plot {
            title: format!("Calls per second against {}", growth.across),
            across: growth.across,
            up: "calls per second",
            lines,
        };
        fs::write(folder.join(format!("{}.svg", growth.name)), plot.svg())?;
    }
    let document = json!({ "machine": report::machine(), "scaling": documents });
    let path = bench.options.json.clone().unwrap_or_else(|| folder.join("scaling.json"));
    report::write_pretty(&path, &document)
}

fn growths(quick: bool) -> Vec<Growth> {
    let powers = |base: usize, from: u32, to: u32| (from..=to).map(move |it| base.pow(it));
    let growths = vec![
        Growth {
            name: "connections",
            across: "connections",
            sizes: powers(2, 0, 8).collect(),
            round: |bench, role, connections| {
                calls(connections, 64).round(bench, &server(bench, role)).map(|it| it[0])
            },
        },
        Growth {
            name: "payload",
            across: "bytes in a message",
            sizes: powers(4, 3, 10).collect(),
            round: |bench, role, bytes| {
                calls(4, bytes).round(bench, &server(bench, role)).map(|it| it[0])
            },
        },
        Growth {
            name: "tools",
            across: "registered tools",
            sizes: powers(10, 0, 4).collect(),
            round: with_tools,
        },
        Growth {
            name: "sessions",
            across: "open sessions",
            sizes: powers(10, 0, 4).collect(),
            round: with_sessions,
        },
    ];
    let thinned = |mut growth: Growth| {
        let last = growth.sizes.len() - 1;
        growth.sizes = vec![growth.sizes[0], growth.sizes[last / 2], growth.sizes[last]];
        growth
    };
    if quick { growths.into_iter().map(thinned).collect() } else { growths }
}

fn calls(connections: usize, bytes: usize) -> Calls {
    Calls { revision: "2025-11-25", connections, bytes, tool: "echo".to_owned() }
}

fn server(bench: &Bench, role: &Role) -> Subject {
    let mut servers = http_servers(bench);
    servers.retain(|subject| subject.role == *role);
    servers.remove(0)
}

/// Calls the last of many tools.
fn with_tools(bench: &Bench, role: &Role, tools: usize) -> Result<f64> {
    let tools_word = tools.to_string();
    let arguments = ["http", "{addr}", &tools_word];
    let mut servers = catalogues(bench, &tools_word);
    servers.push(subject(bench, Role::Ceiling, "ceiling-static", &arguments));
    servers.retain(|subject| subject.role == *role);
    let mut calls = calls(32, 64);
    calls.tool = format!("tool_{}", tools - 1);
    Ok(calls.round(bench, &servers[0])?[0])
}

/// Calls while many sessions are open.
fn with_sessions(bench: &Bench, role: &Role, count: usize) -> Result<f64> {
    let server = Server::start(&server(bench, role).command)?;
    let line = format!("sessions {} --count {count}", server.url);
    let sessions = Waiting::start(&load(bench, &line))?;
    let figures = calls(32, 64).drive(bench, &server)?;
    sessions.end()?;
    Ok(figures[0])
}

fn measure(bench: &Bench, growth: &Growth) -> Result<Vec<Line>> {
    let roles = [Role::Ceiling, Role::Bowline, Role::RmcpBest];
    let mut lines: Vec<Line> = Vec::new();
    for role in &roles {
        lines.push(Line { name: role.to_string(), points: Vec::new() });
    }
    for &size in &growth.sizes {
        eprintln!("{}: {size}", growth.name);
        let mut cells = roles.clone().map(|role| Cell { role, values: Vec::new(), failure: None });
        for round in 0..bench.options.rounds {
            for turn in 0..cells.len() {
                let cell = &mut cells[(turn + round) % roles.len()];
                cell.values.push((growth.round)(bench, &cell.role, size)?);
            }
        }
        for (line, cell) in lines.iter_mut().zip(&cells) {
            line.points.extend(cell.median().map(|median| (size as f64, median)));
        }
    }
    Ok(lines)
}

fn describe(growth: &Growth, lines: &[Line]) -> Value {
    let line = |line: &Line| {
        let steepness = steepness(&line.points);
        let is_linear = steepness <= LINEAR;
        println!(
            "{}: {}: the time of a call grows with power {steepness:.2} at most{}",
            growth.name,
            line.name,
            if is_linear { "" } else { ", WORSE THAN LINEAR" },
        );
        json!({
            "subject": line.name,
            "points": line.points,
            "steepness": steepness,
            "at_most_linear": is_linear,
        })
    };
    json!({ "name": growth.name, "across": growth.across, "lines": lines.iter().map(line).collect::<Vec<_>>() })
}

/// The largest power with which the time of a call grows between two sizes that are far apart.
fn steepness(points: &[(f64, f64)]) -> f64 {
    let power = |pair: &[(f64, f64)]| {
        let [(size, rate), .., (larger, slower)] = pair else { return 0.0 };
        (rate / slower).ln() / (larger / size).ln()
    };
    points.windows(3).map(power).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_rate_at_twice_the_size_is_linear() {
        let points = [(1.0, 800.0), (2.0, 400.0), (4.0, 200.0)];
        assert!((steepness(&points) - 1.0).abs() < 1e-9);
    }
}
