//! What a server declares beside its features: extensions and experimental capabilities.

use std::collections::BTreeMap;

use bowline_types::capability::ServerCapabilities;
use bowline_types::json::Object;

use super::Extension;
use super::table::ExtensionTable;
use crate::error::BuildError;
use crate::states::States;

/// What a server declares beside its features.
#[derive(Clone, Default)]
pub(crate) struct Extensions {
    list: Vec<Extension>,
    experimental: BTreeMap<String, Object>,
}

/// The extensions of a built server.
pub(crate) struct BuiltExtensions {
    pub(crate) table: ExtensionTable,
    experimental: BTreeMap<String, Object>,
}

impl Extensions {
    /// Adds an extension that has been checked.
    pub(crate) fn add(&mut self, extension: Extension) {
        self.list.push(extension);
    }

    /// Adds an experimental capability.
    pub(crate) fn add_experimental(&mut self, name: String, settings: Object) {
        self.experimental.insert(name, settings);
    }

    /// Checks that handlers have the state that they need and that no name is taken.
    ///
    /// # Errors
    ///
    /// Says what is wrong.
    pub(crate) fn build(&self, states: &States) -> Result<BuiltExtensions, BuildError> {
        let table = ExtensionTable::new(&self.list, states)?;
        Ok(BuiltExtensions { table, experimental: self.experimental.clone() })
    }
}

impl BuiltExtensions {
    /// Adds the extensions and the experimental capabilities to what a server declares.
    pub(crate) fn declare(&self, capabilities: &mut ServerCapabilities) {
        for (name, settings) in &self.experimental {
            capabilities.experimental.insert(name.clone(), settings.clone());
        }
        self.table.declare(capabilities);
    }
}
