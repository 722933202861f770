//! Tools that answer with every kind of content.

use bowline::{Content, Result, Tool, tool, tools};
use bowline_types::resource::ResourceContents;

use crate::media;

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_resource_link,
        test_multiple_content_types,
        test_error_handling,
    ]
}

/// Answer with text
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Answer with an image
#[tool(read_only)]
fn test_image_content() -> Content {
    media::image()
}

/// Answer with a sound
#[tool(read_only)]
fn test_audio_content() -> Content {
    media::audio()
}

/// Answer with a resource as a whole
#[tool(read_only)]
fn test_embedded_resource() -> Content {
    embedded("test://embedded-resource", "This is an embedded resource content.")
}

/// Answer with a link to a resource
#[tool(read_only)]
fn test_resource_link() -> Content {
    Content::resource_link("test://static-text", "static_text")
}

/// Answer with text, an image and a resource
#[tool(read_only)]
fn test_multiple_content_types() -> Vec<Content> {
    vec![
        Content::text("Multiple content types test:"),
        media::image(),
        embedded("test://mixed-content-resource", "This is one of several."),
    ]
}

/// Fail, and tell the model
#[tool(read_only)]
fn test_error_handling() -> Result<String> {
    Err("This tool intentionally returns an error for testing".into())
}

fn embedded(uri: &str, text: &str) -> Content {
    Content::resource(ResourceContents::text(uri, text).with_mime_type("text/plain"))
}
