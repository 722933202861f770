//! The modules of a crate form layers.
//!
//! A knot is a set of top-level modules in which each leads to each: to understand one of them, all
//! have to be read. A few may belong together. More of them hide that the crate has no layers, so
//! `lib.rs` cannot list them in reading order.
//!
//! A re-export counts here like an import, except those of `lib.rs`, which is no module of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::finding::Finding;
use crate::tree::Tree;

use super::modules::Modules;
use super::{Arrows, components, crates, list};

/// The most modules that may lead to each other.
const MOST_MODULES: usize = 4;

/// Folders whose modules are counted like those of a crate.
const HALVES: &[&str] = &["crates/http/src/client/", "crates/http/src/server/"];

/// Finds the modules of every knot that is too large.
pub(in crate::tidy) fn check(tree: &Tree) -> Vec<Finding> {
    let knots = knots(tree, MOST_MODULES);
    let modules = knots.iter().flat_map(|(folder, knot)| {
        knot.iter().map(move |(module, imported)| {
            let text = format!(
                "`{module}` is in a knot of {} modules by its imports of {}; move what they share \
                 into a layer below (`cargo xtask tidy --circles` shows the knot)",
                knot.len(),
                list(imported),
            );
            Finding::new(&format!("{folder}lib.rs"), 1, text)
        })
    });
    modules.collect()
}

/// All knots that are too large: for each module what it imports of the others.
pub(super) fn listing(tree: &Tree) -> String {
    let mut text = String::new();
    for (folder, knot) in knots(tree, MOST_MODULES) {
        let _ = writeln!(text, "{folder}: a knot of {} modules", knot.len());
        for (module, imported) in knot {
            let _ = writeln!(text, "  {module} → {}", list(&imported));
        }
    }
    text
}

/// The largest knot, and where it is.
pub(crate) fn largest(tree: &Tree) -> (usize, String) {
    let sizes = knots(tree, 1).into_iter().map(|(folder, knot)| (knot.len(), folder));
    sizes.max_by_key(|(size, _)| *size).unwrap_or((1, String::new()))
}

/// The knots of more than `most` modules, and the folders that they are in.
fn knots(tree: &Tree, most: usize) -> Vec<(String, Arrows)> {
    let mut knots = Vec::new();
    for (package, files) in crates(tree) {
        let folder = format!("crates/{package}/src/");
        let arrows = Modules::new(&folder, &files).arrows_and_reexports();
        let halves = HALVES.iter().filter(|half| half.starts_with(&folder)).copied();
        for folder in halves.chain([folder.as_str()]) {
            let found = components(&between_modules(folder, &arrows), most);
            knots.extend(found.into_iter().map(|knot| (folder.to_owned(), knot)));
        }
    }
    knots
}

/// Which module of a folder imports which.
fn between_modules(folder: &str, files: &Arrows) -> Arrows {
    let module = |path: &str| Some(module(path.strip_prefix(folder)?)?.to_owned());
    let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, imported) in files {
        if let Some(from) = module(file) {
            let imported = imported.iter().filter_map(|path| module(path));
            let others = imported.filter(|other| *other != from);
            arrows.entry(from.clone()).or_default().extend(others);
        }
    }
    arrows
}

/// The module of a folder that a file belongs to; none if it is the root of a crate.
fn module(path: &str) -> Option<&str> {
    let name = path.split('/').next()?.trim_end_matches(".rs");
    (!matches!(name, "lib" | "main" | "bin")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: (&str, &str) = (
        "crates/a/src/lib.rs",
        "mod a;\nmod b;\nmod c;\nmod d;\nmod e;\npub use a::A;\npub use e::E;\n",
    );

    fn circle(last: &str) -> Tree {
        Tree::of(&[
            LIB,
            ("crates/a/src/a.rs", "use crate::b::B;"),
            ("crates/a/src/b.rs", "mod x;\nuse x::X;"),
            ("crates/a/src/b/x.rs", "use crate::c::C;"),
            ("crates/a/src/c.rs", "use crate::d::D;"),
            ("crates/a/src/d.rs", "use crate::E;"),
            ("crates/a/src/e.rs", last),
        ])
    }

    #[test]
    fn five_modules_that_lead_to_each_other_are_found() {
        for last in ["use crate::A;", "pub use crate::a::A;", "fn f() { crate::a::f() }"] {
            let tree = circle(last);
            assert_eq!(check(&tree).len(), 5, "{last}");
            assert_eq!(largest(&tree), (5, "crates/a/src/".to_owned()));
        }
    }

    #[test]
    fn layers_are_no_knot() {
        assert_eq!(check(&circle("")), []);
        assert_eq!(largest(&circle("")).0, 1);
    }

    #[test]
    fn tests_are_no_arrows() {
        assert_eq!(check(&circle("#[cfg(test)]\nmod tests { use crate::A; }")), []);
    }
}
