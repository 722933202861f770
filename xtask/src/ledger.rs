//! Which requirements of the specification have a test.
//!
//! `docs/spec/*.md` holds every requirement as a row of a table with a stable id. A test names the
//! ids it guards (`// spec: RPC-1, RPC-2`), a transcript does so in its header. Requirements that
//! no test of a library can show are in `docs/spec/not-applicable.md` with the reason; those of
//! parts that are not built yet are in `docs/spec/open.md`. The rest is uncovered. The number of
//! covered requirements may only rise: `docs/spec/floor.md`.

mod citation;
mod excuse;
mod floor;
mod report;
mod requirement;

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::finding::{self, Finding};
use crate::tree::{Tree, root};
use citation::Citation;
use excuse::{Excuse, Kind};
use floor::Floor;
use requirement::Requirement;

/// Runs `cargo xtask ledger` with these options.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let tree = Tree::load()?;
    let (ledger, findings) = Ledger::read(&tree);
    finding::report(&findings)?;
    match options {
        [] => print!("{}", report::totals(&ledger)),
        ["--open", area] => print!("{}", report::open(&ledger, area)?),
        ["--thin"] => print!("{}", report::thin(&ledger)),
        ["--id", id] => print!("{}", report::one(&ledger, id)?),
        ["--check"] => {
            let floor = Floor::read(&tree)?;
            finding::report(&floor.breaches(&ledger))?;
            print!("{}", report::areas(&ledger));
            if floor.is_below(&ledger) {
                println!("above the floor; `cargo xtask ledger --raise` keeps it there");
            }
        }
        ["--raise"] => {
            let raised = Floor::read(&tree)?.raised(&ledger);
            let path = root().join(floor::PATH);
            fs::write(&path, raised.to_string())
                .with_context(|| format!("cannot write {path:?}"))?;
            print!("{raised}");
        }
        _ => bail!("ledger does not know `{}`; see `cargo xtask help`", options.join(" ")),
    }
    Ok(())
}

/// Every requirement, its citations and its excuses.
struct Ledger {
    requirements: Vec<Requirement>,
    citations: Vec<Citation>,
    excuses: Vec<Excuse>,
}

/// The state of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// A test cites it.
    Cited,
    /// No test of ours can ever show it.
    NotApplicable,
    /// It waits for a part that is not built yet.
    Open,
    /// Nothing covers it, and no file says why.
    Uncovered,
}

impl Ledger {
    /// Reads the tables and all citations; a contradiction between them is a finding.
    fn read(tree: &Tree) -> (Self, Vec<Finding>) {
        let mut findings = Vec::new();
        let requirements = requirement::read(tree, &mut findings);
        let excuses = excuse::read(tree, &mut findings);
        let citations = citation::read(tree);
        let ledger = Self { requirements, citations, excuses };
        findings.extend(ledger.contradictions());
        (ledger, findings)
    }

    fn contradictions(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for citation in &self.citations {
            if self.find(&citation.id).is_none() {
                let text = format!("`{}` is no requirement of docs/spec; mend the id", citation.id);
                findings.push(Finding::new(&citation.path, citation.line, text));
            }
        }
        for excuse in &self.excuses {
            let text = if self.find(&excuse.id).is_none() {
                format!("`{}` is no requirement of docs/spec; mend the id", excuse.id)
            } else if let Some(citation) = self.citations_of(&excuse.id).next() {
                let Citation { path, line, .. } = citation;
                format!("`{}` is cited in {path}:{line}; remove it here", excuse.id)
            } else {
                continue;
            };
            findings.push(Finding::new(excuse.kind.path(), excuse.line, text));
        }
        findings
    }

    fn find(&self, id: &str) -> Option<&Requirement> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    fn citations_of(&self, id: &str) -> impl Iterator<Item = &Citation> {
        self.citations.iter().filter(move |citation| citation.id == id)
    }

    fn excuse_of(&self, id: &str) -> Option<&Excuse> {
        self.excuses.iter().find(|excuse| excuse.id == id)
    }

    fn standing(&self, requirement: &Requirement) -> Standing {
        if self.citations_of(&requirement.id).next().is_some() {
            return Standing::Cited;
        }
        match self.excuse_of(&requirement.id).map(|excuse| excuse.kind) {
            Some(Kind::Never) => Standing::NotApplicable,
            Some(Kind::Open) => Standing::Open,
            None => Standing::Uncovered,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const BASE: (&str, &str) = (
        "docs/spec/base.md",
        "## 1. Scope\n| BASE-1 | MUST | both | 24 | One. |\n| BASE-2 | SHOULD NOT | both | 24 | Two. |\n",
    );

    #[test]
    fn the_ledger_of_the_repository_holds() {
        let tree = Tree::load().unwrap();
        let (ledger, mut findings) = Ledger::read(&tree);
        findings.extend(Floor::read(&tree).unwrap().breaches(&ledger));
        let lines: Vec<String> = findings.iter().map(Finding::to_string).collect();
        assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
    }

    #[test]
    fn a_requirement_is_cited_excused_open_or_uncovered() {
        let standings = |files: &[(&str, &str)]| -> Vec<Standing> {
            let (ledger, findings) = Ledger::read(&Tree::of(files));
            assert_eq!(findings, []);
            ledger.requirements.iter().map(|row| ledger.standing(row)).collect()
        };
        let cited = ("a.rs", "// spec: BASE-1\nfn f() {}\n");
        let never = (Kind::Never.path(), "| BASE-2 | A page of advice cannot be tested. |\n");
        let open = (Kind::Open.path(), "| BASE-2 | This comes with the gateway. |\n");
        assert_eq!(standings(&[BASE, cited, never]), [Standing::Cited, Standing::NotApplicable]);
        assert_eq!(standings(&[BASE, open]), [Standing::Uncovered, Standing::Open]);
    }

    #[test]
    fn an_unknown_id_is_found_where_it_is_cited() {
        let tree = Tree::of(&[BASE, ("a.rs", "fn f() {}\n// spec: BASE-1, BASE-9\n")]);
        assert_eq!(places(&Ledger::read(&tree).1), [(2, "a.rs")]);
    }

    #[test]
    fn an_unknown_id_is_found_where_it_is_excused() {
        for path in Kind::ALL.map(Kind::path) {
            let tree = Tree::of(&[BASE, (path, "| BASE-9 | This cannot be tested at all. |\n")]);
            assert_eq!(places(&Ledger::read(&tree).1), [(1, path)]);
        }
    }

    #[test]
    fn a_cited_requirement_needs_no_excuse() {
        for path in Kind::ALL.map(Kind::path) {
            let excuse = (path, "| BASE-1 | This cannot be tested at all. |\n");
            let tree = Tree::of(&[BASE, excuse, ("a.rs", "// spec: BASE-1\n")]);
            assert_eq!(places(&Ledger::read(&tree).1), [(1, path)]);
        }
    }
}
