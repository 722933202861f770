//! The committed figures, a table in Markdown.

use anyhow::{Result, bail, ensure};

use super::count::Count;
use crate::markdown::cells;

pub(super) const PATH: &str = "docs/performance/budget.md";

const INTRODUCTION: &str = "\
# Budget

How many instructions each of the hot paths (`tests/hot-paths`) takes, as callgrind counts them.
`cargo xtask budget` fails when one takes over 10 % more; `cargo xtask budget --write` writes
today's figures.
";

const HEAD: &str = "| Case | Instructions | What it does |\n|---|---:|---|\n";

/// The contents of `docs/performance/budget.md`.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Row>,
}

/// The instructions that one case may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) case: String,
    pub(super) instructions: u64,
    /// The line of its row.
    pub(super) line: usize,
}

impl Table {
    /// Reads the file.
    ///
    /// # Errors
    ///
    /// If a row does not begin with a case and a number, or names a case twice.
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut rows: Vec<Row> = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let Some(cells) = cells(text).filter(|_| !HEAD.lines().any(|head| head == text)) else {
                continue;
            };
            let line = index + 1;
            let [case, instructions, _] = cells[..] else {
                bail!("{PATH}:{line}: `{text}` has not three cells: case, instructions, what");
            };
            let Some(instructions) = instructions.parse().ok().filter(|count| *count > 0) else {
                bail!(
                    "{PATH}:{line}: `{instructions}`, the budget of `{case}`, is no positive number"
                );
            };
            let is_new = rows.iter().all(|row| row.case != case);
            ensure!(is_new, "{PATH}:{line}: `{case}` has a row already");
            rows.push(Row { case: case.to_owned(), instructions, line });
        }
        Ok(Self { rows })
    }

    /// These counts as the budget.
    pub(super) fn of(counts: &[Count]) -> String {
        let row = |Count { case, instructions }: &Count| {
            format!("| {} | {instructions} | {} |\n", case.name, case.what)
        };
        format!("{INTRODUCTION}\n{HEAD}{}", counts.iter().map(row).collect::<String>())
    }

    /// Checks that there is a row for every case, and none for anything else.
    pub(super) fn check_cases(&self, cases: &[&str]) -> Result<()> {
        for case in cases {
            ensure!(
                self.row(case).is_some(),
                "{PATH}: the case `{case}` has no row; `cargo xtask budget --write` adds it"
            );
        }
        for Row { case, line, .. } in &self.rows {
            ensure!(
                cases.contains(&case.as_str()),
                "{PATH}:{line}: there is no case `{case}`; remove the row"
            );
        }
        Ok(())
    }

    pub(super) fn row(&self, case: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.case == case)
    }
}

#[cfg(test)]
mod tests {
    use super::super::count::Case;
    use super::*;

    fn read(rows: &str) -> Result<Table> {
        Table::read(&format!("# Budget\n\n{HEAD}{rows}"))
    }

    fn complaint(rows: &str) -> String {
        read(rows).unwrap_err().to_string()
    }

    #[test]
    fn what_is_written_is_read_back() {
        let case = Case { name: "frame".to_owned(), what: "reads a call".to_owned() };
        let table = Table::read(&Table::of(&[Count { case, instructions: 1234 }])).unwrap();
        assert_eq!(table.row("frame").map(|row| row.instructions), Some(1234));
        assert_eq!(table.rows.len(), 1);
    }

    #[test]
    fn a_row_that_is_cut_short_is_named() {
        let expected = "docs/performance/budget.md:5: `| frame | 12 |` has not three cells: case, \
                        instructions, what";
        assert_eq!(complaint("| frame | 12 |\n"), expected);
    }

    #[test]
    fn a_budget_that_is_no_number_is_named() {
        let expected =
            "docs/performance/budget.md:5: `few`, the budget of `frame`, is no positive number";
        assert_eq!(complaint("| frame | few | reads |\n"), expected);
        assert!(complaint("| frame | 0 | reads |\n").ends_with("is no positive number"));
    }

    #[test]
    fn a_second_row_for_a_case_is_named() {
        let expected = "docs/performance/budget.md:6: `frame` has a row already";
        assert_eq!(complaint("| frame | 12 | reads |\n| frame | 13 | reads |\n"), expected);
    }

    #[test]
    fn a_case_without_row_is_named() {
        let table = read("| frame | 12 | reads |\n").unwrap();
        let error = table.check_cases(&["frame", "router"]).unwrap_err().to_string();
        let expected = "docs/performance/budget.md: the case `router` has no row; ";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_row_without_case_is_named() {
        let table = read("| frame | 12 | reads |\n| gone | 13 | was |\n").unwrap();
        let error = table.check_cases(&["frame"]).unwrap_err().to_string();
        assert_eq!(error, "docs/performance/budget.md:6: there is no case `gone`; remove the row");
    }
}
