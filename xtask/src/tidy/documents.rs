//! The files and the headings that our documents name exist.
//!
//! A page that sends its reader to a file that was renamed is worse than no page. In the documents
//! for readers of the code, a name in backticks that ends in `.rs` is a file, and so is the target
//! of a relative link; what follows its `#` is a heading of that page. A file is named by the end of
//! its path; where the line names a crate before it (`proto/src/frame.rs`, or a link to
//! `crates/proto`), the file is one of that crate.

use crate::finding::Finding;
use crate::tree::{File, Tree};

/// Pages whose backticks hold names of files; a folder ends in `/`.
const PAGES: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/"];

/// What stands for "a file of this kind" and exists nowhere.
const PATTERNS: &[&str] = &["name/tests.rs"];

/// Finds names of files, and links, that lead nowhere.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let pages = tree.files.iter().filter(|file| file.has_extension("md") && is_page(file));
    let mut findings = Vec::new();
    for page in pages {
        for (index, line) in page.text.lines().enumerate() {
            for name in lost_names(line, tree) {
                let text = format!("there is no file `{name}`; name the one that does this now");
                findings.push(page.finding(index + 1, text));
            }
            for target in lost_links(page, line, tree) {
                let text = format!("the link to `{target}` leads nowhere; mend it");
                findings.push(page.finding(index + 1, text));
            }
        }
    }
    findings
}

fn is_page(file: &File) -> bool {
    PAGES
        .iter()
        .any(|page| file.path == *page || (page.ends_with('/') && file.path.starts_with(page)))
}

/// The names of Rust files on a line that no file has.
fn lost_names(line: &str, tree: &Tree) -> Vec<String> {
    let mut lost = Vec::new();
    // Odd pieces stand between backticks.
    for (index, piece) in line.split('`').enumerate() {
        if index % 2 == 0 || !piece.ends_with(".rs") || piece.contains(' ') {
            continue;
        }
        let before = line.split('`').take(index).collect::<Vec<_>>().join("`");
        let names = alternatives(piece).into_iter();
        let names = names.filter(|name| !PATTERNS.contains(&name.as_str()));
        lost.extend(names.filter(|name| !exists(name, last_crate(&before), tree)));
    }
    lost
}

/// `a/{b,c}.rs` is `a/b.rs` and `a/c.rs`.
fn alternatives(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else {
        return vec![name.to_owned()];
    };
    let (words, after) = rest.split_once('}').unwrap_or((rest, ""));
    words.split(',').map(|word| format!("{before}{word}{after}")).collect()
}

/// Whether the path of a file, of this crate if one is named, ends in this name.
fn exists(name: &str, package: Option<&str>, tree: &Tree) -> bool {
    let folder = package.map(|package| format!("crates/{package}/")).unwrap_or_default();
    let is_full = name.contains("/src/");
    let is_named = |path: &str| format!("/{path}").ends_with(&format!("/{name}"));
    tree.files
        .iter()
        .any(|file| is_named(&file.path) && (is_full || file.path.starts_with(&folder)))
}

/// The last crate that a piece of text names, as `crates/<name>` or `<name>/src/`.
fn last_crate(text: &str) -> Option<&str> {
    let is_outside = |letter: char| !letter.is_alphanumeric() && letter != '-';
    let linked = text.match_indices("crates/").map(|(at, found)| {
        let rest = text.get(at + found.len()..).unwrap_or_default();
        (at, rest.split(is_outside).next().unwrap_or_default())
    });
    let named = text.match_indices("/src/").map(|(at, _)| {
        let before = text.get(..at).unwrap_or_default();
        (at, before.rsplit(is_outside).next().unwrap_or_default())
    });
    linked.chain(named).max_by_key(|(at, _)| *at).map(|(_, name)| name)
}

/// The targets of relative links on a line that are not in the repository.
fn lost_links<'a>(page: &File, line: &'a str, tree: &Tree) -> Vec<&'a str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let relative = targets.filter(|target| !target.is_empty() && !target.contains(':'));
    relative.filter(|target| !leads_somewhere(page, target, tree)).collect()
}

fn leads_somewhere(page: &File, target: &str, tree: &Tree) -> bool {
    let (path, heading) = target.split_once('#').unwrap_or((target, ""));
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = if path.is_empty() { page.path.clone() } else { join(folder, path) };
    if heading.is_empty() || !path.ends_with(".md") {
        return is_in(&path, tree);
    }
    let linked = tree.files.iter().find(|file| file.path == path);
    linked.is_some_and(|file| headings(file).any(|found| anchor(found) == heading))
}

/// The headings of a page, without what looks like one in a block of code.
fn headings(page: &File) -> impl Iterator<Item = &str> {
    let text = page.text.split("```").step_by(2).flat_map(str::lines);
    text.filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim())
}

/// The name by which a link finds a heading, as the sites make it that show repositories.
fn anchor(heading: &str) -> String {
    let letters = heading.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        letter if letter.is_alphanumeric() || "-_".contains(letter) => Some(letter),
        _ => None,
    });
    letters.flat_map(char::to_lowercase).collect()
}

/// The path of a link from the root of the repository.
fn join(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "" | "." => {}
            name => parts.push(name),
        }
    }
    parts.join("/")
}

fn is_in(path: &str, tree: &Tree) -> bool {
    let folder = format!("{path}/");
    tree.files.iter().any(|file| file.path == path || file.path.starts_with(&folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::places;

    fn lines(page: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[
            (page, text),
            ("crates/proto/src/frame.rs", ""),
            ("crates/proto/src/client/call.rs", ""),
            ("crates/http/src/server/read.rs", ""),
            ("crates/http-more/src/more.rs", ""),
        ]);
        places(&check(&tree)).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_name_without_a_file_is_found() {
        let text = "`frame.rs`, `client/call.rs`, `http/src/server/read.rs`\n`gone.rs`\n\
                    `proto/src/{frame,gone}.rs`\n`not a name.rs`\n";
        assert_eq!(lines("ARCHITECTURE.md", text), [2, 3]);
        assert_eq!(lines("crates/a/notes.md", text), [0; 0]);
    }

    #[test]
    fn a_short_name_belongs_to_the_crate_before_it() {
        let text = "`http/src/server/read.rs`, `frame.rs`\n[`proto`](crates/proto): `frame.rs`\n\
                    [`http`](crates/http): `frame.rs`\n[`more`](crates/http-more): `more.rs`\n";
        assert_eq!(lines("ARCHITECTURE.md", text), [1, 3]);
    }

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let text = "[a](../crates/proto) [b](https://example.com)\n[d](../crates/gone.rs#part)\n";
        assert_eq!(lines("docs/a.md", text), [2]);
    }

    #[test]
    fn a_link_to_a_heading_that_is_not_there_is_found() {
        let text = "[a](#the-first-part) [b](a.md#the-first-part)\n[c](#code)\n[d](a.md#gone)\n\
                    ## The `first` part!\n```\n# code\n```\n";
        assert_eq!(lines("docs/a.md", text), [2, 3]);
    }
}
