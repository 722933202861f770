//! Every method of the table is spoken in at least one transcript.
//!
//! A transcript is the wire made visible. A method without one is either not built, and says so
//! in [`NOT_BUILT`], or not tested at all.

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Kind, Token};
use crate::tree::{File, Tree};

const TABLE: &str = "crates/types/src/method.rs";

/// Methods without a transcript, and why.
const NOT_BUILT: &[(&str, &str)] = &[
    ("resources/list", "resources: not built yet"),
    ("resources/templates/list", "resources: not built yet"),
    ("resources/read", "resources: not built yet"),
    ("resources/subscribe", "resources: not built yet"),
    ("resources/unsubscribe", "resources: not built yet"),
    ("notifications/resources/list_changed", "resources: not built yet"),
    ("notifications/resources/updated", "resources: not built yet"),
    ("prompts/list", "prompts: not built yet"),
    ("prompts/get", "prompts: not built yet"),
    ("notifications/prompts/list_changed", "prompts: not built yet"),
    ("completion/complete", "completion: not built yet"),
    ("tasks/get", "tasks: not built yet"),
    ("tasks/result", "tasks: not built yet"),
    ("tasks/list", "tasks: not built yet"),
    ("tasks/cancel", "tasks: not built yet"),
    ("tasks/update", "tasks: not built yet"),
    ("notifications/tasks/status", "tasks: not built yet"),
    ("notifications/tasks", "tasks: not built yet"),
];

/// Finds methods without a transcript, and excuses that are out of date.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    check_against(tree, NOT_BUILT)
}

fn check_against(tree: &Tree, excuses: &[(&str, &str)]) -> Vec<Finding> {
    let Some(table) = tree.file(TABLE) else {
        return vec![Finding::new(TABLE, 1, "the method table is missing; tell tidy where it is")];
    };
    let rows = rows(table);
    let spoken =
        |name: &str| tree.files.iter().any(|file| is_transcript(file) && speaks(file, name));
    let excused = |name: &str| excuses.iter().any(|(excused, _)| *excused == name);

    let mut findings = Vec::new();
    if rows.is_empty() {
        findings
            .push(table.finding(1, "no `row(…)` was found; teach xtask/src/tidy/transcripts.rs"));
    }
    for (name, line) in &rows {
        if !excused(name) && !spoken(name) {
            let text = format!("no transcript speaks `{name}`; write tests/transcripts/…/*.mcp");
            findings.push(table.finding(*line, text));
        }
    }
    for (name, why) in excuses {
        let row = rows.iter().find(|(row, _)| row == name);
        let line = row.map_or(1, |(_, line)| *line);
        if row.is_none() || spoken(name) {
            let text = format!("the excuse `{why}` for `{name}` is out of date; remove it");
            findings.push(table.finding(line, text));
        }
    }
    findings
}

/// The names in the table, with their lines.
fn rows(table: &File) -> Vec<(String, usize)> {
    let mut rows = Vec::new();
    tokens::each_level(&table.tokens, &mut |level| {
        for pair in level.windows(2) {
            let [row, arguments] = pair else { continue };
            let arguments = arguments.group(Bracket::Round).unwrap_or_default();
            if row.is_word("row")
                && let Some(name) = arguments.iter().find_map(text)
            {
                rows.push((name, row.line));
            }
        }
    });
    rows
}

/// What a string literal says, as long as it needs no escapes.
fn text(token: &Token) -> Option<String> {
    let Kind::Literal(literal) = &token.kind else {
        return None;
    };
    Some(literal.strip_prefix('"')?.strip_suffix('"')?.to_owned())
}

fn is_transcript(file: &File) -> bool {
    file.has_extension("mcp") && file.path.contains("tests/transcripts/")
}

/// Whether a message in the transcript has this method.
fn speaks(file: &File, name: &str) -> bool {
    let values = file.text.split("\"method\"").skip(1);
    let mut values = values.filter_map(|rest| rest.trim_start().strip_prefix(':'));
    values.any(|value| {
        let value = value.trim_start().strip_prefix('"').unwrap_or_default();
        value.strip_prefix(name).is_some_and(|rest| rest.starts_with('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const ROWS: &str = "static METHODS: &[Row] = &[\n\
        row(Method::Ping, \"ping\", Request, Both).until(V2025_11_25),\n\
        row(Method::ToolsCall, \"tools/call\", Request, FromClient),\n];\n\
        const fn row(method: Method, name: &'static str) -> Row {}";

    fn tree(transcript: &str) -> Tree {
        Tree::of(&[(TABLE, ROWS), ("crates/proto/tests/transcripts/a/b.mcp", transcript)])
    }

    #[test]
    fn a_method_nobody_speaks_is_found() {
        let tree = tree("> {\"id\":1,\"method\":\"ping\"}\n> {\"method\": \"tools/call/more\"}");
        assert_eq!(places(&check_against(&tree, &[])), [(3, TABLE)]);
    }

    #[test]
    fn an_excuse_counts_while_it_is_true() {
        let silent = tree("> {\"method\": \"ping\"}");
        assert_eq!(check_against(&silent, &[("tools/call", "not built yet")]), []);
        let spoken = tree("> {\"method\": \"ping\"}\n> {\"method\":\"tools/call\"}");
        let findings = check_against(&spoken, &[("tools/call", "not built yet")]);
        assert_eq!(places(&findings), [(3, TABLE)]);
    }

    #[test]
    fn an_excuse_for_an_unknown_method_is_found() {
        let tree = tree("> {\"method\":\"ping\"}\n> {\"method\":\"tools/call\"}");
        assert_eq!(places(&check_against(&tree, &[("tools/fly", "not built yet")])), [(1, TABLE)]);
    }

    #[test]
    fn a_table_without_rows_is_found() {
        assert_eq!(check_against(&Tree::of(&[(TABLE, "")]), &[]).len(), 1);
        assert_eq!(check_against(&Tree::of(&[]), &[]).len(), 1);
    }
}
