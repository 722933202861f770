//! What the compiler says to the commonest mistakes, word for word.
//!
//! `TRYBUILD=overwrite cargo test -p bowline-macros --test ui` rewrites the expectations.

#[test]
fn the_compiler_points_at_the_word_that_is_wrong() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
