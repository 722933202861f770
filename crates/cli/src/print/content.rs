//! Content blocks in one line each, where they cannot be shown as they are.

use bowline_types::content::Content;

/// What a block is, for people. Text of the server, not cleaned.
pub(crate) fn described(content: &Content) -> String {
    match content {
        Content::Text(text) => text.text.clone(),
        Content::Image(image) => format!("[image, {}]", image.mime_type),
        Content::Audio(audio) => format!("[audio, {}]", audio.mime_type),
        Content::ResourceLink(link) => format!("[link to {}]", link.uri),
        Content::Resource(resource) => match resource.resource.as_text() {
            Some(text) => text.to_owned(),
            None => format!("[resource {}]", resource.resource.uri),
        },
        _ => "[content of an unknown type]".to_owned(),
    }
}
