//! Which server a question, a tool call or an audit record belongs to.

use std::sync::Arc;

use bowline_proto::client::ServerProfile;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

/// The application's label of a server, the server's own name and version, and its revision.
#[derive(Clone, Debug)]
pub(crate) struct ServerIdentity {
    label: Option<Arc<str>>,
    info: Option<Arc<Implementation>>,
    pub(crate) revision: Revision,
}

impl ServerIdentity {
    /// A server before negotiation.
    pub(crate) fn unmet(label: Option<Arc<str>>) -> Self {
        Self { label, info: None, revision: Revision::LATEST }
    }

    /// A server after negotiation.
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
