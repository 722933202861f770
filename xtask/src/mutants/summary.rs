//! How the mutants of each area ended, as a table.

use std::fmt;

use super::area::is_within;
use super::mutant::Mutant;

/// How a mutant ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The compiler refuses it.
    Unviable,
    Caught,
    Timeout,
    Excused,
    Missed,
}

/// The ends of all mutants that were tried, area by area.
pub(super) struct Summary<'a>(Vec<Row<'a>>);

struct Row<'a> {
    area: &'a str,
    ends: [usize; 5],
}

impl<'a> Summary<'a> {
    pub(super) fn new(areas: &[&'a str]) -> Self {
        Self(areas.iter().map(|area| Row { area, ends: [0; 5] }).collect())
    }

    /// Counts a mutant in the first of the areas that it is in.
    pub(super) fn count(&mut self, mutant: &Mutant, end: End) {
        if let Some(row) = self.0.iter_mut().find(|row| is_within(&mutant.file, row.area)) {
            row.ends[end as usize] += 1;
        }
    }
}

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| area | tried | caught | timed out | excused | missed | do not compile |")?;
        writeln!(f, "|---|---:|---:|---:|---:|---:|---:|")?;
        for Row { area, ends: [unviable, caught, timeout, excused, missed] } in &self.0 {
            let tried = caught + timeout + excused + missed;
            writeln!(
                f,
                "| {area} | {tried} | {caught} | {timeout} | {excused} | {missed} | {unviable} |"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    #[test]
    fn each_area_has_a_row_with_its_own_mutants() {
        let mut summary = Summary::new(&["a/src/b", "a/src"]);
        for (file, end) in [
            ("crates/a/src/b.rs", End::Caught),
            ("crates/a/src/b/c.rs", End::Missed),
            ("crates/a/src/d.rs", End::Unviable),
            ("crates/a/src/d.rs", End::Timeout),
        ] {
            summary.count(&find::mutants(file, "fn f() { a(); }").unwrap()[0], end);
        }
        let text = summary.to_string();
        let rows: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            rows,
            ["| a/src/b | 2 | 1 | 0 | 0 | 1 | 0 |", "| a/src | 1 | 0 | 1 | 0 | 0 | 1 |"]
        );
    }
}
