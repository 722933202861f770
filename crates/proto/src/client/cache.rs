//! Results that are stored and returned again while they are fresh ([caching]).
//!
//! A result is stored for as long as its server allows, under the method and the params of its
//! request, and dropped as soon as the server reports a change. The cache never sends a request by
//! itself. It belongs to one connection, and so to one credential: private results are never
//! shared. Callers of a relay share it only if their requests state the same capabilities.
//!
//! [caching]: https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bowline_types::error::{ErrorObject, code};
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::page::PageParams;
use bowline_types::resource::ReadResourceParams;
use serde::Deserialize;

use super::{CallAnswer, CallRequest};
use crate::request::ReportedChange;
use crate::splice;

/// How much a client stores, and for how long at most. A client stores nothing unless it sets them
/// ([`ClientConfig::with_cache`](super::ClientConfig::with_cache)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheOptions {
    /// The number of results. Beyond that the least recently used are dropped.
    pub entries: usize,
    /// The bytes of all stored results.
    pub bytes: usize,
    /// How long a result is stored, even if its server allows longer.
    pub longest: Duration,
}

impl Default for CacheOptions {
    /// More than a server usually lists and a model usually reads, for at most an hour.
    fn default() -> Self {
        Self { entries: 256, bytes: 16 * 1024 * 1024, longest: Duration::from_secs(3600) }
    }
}

/// The stored results of one connection. It is emptied when the server restarts.
#[derive(Debug)]
pub(super) struct Cache {
    options: CacheOptions,
    entries: HashMap<Key, Entry>,
    /// The keys in the order of their last use.
    uses: BTreeMap<u64, Key>,
    last_use: u64,
    bytes: usize,
    /// Counts reported changes, so that an answer which was under way during one is not stored.
    changes: u64,
}

/// The request of a result. Everything that is sent counts, also `_meta` of the caller. A result
/// must not serve a request that differs in anything (CACHE-5).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    method: Method,
    params: String,
    meta: String,
    /// The capabilities of the caller of a relay, which the request states: a server may list by
    /// them.
    capabilities: String,
}

/// A stored result.
#[derive(Debug)]
struct Entry {
    answer: CallAnswer,
    /// The resource that was read, if any.
    uri: Option<String>,
    /// From receipt on, as the server allowed (CACHE-8), at most [`CacheOptions::longest`].
    stale_at: Instant,
    used: u64,
    bytes: usize,
}

impl Cache {
    /// An empty cache.
    pub(super) fn new(options: CacheOptions) -> Self {
        Self {
            options,
            entries: HashMap::new(),
            uses: BTreeMap::new(),
            last_use: 0,
            bytes: 0,
            changes: 0,
        }
    }

    /// The stored result of an equal request, if it is still fresh. The answer says that it was
    /// [`reused`](CallAnswer::reused).
    pub(super) fn find(&mut self, request: &CallRequest, now: Instant) -> Option<CallAnswer> {
        if request.fresh {
            return None;
        }
        let key = Key::of(request)?;
        let entry = self.entries.get_mut(&key)?;
        if entry.stale_at <= now {
            self.remove(&key);
            return None;
        }
        self.last_use += 1;
        self.uses.remove(&std::mem::replace(&mut entry.used, self.last_use));
        let answer = CallAnswer { reused: true, ..entry.answer.clone() };
        self.uses.insert(self.last_use, key);
        Some(answer)
    }

