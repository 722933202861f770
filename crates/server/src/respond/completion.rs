//! What completing an argument may return.

use bowline_types::completion::Completion;

use crate::error::{HandlerError, Result};

/// Something that completing an argument may return: suggestions, the best first. Of more than
/// 100, the first 100 are sent, with a flag that there are more.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the completion of an argument",
    label = "not the completion of an argument",
    note = "completions are a `Vec` or an array of text, `Completion`, or a `Result` of one of these"
)]
pub trait IntoCompletion {
    /// The suggestions as they are sent.
    ///
    /// # Errors
    ///
    /// If there is no saying.
    fn into_completion(self) -> Result<Completion>;
}

impl<T: IntoCompletion, E: HandlerError> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion> {
        self.map_err(HandlerError::into_handler_error)?.into_completion()
    }
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion> {
        Ok(self)
    }
}

impl<T: Into<String>> IntoCompletion for Vec<T> {
    fn into_completion(self) -> Result<Completion> {
        let total = self.len();
        Ok(Completion::new(self).with_total(total as u64).with_more(false))
    }
}

impl<T: Into<String>, const COUNT: usize> IntoCompletion for [T; COUNT] {
    fn into_completion(self) -> Result<Completion> {
        Vec::from(self).into_completion()
    }
}

/// Of some suggestions, those that begin with what is typed. Case counts only for the order: what
/// is typed exactly so comes first.
///
/// ```
/// use bowline_server::starting_with;
///
/// assert_eq!(starting_with("r", ["Ruby", "python", "rust"]), ["rust", "Ruby"]);
/// ```
pub fn starting_with<T: Into<String>>(
    typed: impl AsRef<str>,
    suggestions: impl IntoIterator<Item = T>,
) -> Vec<String> {
    let typed = typed.as_ref();
    let lower = typed.to_lowercase();
    let mut fitting: Vec<String> = suggestions.into_iter().map(Into::into).collect();
    fitting.retain(|suggestion| suggestion.to_lowercase().starts_with(&lower));
    // Stable, so that equal suggestions keep their order.
    fitting.sort_by_key(|suggestion| !suggestion.starts_with(typed));
    fitting
}

/// Of some suggestions, those that hold the letters that are typed, in their order but not
/// necessarily side by side. The closest come first: what begins with the letters, then what holds
/// them together, then the rest.
///
/// ```
/// use bowline_server::resembling;
///
/// assert_eq!(resembling("rs", ["errors", "tour.js", "rs", "rust"]), ["rs", "errors", "tour.js", "rust"]);
/// ```
pub fn resembling<T: Into<String>>(
    typed: impl AsRef<str>,
    suggestions: impl IntoIterator<Item = T>,
) -> Vec<String> {
    let lower = typed.as_ref().to_lowercase();
    let mut ranked: Vec<(Closeness, String)> = suggestions
        .into_iter()
        .map(Into::into)
        .filter_map(|suggestion| Some((Closeness::of(&lower, &suggestion)?, suggestion)))
        .collect();
    ranked.sort_by_key(|(closeness, _)| *closeness);
    ranked.into_iter().map(|(_, suggestion)| suggestion).collect()
}

/// How close a suggestion comes to what is typed; the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    Begins,
    Holds,
    Scattered,
}

impl Closeness {
    fn of(lower: &str, suggestion: &str) -> Option<Self> {
        let suggestion = suggestion.to_lowercase();
        if suggestion.starts_with(lower) {
            return Some(Self::Begins);
        }
        if suggestion.contains(lower) {
            return Some(Self::Holds);
        }
        let mut letters = suggestion.chars();
        let holds_all = lower.chars().all(|wanted| letters.any(|letter| letter == wanted));
        holds_all.then_some(Self::Scattered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: COMP-2
    #[test]
    fn at_most_100_suggestions_are_sent_and_all_are_counted() {
        let many: Vec<String> = (0..250).map(|number| number.to_string()).collect();
        let completion = many.into_completion().unwrap();
        assert_eq!(completion.values().len(), 100);
        assert_eq!((completion.total(), completion.has_more()), (Some(250), true));
        let few = ["a", "b"].into_completion().unwrap();
        assert_eq!((few.total(), few.has_more()), (Some(2), false));
    }

    // spec: COMP-8
    #[test]
    fn what_is_typed_exactly_so_comes_first() {
        let options = ["Rust", "ruby", "java", "Racket", "r"];
        assert_eq!(starting_with("r", options), ["ruby", "r", "Rust", "Racket"]);
        assert_eq!(starting_with("", options), options);
        assert!(starting_with("z", options).is_empty());
    }

    // spec: COMP-8, COMP-9
    #[test]
    fn what_resembles_the_typed_letters_is_found_the_closest_first() {
        let options = ["src/main.rs", "main.rs", "domain.md", "README"];
        assert_eq!(resembling("main", options), ["main.rs", "src/main.rs", "domain.md"]);
        assert_eq!(resembling("mrs", options), ["src/main.rs", "main.rs"]);
        assert_eq!(resembling("RM", options), ["src/main.rs", "README"]);
    }
}
