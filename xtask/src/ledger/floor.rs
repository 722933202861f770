//! The number of MUST requirements covered per area, which may only rise.

use std::fmt;

use anyhow::{Context as _, Result};

use crate::finding::Finding;
use crate::markdown::cells;
use crate::tree::Tree;

use super::Ledger;
use super::report::Tally;
use super::requirement::{AREAS, Level};

pub(super) const PATH: &str = "docs/spec/floor.md";

/// An area, the figure that it must not fall below, and the line of its row.
struct Mark {
    area: String,
    covered: usize,
    line: usize,
}

/// The contents of `docs/spec/floor.md`.
pub(super) struct Floor {
    marks: Vec<Mark>,
}

impl Floor {
    /// Reads the file; without one the floor is zero.
    pub(super) fn read(tree: &Tree) -> Result<Self> {
        let mut marks = Vec::new();
        let text = tree.file(PATH).map_or("", |file| &file.text);
        for (index, line) in text.lines().enumerate() {
            let Some(cells) = cells(line) else { continue };
            let [area, covered] = cells[..] else { continue };
            if !AREAS.contains(&area) {
                continue;
            }
            let line = index + 1;
            let covered = covered.parse().with_context(|| {
                format!("{PATH}:{line}: `{covered}` is no number; run `cargo xtask ledger --raise`")
            })?;
            marks.push(Mark { area: area.to_owned(), covered, line });
        }
        Ok(Self { marks })
    }

    /// Today's figures where they are higher, the old ones elsewhere.
    pub(super) fn raised(&self, ledger: &Ledger) -> Self {
        let marks = AREAS.iter().map(|&area| {
            let covered = covered(ledger, area).max(self.of(area));
            Mark { area: area.to_owned(), covered, line: 0 }
        });
        Self { marks: marks.collect() }
    }

    /// The areas that fell below their figure.
    pub(super) fn breaches(&self, ledger: &Ledger) -> Vec<Finding> {
        let fallen = self.marks.iter().filter(|mark| covered(ledger, &mark.area) < mark.covered);
        fallen
            .map(|Mark { area, covered: floor, line }| {
                let today = covered(ledger, area);
                let text = format!(
                    "{area}: {today} MUST requirements are covered, down from {floor}; \
                     bring back the tests or their citations"
                );
                Finding::new(PATH, *line, text)
            })
            .collect()
    }

    /// Whether the floor could be raised.
    pub(super) fn is_below(&self, ledger: &Ledger) -> bool {
        AREAS.iter().any(|area| self.of(area) < covered(ledger, area))
    }

    fn of(&self, area: &str) -> usize {
        self.marks.iter().find(|mark| mark.area == area).map_or(0, |mark| mark.covered)
    }
}

/// The file as it is written.
impl fmt::Display for Floor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Floor\n")?;
        writeln!(
            f,
            "How many MUST and MUST NOT requirements of each area are covered: cited by a test"
        )?;
        writeln!(
            f,
            "or not applicable; what is open does not count. `cargo xtask ledger --check` fails"
        )?;
        writeln!(
            f,
            "below these figures; `cargo xtask ledger --raise` writes today's, if they are higher.\n"
        )?;
        writeln!(f, "| Area | MUST covered |\n|---|---|")?;
        for Mark { area, covered, .. } in &self.marks {
            writeln!(f, "| {area} | {covered} |")?;
        }
        Ok(())
    }
}

fn covered(ledger: &Ledger, area: &str) -> usize {
    let rows = ledger.requirements.iter().filter(|row| row.area == area);
    Tally::of(ledger, rows.filter(|row| row.level == Level::Must)).covered()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const ROWS: &str =
        "| BASE-1 | MUST | both | 24 | One. |\n| BASE-2 | MUST | both | 24 | Two. |\n";

    fn tree(floor: &str, cited: &str) -> Tree {
        Tree::of(&[("docs/spec/base.md", ROWS), (PATH, floor), ("a.rs", cited)])
    }

    #[test]
    fn falling_below_is_found() {
        let tree = tree("| Area | MUST covered |\n|---|---|\n| base | 2 |\n", "// spec: BASE-1\n");
        let (ledger, _) = Ledger::read(&tree);
        assert_eq!(places(&Floor::read(&tree).unwrap().breaches(&ledger)), [(3, PATH)]);
    }

    #[test]
    fn raising_writes_what_is_read_back() {
        let tree = tree("| base | 0 |\n", "// spec: BASE-1\n");
        let (ledger, _) = Ledger::read(&tree);
        let floor = Floor::read(&tree).unwrap();
        assert!(floor.is_below(&ledger));
        let written = floor.raised(&ledger).to_string();
        let floor = Floor::read(&Tree::of(&[(PATH, &written)])).unwrap();
        assert_eq!(floor.of("base"), 1);
        assert!(!floor.is_below(&ledger));
    }

    #[test]
    fn raising_never_lowers() {
        let tree = tree("| base | 2 |\n", "// spec: BASE-1\n");
        let (ledger, _) = Ledger::read(&tree);
        assert_eq!(Floor::read(&tree).unwrap().raised(&ledger).of("base"), 2);
    }

    #[test]
    fn a_figure_that_is_no_number_is_named() {
        let error = Floor::read(&tree("| base | many |\n", "")).err().unwrap();
        assert!(error.to_string().starts_with("docs/spec/floor.md:1: `many` is no number"));
    }
}
