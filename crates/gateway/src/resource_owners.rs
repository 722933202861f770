//! Which servers list which resources, to find URIs that several of them list.
//!
//! Resources keep their URIs in a gateway, because texts name them too. So a read of a URI that two
//! servers list goes to the first of them, and nothing else would tell that the other is hidden.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasher as _;
use std::sync::Mutex;

use bowline_proto::request::Success;
use bowline_proto::sync::lock;
use bowline_types::text::excerpt;
use serde::Deserialize;

use crate::config::{ConfigError, ServerEntry};
use crate::reporter::Reporter;

/// The most resources that are remembered of all servers together.
const MOST: usize = 10_000;

/// Which servers list which resources.
#[derive(Debug)]
pub(crate) struct ResourceOwners {
    /// In the order of the file: the first one is read.
    entries: Vec<ServerEntry>,
    report: Reporter,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    hasher: RandomState,
    /// Servers by the hashes of URIs, which need not be stored for that.
    owners: HashMap<u64, usize>,
    /// Pairs of servers that were reported.
    reported: BTreeSet<(usize, usize)>,
}

impl ResourceOwners {
    pub(crate) fn new(entries: Vec<ServerEntry>, report: Reporter) -> Self {
        Self { entries, report, state: Mutex::default() }
    }

    /// Notes a page of the list of a server. Each pair of servers with a common URI is reported once.
    pub(crate) fn note(&self, server: usize, page: &Success) {
        if self.entries.len() < 2 {
            return;
        }
        let Ok(Page { resources }) = page.body().parse() else { return };
        for Resource { uri } in resources {
            let other = self.add(&uri, server).filter(|other| *other != server);
            if let Some(other) = other {
                self.report(&uri, (server.min(other), server.max(other)));
            }
        }
    }

    /// Adds a resource. Returns the other server that lists it, if there is one.
    fn add(&self, uri: &str, server: usize) -> Option<usize> {
        let mut state = lock(&self.state);
        let hash = state.hasher.hash_one(uri);
        let has_room = state.owners.len() < MOST;
        match state.owners.entry(hash) {
            Entry::Occupied(owner) => Some(*owner.get()),
            Entry::Vacant(vacant) => {
                if has_room {
                    vacant.insert(server);
                }
                None
            }
        }
    }

    fn report(&self, uri: &str, (first, second): (usize, usize)) {
        if !lock(&self.state).reported.insert((first, second)) {
            return;
        }
        let (first, second) = (&self.entries[first], &self.entries[second]);
        let note = ConfigError::new(&second.file, second.at.as_str(), shadowed(uri, &first.name));
        self.report.report(&note.with_advice("reads of it reach the first of them only"));
    }
}

/// What is wrong if a server lists a URI that an earlier one lists too.
fn shadowed(uri: &str, first: &str) -> String {
    format!("the server `{first}` also lists the resource `{}`", excerpt(uri))
}

#[derive(Deserialize)]
struct Page {
    resources: Vec<Resource>,
}

#[derive(Deserialize)]
struct Resource {
    uri: String,
}
