//! Elicitations by URL whose completion a server may announce (2025-11-25).
//!
//! Only names that the server sent are known, and each is completed once. Their number is bounded:
//! beyond it the oldest are dropped, which loses an announcement and nothing else.

use std::collections::VecDeque;

use bowline_types::elicitation::{ElicitParams, UrlElicitationRequired};
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::InputRequest;

/// The longest name that is stored, in bytes. Names are random numbers in practice.
const LONGEST: usize = 1024;

/// The names of elicitations that may still be completed. Empty in all other revisions, where
/// elicitations have no names.
#[derive(Debug)]
pub(super) struct Elicitations {
    open: VecDeque<String>,
    most: usize,
}

impl Elicitations {
    pub(super) fn new(most: usize) -> Self {
        Self { open: VecDeque::new(), most }
    }

    /// Notes the elicitation of a question, if it is one by URL.
    pub(super) fn asked(&mut self, question: &InputRequest) {
        if let InputRequest::Elicit(ElicitParams::Url(page)) = question {
            self.open(page.elicitation_id.as_deref());
        }
    }

    /// Notes the elicitations that an error requires first, if it is of that kind. A server answers
    /// a call with -32042 if the user has to visit a page first (ELIC-36, ELIC-38).
    pub(super) fn refused(&mut self, error: &ErrorObject) {
        if error.code != code::URL_ELICITATION_REQUIRED {
            return;
        }
        let Some(required) = error.parse_data::<UrlElicitationRequired>() else { return };
        for page in &required.elicitations {
            self.open(page.elicitation_id.as_deref());
        }
    }

    /// Whether this name is known and was not completed before.
    pub(super) fn complete(&mut self, name: &str) -> bool {
        let place = self.open.iter().position(|open| open == name);
        place.and_then(|place| self.open.remove(place)).is_some()
    }

    /// Notes a name, unless it is known or too long.
    fn open(&mut self, name: Option<&str>) {
        let Some(name) = name.filter(|name| name.len() <= LONGEST) else { return };
        if self.open.iter().any(|open| open == name) {
            return;
        }
        self.open.push_back(name.to_owned());
        if self.open.len() > self.most {
            self.open.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use bowline_types::elicitation::UrlParams;

    use super::*;

    fn page(name: &str) -> UrlParams {
        UrlParams::new("Sign in", "https://example.com").with_elicitation_id(name)
    }

    fn ask(elicitations: &mut Elicitations, name: &str) {
        elicitations.asked(&ElicitParams::Url(page(name)).into());
    }

    // spec: ELIC-26, ELIC-33
    #[test]
    fn a_known_name_is_completed_once_to_the_letter() {
        let mut elicitations = Elicitations::new(4);
        ask(&mut elicitations, "A b\u{e9}");
        assert!(!elicitations.complete("a b\u{e9}"));
        assert!(elicitations.complete("A b\u{e9}"));
        assert!(!elicitations.complete("A b\u{e9}"));
    }

    // spec: ELIC-33
    #[test]
    fn an_error_that_requires_elicitations_makes_their_names_known() {
        let required = UrlElicitationRequired::new(vec![page("x"), page("y")]);
        let mut elicitations = Elicitations::new(4);
        elicitations.refused(&ErrorObject::new(-32000, "other").with_data(&required));
        assert!(!elicitations.complete("x"));
        let code = code::URL_ELICITATION_REQUIRED;
        elicitations.refused(&ErrorObject::new(code, "visit first").with_data(&required));
        assert!(elicitations.complete("x") && elicitations.complete("y"));
    }

    #[test]
    fn the_number_of_names_is_bounded() {
        let mut elicitations = Elicitations::new(2);
        for name in ["a", "b", "c", "c"] {
            ask(&mut elicitations, name);
        }
        ask(&mut elicitations, &"d".repeat(LONGEST + 1));
        assert_eq!(elicitations.open, ["b", "c"]);
        ask(&mut elicitations, &"d".repeat(LONGEST));
        assert!(elicitations.complete(&"d".repeat(LONGEST)));
    }
}
