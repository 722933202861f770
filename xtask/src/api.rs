//! `cargo xtask api`: what `bowline` promises, as a text that shows in review what a change does to it.
//!
//! rustdoc describes each crate as JSON. [`mod@exports`] finds what the facade exports, wherever it is
//! defined; the crate `public-api` writes the signatures. The text is `docs/api.txt`.

mod exports;
mod rustdoc;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use public_api::{Builder, PublicApi};

use crate::command::{cargo, run as start};
use crate::tree::root;
use exports::{Export, exports};
use rustdoc::Crates;

const PATH: &str = "docs/api.txt";

/// The most items that the facade may export. It may only fall.
const MOST_ITEMS: usize = 400;

/// Runs `cargo xtask api`.
pub(crate) fn run(options: &[&str]) -> Result<()> {
    describe()?;
    let crates = Crates::read(&root().join("target/doc"))?;
    let exports = exports(&crates)?;
    let text = text(&crates, &exports)?;
    match options {
        [] => compare(&text, exports.len()),
        ["--write"] => {
            fs::write(root().join(PATH), text).with_context(|| format!("cannot write {PATH}"))?;
            println!("{} items written to {PATH}", exports.len());
            Ok(())
        }
        _ => bail!("`{}` is no option of api; see `cargo xtask help`", options.join(" ")),
    }
}

/// Lets rustdoc describe all crates, which checks their documentation too.
fn describe() -> Result<()> {
    let mut doc = cargo();
    doc.args(["doc", "--workspace", "--no-deps", "--all-features"]);
    doc.env("RUSTDOC", root().join("xtask/rustdoc-json.sh")).env("RUSTDOCFLAGS", "-Dwarnings");
    start(&mut doc)
}

/// Compares with the text in the repository, and prints the lines that differ.
fn compare(text: &str, items: usize) -> Result<()> {
    let noted = fs::read_to_string(root().join(PATH))
        .with_context(|| format!("cannot read {PATH}; `cargo xtask api --write`"))?;
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let (noted, now) = (lines(&noted), lines(text));
    noted.difference(&now).for_each(|line| println!("- {line}"));
    now.difference(&noted).for_each(|line| println!("+ {line}"));
    ensure!(
        noted == now,
        "the public API differs from {PATH}; `cargo xtask api --write` writes the new text"
    );
    ensure!(
        items <= MOST_ITEMS,
        "`bowline` exports {items} items, and may export {MOST_ITEMS}; export what users need"
    );
    println!("{items} items");
    Ok(())
}

/// The exports with all that users can name or call, in the paths of the facade.
fn text(crates: &Crates, exports: &[Export]) -> Result<String> {
    let mut signatures: BTreeMap<&str, Signatures> = BTreeMap::new();
    for export in exports {
        let name = export.package.as_str();
        if !signatures.contains_key(name) {
            signatures.insert(name, Signatures::read(crates, name)?);
        }
    }
    let names = Names::of(exports, &signatures);
    let mut text = String::new();
    for export in exports {
        let _ = writeln!(text, "{}", export.path);
        let lines = signatures[export.package.as_str()].of(export.id);
        for line in lines.map(|line| names.in_facade(line)).collect::<BTreeSet<_>>() {
            let _ = writeln!(text, "    {line}");
        }
    }
    Ok(text)
}

/// The signatures of one crate, by the item that they belong to.
struct Signatures {
    lines: BTreeMap<u32, BTreeSet<String>>,
    /// Every path of an item inside its crate.
    paths: BTreeMap<u32, BTreeSet<String>>,
}

impl Signatures {
    fn read(crates: &Crates, package: &str) -> Result<Self> {
        let api = Builder::from_rustdoc_json(crates.file(package))
            .omit_blanket_impls(true)
            .omit_auto_trait_impls(true)
            .omit_auto_derived_impls(true)
            .build()
            .with_context(|| format!("cannot read what rustdoc wrote of {package}"))?;
        Ok(Self::of_items(&api))
    }

