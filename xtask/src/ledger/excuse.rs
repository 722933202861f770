//! The requirements without a test, and why: those that no test can ever show, and those that wait
//! for a part that is not built yet.

use crate::finding::Finding;
use crate::markdown::cells;
use crate::tree::Tree;

use super::requirement::is_id;

/// Why a requirement has no test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No test of ours can ever show it.
    Never,
    /// It waits for a part that is not built yet.
    Open,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Never, Self::Open];

    /// The file that lists the requirements of this kind.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Never => "docs/spec/not-applicable.md",
            Self::Open => "docs/spec/open.md",
        }
    }
}

/// One requirement in one of the two files.
pub(super) struct Excuse {
    pub(super) kind: Kind,
    pub(super) id: String,
    pub(super) reason: String,
    pub(super) line: usize,
}

/// Reads both files; a reason that is no sentence, or a repeated id, is a finding.
pub(super) fn read(tree: &Tree, findings: &mut Vec<Finding>) -> Vec<Excuse> {
    let mut excuses: Vec<Excuse> = Vec::new();
    for kind in Kind::ALL {
        let Some(file) = tree.file(kind.path()) else { continue };
        for (index, line) in file.text.lines().enumerate() {
            let Some((ids, reason)) = row(line) else { continue };
            let line = index + 1;
            if !is_sentence(&reason) {
                let text = format!("the reason for `{}` is no full sentence", ids.join(", "));
                findings.push(file.finding(line, text));
            }
            for id in ids {
                if let Some(earlier) = excuses.iter().find(|earlier| earlier.id == id) {
                    let path = earlier.kind.path();
                    let text = format!("`{id}` is in {path}:{} too; remove one", earlier.line);
                    findings.push(file.finding(line, text));
                }
                let (id, reason) = (id.to_owned(), reason.clone());
                excuses.push(Excuse { kind, id, reason, line });
            }
        }
    }
    excuses
}

/// The ids of a row, of which there may be several, and their reason.
fn row(line: &str) -> Option<(Vec<&str>, String)> {
    let cells = cells(line)?;
    let ids: Vec<&str> = cells.first()?.split(", ").collect();
    let is_row = ids.iter().all(|id| is_id(id));
    is_row.then(|| (ids, cells.get(1..).unwrap_or_default().join("|")))
}

/// Whether this has a capital, a few words and a full stop.
fn is_sentence(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && text.ends_with('.') && text.split(' ').count() >= 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    const NEVER: &str = "docs/spec/not-applicable.md";
    const OPEN: &str = "docs/spec/open.md";

    fn findings(files: &[(&str, &str)]) -> Vec<Finding> {
        let mut findings = Vec::new();
        read(&Tree::of(files), &mut findings);
        findings
    }

    #[test]
    fn a_reason_is_a_full_sentence() {
        assert_eq!(findings(&[(NEVER, "| A-1 | Only a host can show a page. |\n")]), []);
        let short = "| A-1 | host |\n| A-2 | only a host can show a page. |\n| A-3 | |\n";
        for path in [NEVER, OPEN] {
            assert_eq!(places(&findings(&[(path, short)])), [(1, path), (2, path), (3, path)]);
        }
    }

    #[test]
    fn a_row_may_name_several_requirements() {
        let row = "| A-1, A-2 | These come with the gateway. |\n";
        let excuses = read(&Tree::of(&[(OPEN, row)]), &mut Vec::new());
        let ids: Vec<_> = excuses.iter().map(|it| (it.id.as_str(), it.kind, it.line)).collect();
        assert_eq!(ids, [("A-1", Kind::Open, 1), ("A-2", Kind::Open, 1)]);
        assert!(excuses.iter().all(|it| it.reason == "These come with the gateway."));
    }

    #[test]
    fn an_id_has_one_reason_in_one_file() {
        let row = "| A-1 | Only a host can show a page. |\n";
        assert_eq!(places(&findings(&[(NEVER, &row.repeat(2))])), [(2, NEVER)]);
        assert_eq!(places(&findings(&[(NEVER, row), (OPEN, row)])), [(1, OPEN)]);
        let twice = "| A-1, A-1 | This comes with the gateway. |\n";
        assert_eq!(places(&findings(&[(OPEN, twice)])), [(1, OPEN)]);
    }
}
