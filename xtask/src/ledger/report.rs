//! The ledger as text.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};

use super::requirement::{AREAS, Level, Requirement};
use super::{Ledger, Standing};

/// How many requirements are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    cited: usize,
    not_applicable: usize,
    open: usize,
    uncovered: usize,
}

impl Tally {
    pub(super) fn of<'a>(ledger: &Ledger, rows: impl Iterator<Item = &'a Requirement>) -> Self {
        let mut tally = Self::default();
        for row in rows {
            match ledger.standing(row) {
                Standing::Cited => tally.cited += 1,
                Standing::NotApplicable => tally.not_applicable += 1,
                Standing::Open => tally.open += 1,
                Standing::Uncovered => tally.uncovered += 1,
            }
        }
        tally
    }

    /// How many are cited or not applicable. Open ones do not count.
    pub(super) fn covered(self) -> usize {
        self.cited + self.not_applicable
    }

    fn total(self) -> usize {
        self.covered() + self.open + self.uncovered
    }
}

/// A line per area and per section, and one for all.
pub(super) fn totals(ledger: &Ledger) -> String {
    let mut text = heading();
    for &area in AREAS {
        let rows = rows_of(ledger, area);
        text.push_str(&line(ledger, area, &rows));
        for section in rows.chunk_by(|one, next| one.section == next.section) {
            let name = section.first().map_or("", |row| &row.section);
            text.push_str(&line(ledger, &format!("  {name}"), section));
        }
    }
    text + &all(ledger)
}

/// A line per area, and one for all.
pub(super) fn areas(ledger: &Ledger) -> String {
    let lines = AREAS.iter().map(|area| line(ledger, area, &rows_of(ledger, area)));
    heading() + &lines.collect::<String>() + &all(ledger)
}

/// The open and uncovered requirements of an area, with their text and the part that they wait for.
pub(super) fn open(ledger: &Ledger, area: &str) -> Result<String> {
    ensure!(AREAS.contains(&area), "`{area}` is no area; there are {}", AREAS.join(", "));
    let mut text = String::new();
    let mut section = "";
    let is_open =
        |row: &&Requirement| matches!(ledger.standing(row), Standing::Open | Standing::Uncovered);
    let binding = rows_of(ledger, area).into_iter().filter(|row| row.level != Level::May);
    for row in binding.filter(is_open) {
        if row.section != section {
            section = &row.section;
            let _ = writeln!(text, "{section}");
        }
        let _ = writeln!(text, "  {}", describe(row));
        if let Some(excuse) = ledger.excuse_of(&row.id) {
            let _ = writeln!(text, "    open: {}", excuse.reason);
        }
    }
    Ok(text)
}

/// The MUST requirements that a single test cites, each with its place.
pub(super) fn thin(ledger: &Ledger) -> String {
    let mut text = String::new();
    for row in ledger.requirements.iter().filter(|row| row.level == Level::Must) {
        let mut citations = ledger.citations_of(&row.id);
        if let (Some(only), None) = (citations.next(), citations.next()) {
            let _ = writeln!(text, "{}\n  {}:{}", describe(row), only.path, only.line);
        }
    }
    text
}

/// One requirement, and the tests that cite it.
pub(super) fn one(ledger: &Ledger, id: &str) -> Result<String> {
    let row = ledger.find(id).with_context(|| format!("`{id}` is no requirement of docs/spec"))?;
    let mut text = format!("{}\n{}, {}\n", describe(row), row.area, row.section);
    let reason = ledger.excuse_of(id).map_or("", |excuse| &excuse.reason);
    let _ = match ledger.standing(row) {
        Standing::Cited => Ok(()),
        Standing::NotApplicable => writeln!(text, "not applicable: {reason}"),
        Standing::Open => writeln!(text, "open: {reason}"),
        Standing::Uncovered => writeln!(text, "uncovered"),
    };
    for citation in ledger.citations_of(id) {
        let _ = writeln!(text, "cited in {}:{}", citation.path, citation.line);
    }
    Ok(text)
}

fn describe(row: &Requirement) -> String {
    let Requirement { id, strength, who, revisions, text, .. } = row;
    format!("{id} {strength} ({who}; {revisions}) {text}")
}

fn heading() -> String {
    let half = |level: &str| {
        format!("{level:>8} {:>5} {:>5} {:>5} {:>9}", "cited", "never", "open", "uncovered")
    };
    format!("{:<62}{}{}\n", "", half("MUST"), half("SHOULD"))
}

