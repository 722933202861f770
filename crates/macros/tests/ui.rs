//! What the compiler says to the commonest mistakes, word for word.
//!
//! `TRYBUILD=overwrite cargo test -p bowline-macros --test ui` rewrites the expectations.

#[test]
fn mistakes_are_told_on_the_guilty_word() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/fail/*.rs");
    cases.pass("tests/ui/pass/*.rs");
}
