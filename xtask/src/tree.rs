//! The files of the repository, as the checks see them.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::finding::Finding;
use crate::tokens::{self, Token};

/// Every text file that is tracked by git, or new and not ignored.
pub(crate) struct Tree {
    pub(crate) files: Vec<File>,
}

/// One text file.
pub(crate) struct File {
    /// The path from the root, with `/` between the parts.
    pub(crate) path: String,
    pub(crate) text: String,
    /// Its tokens, if it is Rust.
    pub(crate) tokens: Vec<Token>,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl Tree {
    /// Reads the repository that this program was built from.
    pub(crate) fn load() -> Result<Self> {
        let mut files = Vec::new();
        for path in &paths()? {
            // A file may be deleted and not yet staged, or not be text.
            let Ok(text) = fs::read_to_string(root().join(path)) else {
                continue;
            };
            files.push(File::new(path, text)?);
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        files.dedup_by(|one, other| one.path == other.path);
        Ok(Self { files })
    }

    /// A small repository made of these files.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| File::new(path, (*text).to_owned()).unwrap();
        Self { files: files.iter().map(file).collect() }
    }

    /// The file at this path.
    pub(crate) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// The Rust files.
    pub(crate) fn rust(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.has_extension("rs"))
    }

    /// The Rust files of our crates, without their tests.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &File> {
        self.rust().filter(|file| file.is_source())
    }
}

impl File {
    fn new(path: &str, text: String) -> Result<Self> {
        let mut file = Self { path: path.to_owned(), text, tokens: Vec::new(), test_lines: vec![] };
        if file.has_extension("rs") {
            file.tokens = tokens::read(&file.text)
                .map_err(anyhow::Error::msg)
                .with_context(|| format!("{path} is not Rust"))?;
            file.test_lines = tokens::test_lines(&file.tokens);
        }
        Ok(file)
    }

    /// Whether the name ends in a dot and this extension.
    pub(crate) fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|own| own == extension)
    }

    /// Whether it is source code of one of our crates, not a test: `crates/<name>/src/…`.
    pub(crate) fn is_source(&self) -> bool {
        let mut parts = self.path.split('/');
        parts.next() == Some("crates")
            && parts.next().is_some()
            && parts.next() == Some("src")
            && !self.is_test()
    }

    /// Whether all of it is test code.
    pub(crate) fn is_test(&self) -> bool {
        let (folders, name) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        folders.split('/').any(|folder| folder == "tests") || name == "tests.rs"
    }

    /// Whether this line is test code.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.is_test() || self.test_lines.iter().any(|lines| lines.contains(&line))
    }

    /// A finding in this file.
    pub(crate) fn finding(&self, line: usize, text: impl Into<String>) -> Finding {
        Finding::new(&self.path, line, text)
    }
}

/// The paths of all files that git tracks, or that are new and not ignored; some may be deleted.
pub(crate) fn paths() -> Result<Vec<String>> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot run `git ls-files`; this needs git and a checkout")?;
    let complaint = String::from_utf8_lossy(&listing.stderr);
    ensure!(listing.status.success(), "`git ls-files` failed: {}", complaint.trim());
    let listing = String::from_utf8(listing.stdout)?;
    Ok(listing.split_terminator('\0').map(str::to_owned).collect())
}

/// The directory of the repository.
pub(crate) fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_told_apart_from_sources() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests;\nfn f() {}"),
            ("crates/a/src/frame/tests.rs", ""),
            ("crates/a/tests/all.rs", ""),
            ("tests/src/lib.rs", ""),
            ("xtask/src/test.rs", ""),
        ]);
        let tests: Vec<bool> = tree.files.iter().map(File::is_test).collect();
        assert_eq!(tests, [false, true, true, true, false]);
        let sources: Vec<&str> = tree.sources().map(|file| file.path.as_str()).collect();
        assert_eq!(sources, ["crates/a/src/lib.rs"]);
        assert!(tree.files[0].is_test_line(2));
        assert!(!tree.files[0].is_test_line(3));
    }
}
