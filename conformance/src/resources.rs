//! Resources: text, bytes, a template, and one to subscribe to.

use bowline::{Json, Resource, resource, resources, starting_with};
use bowline_types::resource::ResourceContents;
use serde_json::{Value, json};

use crate::media;

/// The resource whose change `interop_update_resource` announces.
pub(crate) const WATCHED: &str = "test://watched-resource";

pub(crate) fn resources() -> impl IntoIterator<Item = Resource> {
    resources![static_text, static_binary, watched, example, template]
}

/// Text that never changes
#[resource("test://static-text")]
async fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture that never changes
#[resource("test://static-binary", mime = "image/png")]
async fn static_binary() -> Vec<u8> {
    media::PIXEL.to_vec()
}

/// Text to watch
#[resource("test://watched-resource")]
async fn watched() -> &'static str {
    "Watched resource content"
}

/// What the prompt with an embedded resource embeds
#[resource("test://example-resource")]
async fn example() -> &'static str {
    EXAMPLE
}

const EXAMPLE: &str = "This is the content of the example resource.";

/// The example as contents of a resource with any URI.
pub(crate) fn example_at(uri: impl Into<String>) -> ResourceContents {
    ResourceContents::text(uri, EXAMPLE).with_mime_type("text/plain")
}

/// One of many
#[resource("test://template/{id}/data")]
async fn template(
    #[arg(complete = |typed| async move { starting_with(typed, ["1", "12", "123", "2"]) })]
    id: String,
) -> Json<Value> {
    Json(json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") }))
}
