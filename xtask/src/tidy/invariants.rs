//! Every invariant of ARCHITECTURE.md says how it is held.
//!
//! It ends with the rules of tidy that hold it, ``(tidy: `wire`, `arrows`)``, or with
//! `(not checked by tidy: …)` and what holds it instead. A rule that it names exists.

use crate::finding::Finding;
use crate::tree::{File, Tree};

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Invariants";
const CHECKED: &str = "(tidy: ";
const NOT_CHECKED: &str = "(not checked by tidy: ";

/// Finds invariants without a rule and without a reason for that, and rules that do not exist.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let rules: Vec<&str> = super::RULES.iter().map(|rule| rule.name).collect();
    tree.file(PAGE).map(|page| check_page(page, &rules)).unwrap_or_default()
}

fn check_page(page: &File, rules: &[&str]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for Invariant { line, text } in invariants(&page.text) {
        match text.split_once(CHECKED) {
            Some((_, names)) => {
                let names = names.split(')').next().unwrap_or_default();
                let names = names.split(',').map(|name| name.trim().trim_matches('`'));
                let unknown = names.filter(|name| !rules.contains(name));
                findings.extend(unknown.map(|name| {
                    page.finding(line, format!("tidy has no rule `{name}`; name one that it has"))
                }));
            }
            None if text.contains(NOT_CHECKED) => {}
            None => {
                let text = format!("end the invariant with `{CHECKED}…)` or `{NOT_CHECKED}…)`");
                findings.push(page.finding(line, text));
            }
        }
    }
    if findings.is_empty() && invariants(&page.text).is_empty() {
        findings.push(page.finding(1, format!("no numbered list below `{HEADING}`; teach tidy")));
    }
    findings
}

struct Invariant {
    line: usize,
    text: String,
}

/// The numbered items below the heading, each in one line of text.
fn invariants(page: &str) -> Vec<Invariant> {
    let mut invariants: Vec<Invariant> = Vec::new();
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != HEADING).skip(1);
    for (index, line) in lines.take_while(|(_, line)| !line.starts_with("## ")) {
        let begins_item = line.starts_with(|c: char| c.is_ascii_digit());
        match invariants.last_mut().filter(|_| !begins_item) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(line.trim());
            }
            None if begins_item => {
                invariants.push(Invariant { line: index + 1, text: line.to_owned() });
            }
            None => {}
        }
    }
    invariants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(items: &str) -> Vec<usize> {
        let text = format!("# A\n1. Free.\n{HEADING}\n\n{items}\n## After\n1. Free.\n");
        let tree = Tree::of(&[(PAGE, &text)]);
        let findings = check_page(&tree.files[0], &["wire", "eras"]);
        crate::finding::places(&findings).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn an_invariant_says_how_it_is_held() {
        assert_eq!(
            lines("1. A b\n   c. (tidy: `wire`,\n   `eras`)\n2. D. (not checked by tidy: e)"),
            [0; 0]
        );
        assert_eq!(lines("1. A b.\n2. C. (tidy: `wire`)\n3. D (not checked)."), [5, 7]);
    }

    #[test]
    fn a_rule_that_does_not_exist_is_found() {
        assert_eq!(lines("1. A. (tidy: `wire`, `gone`)"), [5]);
    }

    #[test]
    fn a_page_without_invariants_is_found() {
        assert_eq!(lines(""), [1]);
    }
}
