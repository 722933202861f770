//! The server that something comes from, as those who judge it see it.

use std::sync::Arc;

use bowline_proto::client::ServerProfile;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

/// A server: how the application calls it, what it says of itself, and what it speaks.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    label: Option<Arc<str>>,
    info: Option<Arc<Implementation>>,
    pub(crate) revision: Revision,
}

impl Server {
    /// A server that has said nothing yet.
    pub(crate) fn unmet(label: Option<Arc<str>>) -> Self {
        Self { label, info: None, revision: Revision::LATEST }
    }

    /// A server that has introduced itself.
    pub(crate) fn met(label: Option<Arc<str>>, profile: &ServerProfile) -> Self {
        Self { label, info: profile.info.clone().map(Arc::new), revision: profile.revision }
    }

    pub(crate) fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    pub(crate) fn info(&self) -> Option<&Implementation> {
        self.info.as_deref()
    }
}
