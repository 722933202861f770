//! Inside a crate, files import each other in one direction.
//!
//! Two files may import each other: a type and its builder, say. A circle of three or more files
//! has no first file to read, and moving one of them moves all. What they share goes into a file
//! of its own below them, or one arrow is turned around.
//!
//! An arrow is a `use`, or a path in the code, that begins with `crate`, `super`, `self` or a child
//! module. `mod` and `pub use` are no arrows: an item that is imported through a `pub use` counts
//! as imported from the file that the `pub use` points to. Tests are left out.
//!
//! The [`knots`] of whole modules are judged by the same arrows.

mod imports;
pub(crate) mod knots;
mod modules;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::finding::Finding;
use crate::tree::{File, Tree};

use modules::Modules;

/// The most files that may import each other.
const MOST_FILES: usize = 2;

/// Finds the files of every circle that is too large.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let circles = circles(tree);
    let files = circles.iter().flat_map(|circle| {
        circle.imports.iter().map(|(path, imported)| {
            let text = format!(
                "is in a circle of {} files by its import of {}; lower what they share into a \
                 file of its own (`cargo xtask tidy --circles` shows the circle)",
                circle.imports.len(),
                list(imported),
            );
            Finding::new(path, 1, text)
        })
    });
    files.collect()
}

/// All circles that are too large: for each file what it imports of the others.
pub(super) fn listing(tree: &Tree) -> String {
    let mut text = String::new();
    let circles = circles(tree);
    for circle in &circles {
        let _ = writeln!(text, "{}: a circle of {} files", circle.package, circle.imports.len());
        for (path, imported) in &circle.imports {
            let short = |path: &str| path.trim_start_matches(&circle.folder).to_owned();
            let imported: BTreeSet<String> = imported.iter().map(|path| short(path)).collect();
            let _ = writeln!(text, "  {} → {}", short(path), list(&imported));
        }
    }
    text.push_str(&knots::listing(tree));
    let files: usize = circles.iter().map(|circle| circle.imports.len()).sum();
    let _ = writeln!(text, "{files} files in {} circles of more than {MOST_FILES}", circles.len());
    text
}

/// Files that all lead to each other.
struct Circle {
    package: String,
    /// Where the files of the crate are: `crates/http/src/`.
    folder: String,
    /// Each file, and those of the circle that it imports.
    imports: Arrows,
}

/// Which file imports which, by path.
type Arrows = BTreeMap<String, BTreeSet<String>>;

/// The source files of each crate.
fn crates(tree: &Tree) -> BTreeMap<&str, Vec<&File>> {
    let mut crates: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in tree.sources() {
        let package = file.path.split('/').nth(1).unwrap_or_default();
        crates.entry(package).or_default().push(file);
    }
    crates
}

/// The largest number of files that lead to each other.
pub(crate) fn largest(tree: &Tree) -> usize {
    let arrows = |(package, files): (&str, Vec<&File>)| {
        Modules::new(&format!("crates/{package}/src/"), &files).arrows()
    };
    let circles = crates(tree).into_iter().flat_map(|files| components(&arrows(files), 1));
    circles.map(|circle| circle.len()).max().unwrap_or(1)
}

fn circles(tree: &Tree) -> Vec<Circle> {
    let mut circles = Vec::new();
    for (package, files) in crates(tree) {
        let folder = format!("crates/{package}/src/");
        let arrows = Modules::new(&folder, &files).arrows();
        circles.extend(components(&arrows, MOST_FILES).into_iter().map(|imports| Circle {
            package: package.to_owned(),
            folder: folder.clone(),
            imports,
        }));
    }
    circles
}

/// The sets of more than `most` names in which each can be reached from each.
fn components(arrows: &Arrows, most: usize) -> Vec<Arrows> {
    let reachable: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|path| (path.as_str(), reachable(path, arrows))).collect();
    let mut components = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, targets) in &reachable {
        let members: BTreeSet<&str> = targets
            .iter()
            .filter(|target| reachable.get(*target).is_some_and(|back| back.contains(path)))
            .copied()
            .collect();
        if members.len() > most && seen.insert(members.clone()) {
            let within = |path: &str| {
                let imported = arrows.get(path).into_iter().flatten();
                imported.filter(|path| members.contains(path.as_str())).cloned().collect()
            };
            let rows = members.iter().map(|path| ((*path).to_owned(), within(path)));
            components.push(rows.collect());
        }
    }
    components
}

/// The files to which a path of arrows leads; the first one only if a path leads back to it.
fn reachable<'a>(from: &str, arrows: &'a Arrows) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut next: Vec<&str> = arrows.get(from).into_iter().flatten().map(String::as_str).collect();
    while let Some(path) = next.pop() {
        if found.insert(path) {
            next.extend(arrows.get(path).into_iter().flatten().map(String::as_str));
        }
    }
    found
}

fn list(paths: &BTreeSet<String>) -> String {
    paths.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles in a crate `a` that has these files.
    fn found(files: &[(&str, &str)]) -> Vec<Vec<String>> {
        let paths: Vec<String> =
            files.iter().map(|(name, _)| format!("crates/a/src/{name}")).collect();
        let files: Vec<(&str, &str)> =
            paths.iter().zip(files).map(|(path, (_, text))| (path.as_str(), *text)).collect();
        let circles = circles(&Tree::of(&files));
        let name = |path: &String| path.trim_start_matches("crates/a/src/").to_owned();
        circles.iter().map(|circle| circle.imports.keys().map(name).collect()).collect()
    }

    const LIB: (&str, &str) = ("lib.rs", "mod a;\nmod b;\nmod c;\n");

    #[test]
    fn three_files_in_a_circle_are_found() {
        let files = [
            LIB,
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "fn f() { crate::c::f() }"),
            ("c.rs", "use super::a::{self, A};"),
        ];
        assert_eq!(found(&files), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn two_files_may_import_each_other() {
        let files = [LIB, ("a.rs", "use crate::b::B;"), ("b.rs", "use crate::a::A;")];
        assert_eq!(found(&files), [[""; 0]; 0]);
    }

    #[test]
    fn a_parent_and_its_children_can_be_a_circle() {
        let files = [
            LIB,
            ("a.rs", "mod x;\nmod y;\nuse x::X;\nuse self::y::Y;"),
            ("a/x.rs", "use super::A;"),
            ("a/y.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [["a.rs", "a/x.rs", "a/y.rs"]]);
    }

    #[test]
    fn an_import_through_a_reexport_counts_to_the_file_that_defines_the_item() {
        let files = [
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use a::A;\n"),
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "use crate::A;"),
        ];
        assert_eq!(found(&files), [["a.rs", "b.rs", "c.rs"]]);
    }

    #[test]
    fn tests_and_inline_modules_are_no_circle() {
        let files = [
            LIB,
            ("a.rs", "use crate::b::B;\nmod inner { use super::A; }"),
            ("b.rs", "use crate::c::C;"),
            ("c.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\npub(in crate::a) struct C;"),
            ("c/tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [[""; 0]; 0]);
    }

    #[test]
    fn every_file_of_a_circle_is_a_finding() {
        let tree = Tree::of(&[
            ("crates/a/src/a.rs", "use crate::b::B;"),
            ("crates/a/src/b.rs", "use crate::c::C;"),
            ("crates/a/src/c.rs", "use crate::a::A;"),
        ]);
        assert_eq!(check(&tree).len(), 3);
        assert_eq!(
            listing(&tree),
            "a: a circle of 3 files\n  a.rs → b.rs\n  b.rs → c.rs\n  c.rs → a.rs\n\
             3 files in 1 circles of more than 2\n",
        );
    }
}
