//! The requirements that no test of ours can ever show, and why.

use crate::finding::Finding;
use crate::markdown::cells;
use crate::tree::Tree;

use super::requirement::is_id;

pub(super) const PATH: &str = "docs/spec/not-applicable.md";

/// One row of the table.
pub(super) struct Excuse {
    pub(super) id: String,
    pub(super) reason: String,
    pub(super) line: usize,
}

/// Reads the table; a reason that is no sentence, or an id that comes twice, is a finding.
pub(super) fn read(tree: &Tree, findings: &mut Vec<Finding>) -> Vec<Excuse> {
    let mut excuses: Vec<Excuse> = Vec::new();
    let Some(file) = tree.file(PATH) else {
        return excuses;
    };
    for (index, line) in file.text.lines().enumerate() {
        let Some(cells) = cells(line).filter(|cells| is_id(cells[0])) else {
            continue;
        };
        let (id, reason) = (cells[0].to_owned(), cells[1..].join("|"));
        let line = index + 1;
        if !is_sentence(&reason) {
            findings.push(file.finding(line, format!("the reason for `{id}` is no full sentence")));
        }
        if excuses.iter().any(|earlier| earlier.id == id) {
            findings.push(file.finding(line, format!("`{id}` is here twice; remove one row")));
        }
        excuses.push(Excuse { id, reason, line });
    }
    excuses
}

/// Whether this has a capital, a few words and a full stop.
fn is_sentence(text: &str) -> bool {
    text.starts_with(char::is_uppercase) && text.ends_with('.') && text.split(' ').count() >= 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    fn findings(text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        read(&Tree::of(&[(PATH, text)]), &mut findings);
        findings
    }

    #[test]
    fn a_reason_is_a_full_sentence() {
        assert_eq!(findings("| A-1 | Only a host can show a page. |\n"), []);
        let short = findings("| A-1 | host |\n| A-2 | only a host can show a page. |\n| A-3 | |\n");
        assert_eq!(places(&short), [(1, PATH), (2, PATH), (3, PATH)]);
    }

    #[test]
    fn an_id_is_excused_once() {
        let row = "| A-1 | Only a host can show a page. |\n";
        assert_eq!(places(&findings(&row.repeat(2))), [(2, PATH)]);
    }
}
