//! What an area is: files of one crate, and the tests that judge it.

use anyhow::{Context as _, Result, ensure};

use crate::tree::{File, Tree};

/// Files of one crate.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Area {
    /// The folder of the crate below `crates`.
    pub(super) name: String,
    /// The files that are changed.
    pub(super) files: Vec<String>,
}

impl Area {
    /// Finds the files that are named by paths below `crates`, without `.rs`: `proto/src/codec` is
    /// `codec.rs` and the files below `codec`.
    ///
    /// # Errors
    ///
    /// If a path names nothing, or paths name several crates.
    pub(super) fn find(tree: &Tree, paths: &[&str]) -> Result<Self> {
        let name = paths.first().and_then(|path| path.split('/').next());
        let name = name.context("name an area, such as `proto/src/codec`")?.to_owned();
        let mut files: Vec<String> = Vec::new();
        for path in paths {
            ensure!(
                path.split('/').next() == Some(&name),
                "`{path}` is not in the crate `{name}`: one crate at a time"
            );
            let is_within = |file: &&File| is_within(&file.path, path);
            let found = tree.sources().filter(is_within).map(|file| file.path.clone());
            let count = files.len();
            files.extend(found);
            ensure!(files.len() > count, "no source file is `crates/{path}`");
        }
        files.sort();
        files.dedup();
        Ok(Self { name, files })
    }

    /// The package of the crate.
    pub(super) fn package(&self) -> String {
        match self.name.as_str() {
            "bowline" => self.name.clone(),
            name => format!("bowline-{name}"),
        }
    }

    /// The root of the crate.
    pub(super) fn library(&self) -> String {
        format!("crates/{}/src/lib.rs", self.name)
    }

    /// The tests that run on each mutant, the quick ones first.
    pub(super) fn judges(&self) -> Vec<Judge> {
        let own = |targets, skipped| Judge { package: self.package(), targets, skipped };
        let elsewhere =
            |targets, skipped| Judge { package: "bowline-tests".to_owned(), targets, skipped };
        let has_schemas = self.files.iter().any(|file| file.contains("/schema"));
        match self.name.as_str() {
            "proto" if !has_schemas => vec![
                own(PROTO, &["schema::"]),
                elsewhere(TRANSCRIPTS, NOT_MACHINE),
                Judge { package: "bowline-client".to_owned(), targets: EVERYTHING, skipped: &[] },
                elsewhere(&["--test", "model"], &[]),
                Judge {
                    package: "bowline-http".to_owned(),
                    targets: &["--test", "client"],
                    skipped: &[],
                },
            ],
            "http" => vec![
                own(EVERYTHING, &[]),
                elsewhere(TRANSCRIPTS, NOT_HTTP),
                elsewhere(&["--test", "http"], &[]),
            ],
            _ => vec![own(EVERYTHING, &[])],
        }
    }
}

const EVERYTHING: &[&str] = &["--lib", "--tests"];
/// All but the tests of schemas.
const PROTO: &[&str] = &["--lib", "--test", "client", "--test", "project", "--test", "server"];

const TRANSCRIPTS: &[&str] = &["--test", "transcripts"];

/// Stages of transcripts that only carry messages which the stage `machine` has checked already.
const NOT_MACHINE: &[&str] = &["::duplex", "::socket", "::stdio", "::http"];
const NOT_HTTP: &[&str] = &["::duplex", "::socket", "::stdio", "::machine", "::host"];

/// Test programs of one package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judge {
    pub(super) package: String,
    /// The arguments with which cargo builds them.
    pub(super) targets: &'static [&'static str],
    /// Parts of the names of tests that are not run.
    pub(super) skipped: &'static [&'static str],
}

/// Whether a path below `crates` names this file or a folder above it.
pub(super) fn is_within(file: &str, path: &str) -> bool {
    let rest = file.strip_prefix("crates/").and_then(|file| file.strip_prefix(path));
    rest.is_some_and(|rest| rest == ".rs" || rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Tree {
        Tree::of(&[
            ("crates/proto/src/codec.rs", ""),
            ("crates/proto/src/codec/sse.rs", ""),
            ("crates/proto/src/codec/sse/tests.rs", ""),
            ("crates/proto/src/codecs.rs", ""),
            ("crates/http/src/codec.rs", ""),
        ])
    }

    #[test]
    fn an_area_is_a_module_with_all_that_is_in_it_but_tests() {
        let area = Area::find(&tree(), &["proto/src/codec"]).unwrap();
        assert_eq!(area.files, ["crates/proto/src/codec.rs", "crates/proto/src/codec/sse.rs"]);
        assert_eq!(area.package(), "bowline-proto");
        let twice = Area::find(&tree(), &["proto/src/codec", "proto/src/codecs", "proto/src"]);
        assert_eq!(twice.unwrap().files.len(), 3);
    }

    #[test]
    fn what_is_not_there_or_in_two_crates_is_refused() {
        let error = |paths: &[&str]| Area::find(&tree(), paths).unwrap_err().to_string();
        assert!(error(&[]).contains("name an area"));
        assert_eq!(error(&["proto/src/cod"]), "no source file is `crates/proto/src/cod`");
        assert!(error(&["proto/src/codec", "http/src/codec"]).contains("one crate at a time"));
    }
}
