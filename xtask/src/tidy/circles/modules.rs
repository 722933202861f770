//! The module tree of one crate, and the file in which a path ends.

use std::collections::BTreeMap;

use crate::tree::File;

use super::Arrows;
use super::imports::{self, Form, Import};

/// More steps than any chain of re-exports has; a circle of them ends here.
const LONGEST_CHAIN: usize = 8;

/// The path of a module from the root of its crate; empty for `lib.rs`.
type Path = Vec<String>;

/// The files of a crate by the path of their module.
pub(super) struct Modules {
    files: BTreeMap<Path, Module>,
}

struct Module {
    file: String,
    imports: Vec<Import>,
}

impl Module {
    /// The `use` that brings an item of this name here.
    fn import(&self, item: &str) -> Option<&Import> {
        self.imports.iter().find(|import| match &import.form {
            Form::Use { name } | Form::Reexport { name } => name == item,
            Form::Inline => false,
        })
    }
}

impl Modules {
    /// Reads the files of a crate, which are all below this folder.
    pub(super) fn new(folder: &str, files: &[&File]) -> Self {
        let module = |file: &&File| {
            let module = Module { file: file.path.clone(), imports: imports::read(file) };
            (module_path(file.path.trim_start_matches(folder)), module)
        };
        Self { files: files.iter().map(module).collect() }
    }

    /// Which file imports which.
    pub(super) fn arrows(&self) -> Arrows {
        self.arrows_of(|import| !matches!(import.form, Form::Reexport { .. }))
    }

    /// Which file imports or re-exports which.
    pub(super) fn arrows_and_reexports(&self) -> Arrows {
        self.arrows_of(|_| true)
    }

    fn arrows_of(&self, counts: impl Fn(&Import) -> bool) -> Arrows {
        let mut arrows = Arrows::new();
        for (path, module) in &self.files {
            let counted = module.imports.iter().filter(|import| counts(import));
            let targets = counted.filter_map(|import| {
                let own: Path = path.iter().chain(&import.within).cloned().collect();
                self.target(&own, &import.path, LONGEST_CHAIN)
            });
            let targets = targets.filter(|target| *target != module.file);
            arrows.insert(module.file.clone(), targets.map(str::to_owned).collect());
        }
        arrows
    }

    /// The file that defines what a path in this module names, if it is one of this crate.
    fn target(&self, own: &[String], path: &[String], chain: usize) -> Option<&str> {
        let (mut module, mut rest) = self.anchor(own, path)?;
        while let Some((first, others)) = rest.split_first() {
            let child: Path = module.iter().chain([first]).cloned().collect();
            if !self.files.contains_key(&child) {
                break;
            }
            (module, rest) = (child, others);
        }
        let module = self.enclosing(module);
        let found = self.files.get(&module)?;
        let import = rest.first().and_then(|item| found.import(item));
        match (import, chain.checked_sub(1)) {
            (Some(import), Some(chain)) => {
                let path: Path = import.path.iter().chain(rest.iter().skip(1)).cloned().collect();
                self.target(&module, &path, chain)
            }
            _ => Some(&found.file),
        }
    }

    /// The module at which a path begins, and the remaining segments of the path.
    fn anchor<'p>(&self, own: &[String], path: &'p [String]) -> Option<(Path, &'p [String])> {
        let (first, mut rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Path::new(), rest)),
            "self" => Some((own.to_vec(), rest)),
            "super" => {
                let mut module = own.split_last()?.1;
                while let Some((_, others)) =
                    rest.split_first().filter(|(word, _)| *word == "super")
                {
                    (module, rest) = (module.split_last()?.1, others);
                }
                Some((module.to_vec(), rest))
            }
            _ => {
                let child: Path = own.iter().chain([first]).cloned().collect();
                self.files.contains_key(&child).then(|| (own.to_vec(), path))
            }
        }
    }

    /// The module whose file holds this one: itself, unless it is an inline module.
    fn enclosing(&self, mut module: Path) -> Path {
        while !self.files.contains_key(&module) && module.pop().is_some() {}
        module
    }
}

/// `client/call.rs` is `client::call`; `lib.rs` and `client/mod.rs` stand for their folder.
fn module_path(file: &str) -> Path {
    let mut path: Path = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod") || path == ["lib"] {
        path.pop();
    }
    path
}
