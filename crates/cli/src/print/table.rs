//! Rows of a name and a text, aligned, and wrapped at the width of the terminal.

use console::{Term, measure_text_width};

use super::{BOLD, clean};

/// The widest that a name may be before its text begins on the next line.
const WIDEST_NAME: usize = 34;
/// The narrowest that the texts may be.
const NARROWEST_TEXT: usize = 20;
/// The width where standard output is no terminal.
const PLAIN_WIDTH: usize = 100;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: String,
    rows: Vec<(String, String)>,
}

impl Table {
    pub(crate) fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), rows: Vec::new() }
    }

    /// Adds a row: a name, and a text of which the first paragraph is shown.
    pub(crate) fn row(&mut self, name: &str, text: &str) {
        let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        self.rows.push((clean(name).into_owned(), clean(&words.join(" ")).into_owned()));
    }

    /// The table as text.
    pub(crate) fn render(&self, width: usize) -> String {
        let mut out = format!("{BOLD}{}{BOLD:#}\n", clean(&self.heading));
        let names = self.rows.iter().map(|(name, _)| measure_text_width(name));
        let column = names.filter(|width| *width <= WIDEST_NAME).max().unwrap_or(0);
        let column = column.min(width / 2).min(width.saturating_sub(4 + NARROWEST_TEXT));
        for (name, text) in &self.rows {
            out.push_str(&row(name, text, column, width));
        }
        out
    }
}

fn row(name: &str, text: &str, column: usize, width: usize) -> String {
    if text.is_empty() {
        return format!("  {name}\n");
    }
    let indent = " ".repeat(column + 4);
    let lines = wrap(text, width.saturating_sub(indent.len()).max(NARROWEST_TEXT));
    let used = measure_text_width(name);
    let first = match column.checked_sub(used) {
        Some(gap) => format!("  {name}{}", " ".repeat(gap + 2)),
        None => format!("  {name}\n{indent}"),
    };
    format!("{first}{}\n", lines.join(&format!("\n{indent}")))
}

/// Breaks a text between words; a word that is too long has a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if measure_text_width(line) + 1 + measure_text_width(word) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The width of the output.
pub(crate) fn width() -> usize {
    let columns = Term::stdout().size_checked().map(|(_, columns)| usize::from(columns));
    columns.unwrap_or(PLAIN_WIDTH).clamp(40, 120)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_aligned_and_wrapped() {
        let mut table = Table::new("tools");
        table.row("add", "Adds two numbers,\nof any size\n\nMore of it.");
        table.row("subtract", "");
        let shown = anstream::adapter::strip_str(&table.render(40)).to_string();
        assert_eq!(
            shown,
            "tools\n  add       Adds two numbers, of any\n            size\n  subtract\n"
        );
    }

    #[test]
    fn a_narrow_table_is_no_wider_than_asked() {
        let mut table = Table::new("tools");
        table.row("a_name_of_width_20__", "Gives a message back as it came");
        let shown = anstream::adapter::strip_str(&table.render(40)).to_string();
        assert!(shown.lines().all(|line| line.len() <= 40), "{shown}");
    }

    #[test]
    fn a_long_name_has_a_line_of_its_own() {
        let mut table = Table::new("tools");
        table.row(&"x".repeat(50), "text");
        table.row("y", "text");
        let shown = anstream::adapter::strip_str(&table.render(80)).to_string();
        assert_eq!(shown, format!("tools\n  {}\n     text\n  y  text\n", "x".repeat(50)));
    }
}
