//! Revisions are compared, and the era is decided, in a few named files only.
//!
//! Other code asks a predicate of `Revision` that names the difference (`has_batches`), or is
//! reached only in one era. So a reader finds in one place what changed in which revision, and
//! dropping an era is deleting files. Comparing means an operator, `cmp` or a pattern; passing a
//! revision on is free. Deciding an era means to match on `Era` or to call one of [`DECIDERS`].

use crate::finding::Finding;
use crate::tokens::{Bracket, Kind, Token};
use crate::tree::{File, Tree};

/// Where revisions may be compared, and why. A folder ends in `/`.
const COMPARE_REVISIONS: &[(&str, &str)] = &[
    ("crates/types/src/revision.rs", "every difference between revisions has its name there"),
    ("crates/types/src/method.rs", "the `since` and `until` columns of the method table"),
];

/// Where the era may be decided, and why; beside files and folders named `legacy` or `modern`.
const DECIDE_ERAS: &[(&str, &str)] = &[
    ("crates/types/src/revision.rs", "an era is defined by its revisions"),
    ("crates/types/src/method.rs", "the `since` and `until` columns of the method table"),
    ("crates/proto/src/classify.rs", "decides the era of a message, once"),
    ("crates/proto/src/wire.rs", "picks the wire rules of an era"),
    ("crates/proto/src/wire/", "the wire rules of each era"),
    ("crates/http/src/server/endpoint.rs", "passes each request to its era"),
    ("crates/testing/src/transcript/", "plays a script as a peer of either era"),
];

/// Methods whose answer is the era.
const DECIDERS: &[&str] = &["is_modern", "is_legacy"];

const COMPARISONS: &[&str] = &["<", "<=", ">", ">=", "==", "!=", "..", "..="];
const ORDERINGS: &[&str] = &["<", "<=", ">", ">="];
const AFTER_PATTERN: &[&str] = &["=>", "|", "="];

/// Finds comparisons of revisions in other files, and comparisons with the newest one in all.
///
/// What holds for the newest revision today would not hold for it any more when a newer one comes.
pub(super) fn revisions(tree: &Tree) -> Vec<Finding> {
    let text = "compares revisions; name the difference in crates/types/src/revision.rs";
    let newest =
        "compares with the newest revision, which changes; name the one with the difference";
    let compared_in = |file| match is_listed(COMPARE_REVISIONS, file) {
        true => compared(file, Subject::NewestRevision, newest),
        false => compared(file, Subject::Revision, text),
    };
    tree.sources().flat_map(compared_in).collect()
}

/// Finds decisions about the era in other files.
pub(super) fn eras(tree: &Tree) -> Vec<Finding> {
    let text = "decides by the era; name the difference as a predicate in \
                crates/types/src/revision.rs, or move the code to a file named legacy or modern";
    let others = tree.sources().filter(|file| !is_listed(DECIDE_ERAS, file) && !has_one_era(file));
    others.flat_map(|file| compared(file, Subject::Era, text)).collect()
}

fn is_listed(list: &[(&str, &str)], file: &File) -> bool {
    list.iter().any(|(path, _why)| {
        file.path == *path || (path.ends_with('/') && file.path.starts_with(path))
    })
}

/// Whether the name of the file, or of a folder above, says that it serves one era only.
fn has_one_era(file: &File) -> bool {
    let mut parts = file.path.trim_end_matches(".rs").split('/');
    parts.any(|part| part == "legacy" || part == "modern")
}

/// What a rule is about.
#[derive(Clone, Copy)]
enum Subject {
    /// `V2025_06_18`, or a constant of `Revision`.
    Revision,
    /// `Revision::LATEST`.
    NewestRevision,
    /// A variant of `Era`, an import that would let variants stand alone, or a call of one of
    /// [`DECIDERS`].
    Era,
}

impl Subject {
    fn is_at(self, level: &[Token], position: usize) -> bool {
        match self {
            Self::Revision => {
                let word = level[position].word().unwrap_or("no constant");
                let is_constant = word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
                is_dated(word) || (is_constant && belongs_to(level, position, "Revision"))
            }
            Self::NewestRevision => {
                let owners = ["Self", "Revision"];
                level[position].is_word("LATEST")
                    && owners.iter().any(|owner| belongs_to(level, position, owner))
            }
            Self::Era => belongs_to(level, position, "Era"),
        }
    }

    /// Whether values of this kind are compared here without naming one: put in order, or asked.
    fn is_decided_at(self, level: &[Token], position: usize) -> bool {
        match self {
            Self::Revision => is_ordering(level, position),
            Self::NewestRevision => false,
            Self::Era => DECIDERS.iter().any(|word| level[position].is_word(word)),
        }
    }
}

