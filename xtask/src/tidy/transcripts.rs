//! Every method of the table occurs in a transcript of every revision that has it.
//!
//! A transcript shows the messages on the wire; its header names the revisions in which it is
//! played. A method without one is either not built and listed in [`NOT_BUILT`], or has no test.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Kind, Token};
use crate::tree::{File, Tree};

const TABLE: &str = "crates/types/src/method.rs";
const REVISIONS: &str = "crates/types/src/revision.rs";

/// The first revision without a handshake; `revision: legacy` means all before it.
const FIRST_MODERN: &str = "2026-07-28";

/// The methods that `@initialize` in a transcript sends.
const HANDSHAKE: [&str; 2] = ["initialize", "notifications/initialized"];

/// Methods without a transcript in some revision, and why.
const NOT_BUILT: &[(&str, &str)] = &[];

/// Finds methods without a transcript, and excuses that are out of date.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, NOT_BUILT)
}

fn check_against(tree: &Tree, excuses: &[(&str, &str)]) -> Vec<Finding> {
    let Some(table) = tree.file(TABLE) else {
        return vec![Finding::new(TABLE, 1, "the method table is missing; tell tidy where it is")];
    };
    let revisions = tree.file(REVISIONS).map(|file| dates(&file.tokens)).unwrap_or_default();
    let rows = rows(table);
    let mut findings = Vec::new();
    if revisions.is_empty() {
        findings.push(Finding::new(REVISIONS, 1, "no `V2024_11_05` was found; teach tidy"));
    }
    if rows.is_empty() {
        findings
            .push(table.finding(1, "no `row(…)` was found; teach xtask/src/tidy/transcripts.rs"));
    }
    for row in &rows {
        let missing = missing_revisions(row, &revisions, tree);
        let is_excused = excuses.iter().any(|(excused, _)| *excused == row.name);
        if !is_excused && !missing.is_empty() {
            let (name, missing) = (&row.name, missing.join(", "));
            let text =
                format!("no transcript has `{name}` in {missing}; write tests/transcripts/…/*.mcp");
            findings.push(table.finding(row.line, text));
        }
    }
    for (name, why) in excuses {
        let row = rows.iter().find(|row| row.name == *name);
        if row.is_none_or(|row| missing_revisions(row, &revisions, tree).is_empty()) {
            let text = format!("the excuse `{why}` for `{name}` is out of date; remove it");
            findings.push(table.finding(row.map_or(1, |row| row.line), text));
        }
    }
    findings
}

/// A method, and the revisions that have it.
struct Row {
    name: String,
    line: usize,
    revisions: RangeInclusive<String>,
}

/// The rows of the table: `row(Method::Ping, "ping", …).since(…).until(…)`.
fn rows(table: &File) -> Vec<Row> {
    let mut rows = Vec::new();
    tokens::each_level(&table.tokens, &mut |level| {
        for (position, token) in level.iter().enumerate().filter(|(_, token)| token.is_word("row"))
        {
            let rest = level.get(position..).unwrap_or_default();
            let arguments = rest.get(1).and_then(|token| token.group(Bracket::Round));
            if let Some(name) = arguments.unwrap_or_default().iter().find_map(text) {
                let bound = |word| bound(rest, word);
                // `~` sorts after all dates: no last revision.
                let until = bound("until").unwrap_or_else(|| "~".to_owned());
                let revisions = bound("since").unwrap_or_default()..=until;
                rows.push(Row { name, line: token.line, revisions });
            }
        }
    });
    rows
}

/// The date in `.since(…)` or `.until(…)`, if the row at the start of these tokens has it.
fn bound(tokens: &[Token], word: &str) -> Option<String> {
    let end = tokens.iter().position(|token| token.is_mark(",")).unwrap_or(tokens.len());
    let row = tokens.get(..end).unwrap_or_default();
    let place = row.iter().position(|token| token.is_word(word))?;
    let argument = row.get(place + 1)?.group(Bracket::Round)?;
    dates(argument).into_iter().next()
}

/// The dates of the revisions that are named in these tokens, the oldest first.
fn dates(tokens: &[Token]) -> BTreeSet<String> {
    let mut dates = BTreeSet::new();
    tokens::each_level(tokens, &mut |level| {
        let names = level.iter().filter_map(Token::word).filter_map(|word| word.strip_prefix('V'));
        let is_date = |name: &&str| name.len() == 10 && name.starts_with('2');
        dates.extend(names.filter(is_date).map(|name| name.replace('_', "-")));
    });
    dates
}

/// The revisions that have a method but no transcript with it.
fn missing_revisions<'a>(row: &Row, revisions: &'a BTreeSet<String>, tree: &Tree) -> Vec<&'a str> {
    let transcripts = || tree.files.iter().filter(|file| is_transcript(file));
    let is_covered = |revision: &str| {
        transcripts().any(|file| is_played_in(file, revision) && has_method(file, &row.name))
    };
    let known = revisions.iter().filter(|revision| row.revisions.contains(revision));
    known.map(String::as_str).filter(|revision| !is_covered(revision)).collect()
}

