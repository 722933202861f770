//! Rows of a name and a text, aligned, and wrapped at the width of the terminal.

use console::Term;

use super::{BOLD, TerminalText, line, paragraph};

/// The widest that a name may be before its text begins on the next line.
const WIDEST_NAME: usize = 34;
/// The narrowest that the texts may be.
const NARROWEST_TEXT: usize = 20;
/// The width where standard output is no terminal.
const PLAIN_WIDTH: usize = 100;

/// Rows under a heading.
#[derive(Debug)]
pub(crate) struct Table {
    heading: TerminalText,
    rows: Vec<(TerminalText, TerminalText)>,
}

impl Table {
    pub(crate) fn new(heading: TerminalText) -> Self {
        Self { heading, rows: Vec::new() }
    }

    /// Adds a row: a name, and a text of which the first paragraph is shown. Both may come from
    /// outside.
    pub(crate) fn row(&mut self, name: &str, text: &str) {
        let first = text.trim().split("\n\n").next().unwrap_or_default();
        self.rows.push((line(name), paragraph(first)));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text.
    pub(crate) fn render(&self, width: usize) -> TerminalText {
        let mut out = BOLD.on(&self.heading) + "\n";
        let names = self.rows.iter().map(|(name, _)| name.width());
        let column = names.filter(|width| *width <= WIDEST_NAME).max().unwrap_or(0);
        let column = column.min(width / 2).min(width.saturating_sub(4 + NARROWEST_TEXT));
        for (name, text) in &self.rows {
            out += row(name, text, column, width);
        }
        out
    }
}

fn row(name: &TerminalText, text: &TerminalText, column: usize, width: usize) -> TerminalText {
    let first = TerminalText::from("  ") + hanging(name, width.saturating_sub(6), 6);
    if text.is_empty() {
        return first + "\n";
    }
    let indent = column + 4;
    let room = width.saturating_sub(indent).max(NARROWEST_TEXT);
    let first = match column.checked_sub(name.width()) {
        Some(gap) => first + TerminalText::spaces(gap + 2),
        None => first + "\n" + TerminalText::spaces(indent),
    };
    first + hanging(text, room, indent) + "\n"
}

/// Breaks a text between words, and indents every line but the first.
pub(crate) fn hanging(text: &TerminalText, width: usize, indent: usize) -> TerminalText {
    let mut lines = wrap(text, width).into_iter();
    let first = lines.next().unwrap_or_default();
    lines.fold(first, |out, line| out + "\n" + TerminalText::spaces(indent) + line)
}

/// Breaks the lines of a text between words; a word that is too long has a line of its own.
pub(crate) fn wrap(text: &TerminalText, width: usize) -> Vec<TerminalText> {
    text.lines().flat_map(|line| filled(&line, width)).collect()
}

/// Breaks a line between words; the parts keep its indentation, as a traceback has it.
fn filled(line: &TerminalText, width: usize) -> Vec<TerminalText> {
    let text = line.as_str();
    let indent = (text.len() - text.trim_start().len()).min(width / 2);
    let mut lines: Vec<TerminalText> = Vec::new();
    for word in line.words() {
        for (index, part) in word.parts().into_iter().enumerate() {
            let gap = usize::from(index == 0);
            match lines.last_mut() {
                Some(line) if line.width() + gap + part.width() <= width => {
                    *line += TerminalText::spaces(gap);
                    *line += part;
                }
                _ => lines.push(TerminalText::spaces(indent) + part),
            }
        }
    }
    if lines.is_empty() { vec![TerminalText::default()] } else { lines }
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
        let mut table = Table::new("tools".into());
        table.row("add", "Adds two numbers,\nof any size\n\nMore of it.");
        table.row("subtract", "");
        let shown = anstream::adapter::strip_str(table.render(40).as_str()).to_string();
        assert_eq!(
            shown,
            "tools\n  add       Adds two numbers, of any\n            size\n  subtract\n"
        );
    }

    #[test]
    fn a_narrow_table_is_no_wider_than_asked() {
        let mut table = Table::new("tools".into());
        table.row("a_name_of_width_20__", "Gives a message back as it came");
        let shown = anstream::adapter::strip_str(table.render(40).as_str()).to_string();
        assert!(shown.lines().all(|line| line.len() <= 40), "{shown}");
    }

    #[test]
    fn a_long_signature_is_broken_between_its_words() {
        let mut table = Table::new("tools".into());
        table.row("search(query: string, limit?: integer, language?: string)", "Searches.");
        let shown = anstream::adapter::strip_str(table.render(40).as_str()).to_string();
        let expected = "tools\n  search(query: string, limit?:\n      integer, language?: string)\n    \
                        Searches.\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn text_without_spaces_between_words_is_wrapped() {
        let mut table = Table::new("tools".into());
        table.row("搜索", &"在知识库中搜索文档，并返回结果。".repeat(4));
        let shown = anstream::adapter::strip_str(table.render(40).as_str()).to_string();
        assert!(shown.lines().count() > 4, "{shown}");
        for line in shown.lines() {
            assert!(console::measure_text_width(line) <= 40, "{shown}");
            assert!(!line.trim_start().starts_with(['，', '。']), "{shown}");
        }
    }

    #[test]
    fn a_long_name_has_a_line_of_its_own() {
        let mut table = Table::new("tools".into());
        table.row(&"x".repeat(50), "text");
        table.row("y", "text");
        let shown = anstream::adapter::strip_str(table.render(80).as_str()).to_string();
        assert_eq!(shown, format!("tools\n  {}\n     text\n  y  text\n", "x".repeat(50)));
    }
}
