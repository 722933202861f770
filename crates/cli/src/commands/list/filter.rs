//! `--filter`: the part of a long list that the user looks for.

use bowline_types::text::counted;

use crate::print::{TerminalText, text};

/// Texts that must all be in the name or the description of a thing. Case does not matter.
pub(super) struct Filter(Vec<String>);

impl Filter {
    pub(super) fn new(texts: &[String]) -> Self {
        Self(texts.iter().map(|text| text.to_lowercase()).collect())
    }

    pub(super) fn keeps(&self, name: &str, description: &str) -> bool {
        let all = format!("{name}\n{description}").to_lowercase();
        self.0.iter().all(|text| all.contains(text))
    }

    /// Whether a list with this number of things is shown.
    pub(super) fn shows(&self, count: usize) -> bool {
        count > 0 || self.0.is_empty()
    }

    /// What is shown instead of lists, if there are none.
    pub(super) fn nothing(&self) -> TerminalText {
        match self.0.is_empty() {
            true => "the server offers none of these".into(),
            false => text!("nothing with {}", self.0.join(" and ")),
        }
    }

    /// The heading of a list with this number of things.
    pub(super) fn heading(&self, count: usize, noun: &str) -> TerminalText {
        match self.0.is_empty() {
            true => text!("{}", counted(count, noun)),
            false => text!("{} with {}", counted(count, noun), self.0.join(" and ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_must_be_there_in_any_case() {
        let filter = Filter::new(&["Issue".to_owned(), "close".to_owned()]);
        assert!(filter.keeps("close_issue", ""));
        assert!(filter.keeps("close", "Closes an ISSUE"));
        assert!(!filter.keeps("issue", "Opens one"));
        assert_eq!(filter.heading(1, "tool").as_str(), "1 tool with issue and close");
        assert!(Filter::new(&[]).keeps("any", ""));
    }
}
