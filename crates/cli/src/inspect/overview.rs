//! The table of all servers, as text.

use bowline::types::text::counted;
use console::measure_text_width;

use super::Authorization;
use super::all::{Overview, Row};
use crate::print::table::wrap;
use crate::print::{BOLD, WARNING, clean};

/// Notes stand below the line of their server.
const HEADINGS: [&str; 8] =
    ["server", "source", "era", "auth", "tools", "tokens", "start", "running"];
/// The first column of figures, which stand to the right.
const FIGURES: usize = 4;
/// What a cell shows that has nothing to show.
const NOTHING: &str = "–";

impl Overview {
    /// The table for people. Where it is wider than the terminal, every server gets a paragraph.
    pub(crate) fn shown(&self, width: usize) -> String {
        let mut out = match self.servers.is_empty() {
            true => "No configuration file names a server.\n\
                     Try `bowline demo`, or `bowline inspect -- COMMAND`.\n"
                .to_owned(),
            false => self.table(width) + &self.sum(width),
        };
        for problem in &self.problems {
            let text = format!("problem: {}", clean(problem));
            let lines = wrap(&text, width.saturating_sub(2)).join("\n  ");
            let marked = format!("{WARNING}problem:{WARNING:#}");
            out.push_str(&format!("{}\n", lines.replacen("problem:", &marked, 1)));
        }
        out
    }

    fn table(&self, width: usize) -> String {
        let rows: Vec<[String; 8]> = self.servers.iter().map(cells).collect();
        let mut widths = HEADINGS.map(str::len);
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(measure_text_width(cell));
            }
        }
        let fits = widths.iter().sum::<usize>() + 2 * (widths.len() - 1) <= width;
        let mut out = String::new();
        if fits {
            let headings = line(&HEADINGS.map(str::to_owned), &widths);
            out = format!("{BOLD}{headings}{BOLD:#}\n");
        }
        for (cells, row) in rows.iter().zip(&self.servers) {
            match fits {
                true => out.push_str(&format!("{}\n", line(cells, &widths))),
                false => out.push_str(&paragraph(cells, width)),
            }
            for note in &row.notes {
                out.push_str(&indented(note, width));
            }
        }
        out
    }

    /// What all servers cost together.
    fn sum(&self, width: usize) -> String {
        let answered = self.servers.iter().filter(|row| row.tools.is_some()).count();
        let tools = self.servers.iter().filter_map(|row| row.tools).sum();
        let tokens = self.servers.iter().filter_map(|row| row.tokens_estimated).sum();
        let text = format!(
            "{answered} of {} answered, with {}: about {} for a model.",
            counted(self.servers.len(), "server"),
            counted(tools, "tool"),
            counted(tokens, "token"),
        );
        format!("\n{}\n", wrap(&text, width).join("\n"))
    }
}

fn cells(row: &Row) -> [String; 8] {
    let number =
        |number: Option<usize>| number.map_or_else(|| NOTHING.to_owned(), |it| it.to_string());
    [
        clean(&row.name).replace('\n', " "),
        row.source.to_owned(),
        row.revision.clone().unwrap_or_else(|| NOTHING.to_owned()),
        authorization(row.authorization).to_owned(),
        number(row.tools),
        number(row.tokens_estimated),
        row.start_milliseconds.map_or_else(|| NOTHING.to_owned(), |it| format!("{it} ms")),
        number(row.processes),
    ]
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
fn line(cells: &[String; 8], widths: &[usize; 8]) -> String {
    let mut out = String::new();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let gap = " ".repeat(width.saturating_sub(measure_text_width(cell)));
        out.push_str(&match index >= FIGURES {
            true => format!("{gap}{cell}  "),
            false => format!("{cell}{gap}  "),
        });
    }
    out.trim_end().to_owned()
}

/// A server without columns: its name, then everything that is known of it.
fn paragraph(cells: &[String; 8], width: usize) -> String {
    let known = HEADINGS.iter().zip(cells).skip(1).filter(|(_, cell)| *cell != NOTHING);
    let known: Vec<String> = known
        .map(|(heading, cell)| match *heading {
            "source" => cell.clone(),
            heading => format!("{heading} {cell}"),
        })
        .collect();
    format!("{BOLD}{}{BOLD:#}\n{}", cells[0], indented(&known.join(", "), width))
}

fn indented(text: &str, width: usize) -> String {
    let text = clean(text).replace('\n', " ");
    let lines = wrap(&text, width.saturating_sub(2).max(20));
    lines.iter().map(|line| format!("  {line}\n")).collect()
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
        anstream::adapter::strip_str(&overview.shown(width)).to_string()
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