/// The lines on which a subject is compared, tests left out, as findings.
fn compared(file: &File, subject: Subject, text: &str) -> Vec<Finding> {
    let mut lines = Vec::new();
    walk(&file.tokens, Place::Expression, subject, &mut lines);
    lines.sort_unstable();
    lines.dedup();
    let shipped = lines.into_iter().filter(|line| !file.is_test_line(*line));
    shipped.map(|line| file.finding(line, text)).collect()
}

/// Whether tokens are part of a pattern, so that naming a value there compares with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Expression,
    Pattern,
}

fn walk(level: &[Token], place: Place, subject: Subject, lines: &mut Vec<usize>) {
    for (position, token) in level.iter().enumerate() {
        let is_compared = if subject.is_at(level, position) {
            place == Place::Pattern || is_beside_comparison(level, position)
        } else {
            subject.is_decided_at(level, position)
        };
        if is_compared {
            lines.push(token.line);
        }
        let Kind::Group { inner, .. } = &token.kind else {
            continue;
        };
        if is_matches(level, position) {
            let comma = inner.iter().position(|token| token.is_mark(",")).unwrap_or(inner.len());
            let (value, pattern) = inner.split_at(comma);
            walk(value, Place::Expression, subject, lines);
            walk(pattern, Place::Pattern, subject, lines);
        } else if place == Place::Pattern || is_pattern(level, position) {
            walk(inner, Place::Pattern, subject, lines);
        } else {
            walk(inner, Place::Expression, subject, lines);
        }
    }
}

fn belongs_to(level: &[Token], position: usize, owner: &str) -> bool {
    position >= 2 && level[position - 1].is_mark("::") && level[position - 2].is_word(owner)
}

/// Whether a word looks like `V2025_06_18`.
fn is_dated(word: &str) -> bool {
    let date = word.strip_prefix('V').unwrap_or_default();
    let parts: Vec<usize> = date.split('_').map(str::len).collect();
    parts == [4, 2, 2] && date.chars().all(|c| c.is_ascii_digit() || c == '_')
}

/// Whether an operator that compares, or the end of a pattern, stands beside this path.
fn is_beside_comparison(level: &[Token], position: usize) -> bool {
    let before = path_start(level, position).checked_sub(1).map(|at| &level[at]);
    // Brackets belong to the value: `Revision::ALL[0]`, `Era::Other(name)`.
    let own = |token: &&Token| matches!(token.kind, Kind::Group { .. });
    let after = level[position + 1..].iter().find(|token| !own(token));
    let mark = |token: Option<&Token>, marks: &[&str]| {
        token.and_then(Token::mark).is_some_and(|mark| marks.contains(&mark))
    };
    mark(before, COMPARISONS)
        || mark(after, COMPARISONS)
        || mark(after, AFTER_PATTERN)
        || after.is_some_and(|token| token.is_word("if"))
        || is_import_of_variants(level, position)
}

/// Whether this is the star or the brackets of `use Era::{Legacy, Modern}`.
fn is_import_of_variants(level: &[Token], position: usize) -> bool {
    let is_many = level[position].is_mark("*") || level[position].group(Bracket::Curly).is_some();
    is_many && belongs_to(level, position, "Era")
}

/// The position at which the path that ends here begins.
fn path_start(level: &[Token], mut position: usize) -> usize {
    while position >= 2 && level[position - 1].is_mark("::") {
        position -= 2;
    }
    position
}

/// Whether something called a revision is put in order here, by operator or by `cmp`.
fn is_ordering(level: &[Token], position: usize) -> bool {
    let token = &level[position];
    if token.is_word("cmp") || token.is_word("partial_cmp") {
        let receiver = position.checked_sub(2).and_then(|at| level[at].word());
        let arguments = level.get(position + 1).and_then(|next| next.group(Bracket::Round));
        return receiver.is_some_and(is_revision_name)
            || arguments.is_some_and(|inner| {
                (0..inner.len()).any(|at| Subject::Revision.is_at(inner, at))
            });
    }
    let neighbours = [position.checked_sub(1), Some(position + 1)];
    let mut neighbours = neighbours.into_iter().flatten().filter_map(|at| level.get(at)?.mark());
    token.word().is_some_and(is_revision_name) && neighbours.any(|mark| ORDERINGS.contains(&mark))
}

fn is_revision_name(word: &str) -> bool {
    word == "revision" || word.ends_with("_revision")
}

/// Whether these are the arguments of `matches!` or of one of its kin.
fn is_matches(level: &[Token], position: usize) -> bool {
    let name = position.checked_sub(2).and_then(|at| level[at].word()).unwrap_or_default();
    level[..position].last().is_some_and(|token| token.is_mark("!")) && name.ends_with("matches")
}

