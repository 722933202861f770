//! The figures as tables and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

use crate::bars::Verdict;
use crate::case::{Better, Role};
use crate::programs::Bench;
use crate::rounds::{Cell, Measured};

/// The figures of all cases: the median of each subject, its spread, and our ratios.
pub(crate) fn table(measured: &[Measured]) -> String {
    let mut roles: Vec<&Role> = Vec::new();
    for cell in measured.iter().flat_map(|it| &it.cells) {
        if !roles.contains(&&cell.role) {
            roles.push(&cell.role);
        }
    }
    let mut rows = vec![heads(&roles)];
    rows.extend(measured.iter().map(|it| row(it, &roles)));
    let mut text = aligned(&rows);
    for it in measured {
        for (role, failure) in it.failures() {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{}: {role} failed: {failure}", it.case);
        }
    }
    text
}

fn heads(roles: &[&Role]) -> Vec<String> {
    let mut heads = vec!["case".to_owned(), "unit".to_owned()];
    heads.extend(roles.iter().map(ToString::to_string));
    heads.extend(["of ceiling", "of rmcp best", ""].map(str::to_owned));
    heads
}

fn row(measured: &Measured, roles: &[&Role]) -> Vec<String> {
    let better = match measured.figure.better {
        Better::Higher => "↑",
        Better::Lower => "↓",
    };
    let mut row = vec![measured.case.clone(), format!("{} {better}", measured.figure.unit)];
    row.extend(roles.iter().map(|role| {
        let cell = measured.cells.iter().find(|cell| cell.role == **role);
        cell.map_or_else(String::new, show)
    }));
    row.extend([Role::Ceiling, Role::RmcpBest].map(|role| {
        measured.ratio_to(&role).map_or_else(String::new, |ratio| format!("{ratio:.2}"))
    }));
    row.push(if measured.is_noisy() { "too noisy to tell".to_owned() } else { String::new() });
    row
}

fn show(cell: &Cell) -> String {
    match (cell.median(), cell.spread()) {
        (Some(median), Some(spread)) if cell.values.len() > 1 => {
            format!("{} ({:.0} %)", amount(median), spread * 100.0)
        }
        (Some(median), _) => amount(median),
        _ => "failed".to_owned(),
    }
}

/// A number with its significant digits.
fn amount(value: f64) -> String {
    match value.abs() {
        0.0..10.0 => format!("{value:.2}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => {
            let digits = format!("{:.0}", value.abs());
            let mut grouped = String::new();
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (digits.len() - place).is_multiple_of(3) {
                    grouped.push(',');
                }
                grouped.push(digit);
            }
            if value < 0.0 { format!("-{grouped}") } else { grouped }
        }
    }
}

/// The figures beside their bars.
pub(crate) fn verdicts(verdicts: &[Verdict]) -> String {
    let heads = ["case", "unit", "verdict", "bar: where we are", "moonshot", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(verdicts.iter().map(|verdict| {
        let noisy = if verdict.is_noisy { "too noisy to tell" } else { "" };
        vec![
            verdict.case.clone(),
            verdict.unit.to_owned(),
            verdict.outcome.to_string(),
            verdict.bar.clone(),
            verdict.moonshot.clone(),
            noisy.to_owned(),
        ]
    }));
    aligned(&rows)
}

/// A table in Markdown.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} |"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "|{}", cells.collect::<String>());
        if number == 0 {
            let rules = widths.iter().map(|width| format!("{}|", "-".repeat(width + 2)));
            let _ = writeln!(text, "|{}", rules.collect::<String>());
        }
    }
    text
}

/// Writes everything, the values of every round included.
pub(crate) fn write_json(
    path: &Path,
    bench: &Bench,
    measured: &[Measured],
    verdicts: &[Verdict],
) -> Result<()> {
    let options = &bench.options;
    let document = json!({
        "machine": machine(),
        "rounds": options.rounds,
        "seconds": options.seconds,
        "quick": options.quick,
        "figures": measured.iter().map(figure).collect::<Vec<_>>(),
        "bars": verdicts.iter().map(verdict).collect::<Vec<_>>(),
    });
    write_pretty(path, &document)
}

/// Writes a JSON document, indented.
pub(crate) fn write_pretty(path: &Path, document: &Value) -> Result<()> {
    let text = format!("{document:#}\n");
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn figure(measured: &Measured) -> Value {
    let subject = |cell: &Cell| {
        let value = json!({
            "median": cell.median(),
            "spread": cell.spread(),
            "values": cell.values,
            "failure": cell.failure,
        });
        (cell.role.to_string(), value)
    };
    json!({
        "case": measured.case,
        "measures": measured.measures,
        "unit": measured.figure.unit,
        "better": match measured.figure.better {
            Better::Higher => "higher",
            Better::Lower => "lower",
        },
        "subjects": measured.cells.iter().map(subject).collect::<Map<_, _>>(),
        "of_ceiling": measured.ratio_to(&Role::Ceiling),
        "of_rmcp_best": measured.ratio_to(&Role::RmcpBest),
        "too_noisy_to_tell": measured.is_noisy(),
    })
}

fn verdict(verdict: &Verdict) -> Value {
    json!({
        "case": verdict.case,
        "unit": verdict.unit,
        "verdict": verdict.outcome.to_string(),
        "bar": verdict.bar,
        "moonshot": verdict.moonshot,
        "too_noisy_to_tell": verdict.is_noisy,
    })
}

/// The machine of the measurement.
pub(crate) fn machine() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processor = read("/proc/cpuinfo");
    let model = processor.lines().find_map(|line| line.strip_prefix("model name"));
    let rustc = Command::new("rustc").arg("--version").output();
    json!({
        "processor": model.map(|model| model.trim_start_matches([' ', '\t', ':'])),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
        "kernel": read("/proc/sys/kernel/osrelease").trim(),
        "rustc": rustc.map_or_else(
            |_| String::new(),
            |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Figure;
    use crate::rounds::tests::measured;

    #[test]
    fn numbers_have_the_digits_that_say_something() {
        let shown = [0.1234, 56.78, 1_234_567.8, -4321.0].map(amount);
        assert_eq!(shown, ["0.12", "56.8", "1,234,568", "-4,321"]);
    }

    #[test]
    fn a_row_has_the_ratios_and_says_when_it_was_noisy() {
        let cells: [(Role, &[f64]); 2] =
            [(Role::Ceiling, &[100.0, 200.0]), (Role::Bowline, &[75.0, 75.0])];
        let text = table(&[measured("a", Figure::higher("calls/s"), &cells)]);
        assert!(text.contains("| 0.56 "), "{text}");
        assert!(text.contains("too noisy to tell"), "{text}");
    }
}
