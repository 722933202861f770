//! Names of methods that return `bool` or take a predicate.

/// Whether a method of this name returns `bool`, by our naming rules and those of the standard
/// library.
pub(super) fn is_predicate(name: &str) -> bool {
    const WORDS: &[&str] = &["any", "all", "contains", "contains_key", "starts_with", "ends_with"];
    const BEGINNINGS: &[&str] = &["is_", "has_", "may_", "supports_"];
    WORDS.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether a method of this name takes a closure that returns `bool`.
pub(super) fn takes_predicate(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "all",
        "any",
        "filter",
        "find",
        "is_err_and",
        "is_none_or",
        "is_ok_and",
        "is_some_and",
        "partition",
        "position",
        "retain",
        "rposition",
        "skip_while",
        "take_if",
        "take_while",
        "trim_end_matches",
        "trim_start_matches",
    ];
    WORDS.contains(&name)
}
