//! Looks for the mounted servers that may have some resources.
//!
//! The lists of each server are read once, however many resources are looked for.

use bowline_proto::request::Parts;
use bowline_types::error::{ErrorObject, code};
use futures_core::future::BoxFuture;

use super::Router;
use super::together::Together;
use crate::mount::Mount;
use crate::mount::lists::{self, ResourceTrace};

/// The mounted servers that may have a resource.
#[derive(Default)]
pub(super) struct Holders {
    pub(super) mounts: Vec<Mount>,
    /// Why it is not known of another server whether it has the resource.
    pub(super) failure: Option<ErrorObject>,
}

impl Router {
    /// The mounted servers that may have each of some resources: the first one that lists it, or else
    /// those that list a template which makes its URI. If there are none, those that list something of
    /// the same scheme, or else those that list nothing, because a resource need not be listed. A
    /// server alone is asked in any case.
    pub(super) async fn holders(
        &self,
        candidates: &[Mount],
        uris: &[&str],
        parts: &Parts,
    ) -> Vec<Holders> {
        if candidates.len() < 2 || uris.is_empty() {
            let all = || Holders { mounts: candidates.to_vec(), failure: None };
            return uris.iter().map(|_| all()).collect();
        }
        let mut searches: Vec<_> = uris.iter().map(|_| Search::default()).collect();
        let mut lists = trace_resources(candidates, uris, parts);
        for mount in candidates {
            let list = lists.next().await;
            for (place, search) in searches.iter_mut().enumerate() {
                search.note_resources(mount, &list, place);
            }
            if searches.iter().all(|search| search.lister.is_some()) {
                return searches.into_iter().map(|search| search.end(candidates)).collect();
            }
        }
        let mut lists = trace_templates(candidates, uris, parts);
        for (number, _) in candidates.iter().enumerate() {
            let list = lists.next().await;
            for (place, search) in searches.iter_mut().enumerate() {
                search.note_templates(number, &list, place);
            }
        }
        searches.into_iter().map(|search| search.end(candidates)).collect()
    }
}

/// What one of the lists of a mounted server says about each of some resources.
type FoundTraces = Result<Vec<ResourceTrace>, ErrorObject>;

/// What the lists of resources of mounted servers say about resources, in the order of the servers.
/// Asks all of them at once.
fn trace_resources<'a>(
    mounts: &'a [Mount],
    uris: &'a [&'a str],
    parts: &'a Parts,
) -> Together<'a, FoundTraces> {
    Together::new(mounts.iter().map(|mount| -> BoxFuture<'a, FoundTraces> {
        Box::pin(lists::resources(mount, uris, parts))
    }))
}

/// What the lists of templates of mounted servers say about URIs, or about templates with these texts,
/// in the order of the servers. Asks all of them at once.
pub(super) fn trace_templates<'a>(
    mounts: &'a [Mount],
    texts: &'a [&'a str],
    parts: &'a Parts,
) -> Together<'a, FoundTraces> {
    Together::new(mounts.iter().map(|mount| -> BoxFuture<'a, FoundTraces> {
        Box::pin(lists::templates(mount, texts, parts))
    }))
}

/// What is known of one resource.
#[derive(Default)]
struct Search {
    /// The first server that lists it.
    lister: Option<Mount>,
    /// What the lists of each server say. `None` of a server that did not give one of them.
    strongest: Vec<Option<ResourceTrace>>,
    failure: Option<ErrorObject>,
}

impl Search {
    /// Notes what the list of resources of the next server says about the resource at this place.
    fn note_resources(&mut self, mount: &Mount, list: &Option<FoundTraces>, place: usize) {
        if self.lister.is_some() {
            return;
        }
        let trace = self.trace(list, place);
        if trace == Some(ResourceTrace::Listed) {
            self.lister = Some(mount.clone());
        }
        self.strongest.push(trace);
    }

    /// Notes what the list of templates of a server says.
    fn note_templates(&mut self, number: usize, list: &Option<FoundTraces>, place: usize) {
        if self.lister.is_some() {
            return;
        }
        let other = self.trace(list, place);
        if let Some(trace) = self.strongest.get_mut(number) {
            *trace = match (*trace, other) {
                (Some(one), Some(other)) => Some(one.max(other)),
                (None, Some(ResourceTrace::Listed)) => other,
                // Without one of its lists it may have anything, and the failure is the answer.
                _ => None,
            };
        }
    }

    /// What a list says about the resource at this place, if the server could be asked. Keeps the
    /// first failure.
    fn trace(&mut self, list: &Option<FoundTraces>, place: usize) -> Option<ResourceTrace> {
        match list.as_ref()? {
            Ok(traces) => traces.get(place).copied(),
            // It has no such list.
            Err(error) if error.code == code::METHOD_NOT_FOUND => Some(ResourceTrace::Nothing),
            Err(error) => {
                self.failure.get_or_insert_with(|| error.clone());
                None
            }
        }
    }

    fn end(self, candidates: &[Mount]) -> Holders {
        use ResourceTrace::{Listed, Nothing, Scheme};
        if let Some(mount) = self.lister {
            return Holders { mounts: vec![mount], failure: None };
        }
        for wanted in [Listed, Scheme, Nothing] {
            let found = candidates.iter().zip(&self.strongest);
            let found = found.filter(|(_, trace)| **trace == Some(wanted));
            let mounts: Vec<Mount> = found.map(|(mount, _)| mount.clone()).collect();
            if !mounts.is_empty() {
                return Holders { mounts, failure: self.failure };
            }
        }
        Holders { mounts: Vec::new(), failure: self.failure }
    }
}