    /// An item belongs to its outermost parent that is no module, so a field to its struct.
    fn of_items(api: &PublicApi) -> Self {
        let parents: BTreeMap<u32, u32> =
            api.items().filter_map(|item| Some((item.id().0, item.parent_id()?.0))).collect();
        let modules: BTreeSet<u32> = api
            .items()
            .filter(|item| item.to_string().starts_with("pub mod "))
            .map(|item| item.id().0)
            .collect();
        let mut read = Self { lines: BTreeMap::new(), paths: BTreeMap::new() };
        for item in api.items() {
            let (id, line) = (item.id().0, item.to_string());
            let mut owner = id;
            while let Some(parent) = parents.get(&owner).filter(|it| !modules.contains(it)) {
                owner = *parent;
            }
            if let Some((_, path)) = paths(&line).next().filter(|_| owner == id) {
                read.paths.entry(id).or_default().insert(path.to_owned());
            }
            read.lines.entry(owner).or_default().insert(line);
        }
        read
    }

    fn of(&self, id: u32) -> impl Iterator<Item = &String> {
        self.lines.get(&id).into_iter().flatten()
    }
}

/// How the facade calls what other crates call differently.
struct Names {
    facade: BTreeMap<String, String>,
}

impl Names {
    fn of(exports: &[Export], signatures: &BTreeMap<&str, Signatures>) -> Self {
        let mut facade: BTreeMap<String, String> = BTreeMap::new();
        for Export { path, package, id, definition } in exports {
            let own = signatures[package.as_str()].paths.get(id).into_iter().flatten();
            for other in own.chain([definition]) {
                let name = facade.entry(other.clone()).or_insert_with(|| path.clone());
                if path.len() < name.len() {
                    name.clone_from(path);
                }
            }
        }
        Self { facade }
    }

    /// Replaces paths by those of the facade; what it does not export keeps the name of its crate.
    fn in_facade(&self, line: &str) -> String {
        let mut text = String::new();
        let mut end = 0;
        for (start, path) in paths(line) {
            text.push_str(&line[end..start]);
            let prefixes = path.match_indices("::").map(|(at, _)| &path[..at]);
            let mut prefixes: Vec<&str> = prefixes.chain([path]).collect();
            prefixes.reverse();
            let found =
                prefixes.iter().find_map(|prefix| Some((prefix, self.facade.get(*prefix)?)));
            match found {
                Some((prefix, name)) => text.extend([name, &path[prefix.len()..]]),
                None => text.push_str(path),
            }
            end = start + path.len();
        }
        text.push_str(&line[end..]);
        text
    }
}

/// The paths in a line that begin with one of our crates, and where they begin.
fn paths(line: &str) -> impl Iterator<Item = (usize, &str)> {
    line.match_indices("bowline").filter_map(|(start, _)| {
        let is_path = |text: char| text.is_alphanumeric() || text == '_' || text == ':';
        let is_whole = !line[..start].ends_with(is_path);
        let path = &line[start..];
        let path = &path[..path.find(|text| !is_path(text)).unwrap_or(path.len())];
        Some((start, path.trim_end_matches(':')))
            .filter(|(_, path)| is_whole && path.contains("::"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_those_of_the_facade() {
        let facade = [("bowline_a::b::C", "bowline::C"), ("bowline_a::C", "bowline::C")];
        let facade = facade.map(|(own, name)| (own.to_owned(), name.to_owned()));
        let names = Names { facade: facade.into() };
        for (line, expected) in [
            ("pub fn bowline_a::C::d(&self)", "pub fn bowline::C::d(&self)"),
            ("pub struct bowline_a::b::C<T>(pub T)", "pub struct bowline::C<T>(pub T)"),
            ("f(bowline_a::b::Cd, a::bowline_a::C)", "f(bowline_a::b::Cd, a::bowline_a::C)"),
        ] {
            assert_eq!(names.in_facade(line), expected);
        }
    }
}
