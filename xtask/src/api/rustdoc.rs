//! What rustdoc wrote about the crates.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// The crates of the workspace, by the name of their library.
pub(super) struct Crates {
    folder: PathBuf,
    crates: BTreeMap<String, Value>,
    /// Where an item is defined: the crate and the id there, by its path.
    defined: BTreeMap<String, (String, u32)>,
}

impl Crates {
    /// Reads all descriptions in a folder.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut read =
            Self { folder: folder.to_owned(), crates: BTreeMap::new(), defined: BTreeMap::new() };
        for entry in fs::read_dir(folder).context("rustdoc wrote nothing")? {
            let path = entry?.path();
            let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
            let is_json = path.extension().is_some_and(|extension| extension == "json");
            if let Some(name) = name.filter(|name| is_json && name.starts_with("bowline")) {
                let description = serde_json::from_str(&fs::read_to_string(&path)?)
                    .with_context(|| format!("{} is no JSON", path.display()))?;
                read.add(name, description);
            }
        }
        Ok(read)
    }

    fn add(&mut self, name: String, description: Value) {
        for (id, path) in description["paths"].as_object().into_iter().flatten() {
            if let (0, Ok(id)) = (path["crate_id"].as_u64().unwrap_or(1), id.parse()) {
                self.defined.insert(joined(&path["path"]), (name.clone(), id));
            }
        }
        self.crates.insert(name, description);
    }

    /// The description of a crate as a file.
    pub(super) fn file(&self, package: &str) -> PathBuf {
        self.folder.join(package).with_extension("json")
    }

    /// The id of the root module of a crate.
    pub(super) fn root(&self, package: &str) -> Option<u32> {
        id(&self.crates.get(package)?["root"])
    }

    /// An item of a crate: its kind, and what rustdoc says of that kind.
    pub(super) fn item(&self, package: &str, id: u32) -> Option<(&str, &Value)> {
        let item = self.crates.get(package)?["index"].get(id.to_string())?;
        let (kind, inner) = item["inner"].as_object()?.iter().next()?;
        Some((kind, inner))
    }

    /// The name of an item, unless it is private or hidden.
    pub(super) fn public_name(&self, package: &str, id: u32) -> Option<&str> {
        let item = self.crates.get(package)?["index"].get(id.to_string())?;
        let is_public = item["visibility"] == "public" && !is_hidden(&item["attrs"]);
        item["name"].as_str().or(item["inner"]["use"]["name"].as_str()).filter(|_| is_public)
    }

    /// The path of an item's definition.
    pub(super) fn path(&self, package: &str, id: u32) -> String {
        joined(&self.crates[package]["paths"][id.to_string()]["path"])
    }

    /// Where the item is defined that a crate calls by this id.
    pub(super) fn definition(&self, package: &str, id: u32) -> Option<(&str, u32)> {
        let (package, id) = self.defined.get(&self.path(package, id))?;
        Some((package, *id))
    }
}

/// An id in a description.
pub(super) fn id(value: &Value) -> Option<u32> {
    value.as_u64().and_then(|id| id.try_into().ok())
}

fn joined(path: &Value) -> String {
    let parts: Vec<&str> =
        path.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    parts.join("::")
}

fn is_hidden(attributes: &Value) -> bool {
    attributes.to_string().contains("hidden")
}
