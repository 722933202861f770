//! Looks through the lists of a mounted server for a resource.
//!
//! The lists are those that the caller of the request would see, so a mounted server that hides a
//! resource from the caller is not asked for it. The number of pages is bounded, since a server may
//! return cursors without end.

use bowline_proto::members::Members;
use bowline_proto::request::Parts;
use bowline_types::method::Method;
use bowline_types::page::PagedResult;
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ResourceDefinition, ResourceTemplate,
};
use bowline_types::template::UriTemplate;
use serde::de::DeserializeOwned;

use super::Mount;

/// Pages of a list that are looked through.
const MOST_PAGES: usize = 100;

/// Whether a resource is listed.
pub(crate) async fn resource(mount: &Mount, uri: &str, parts: &Parts) -> bool {
    let is_it = |resource: &ResourceDefinition| resource.uri == uri;
    any::<ListResourcesResult>(mount, Method::ResourcesList, parts, is_it).await
}

/// Whether a text is a template that is listed, or a URI that one makes.
pub(crate) async fn template(mount: &Mount, text: &str, parts: &Parts) -> bool {
    let is_it = |family: &ResourceTemplate| {
        let makes = |template: UriTemplate| template.match_uri(text).is_some();
        family.uri_template == text || UriTemplate::parse(&family.uri_template).is_ok_and(makes)
    };
    any::<ListResourceTemplatesResult>(mount, Method::ResourcesTemplatesList, parts, is_it).await
}

/// Whether any item of a list that a mounted server shows the caller passes a test.
async fn any<P: PagedResult + DeserializeOwned>(
    mount: &Mount,
    method: Method,
    parts: &Parts,
    is_it: impl Fn(&P::Item) -> bool,
) -> bool {
    let mut params = Members::default();
    for _ in 0..MOST_PAGES {
        let Ok(page) = mount.ask(parts, method, params).await else { return false };
        let Ok(page) = page.body().parse::<P>() else { return false };
        let (items, next) = page.into_parts();
        if items.iter().any(&is_it) {
            return true;
        }
        let Some(next) = next else { return false };
        params = Members::default().with("cursor", &next);
    }
    false
}
