//! The capabilities that each side declares.
//!
//! A member that is present declares a capability; a missing one means "unsupported". Reading is
//! lenient, because an error here would cost the whole connection: `true` counts as `{}`, `false`
//! and `null` as missing, and unknown members are ignored. Use the `supports_…` methods, which apply
//! rules such as "an empty `elicitation` means forms".

use std::ops::Not;

use serde::{Deserialize, Serialize};

mod client;
pub(crate) mod declared;
mod extensions;
mod server;
mod tasks;

pub use client::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use declared::flag;
pub use extensions::{DeclaredExtensions, InvalidExtension};
pub use server::{ResourcesCapability, ServerCapabilities};
pub use tasks::TasksCapability;

/// A list that a peer can request, with or without notifications of changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListCapability {
    /// Whether the peer is notified of changes of the list. Has no meaning for roots since
    /// 2026-07-28.
    #[serde(default, deserialize_with = "flag", skip_serializing_if = "Not::not")]
    pub list_changed: bool,
}

impl ListCapability {
    fn lacking(&self, there: Option<&Self>) -> Option<Self> {
        let satisfied = there.is_some_and(|there| there.list_changed || !self.list_changed);
        (!satisfied).then(|| self.clone())
    }
}

#[cfg(test)]
mod tests;