/// The text of a string literal without escapes.
fn text(token: &Token) -> Option<String> {
    let Kind::Literal(literal) = &token.kind else {
        return None;
    };
    Some(literal.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn is_transcript(file: &File) -> bool {
    file.has_extension("mcp") && file.path.contains("tests/transcripts/")
}

/// Whether the header of a transcript names this revision.
fn is_played_in(file: &File, revision: &str) -> bool {
    let header = file.text.lines().find_map(|line| line.strip_prefix("revision:"));
    let mut named = header.unwrap_or_default().split_whitespace();
    named.any(|word| word == revision || (word == "legacy" && revision < FIRST_MODERN))
}

/// Whether a message in the transcript has this method.
fn has_method(file: &File, name: &str) -> bool {
    let values = file.text.split("\"method\"").skip(1);
    let mut values = values.filter_map(|rest| rest.trim_start().strip_prefix(':'));
    let is_sent = values.any(|value| {
        let value = value.trim_start().strip_prefix('"').unwrap_or_default();
        value.strip_prefix(name).is_some_and(|rest| rest.starts_with('"'))
    });
    is_sent || (HANDSHAKE.contains(&name) && file.text.contains("\n@initialize"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const ROWS: &str = "static METHODS: &[Row] = &[\n\
        row(Method::Ping, \"ping\", Request, Both).until(V2025_11_25),\n\
        row(Method::ToolsCall, \"tools/call\", Request, FromClient).may_ask(),\n];\n\
        const fn row(method: Method, name: &'static str) -> Row {}";

    const DATES: &str = "enum Revision { V2025_11_25, V2026_07_28 }";

    const BOTH: &str = "# A.\nrevision: legacy\n> {\"id\":1,\"method\":\"ping\"}\n";

    fn tree(modern: &str) -> Tree {
        let modern = format!("# B.\nrevision: 2025-11-25 2026-07-28\n{modern}");
        Tree::of(&[
            (TABLE, ROWS),
            (REVISIONS, DATES),
            ("crates/proto/tests/transcripts/a/b.mcp", &modern),
            ("tests/transcripts/c.mcp", BOTH),
        ])
    }

    #[test]
    fn a_method_without_a_transcript_is_found() {
        let tree = tree("> {\"method\": \"tools/call/more\"}");
        assert_eq!(places(&check_against(&tree, &[])), [(3, TABLE)]);
    }

    #[test]
    fn a_method_needs_a_transcript_in_every_revision_that_has_it() {
        let call = "# A.\nrevision: 2026-07-28\n> {\"method\":\"tools/call\"}\n";
        let (ping, call) = (("tests/transcripts/c.mcp", BOTH), ("tests/transcripts/d.mcp", call));
        let tree = Tree::of(&[(TABLE, ROWS), (REVISIONS, DATES), ping, call]);
        let findings = check_against(&tree, &[]);
        assert_eq!(places(&findings), [(3, TABLE)]);
        assert!(findings[0].to_string().contains("`tools/call` in 2025-11-25;"), "{findings:?}");
    }

    #[test]
    fn a_handshake_in_one_word_counts() {
        let rows =
            "row(Method::Initialize, \"initialize\", Request, FromClient).until(V2025_11_25)";
        let handshake = "# A.\nrevision: legacy\n\n@initialize{roots}\n";
        let transcript = ("tests/transcripts/a.mcp", handshake);
        let tree = Tree::of(&[(TABLE, rows), (REVISIONS, DATES), transcript]);
        assert_eq!(check_against(&tree, &[]), []);
    }

    #[test]
    fn an_excuse_counts_while_it_is_true() {
        let missing = tree("");
        assert_eq!(check_against(&missing, &[("tools/call", "not built yet")]), []);
        let spoken = tree("> {\"method\":\"tools/call\"}");
        let findings = check_against(&spoken, &[("tools/call", "not built yet")]);
        assert_eq!(places(&findings), [(3, TABLE)]);
    }

    #[test]
    fn an_excuse_for_an_unknown_method_is_found() {
        let tree = tree("> {\"method\":\"tools/call\"}");
        assert_eq!(places(&check_against(&tree, &[("tools/fly", "not built yet")])), [(1, TABLE)]);
    }

    #[test]
    fn a_table_without_rows_or_revisions_is_found() {
        assert_eq!(check_against(&Tree::of(&[(TABLE, ""), (REVISIONS, DATES)]), &[]).len(), 1);
        assert_eq!(check_against(&Tree::of(&[(TABLE, "")]), &[]).len(), 2);
        assert_eq!(check_against(&Tree::of(&[]), &[]).len(), 1);
    }
}
