//! Content blocks in the shapes of older revisions.
//!
//! A block that a revision does not have becomes text, never nothing: the model at the other end
//! still learns that something was there, and a link can still be followed. The audience of the
//! block is kept.

use bowline_types::content::{Annotations, Content, ResourceLink, Role, TextContent};
use bowline_types::revision::Revision;

use super::{Project, keep_if, project_meta};

impl Project for Content {
    /// Fits a block of a tool result or a prompt.
    fn project(&mut self, revision: Revision) {
        let text = match self {
            Self::Audio(audio) if !revision.has_audio() => {
                Some(left_out("audio", &audio.mime_type, revision))
            }
            Self::ResourceLink(link) if !revision.has_resource_links() => Some(link_text(link)),
            Self::ToolUse(_) | Self::ToolResult(_) | Self::Other(_)
                if !revision.has_open_content() =>
            {
                Some(json_text(self))
            }
            _ => None,
        };
        if let Some(text) = text {
            replace_by_text(self, text);
        }
        trim(self, revision);
    }
}

impl Project for Annotations {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.last_modified, revision.has_last_modified());
        if !revision.has_open_content() {
            self.audience.retain(|role| matches!(role, Role::User | Role::Assistant));
        }
    }
}

/// Drops the members of a block that the revision does not know. For blocks that exist in the
/// revision but have gained members since.
pub(super) fn trim(block: &mut Content, revision: Revision) {
    match block {
        Content::Text(block) => {
            block.annotations.project(revision);
            project_meta(&mut block.meta, revision);
        }
        Content::Image(block) => {
            block.annotations.project(revision);
            project_meta(&mut block.meta, revision);
        }
        Content::Audio(block) => {
            block.annotations.project(revision);
            project_meta(&mut block.meta, revision);
        }
        Content::ResourceLink(block) => {
            block.annotations.project(revision);
            keep_if(&mut block.icons, revision.has_icons());
            project_meta(&mut block.meta, revision);
        }
        Content::Resource(block) => {
            block.annotations.project(revision);
            block.resource.project(revision);
            project_meta(&mut block.meta, revision);
        }
        _ => {}
    }
}

/// Replaces a block by text, for the same audience.
pub(super) fn replace_by_text(block: &mut Content, text: String) {
    let mut replacement = TextContent::new(text);
    replacement.annotations = block.annotations().cloned();
    *block = Content::Text(replacement);
}

/// The text that replaces data which the revision cannot carry. The data itself would be noise as
/// text.
pub(super) fn left_out(what: &str, mime_type: &str, revision: Revision) -> String {
    format!("[{what} of type {mime_type} left out: revision {revision} cannot carry it]")
}

/// A link as a line of text. A model can still read the resource by its URI.
pub(super) fn link_text(link: &ResourceLink) -> String {
    let name = link.title.as_deref().unwrap_or(&link.name);
    match &link.description {
        Some(description) => format!("{name}: {} ({description})", link.uri),
        None => format!("{name}: {}", link.uri),
    }
}

/// The JSON text of a block that has no older shape.
pub(super) fn json_text(block: &Content) -> String {
    serde_json::to_string(block).unwrap_or_default()
}