/// Whether what follows these brackets shows that they belong to a pattern.
fn is_pattern(level: &[Token], position: usize) -> bool {
    let Some(after) = level.get(position + 1) else {
        return false;
    };
    let is_round = level[position].group(Bracket::Round).is_some();
    let ends_alternative = after.is_mark("=") || after.is_mark("|") || after.is_word("if");
    after.is_mark("=>") || (is_round && ends_alternative)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, source: &str) -> Vec<usize> {
        let tree = Tree::of(&[(path, source)]);
        let findings = [revisions(&tree), eras(&tree)].concat();
        crate::finding::places(&findings).into_iter().map(|(line, _)| line).collect()
    }

    const SOME: &str = "crates/proto/src/frame.rs";

    #[test]
    fn comparing_with_a_revision_is_found() {
        for code in [
            "if revision == Revision::V2025_03_26 {}",
            "if V2025_06_18 <= self.revision {}",
            "let a = revision != bowline_types::Revision::LATEST;",
            "let a = matches!(revision, Revision::V2024_11_05 | Revision::V2025_03_26);",
            "match revision { V2025_06_18 => 1, _ => 2 };",
            "match (revision, a) { (Revision::V2025_06_18, _) => 1, _ => 2 };",
            "let a = revision.cmp(&other);",
            "let a = one.cmp(&Revision::LATEST);",
            "let a = self.revision < theirs;",
            "let a = (V2025_06_18..=V2025_11_25).contains(&revision);",
            "if let Some(Revision::V2025_06_18) = claimed {}",
            "assert!(a && revision >= Revision::V2025_06_18);",
        ] {
            assert_eq!(lines(SOME, &format!("fn f() {{\n{code}\n}}")), [2], "{code}");
        }
    }

    #[test]
    fn comparing_with_the_newest_revision_is_found_even_where_revisions_may_be_compared() {
        let path = "crates/types/src/revision.rs";
        for code in
            ["self == Self::LATEST", "self < Revision::LATEST", "matches!(it, Self::LATEST)"]
        {
            assert_eq!(lines(path, &format!("fn f() {{\n{code}\n}}")), [2], "{code}");
        }
        let free =
            "const LATEST: Revision = V2026_07_28; fn f() { V2026_07_28 <= it; g(Self::LATEST) }";
        assert_eq!(lines(path, free), [0; 0]);
    }

    #[test]
    fn passing_a_revision_on_is_free() {
        for code in [
            "let a: Option<Revision> = Some(Revision::LATEST);",
            "serve(Revision::V2025_11_25, other);",
            "if revision.has_batches() {}",
            "let a = revision == other.revision;",
            "let a = [Revision::V2025_11_25, Revision::V2026_07_28];",
            "let a = one.cmp(&other);",
            "// revision < Revision::V2025_11_25",
            "let a = \"revision < Revision::V2025_11_25\";",
            "let a = || Revision::LATEST;",
        ] {
            assert_eq!(lines(SOME, &format!("fn f() {{\n{code}\n}}")), [0; 0], "{code}");
        }
    }

    #[test]
    fn deciding_an_era_is_found() {
        for code in [
            "match era { Era::Legacy => 1, Era::Modern => 2 };",
            "if revision.era() == Era::Modern {}",
            "if let Era::Legacy = era {}",
            "match (era, a) { (Era::Legacy, _) if a => 1, _ => 2 };",
            "match era { Some(Era::Legacy) | None => 1, _ => 2 };",
            "let a = matches!(era, Era::Legacy);",
            "use Era::{Legacy, Modern};",
            "if revision.is_modern() {}",
            "let a = all.filter(|it| it.is_legacy());",
            "let a = all.map(Revision::is_modern);",
        ] {
            assert_eq!(lines(SOME, &format!("fn f() {{\n{code}\n}}")), [2], "{code}");
        }
    }

    #[test]
    fn passing_an_era_on_is_free() {
        for code in ["let a = Era::Legacy;", "serve(Era::Modern)", "fn g() -> Era { Era::Modern }"]
        {
            assert_eq!(lines(SOME, &format!("fn f() {{\n{code}\n}}")), [0; 0], "{code}");
        }
    }

    #[test]
    fn the_named_files_and_tests_may() {
        let code = "fn f() { match era { Era::Legacy => 1, _ => 2 } }";
        for path in [
            "crates/proto/src/classify.rs",
            "crates/proto/src/wire/modern.rs",
            "crates/proto/src/server/legacy.rs",
            "crates/http/src/server/legacy/session.rs",
            "crates/http/src/server/modern.rs",
            "crates/testing/src/transcript/http.rs",
            "crates/proto/src/frame/tests.rs",
            "examples/echo.rs",
        ] {
            assert_eq!(lines(path, code), [0; 0], "{path}");
        }
        assert_eq!(lines(SOME, &format!("#[cfg(test)]\nmod tests {{ {code} }}")), [0; 0]);
    }
}
