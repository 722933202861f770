//! Makes values fit older revisions.
use bowline_types::revision::Revision;
/// A value that may say things an older revision has no words for.
pub trait Project {
    /// Fits it to a revision.
    fn project(&mut self, revision: Revision);
}
macro_rules! stub { ($($t:ty),*) => { $(impl Project for $t { fn project(&mut self, _: Revision) {} })* } }
stub!(
    bowline_types::tool::CallToolResult,
    bowline_types::tool::ListToolsResult,
    bowline_types::implementation::Implementation,
    bowline_types::capability::ServerCapabilities,
    bowline_types::capability::ClientCapabilities,
    bowline_types::progress::ProgressParams,
    bowline_types::input::InputRequest,
    bowline_types::discover::DiscoverResult
);
