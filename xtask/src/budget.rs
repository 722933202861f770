//! How many instructions the hot paths take, compared with their budget.
//!
//! Times depend on the machine and its load; the number of instructions hardly does. So a slow-down
//! shows in the change that causes it. The cases are in `tests/hot-paths`, the figures in
//! `docs/performance/budget.md`.

mod count;
mod table;

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::finding::{Finding, report};
use crate::tree::root;
use count::{Count, Program};
use table::{PATH, Row, Table};

/// By how much a count may differ from its budget, in hundredths: hashes are seeded at random, and
/// compilers differ a little.
const TOLERANCE: u64 = 10;

/// Runs `cargo xtask budget`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let file = root().join(PATH);
    match options {
        [] => {
            let text = fs::read_to_string(&file)
                .with_context(|| format!("cannot read {PATH}; `cargo xtask budget --write`"))?;
            let program = Program::build()?;
            // First, because counting takes longer.
            let table = Table::read(&text)?;
            let names: Vec<&str> = program.cases().iter().map(|case| case.name.as_str()).collect();
            table.check_cases(&names)?;
            compare(&table, &program.count()?)
        }
        ["--write"] => {
            let counts = Program::build()?.count()?;
            fs::write(&file, Table::of(&counts)).with_context(|| format!("cannot write {PATH}"))?;
            println!("{} figures written to {PATH}", counts.len());
            Ok(())
        }
        _ => bail!("`{}` is no option of budget; see `cargo xtask help`", options.join(" ")),
    }
}

/// Prints all counts beside their budgets, and fails if one is too high.
fn compare(table: &Table, counts: &[Count]) -> Result<()> {
    let mut findings = Vec::new();
    for count in counts {
        let row = table.row(&count.case.name).context("every case has a row")?;
        println!("{:<16}{:>10} of {:>9}", row.case, count.instructions, row.instructions);
        match Verdict::of(count.instructions, row) {
            Verdict::Within => {}
            Verdict::Below(hint) => println!("  hint: {hint}"),
            Verdict::Above(finding) => findings.push(finding),
        }
    }
    report(&findings)
}

/// How a count compares with its budget.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Within,
    /// So far below that a later slow-down up to the budget would go unnoticed.
    Below(String),
    Above(Finding),
}

impl Verdict {
    fn of(count: u64, row: &Row) -> Self {
        let Row { case, instructions: budget, line } = row;
        let percent = |difference: u64| difference * 100 / budget;
        let (above, below) = (count.saturating_sub(*budget), budget.saturating_sub(count));
        let is_beyond = |difference: u64| difference * 100 > budget * TOLERANCE;
        if is_beyond(above) {
            let percent = percent(above);
            let text = format!(
                "`{case}` takes {count} instructions, {percent} % more than its budget of {budget}; \
                 see `callgrind_annotate target/callgrind/{case}.out` for where they go, or, if \
                 they are worth it, `cargo xtask budget --write` and say why in the commit"
            );
            Self::Above(Finding::new(PATH, *line, text))
        } else if is_beyond(below) {
            let percent = percent(below);
            Self::Below(format!(
                "`{case}` takes {count} instructions, {percent} % fewer than its budget of \
                 {budget}; lower it by `cargo xtask budget --write`"
            ))
        } else {
            Self::Within
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(instructions: u64) -> Row {
        Row { case: "frame".to_owned(), instructions, line: 9 }
    }

    #[test]
    fn a_tenth_in_either_direction_is_within() {
        for count in [900, 1000, 1100] {
            assert_eq!(Verdict::of(count, &row(1000)), Verdict::Within, "{count}");
        }
    }

    #[test]
    fn more_than_a_tenth_above_is_a_finding_with_the_figures() {
        let Verdict::Above(finding) = Verdict::of(1101, &row(1000)) else { panic!("it passes") };
        let expected = "docs/performance/budget.md:9: `frame` takes 1101 instructions, 10 % more \
                        than its budget of 1000; ";
        assert!(finding.to_string().starts_with(expected), "{finding}");
    }

    #[test]
    fn more_than_a_tenth_below_is_a_hint_with_the_figures() {
        let Verdict::Below(hint) = Verdict::of(500, &row(1000)) else { panic!("no hint") };
        let expected = "`frame` takes 500 instructions, 50 % fewer than its budget of 1000; ";
        assert!(hint.starts_with(expected), "{hint}");
    }
}
