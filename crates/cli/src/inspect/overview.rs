//! The table of all servers, as text.

use bowline_types::text::counted;

use super::Authorization;
use super::all::{Overview, Row};
use crate::print::table::hanging;
use crate::print::{self, BOLD, TerminalText, WARNING, text};

/// Notes stand below the line of their server.
const HEADINGS: [&str; 8] =
    ["server", "source", "era", "auth", "tools", "tokens", "start", "running"];
/// The first column of figures, which stand to the right.
const FIGURES: usize = 4;
/// What a cell shows that has nothing to show.
const NOTHING: &str = "–";

impl Overview {
    /// The table for people. Where it is wider than the terminal, every server gets a paragraph.
    pub(crate) fn shown(&self, width: usize) -> TerminalText {
        let mut out = match self.servers.is_empty() {
            true => "No configuration file names a server.\n\
                     Try `bowline demo`, or `bowline inspect -- COMMAND`.\n"
                .into(),
            false => self.table(width) + self.sum(width),
        };
        for problem in &self.problems {
            let text = WARNING.on("problem:") + " " + print::paragraph(problem);
            out += hanging(&text, width.saturating_sub(2), 2) + "\n";
        }
        out
    }

    fn table(&self, width: usize) -> TerminalText {
        let rows: Vec<[TerminalText; 8]> = self.servers.iter().map(cells).collect();
        let mut widths = HEADINGS.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let fits = widths.iter().sum::<usize>() + 2 * (widths.len() - 1) <= width;
        let mut out = TerminalText::default();
        if fits {
            out = BOLD.on(line(&HEADINGS.map(TerminalText::from), &widths)) + "\n";
        }
        for (cells, row) in rows.iter().zip(&self.servers) {
            match fits {
                true => out += line(cells, &widths) + "\n",
                false => out += paragraph(cells, width),
            }
            for note in &row.notes {
                out += indented(&print::lines(note), width);
            }
        }
        out
    }

    /// What all servers cost together.
    fn sum(&self, width: usize) -> TerminalText {
        let answered = self.servers.iter().filter(|row| row.revision.is_some()).count();
        let tools = self.servers.iter().filter_map(|row| row.tools).sum();
        let tokens = self.servers.iter().filter_map(|row| row.tokens_estimated).sum();
        let text = text!(
            "{answered} of {} answered, with {}: about {} for a model.",
            counted(self.servers.len(), "server"),
            counted(tools, "tool"),
            counted(tokens, "token"),
        );
        TerminalText::from("\n") + hanging(&text, width, 0) + "\n"
    }
}

fn cells(row: &Row) -> [TerminalText; 8] {
    let number = |number: Option<usize>| number.map_or_else(nothing, |it| text!("{it}"));
    [
        print::line(&row.name),
        row.source.into(),
        row.revision.as_ref().map_or_else(nothing, print::line),
        authorization(row.authorization).into(),
        number(row.tools),
        number(row.tokens_estimated),
        row.start_milliseconds.map_or_else(nothing, |it| text!("{it} ms")),
        number(row.processes),
    ]
}

fn nothing() -> TerminalText {
    NOTHING.into()
}

fn authorization(state: Authorization) -> &'static str {
    match state {
        Authorization::Local => NOTHING,
        Authorization::Unknown => "?",
        Authorization::NotNeeded => "none",
        Authorization::Accepted => "ok",
        Authorization::Needed => "login",
    }
}

/// Names to the left, figures to the right.
fn line(cells: &[TerminalText; 8], widths: &[usize; 8]) -> TerminalText {
    let mut out = TerminalText::default();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let gap = TerminalText::spaces(width.saturating_sub(cell.width()));
        let is_last = index + 1 == cells.len();
        out += match index >= FIGURES {
            true => gap + cell,
            false => cell.clone() + gap,
        };
        out += if is_last { "" } else { "  " };
    }
    out
}

/// A server without columns: its name, then everything that is known of it.
fn paragraph(cells: &[TerminalText; 8], width: usize) -> TerminalText {
    let known = HEADINGS.into_iter().zip(cells).skip(1);
    let known = known.filter(|(_, cell)| cell.as_str() != NOTHING);
    let known = known.map(|(heading, cell)| match heading {
        "source" => cell.clone(),
        heading => TerminalText::from(heading) + " " + cell,
    });
    BOLD.on(&cells[0]) + "\n" + indented(&TerminalText::joined(known, ", "), width)
}

fn indented(text: &TerminalText, width: usize) -> TerminalText {
    TerminalText::from("  ") + hanging(text, width.saturating_sub(2).max(20), 2) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> Row {
        Row {
            name: name.to_owned(),
            source: "Claude Code",
            file: "~/.claude.json".to_owned(),
            era: None,
            revision: None,
            authorization: Authorization::Local,
            tools: None,
            tokens_estimated: None,
            start_milliseconds: None,
            processes: Some(0),
            notes: Vec::new(),
        }
    }

    fn overview() -> Overview {
        let files = Row {
            revision: Some("2026-07-28".to_owned()),
            tools: Some(14),
            tokens_estimated: Some(2310),
            start_milliseconds: Some(42),
            processes: Some(3),
            notes: vec!["3 processes of it run already".to_owned()],
            ..row("files")
        };
        let notes = vec!["authorization failed: the server wants a credential".to_owned()];
        let linear = Row { authorization: Authorization::Needed, notes, ..row("linear\u{1b}[2J") };
        Overview {
            servers: vec![files, linear],
            problems: vec!["mcp.json: line 3 column 7: no JSON".to_owned()],
        }
    }

    fn plain(overview: &Overview, width: usize) -> String {
        anstream::adapter::strip_str(overview.shown(width).as_str()).to_string()
    }

    #[test]
    fn a_wide_terminal_gets_columns() {
        let expected = "\
server           source       era         auth   tools  tokens  start  running
files            Claude Code  2026-07-28  –         14    2310  42 ms        3
  3 processes of it run already
linear\\u{1b}[2J  Claude Code  –           login      –       –      –        0
  authorization failed: the server wants a credential

1 of 2 servers answered, with 14 tools: about 2310 tokens for a model.
problem: mcp.json: line 3 column 7: no JSON
";
        assert_eq!(plain(&overview(), 80), expected);
    }

    #[test]
    fn a_narrow_terminal_gets_paragraphs() {
        let expected = "\
files
  Claude Code, era 2026-07-28, tools 14,
  tokens 2310, start 42 ms, running 3
  3 processes of it run already
linear\\u{1b}[2J
  Claude Code, auth login, running 0
  authorization failed: the server wants
  a credential

1 of 2 servers answered, with 14 tools:
about 2310 tokens for a model.
problem: mcp.json: line 3 column 7: no
  JSON
";
        assert_eq!(plain(&overview(), 40), expected);
    }
}