fn all(ledger: &Ledger) -> String {
    line(ledger, "all", &ledger.requirements.iter().collect::<Vec<_>>())
}

fn line(ledger: &Ledger, name: &str, rows: &[&Requirement]) -> String {
    let half = |level: Level| {
        let tally = Tally::of(ledger, rows.iter().copied().filter(|row| row.level == level));
        let Tally { cited, not_applicable: never, open, uncovered } = tally;
        format!("{:>8} {cited:>5} {never:>5} {open:>5} {uncovered:>9}", tally.total())
    };
    let name: String = name.chars().take(60).collect();
    format!("{name:<62}{}{}\n", half(Level::Must), half(Level::Should))
}

fn rows_of<'a>(ledger: &'a Ledger, area: &str) -> Vec<&'a Requirement> {
    ledger.requirements.iter().filter(|row| row.area == area).collect()
}

#[cfg(test)]
mod tests {
    use super::super::excuse::Kind;
    use super::*;
    use crate::tree::Tree;

    fn ledger() -> Ledger {
        let rows = "## 1. Scope\n| BASE-1 | MUST | both | 24 | One. |\n\
                    | BASE-2 | MUST NOT | host | 24 | Two. |\n## 2. More\n\
                    | BASE-3 | SHOULD | both | 24 03 | Three. |\n| BASE-4 | MAY | both | 24 | Four. |\n\
                    | BASE-5 | MUST | both | 24 | Five. |\n";
        let tree = Tree::of(&[
            ("docs/spec/base.md", rows),
            (Kind::Never.path(), "| BASE-2 | Only a host can show a page. |\n"),
            (Kind::Open.path(), "| BASE-5 | This comes with the gateway. |\n"),
            ("a/tests/b.rs", "// spec: BASE-1\n"),
        ]);
        Ledger::read(&tree).0
    }

    #[test]
    fn figures_are_given_per_area_and_section() {
        let totals = totals(&ledger());
        let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = totals.lines().map(squeezed).take(4).collect();
        let expected = [
            "MUST cited never open uncovered SHOULD cited never open uncovered",
            "base 3 1 1 1 0 1 0 0 0 1",
            "1. Scope 2 1 1 0 0 0 0 0 0 0",
            "2. More 1 0 0 1 0 1 0 0 0 1",
        ];
        assert_eq!(lines, expected);
        assert_eq!(squeezed(totals.lines().last().unwrap()), "all 3 1 1 1 0 1 0 0 0 1");
        assert_eq!(areas(&ledger()).lines().count(), AREAS.len() + 2);
    }

    #[test]
    fn what_is_open_is_listed_with_its_text() {
        let expected = "2. More\n  BASE-3 SHOULD (both; 24 03) Three.\n  \
                        BASE-5 MUST (both; 24) Five.\n    open: This comes with the gateway.\n";
        assert_eq!(open(&ledger(), "base").unwrap(), expected);
        assert!(open(&ledger(), "bass").is_err());
    }

    #[test]
    fn one_requirement_tells_who_cites_it() {
        let cited = "BASE-1 MUST (both; 24) One.\nbase, 1. Scope\ncited in a/tests/b.rs:1\n";
        assert_eq!(one(&ledger(), "BASE-1").unwrap(), cited);
        let excused = one(&ledger(), "BASE-2").unwrap();
        assert!(excused.starts_with("BASE-2 MUST NOT (host; 24) Two.\n"), "{excused}");
        assert!(excused.ends_with("not applicable: Only a host can show a page.\n"), "{excused}");
        let open = one(&ledger(), "BASE-5").unwrap();
        assert!(open.ends_with("\nopen: This comes with the gateway.\n"), "{open}");
        assert!(one(&ledger(), "BASE-3").unwrap().ends_with("\nuncovered\n"));
        assert!(one(&ledger(), "BASE-9").is_err());
    }

    #[test]
    fn a_requirement_with_one_citation_is_thin() {
        assert_eq!(thin(&ledger()), "BASE-1 MUST (both; 24) One.\n  a/tests/b.rs:1\n");
        let rows = ("docs/spec/base.md", "| BASE-1 | MUST | both | 24 | One. |\n");
        let twice = Tree::of(&[rows, ("a.rs", "// spec: BASE-1\n// spec: BASE-1\n")]);
        assert_eq!(thin(&Ledger::read(&twice).0), "");
    }
}
