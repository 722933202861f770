//! What the compiler says to the commonest mistakes, word for word.
//!
//! `TRYBUILD=overwrite cargo test -p bowline-macros --test ui` rewrites the expectations.

#[test]
fn the_compiler_points_at_the_word_that_is_wrong() {
    // What it accepts are the programs in `accepted`: one `pass` here would compile all dependencies again.
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
