//! What each side can do, as it declares it.
//!
//! A member that is there declares a capability, whatever it holds; one that is missing means
//! "unsupported". Reading is lenient, because a whole connection hangs on it: `true` counts as
//! `{}`, `false` and `null` as missing, and unknown members are passed over. Questions are asked
//! with `supports_…`, so that rules such as "an empty `elicitation` means forms" stand here once.

use std::ops::Not;

use serde::{Deserialize, Serialize};

mod client;
pub(crate) mod declared;
mod extensions;
mod server;

pub use client::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use declared::flag;
pub use extensions::{Extensions, InvalidExtension};
pub use server::{ResourcesCapability, ServerCapabilities};

/// A list that can be asked for, and may announce its changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListCapability {
    /// Whether changes of the list are announced. Meaningless for roots since 2026-07-28.
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