    /// How many changes the server has reported so far. Pass it to [`keep`](Self::keep) later.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Stores a new result, if its server allows. `changes` is the number of changes when the
    /// request was sent: after a change since then, the result may be outdated. A time to live of
    /// zero, or none, stores nothing (CACHE-7, CACHE-9).
    pub(super) fn keep(
        &mut self,
        request: &CallRequest,
        answer: &CallAnswer,
        changes: u64,
        now: Instant,
    ) {
        let ttl = answer.cache.map_or(Duration::ZERO, |hint| hint.ttl.min(self.options.longest));
        let Some(key) = Key::of(request) else { return };
        self.remove(&key);
        let bytes = key.params.len()
            + key.meta.len()
            + key.capabilities.len()
            + answer.result.as_str().len();
        let Some(stale_at) = now.checked_add(ttl).filter(|at| *at > now) else { return };
        if changes != self.changes || bytes > self.options.bytes || self.options.entries == 0 {
            return;
        }
        self.last_use += 1;
        let uri = request.params.parse().ok().map(|ReadResourceParams { uri, .. }| uri);
        let entry = Entry { answer: answer.clone(), uri, stale_at, used: self.last_use, bytes };
        self.bytes += bytes;
        self.uses.insert(self.last_use, key.clone());
        self.entries.insert(key, entry);
        self.shrink();
    }

    /// Drops the results that a change makes stale. A notification makes a result stale at once,
    /// whatever its time (CACHE-17).
    pub(super) fn changed(&mut self, change: &ReportedChange) {
        if matches!(change, ReportedChange::Acknowledged(_)) {
            return;
        }
        self.changes += 1;
        self.forget(|key, entry| match key.method {
            Method::ToolsList => *change == ReportedChange::Tools,
            Method::PromptsList => *change == ReportedChange::Prompts,
            Method::ResourcesList | Method::ResourcesTemplatesList => {
                *change == ReportedChange::Resources
            }
            _ => entry.uri.as_ref().is_some_and(|uri| change.may_touch(uri)),
        });
    }

    /// Drops everything, and whatever is under way: another credential means another cache
    /// (CACHE-15).
    pub(super) fn clear(&mut self) {
        self.changes += 1;
        self.forget(|_, _| true);
    }

    /// Drops every page of a list whose cursor the server refused. The list has changed under the
    /// cursor, so all pages are outdated (CACHE-21).
    pub(super) fn refused(&mut self, request: &CallRequest, error: &ErrorObject) {
        let has_cursor =
            || request.params.parse::<PageParams>().is_ok_and(|it| it.cursor.is_some());
        if error.code == code::INVALID_PARAMS && has_cursor() {
            self.forget(|key, _| key.method == request.method);
        }
    }

    /// Drops the results that meet a condition.
    fn forget(&mut self, is_stale: impl Fn(&Key, &Entry) -> bool) {
        let stale = self.entries.iter().filter(|(key, entry)| is_stale(key, entry));
        let stale: Vec<_> = stale.map(|(key, _)| key.clone()).collect();
        for key in &stale {
            self.remove(key);
        }
    }

    /// Makes room by dropping the least recently used results.
    fn shrink(&mut self) {
        while self.entries.len() > self.options.entries || self.bytes > self.options.bytes {
            let Some((_, key)) = self.uses.pop_first() else { return };
            self.remove(&key);
        }
    }

    /// Drops one result and its share of the bytes.
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.uses.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

impl Key {
    /// The key of a request, if its result may be stored at all.
    fn of(request: &CallRequest) -> Option<Self> {
        if !request.method.is_cacheable() || carries_input(request) {
            return None;
        }
        let (method, params) = (request.method, request.params.as_str().to_owned());
        let caller = request.on_behalf.as_ref();
        let capabilities = caller.map(|caller| splice::json(&caller.capabilities));
        let (meta, capabilities) = (splice::json(&request.meta), capabilities.unwrap_or_default());
        Some(Self { method, params, meta, capabilities })
    }
}

/// Whether a request answers questions of the server. Then its result depends on more than the
/// params. Such results must not be stored (CACHE-6).
fn carries_input(request: &CallRequest) -> bool {
    /// The members of the params that a retry adds.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        input_responses: Option<RawJson>,
        request_state: Option<RawJson>,
    }

    let is_returned = request.on_behalf.as_ref().is_some_and(|caller| caller.input.is_some());
    let input = request.params.parse::<Input>();
    let carries = |input: Input| input.input_responses.is_some() || input.request_state.is_some();
    is_returned || input.is_ok_and(carries)
}

#[cfg(test)]
mod tests;
