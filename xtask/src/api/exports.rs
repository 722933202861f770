//! What the facade exports.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::rustdoc::{Crates, id};

/// The facade.
const FACADE: &str = "bowline";

/// An item that programs can name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Export {
    /// As programs write it.
    pub(super) path: String,
    /// The crate that defines it, and its id there.
    pub(super) package: String,
    pub(super) id: u32,
    /// The path of its definition, which may be private.
    pub(super) definition: String,
}

/// All exports, sorted by path; an item with two paths counts twice.
pub(super) fn exports(crates: &Crates) -> Result<Vec<Export>> {
    let root = crates.root(FACADE).context("rustdoc wrote nothing about the facade")?;
    let mut found = Exports { crates, found: BTreeMap::new() };
    found.module(FACADE, root, FACADE);
    let exports = found.found.into_iter();
    let export = |(path, (package, id)): (String, (String, u32))| {
        let definition = crates.path(&package, id);
        Export { path, package, id, definition }
    };
    Ok(exports.map(export).collect())
}

struct Exports<'a> {
    crates: &'a Crates,
    found: BTreeMap<String, (String, u32)>,
}

impl Exports<'_> {
    /// Finds the exports of a module, which programs reach by this path.
    fn module(&mut self, package: &str, module: u32, path: &str) {
        let Some(("module", inner)) = self.crates.item(package, module) else { return };
        for child in inner["items"].as_array().into_iter().flatten().filter_map(id) {
            let Some(name) = self.crates.public_name(package, child) else { continue };
            self.item(package, child, &format!("{path}::{name}"));
        }
    }

    fn item(&mut self, package: &str, item: u32, path: &str) {
        match self.crates.item(package, item) {
            Some(("module", _)) => self.module(package, item, path),
            Some(("use", inner)) => self.reexport(package, inner, path),
            Some(("impl" | "extern_crate", _)) | None => {}
            Some(_) => {
                self.found.insert(path.to_owned(), (package.to_owned(), item));
            }
        }
    }

    fn reexport(&mut self, package: &str, inner: &Value, path: &str) {
        let crates = self.crates;
        let target = id(&inner["id"]);
        if let Some((package, id)) = target.and_then(|target| crates.definition(package, target)) {
            self.item(package, id, path);
        } else if let Some(target) = target {
            // Of a crate that is not ours: it has no signatures here.
            self.found.insert(path.to_owned(), (package.to_owned(), target));
        }
    }
}
