//! What patterns mean, and which are refused.

use super::*;

fn matches(pattern: &str, text: &str) -> bool {
    Pattern::compile(pattern).unwrap().is_match(text)
}

fn refusal(pattern: &str) -> String {
    Pattern::compile(pattern).unwrap_err()
}

#[test]
fn patterns_match_anywhere_unless_anchored() {
    assert!(matches("a+", "xaay"));
    assert!(!matches("^a+$", "xaay"));
    assert!(!matches("^abc$", "abc\n"));
}

#[test]
fn escapes_mean_what_they_mean_in_ecmascript() {
    assert!(matches(r"^\/\-\.\_\@$", "/-._@"));
    assert!(matches(r"^\u0041\x42\u{43}\cJ\0$", "ABC\n\0"));
    assert!(matches(r"^\uD83D\uDC32*$", "🐲🐲"));
    assert!(matches(r"^\s\S$", "\u{feff}x"));
    assert!(!matches(r"^\d$", "৪"));
    assert!(!matches(r"^\w$", "é"));
    assert!(!matches("^.$", "\u{2028}"));
}

#[test]
fn classes_keep_their_brackets_dashes_and_sets() {
    assert!(matches(r"^[\w-.]+$", "a-b.c"));
    assert!(matches(r"^[[&&~~|]+$", "[&~|"));
    assert!(matches(r"^[^\s\]]+$", "x["));
    assert!(matches(r"^[\S\b-]+$", "a\u{8}-"));
    assert!(matches("^[^]$", "\n"));
    assert!(!matches("[]", "a"));
}

#[test]
fn braces_that_are_no_quantifier_are_plain_characters() {
    assert!(matches("^{a}{2}$", "{a}}"));
    assert!(matches("^a{,2}$", "a{,2}"));
    assert!(matches("^x]}$", "x]}"));
}

#[test]
fn groups_may_have_names_twice() {
    assert!(matches("^(?<year>a)|(?<year>b)$", "b"));
    assert!(matches("(?i)^abc$", "ABC"));
}

#[test]
fn what_needs_backtracking_is_refused() {
    assert!(refusal(r"^(?!x)").contains("lookaround"));
    assert!(refusal(r"(?<=x)a").contains("lookaround"));
    assert!(refusal(r"(a)\1").contains("backreferences"));
    assert!(refusal(r"\p{L}").contains(r"\p"));
}

#[test]
fn an_invalid_pattern_is_refused() {
    for broken in
        [r"(", r")", r"[a", r"*a", r"a**", r"a{2}{3}", r"\Z", r"\x4", r"\uD800", "[b-a]", r"\"]
    {
        assert!(!refusal(broken).is_empty(), "{broken}");
    }
}

// spec: SCH-14
#[test]
fn a_pattern_that_unfolds_without_end_is_refused() {
    assert!(refusal("((a{1000}){1000}){1000}").contains("simplify"));
    assert!(refusal(&"(".repeat(10_000)).contains("simplify"));
}

// spec: SCH-14
#[test]
fn the_cost_of_a_match_grows_with_the_pattern() {
    let small = Pattern::compile("^[a-z]+$").unwrap();
    let large = Pattern::compile("^[a-z]{1,500}$").unwrap();
    let text = "a".repeat(200);
    assert_eq!(small.cost(&text), 101);
    assert!(large.cost(&text) >= 16 * 100);
}
