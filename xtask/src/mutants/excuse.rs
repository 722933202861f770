//! Mutants that no test can notice, each by its name and with the reason.

use anyhow::{Result, ensure};

use super::mutant::Mutant;

/// The page with the excuses: a heading with the path of a file, then a list.
pub(super) const PATH: &str = "docs/testing/mutants.md";

/// All excuses.
#[derive(Debug, Default)]
pub(super) struct Excuses(Vec<Excuse>);

#[derive(Debug, PartialEq, Eq)]
struct Excuse {
    file: String,
    /// The name of a mutant, a colon, and the reason.
    text: String,
    line: usize,
}

impl Excuses {
    /// Reads the page.
    ///
    /// # Errors
    ///
    /// If an excuse stands under no file.
    pub(super) fn read(page: &str) -> Result<Self> {
        let mut excuses: Vec<Excuse> = Vec::new();
        let mut file = None;
        let mut is_open = false;
        for (index, line) in page.lines().enumerate() {
            let line_number = index + 1;
            if let Some(heading) = line.strip_prefix("## ") {
                file = heading.split('`').nth(1).map(str::to_owned);
            }
            let item = line.strip_prefix("* `").map(|rest| format!("`{rest}"));
            match (item, &file, excuses.last_mut()) {
                (Some(text), Some(file), _) => {
                    excuses.push(Excuse { file: file.clone(), text, line: line_number });
                    is_open = true;
                }
                (Some(_), None, _) => {
                    ensure!(false, "{PATH}:{line_number}: put it under a heading with its file");
                }
                (None, _, Some(last)) if is_open && line.starts_with("  ") => {
                    last.text = format!("{} {}", last.text, line.trim());
                }
                _ => is_open = false,
            }
        }
        Ok(Self(excuses))
    }

    /// Whether this mutant is excused, with a reason.
    pub(super) fn covers(&self, mutant: &Mutant) -> bool {
        self.0.iter().any(|excuse| excuse.is_for(mutant))
    }

    /// Excuses in these files that match no mutant, as lines to print.
    pub(super) fn stale(&self, mutants: &[Mutant]) -> Vec<String> {
        let is_looked_at = |excuse: &&Excuse| mutants.iter().any(|it| it.file == excuse.file);
        let is_stale = |excuse: &&Excuse| !mutants.iter().any(|mutant| excuse.is_for(mutant));
        let stale = self.0.iter().filter(is_looked_at).filter(is_stale);
        stale
            .map(|excuse| {
                format!(
                    "{PATH}:{}: is for no mutant; correct or remove it: {}",
                    excuse.line, excuse.text
                )
            })
            .collect()
    }
}

impl Excuse {
    fn is_for(&self, mutant: &Mutant) -> bool {
        let reason =
            self.text.strip_prefix(&mutant.name()).and_then(|rest| rest.strip_prefix(": "));
        self.file == mutant.file && reason.is_some_and(|reason| !reason.trim().is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    const PAGE: &str = "# Mutants\n\nText.\n\n## `a.rs`\n\n* `f`: remove `g();`: it only saves\n  time.\n\nText.\n* `f`: remove `h();`:\n";

    fn mutants(file: &str) -> Vec<Mutant> {
        find::mutants(file, "fn f() { g(); h(); g(); }").unwrap()
    }

    #[test]
    fn an_excuse_names_file_function_change_and_reason() {
        let excuses = Excuses::read(PAGE).unwrap();
        let covered: Vec<_> = mutants("a.rs").iter().map(|mutant| excuses.covers(mutant)).collect();
        assert_eq!(covered, [true, false, false]);
        assert!(!mutants("b.rs").iter().any(|mutant| excuses.covers(mutant)));
    }

    #[test]
    fn an_excuse_without_reason_or_mutant_is_reported_where_its_file_is_looked_at() {
        let excuses = Excuses::read(PAGE).unwrap();
        let stale = excuses.stale(&mutants("a.rs"));
        assert_eq!(stale.len(), 1);
        assert!(stale[0].starts_with("docs/testing/mutants.md:11: "), "{stale:?}");
        assert_eq!(excuses.stale(&mutants("b.rs")), [""; 0]);
    }

    #[test]
    fn an_excuse_without_a_file_is_an_error() {
        assert!(Excuses::read("* `f`: remove `g();`: why\n").is_err());
    }
}
