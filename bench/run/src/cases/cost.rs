//! Instructions and allocations per call, counted by valgrind: the same on a noisy machine.
//!
//! The server runs twice, with few calls and with many; the difference in cost, divided by
//! the difference in calls, is the cost of a call, without start and end.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::{REVISIONS, http_servers, load, stdio_servers};
use crate::case::{Case, Figure, Repeats, Role, Subject};
use crate::process::{Core, Server, figures};
use crate::programs::Bench;

const FEW: u64 = 200;
const MANY: u64 = 1200;

/// Valgrind makes a program some fifty times slower.
const PATIENCE: Duration = Duration::from_secs(240);

pub(super) fn cases(bench: &Bench) -> Vec<Case> {
    let mut cases = Vec::new();
    for revision in REVISIONS {
        cases.push(case("http", revision, http_servers(bench), over_http));
    }
    for revision in REVISIONS {
        cases.push(case("stdio", revision, stdio_servers(bench), over_stdio));
    }
    cases
}

type Drive = fn(&Bench, &[String], &str, u64) -> Result<()>;

fn case(transport: &str, revision: &'static str, mut subjects: Vec<Subject>, drive: Drive) -> Case {
    // A subject that starts other programs, as peers may, cannot be counted this way.
    subjects.retain(|subject| !matches!(subject.role, Role::Peer(_)));
    Case {
        name: format!("cost/{transport}/{revision}"),
        measures: format!(
            "user instructions and allocations per echo over {transport}, {revision}"
        ),
        figures: vec![Figure::lower("instructions"), Figure::lower("allocations")],
        subjects,
        repeats: Repeats::Once,
        round: Box::new(move |bench, subject| {
            let count = |counter: Counter| -> Result<f64> {
                let few = counter.count(bench, subject, revision, FEW, drive)?;
                let many = counter.count(bench, subject, revision, MANY, drive)?;
                Ok((many - few) / (MANY - FEW) as f64)
            };
            Ok(vec![count(Counter::Instructions)?, count(Counter::Allocations)?])
        }),
    }
}

/// The unit that valgrind counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Counter {
    Instructions,
    Allocations,
}

impl Counter {
    fn count(
        self,
        bench: &Bench,
        subject: &Subject,
        revision: &str,
        calls: u64,
        drive: Drive,
    ) -> Result<f64> {
        let log = bench.scratch("valgrind.log");
        let mut command = self.valgrind(&log, &bench.scratch("callgrind.out"));
        command.extend(subject.command.iter().cloned());
        drive(bench, &command, revision, calls)?;
        let text = fs::read_to_string(&log).context("valgrind wrote no log")?;
        self.read(&text).with_context(|| format!("valgrind did not count: {text}"))
    }

    fn valgrind(self, log: &Path, out: &Path) -> Vec<String> {
        let mut words = vec!["valgrind".to_owned(), format!("--log-file={}", log.display())];
        let options = match self {
            Self::Instructions => {
                vec![
                    "--tool=callgrind".to_owned(),
                    format!("--callgrind-out-file={}", out.display()),
                ]
            }
            // Only the summary is used, so the checks are off.
            Self::Allocations => ["--tool=memcheck", "--undef-value-errors=no", "--leak-check=no"]
                .map(str::to_owned)
                .into(),
        };
        words.extend(options);
        words
    }

    /// Finds the total in a log.
    fn read(self, log: &str) -> Option<f64> {
        let label = match self {
            Self::Instructions => "Collected : ",
            Self::Allocations => "total heap usage: ",
        };
        let (_, rest) = log.split_once(label)?;
        let digits: String = rest.split_whitespace().next()?.replace(',', "");
        digits.parse().ok()
    }
}

fn over_http(bench: &Bench, command: &[String], revision: &str, calls: u64) -> Result<()> {
    let server = Server::start(command)?;
    let line = format!("http {} --revision {revision} --connections 1 --calls {calls}", server.url);
    figures(Core::Generator, &load(bench, &line), PATIENCE)?;
    server.process.terminate()
}

fn over_stdio(bench: &Bench, command: &[String], revision: &str, calls: u64) -> Result<()> {
    let command = command.join(" ");
    let line =
        format!("stdio taskset -c 0 {command} --revision {revision} --window 1 --calls {calls}");
    figures(Core::Generator, &load(bench, &line), PATIENCE)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_found_in_the_logs_of_valgrind() {
        let log = "==7== Collected : 42\n==7==   total heap usage: 1,234 allocs, 1,200 frees\n";
        assert_eq!(Counter::Instructions.read(log), Some(42.0));
        assert_eq!(Counter::Allocations.read(log), Some(1234.0));
        assert_eq!(Counter::Allocations.read("==7== killed"), None);
    }
}
