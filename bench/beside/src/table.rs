//! Tables in Markdown.

use std::fmt;
use std::time::Duration;

pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        let rule = heads.iter().map(|_| "---".to_owned()).collect();
        Self { rows: vec![heads.iter().map(ToString::to_string).collect(), rule] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.iter().try_for_each(|row| writeln!(f, "| {} |", row.join(" | ")))
    }
}

pub(crate) fn milliseconds(time: Duration) -> String {
    let milliseconds = time.as_secs_f64() * 1e3;
    if milliseconds < 10.0 {
        format!("{milliseconds:.1} ms")
    } else {
        format!("{milliseconds:.0} ms")
    }
}

pub(crate) fn megabytes(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}
