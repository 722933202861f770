//! No unfinished code, ignored tests or sleeping tests.
//!
//! An ignored test is no test. A test that sleeps is slow when it passes and wrong when the
//! machine is busy; wait for a message, or use virtual time.

use crate::finding::Finding;
use crate::tokens::{self, Bracket, Token};
use crate::tree::{File, Tree};

const UNFINISHED: &[&str] = &["todo", "unimplemented", "dbg"];

/// Finds unfinished code, ignored tests and sleeping tests.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    tokens::each_level(&file.tokens, &mut |level| {
        for position in 0..level.len() {
            if let Some(text) = leftover(level, position) {
                findings.push(file.finding(level[position].line, text));
            }
        }
    });
    let mut sleeps = Vec::new();
    find_sleeps(&file.tokens, Clock::of(file), &mut sleeps);
    for (line, text) in sleeps {
        if file.is_test_line(line) {
            findings.push(file.finding(line, text));
        }
    }
    findings
}

fn leftover(level: &[Token], position: usize) -> Option<String> {
    let (token, next) = (&level[position], level.get(position + 1)?);
    let is_ignored = |attribute: &[Token]| attribute.first().is_some_and(|t| t.is_word("ignore"));
    if token.is_mark("#") && next.group(Bracket::Square).is_some_and(is_ignored) {
        return Some("an ignored test is no test; mend it or remove it".to_owned());
    }
    let word = token.word().filter(|word| UNFINISHED.contains(word) && next.is_mark("!"))?;
    Some(format!("`{word}!` is unfinished; finish it or leave it out"))
}

/// Which clock the tokens of a function run by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Real,
    Paused,
}

impl Clock {
    /// A file whose header promises virtual time holds what runs under a paused clock, such as the
    /// tools of a sample server.
    fn of(file: &File) -> Self {
        let mut header = file.text.lines().take_while(|line| line.starts_with("//!"));
        if header.any(|line| line.contains("virtual time")) { Self::Paused } else { Self::Real }
    }
}

fn find_sleeps(level: &[Token], clock: Clock, found: &mut Vec<(usize, &'static str)>) {
    let mut attributes = Clock::Real;
    for (position, token) in level.iter().enumerate() {
        if tokens::is_path(level, position, &["thread", "sleep"]) {
            found.push((token.line, "a test sleeps; wait for a message or use virtual time"));
        } else if clock == Clock::Real && is_async_sleep(level, position) {
            found.push((token.line, "a test sleeps; give it `start_paused = true`, or say `virtual time` in the file's header"));
        }
        let tokens::Kind::Group { bracket, inner, .. } = &token.kind else {
            continue;
        };
        if *bracket == Bracket::Square && tokens::mentions(inner, "start_paused") {
            attributes = Clock::Paused;
        }
        let inside = if attributes == Clock::Paused { Clock::Paused } else { clock };
        find_sleeps(inner, inside, found);
        if *bracket == Bracket::Curly {
            attributes = Clock::Real;
        }
    }
}

/// Whether `sleep(…)` or `sleep_until(…)` of the runtime is called here.
fn is_async_sleep(level: &[Token], position: usize) -> bool {
    let is_name = ["sleep", "sleep_until"].iter().any(|name| level[position].is_word(name));
    let is_called =
        level.get(position + 1).is_some_and(|next| next.group(Bracket::Round).is_some());
    let before = position.checked_sub(1).map(|at| &level[at]);
    let is_other = before.is_some_and(|before| before.is_word("fn") || before.is_mark("."));
    let is_thread = position >= 2 && level[position - 2].is_word("thread");
    is_name && is_called && !is_other && !is_thread
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, source: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, source)]));
        crate::finding::places(&findings).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn unfinished_code_is_found() {
        for code in ["todo!()", "unimplemented!(\"later\")", "let a = dbg!(b);"] {
            assert_eq!(lines("a/src/a.rs", &format!("fn f() {{\n{code}\n}}")), [2], "{code}");
        }
    }

    #[test]
    fn an_ignored_test_is_found() {
        assert_eq!(lines("a/src/a.rs", "#[test]\n#[ignore]\nfn f() {}"), [2]);
        assert_eq!(lines("a/src/a.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}"), [2]);
        assert_eq!(lines("a/src/a.rs", "fn f() { ignore(a); g(ignore); [ignore] }"), [0; 0]);
    }

    #[test]
    fn a_sleeping_test_is_found() {
        let thread = "fn f() {\nstd::thread::sleep(a);\n}";
        assert_eq!(lines("a/tests/a.rs", thread), [2]);
        assert_eq!(lines("a/src/a.rs", thread), [0; 0]);
        let imported = "use tokio::time::sleep;\nasync fn f() { sleep(a).await; }";
        assert_eq!(lines("a/tests/a.rs", imported), [2]);
        let inline = "#[cfg(test)]\nmod tests {\nfn f() { tokio::time::sleep_until(a); }\n}";
        assert_eq!(lines("a/src/a.rs", inline), [3]);
    }

    #[test]
    fn virtual_time_may_pass() {
        let paused = "#[tokio::test(start_paused = true)]\nasync fn f() { sleep(a).await; }\n";
        assert_eq!(lines("a/tests/a.rs", paused), [0; 0]);
        let after = format!("{paused}#[tokio::test]\nasync fn g() {{ sleep(a).await; }}");
        assert_eq!(lines("a/tests/a.rs", &after), [4]);
    }
}
