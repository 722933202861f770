//! Rules that the compiler and clippy do not know.
//!
//! Each rule takes the [`Tree`] and gives findings; what it asks for, and why, is at the top of
//! its file. `cargo test` runs all of them on the real tree, so `tidy` cannot be forgotten.
//!
//! A rule that the code does not obey everywhere yet has a ceiling: the number of findings that it
//! may have. A ceiling is lowered whenever the number falls, and never raised.

mod arrows;
pub(crate) mod circles;
mod crate_counts;
mod documents;
mod eras;
mod features;
mod headers;
mod homonyms;
mod invariants;
mod leftovers;
mod listeners;
mod manifests;
mod places;
mod sans_io;
pub(crate) mod sizes;
mod terminal;
mod transcripts;
mod wire;
mod words;

use anyhow::{Result, bail};

use crate::finding::{Finding, report};
use crate::tree::Tree;

/// A rule, and how many findings it may have.
struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Finding>,
    ceiling: usize,
}

/// A rule without exceptions.
const fn rule(name: &'static str, check: fn(&Tree) -> Vec<Finding>) -> Rule {
    Rule { name, check, ceiling: 0 }
}

/// All rules, in the order in which findings are printed.
const RULES: &[Rule] = &[
    rule("file-sizes", sizes::files),
    rule("function-sizes", sizes::long_functions),
    rule("session-sizes", sizes::session_files),
    rule("headers", headers::check),
    rule("revisions", eras::revisions),
    rule("eras", eras::eras),
    rule("wire", wire::check),
    rule("sans-io", sans_io::check),
    rule("listeners", listeners::check),
    rule("terminal", terminal::check),
    rule("transcripts", transcripts::check),
    rule("places", places::check),
    rule("leftovers", leftovers::check),
    rule("manifests", manifests::check),
    rule("features", features::check),
    rule("arrows", arrows::check),
    rule("crate-counts", crate_counts::check),
    rule("circles", circles::check),
    rule("knots", circles::knots::check),
    rule("homonyms", homonyms::check),
    rule("words", words::check),
    rule("documents", documents::check),
    rule("invariants", invariants::check),
];

/// Runs `cargo xtask tidy`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    let tree = Tree::load()?;
    match options {
        [] => check(&tree),
        ["--circles"] => {
            print!("{}", circles::listing(&tree));
            Ok(())
        }
        [name] => {
            let name = name.trim_start_matches("--");
            let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
                let names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
                bail!("tidy has no rule `{name}`; it has {}", names.join(", "));
            };
            report(&(rule.check)(&tree))
        }
        _ => bail!("`cargo xtask tidy` takes one rule at most"),
    }
}

/// Checks all rules, and prints which ceilings can fall.
fn check(tree: &Tree) -> Result<()> {
    let mut all = Vec::new();
    for rule in RULES {
        let findings = (rule.check)(tree);
        if rule.ceiling > 0 {
            let (name, found, ceiling) = (rule.name, findings.len(), rule.ceiling);
            let advice = if found < ceiling { "; lower it in xtask/src/tidy.rs" } else { "" };
            println!("{name}: {found} findings, ceiling {ceiling}{advice}");
        }
        all.extend(rule.excess(findings));
    }
    report(&all)
}

impl Rule {
    /// The findings if there are more than allowed, and the advice what to do.
    fn excess(&self, mut findings: Vec<Finding>) -> Vec<Finding> {
        let found = findings.len();
        if found <= self.ceiling {
            return Vec::new();
        }
        if self.ceiling > 0 {
            let text = format!(
                "rule `{}` has {found} findings, its ceiling is {} and may only fall; mend at \
                 least {} of those above",
                self.name,
                self.ceiling,
                found - self.ceiling,
            );
            findings.push(Finding::new("xtask/src/tidy.rs", 1, text));
        }
        findings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let tree = Tree::load().unwrap();
        let findings = RULES.iter().flat_map(|rule| rule.excess((rule.check)(&tree)));
        let lines: Vec<String> = findings.map(|finding| finding.to_string()).collect();
        assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
    }

    #[test]
    fn a_ceiling_allows_as_many_findings_as_it_says() {
        let finding = || Finding::new("a.rs", 1, "wrong");
        let rule = Rule { name: "some", check: |_| Vec::new(), ceiling: 1 };
        assert_eq!(rule.excess(vec![finding()]), []);
        let excess = rule.excess(vec![finding(), finding()]);
        let last = excess.last().unwrap().to_string();
        assert!(last.contains("its ceiling is 1 and may only fall; mend at least 1"), "{last}");
    }
}
