//! Looks through the lists of a mounted server for a resource.
//!
//! The lists are those that the caller of the request would see, so a mounted server that hides a
//! resource from the caller is not asked for it. The number of pages is bounded, since a server may
//! return cursors without end.

use bowline_proto::members::Members;
use bowline_proto::request::Parts;
use bowline_types::error::ErrorObject;
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

/// What a list says about a resource, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ResourceTrace {
    /// The list is empty.
    Nothing,
    /// It names resources of other schemes.
    Others,
    /// It names resources of the same scheme.
    Scheme,
    /// It names the resource, or a template that makes its URI.
    Listed,
}

/// What the list of resources says about a resource.
///
/// # Errors
///
/// If the server does not give the list.
pub(crate) async fn resource(
    mount: &Mount,
    uri: &str,
    parts: &Parts,
) -> Result<ResourceTrace, ErrorObject> {
    let judge = |resource: &ResourceDefinition| {
        if resource.uri == uri { ResourceTrace::Listed } else { by_scheme(&resource.uri, uri) }
    };
    strongest::<ListResourcesResult>(mount, Method::ResourcesList, parts, judge).await
}

/// What the list of templates says about a URI, or about a template with this text.
///
/// # Errors
///
/// If the server does not give the list.
pub(crate) async fn template(
    mount: &Mount,
    text: &str,
    parts: &Parts,
) -> Result<ResourceTrace, ErrorObject> {
    let judge = |family: &ResourceTemplate| {
        let makes = |template: UriTemplate| template.match_uri(text).is_some();
        let is_it = family.uri_template == text
            || UriTemplate::parse(&family.uri_template).is_ok_and(makes);
        if is_it { ResourceTrace::Listed } else { by_scheme(&family.uri_template, text) }
    };
    strongest::<ListResourceTemplatesResult>(mount, Method::ResourcesTemplatesList, parts, judge)
        .await
}

fn by_scheme(listed: &str, wanted: &str) -> ResourceTrace {
    let scheme = |uri: &str| uri.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_same = scheme(wanted).is_some_and(|wanted| scheme(listed) == Some(wanted));
    if is_same { ResourceTrace::Scheme } else { ResourceTrace::Others }
}

/// The strongest trace among the items of a list that a mounted server shows the caller.
async fn strongest<P: PagedResult + DeserializeOwned>(
    mount: &Mount,
    method: Method,
    parts: &Parts,
    judge: impl Fn(&P::Item) -> ResourceTrace,
) -> Result<ResourceTrace, ErrorObject> {
    let mut strongest = ResourceTrace::Nothing;
    let mut params = Members::default();
    for _ in 0..MOST_PAGES {
        let page = mount.ask(parts, method, params).await?;
        let page = page.body().parse::<P>().map_err(|error| {
            ErrorObject::internal(format!("the list of `{}` is invalid: {error}", mount.namespace))
        })?;
        let (items, next) = page.into_parts();
        strongest = items.iter().map(&judge).fold(strongest, ResourceTrace::max);
        if strongest == ResourceTrace::Listed {
            break;
        }
        let Some(next) = next else { break };
        params = Members::default().with("cursor", &next);
    }
    Ok(strongest)
}
