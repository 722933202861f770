//! Looks through the lists of a mounted server for resources.
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

/// What the list of resources says about each of some resources. Reads the list once.
///
/// # Errors
///
/// If the server does not give the list.
pub(crate) async fn resources(
    mount: &Mount,
    uris: &[&str],
    parts: &Parts,
) -> Result<Vec<ResourceTrace>, ErrorObject> {
    let list = (Method::ResourcesList, judge_resource as Judge<ResourceDefinition>);
    strongest::<ListResourcesResult>(mount, list, uris, parts).await
}

/// What the list of templates says about each of some URIs, or about templates with these texts. Reads
/// the list once.
///
/// # Errors
///
/// If the server does not give the list.
pub(crate) async fn templates(
    mount: &Mount,
    texts: &[&str],
    parts: &Parts,
) -> Result<Vec<ResourceTrace>, ErrorObject> {
    let list = (Method::ResourcesTemplatesList, judge_template as Judge<ResourceTemplate>);
    strongest::<ListResourceTemplatesResult>(mount, list, texts, parts).await
}

/// Makes a function that says what an item of a list says about a URI.
type Judge<T> = fn(&T) -> Box<dyn Fn(&str) -> ResourceTrace + '_>;

fn judge_resource(resource: &ResourceDefinition) -> Box<dyn Fn(&str) -> ResourceTrace + '_> {
    Box::new(|uri| match resource.uri == uri {
        true => ResourceTrace::Listed,
        false => by_scheme(&resource.uri, uri),
    })
}

fn judge_template(family: &ResourceTemplate) -> Box<dyn Fn(&str) -> ResourceTrace + '_> {
    let template = UriTemplate::parse(&family.uri_template).ok();
    Box::new(move |text| {
        let makes = |template: &UriTemplate| template.match_uri(text).is_some();
        match family.uri_template == text || template.as_ref().is_some_and(makes) {
            true => ResourceTrace::Listed,
            false => by_scheme(&family.uri_template, text),
        }
    })
}

fn by_scheme(listed: &str, wanted: &str) -> ResourceTrace {
    let scheme = |uri: &str| uri.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_same = scheme(wanted).is_some_and(|wanted| scheme(listed) == Some(wanted));
    if is_same { ResourceTrace::Scheme } else { ResourceTrace::Others }
}

/// For each URI the strongest trace among the items of a list that a mounted server shows the caller.
async fn strongest<P: PagedResult + DeserializeOwned>(
    mount: &Mount,
    (method, judge): (Method, Judge<P::Item>),
    uris: &[&str],
    parts: &Parts,
) -> Result<Vec<ResourceTrace>, ErrorObject> {
    let mut strongest = vec![ResourceTrace::Nothing; uris.len()];
    let mut params = Members::default();
    for _ in 0..MOST_PAGES {
        let page = mount.ask(parts, method, params).await?;
        let page = page.body().parse::<P>().map_err(|error| {
            ErrorObject::internal(format!("the list of `{}` is invalid: {error}", mount.namespace))
        })?;
        let (items, next) = page.into_parts();
        for item in &items {
            let judge = judge(item);
            for (known, uri) in strongest.iter_mut().zip(uris) {
                *known = judge(uri).max(*known);
            }
        }
        if strongest.iter().all(|trace| *trace == ResourceTrace::Listed) {
            break;
        }
        let Some(next) = next else { break };
        params = Members::default().with("cursor", &next);
    }
    Ok(strongest)
}
