//! Which mutants are found in which code.

use super::*;

/// The changes in a function with this body.
fn changes(body: &str) -> Vec<String> {
    changes_in(&format!("fn f() {{ let it = 0; {body} }}"))
}

fn changes_in(text: &str) -> Vec<String> {
    let mutants = mutants("crates/a/src/b.rs", text).unwrap();
    mutants.into_iter().map(|mutant| mutant.change).filter(|it| it != "return at once").collect()
}

#[test]
fn a_mutant_says_where_it_is_and_what_it_changes() {
    let text = "impl Reader {\n    fn read(&mut self) {\n        self.done();\n    }\n}";
    let mutants = mutants("crates/a/src/b.rs", text).unwrap();
    let names: Vec<_> = mutants.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["crates/a/src/b.rs:3: `Reader::read`: remove `self.done();`"]);
}

#[test]
fn a_condition_becomes_true_and_false() {
    let both = ["replace `a` with `true`", "replace `a` with `false`"];
    assert_eq!(changes("if a { }"), both);
    assert_eq!(changes("match b { c if a => {} d => {} }"), both);
    assert_eq!(changes("list.retain(|it| a)"), both);
    assert_eq!(changes("a.then(b)"), both);
    assert_eq!(
        changes("let b = x.is_some();"),
        ["replace `x.is_some()` with `true`", "replace `x.is_some()` with `false`"],
    );
}

#[test]
fn a_loop_is_not_made_endless() {
    assert_eq!(changes("while a { }"), ["replace `a` with `false`"]);
    assert_eq!(changes("while let Some(a) = b { }"), [""; 0]);
}

#[test]
fn each_operand_drops_out_of_a_chain() {
    assert_eq!(
        changes("if a && b && c { }"),
        [
            "replace `a` with `true`",
            "replace `a && b && c` with `false`",
            "replace `b` with `true`",
            "replace `c` with `true`",
        ],
    );
    assert_eq!(
        changes("if a || b { }"),
        ["replace `a` with `false`", "replace `a || b` with `true`", "replace `b` with `false`"],
    );
}

#[test]
fn what_binds_a_name_stays() {
    assert_eq!(
        changes("if let Some(a) = b && a { }"),
        ["replace `a` with `true`", "replace `a` with `false`"],
    );
}

#[test]
fn limits_move_by_one_and_operators_change() {
    assert_eq!(
        changes("if a < b { }"),
        [
            "replace `a < b` with `true`",
            "replace `a < b` with `false`",
            "replace `a < b` with `a <= b`"
        ],
    );
    assert_eq!(changes("let a = b + 1;"), ["replace `b + 1` with `b - 1`"]);
    assert_eq!(changes("let a = b.min(c);"), ["replace `min` with `max` in `b.min(c)`"]);
    assert_eq!(changes("a |= b;"), ["replace `a |= b` with `a = b`", "remove `a |= b;`"]);
    assert_eq!(changes("let a = !b;"), ["replace `!b` with `b`"]);
    assert_eq!(changes("let a = true;"), ["replace `true` with `false`"]);
}

#[test]
fn statements_and_arms_are_left_out() {
    assert_eq!(changes("a.b(c);"), ["remove `a.b(c);`"]);
    assert_eq!(changes("a(c)?;"), ["remove `a(c)?;`"]);
    assert_eq!(changes("a.b().await;"), ["remove `a.b().await;`"]);
    assert_eq!(changes("write!(f, \"a\");"), ["remove `write!(f, \"a\");`"]);
    assert_eq!(changes("match a { 1 => 2, _ => 3 };"), ["skip the arm `1`"]);
    assert_eq!(changes("match a { 1 => b = 2, 3 => {} }"), ["replace `b = 2` with `()`"]);
    assert_eq!(changes("debug_assert!(a); return; "), [""; 0]);
}

#[test]
fn functions_give_back_the_plainest_value() {
    let of = |output: &str| changes_in(&format!("fn f() {output} {{ let a = b; a }}"));
    assert_eq!(of("-> bool"), ["return `true` at once", "return `false` at once"]);
    assert_eq!(of("-> Option<u8>"), ["return `None` at once"]);
    assert_eq!(of("-> &'static str"), ["return `\"\"` at once"]);
    assert_eq!(of("-> Other"), [""; 0]);
    // Nothing else would change.
    assert_eq!(changes_in("fn f() -> Option<u8> { None }"), [""; 0]);
    assert_eq!(
        changes_in("fn f() -> bool { a }"),
        ["replace `a` with `true`", "replace `a` with `false`"]
    );
}

#[test]
fn constants_patterns_and_tests_stay() {
    let text = "const A: u8 = 1 + 1; static B: bool = true; const fn c() -> bool { true && false }
        #[cfg(test)] mod tests { fn a() { b(); } } #[test] fn d() { b(); }
        fn e(list: [u8; 1 + 1]) { match list { [1, ..] if true => 1, [..] => 2 }; }";
    assert_eq!(changes_in(text), ["replace `true` with `true`", "replace `true` with `false`"]);
}

#[test]
fn equal_changes_of_one_function_are_numbered() {
    assert_eq!(changes("a(); a();"), ["remove `a();`", "remove `a();` #2"]);
}
