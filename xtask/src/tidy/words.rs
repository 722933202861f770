//! Plain words: a sentence names who acts.
//!
//! "Whoever has it is told so" makes the reader guess twice: which program, and by what message.
//! The words below hide the actor; STYLE.md shows what to write instead. Names of tests count too.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// Words and phrases that hide who acts.
const RIDDLES: &[&str] = &[
    "whoever",
    "whomever",
    "whosoever",
    "somebody",
    "anybody",
    "nobody",
    "everybody",
    "is told",
    "are told",
    "was told",
    "were told",
    "be told",
    "been told",
    "what is said",
    "what was said",
    "who says",
];

/// `told apart` is no riddle: nothing is said to anyone.
const FINE_AFTER: &str = "apart";

/// Where the words may stand, and why.
const EXCUSED: &[(&str, &str)] =
    &[("STYLE.md", "shows what not to write"), ("xtask/src/tidy/words.rs", "holds the list")];

/// Finds the words in Rust and Markdown, once for each line and word.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let read = tree.files.iter().filter(|file| is_read(file));
    read.flat_map(|file| {
        let lines = file.text.lines().enumerate();
        lines.flat_map(move |(index, line)| {
            let found = riddles(line).into_iter();
            found.map(move |word| {
                let text = format!("\"{word}\" hides who acts; name the client, server, caller …");
                file.finding(index + 1, text)
            })
        })
    })
    .collect()
}

fn is_read(file: &File) -> bool {
    let is_excused = EXCUSED.iter().any(|(path, _why)| file.path == *path);
    (file.has_extension("rs") || file.has_extension("md")) && !is_excused
}

/// The riddles in a line; the words of an identifier are words.
fn riddles(line: &str) -> Vec<&'static str> {
    let words: Vec<String> = line
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let is_in = |riddle: &str| {
        let riddle: Vec<&str> = riddle.split(' ').collect();
        words.windows(riddle.len()).enumerate().any(|(at, window)| {
            window == riddle && words.get(at + riddle.len()).is_none_or(|word| word != FINE_AFTER)
        })
    };
    RIDDLES.iter().copied().filter(|riddle| is_in(riddle)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    #[test]
    fn a_riddle_is_found_in_comments_names_and_prose() {
        for line in [
            "// Whoever asks is answered.",
            "fn a_call_that_nobody_makes() {}",
            "/// The client is told.",
            "What is said last counts.",
        ] {
            let tree = Tree::of(&[("a.rs", ""), ("a.md", &format!("Fine.\n{line}\n"))]);
            assert_eq!(places(&check(&tree)), [(2, "a.md")], "{line}");
        }
    }

    #[test]
    fn longer_words_and_other_files_are_free() {
        let tree = Tree::of(&[
            ("a.md", "A wholesome body; they are told apart; retold."),
            ("a.py", "# nobody"),
            ("STYLE.md", "Not: whoever."),
        ]);
        assert_eq!(check(&tree), []);
    }
}
