//! An ordered set of features that is read by all calls and changed while they run.
//!
//! Readers get a snapshot that never changes; a change makes a new one. The pages of the list are
//! written once per snapshot and revision, when a client first asks for them. Order is the order of
//! registration. A cursor holds the number of the last item of its page, so pages neither repeat nor
//! skip an item when others are added or removed, on every replica.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::{Response, Success};
use bowline_proto::sync::{read, write};
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::revision::Revision;

use super::visible::{CallerView, Definition, Visibility};
use crate::run::ScopeRules;

/// Something that is listed and found by name.
pub(crate) trait FeatureEntry: Send + Sync + 'static {
    /// What the list holds, in the plural.
    const KIND: &'static str;

    fn name(&self) -> &Arc<str>;

    /// Its definition in the list.
    fn definition(&self) -> Definition<'_>;

    /// Which callers see it.
    fn visibility(&self) -> &Visibility;

    /// Which scopes it needs.
    fn scopes(&self) -> &ScopeRules;

    /// Writes one page of the list.
    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response;
}

/// An ordered set that can change.
#[derive(Debug)]
pub(crate) struct FeatureSet<T>(RwLock<Arc<Snapshot<T>>>);

impl<T: FeatureEntry> FeatureSet<T> {
    pub(crate) fn new() -> Self {
        Self::from_snapshot(Snapshot::default())
    }

    /// An independent copy.
    pub(crate) fn fork(&self) -> Self {
        Self::from_snapshot(Snapshot::clone(&self.snapshot()))
    }

    fn from_snapshot(snapshot: Snapshot<T>) -> Self {
        Self(RwLock::new(Arc::new(snapshot)))
    }

    /// Declares that there is such a set, even while it is empty.
    pub(crate) fn offer(&self) {
        self.change(|snapshot| snapshot.is_offered = true);
    }

    /// Adds an item at the end; `false` if there is one of that name already.
    pub(crate) fn insert(&self, item: T) -> bool {
        self.change(|snapshot| snapshot.insert(item))
    }

    /// Removes the item of a name; `false` if there is none.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.change(|snapshot| snapshot.remove(name))
    }

    /// What is in the set now.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot<T>> {
        read(&self.0).clone()
    }

    fn change<R>(&self, change: impl FnOnce(&mut Snapshot<T>) -> R) -> R {
        let mut current = write(&self.0);
        let snapshot = Arc::make_mut(&mut current);
        snapshot.pages = Default::default();
        change(snapshot)
    }
}

/// What was in a set at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    /// Sorted by number.
    items: Vec<Numbered<T>>,
    /// Keyed with a secret of this process: a server may let clients choose the names.
    positions: HashMap<Arc<str>, usize>,
    /// The number of the last item that was ever added; the first has number 1.
    last: u64,
    is_offered: bool,
    /// How many items the lists of some callers lack.
    limited: usize,
    /// For callers who see everything, by revision.
    pages: [OnceLock<Vec<Page>>; Revision::ALL.len()],
}

#[derive(Debug)]
struct Numbered<T> {
    number: u64,
    item: Arc<T>,
}

/// A page of the list, written.
#[derive(Debug)]
struct Page {
    /// The number of the item before it.
    after: u64,
    response: Response,
}

impl<T: FeatureEntry> Snapshot<T> {
    /// Whether the set ever had an item, or was declared.
    pub(crate) fn is_offered(&self) -> bool {
        self.is_offered
    }

    /// Whether some callers may see less of the list than others.
    pub(crate) fn is_limited(&self, view: CallerView<'_>) -> bool {
        self.limited > 0 || view.is_limited()
    }

    /// Whether there is an item of a name, seen or not.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// The item of a name, if the caller sees it.
    pub(crate) fn find(&self, name: &str, view: CallerView<'_>) -> Option<&Arc<T>> {
        let position = self.positions.get(name)?;
        let numbered = self.items.get(*position)?;
        view.shows(&*numbered.item).then_some(&numbered.item)
    }

    /// All items, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.items.iter().map(|numbered| &numbered.item)
    }

    /// The page after a cursor, or the first, of what the caller sees.
    ///
    /// # Errors
    ///
    /// If the cursor is not one that this list gave.
    pub(crate) fn page(
        &self,
        cursor: Option<&Cursor>,
        size: usize,
        revision: Revision,
        view: CallerView<'_>,
    ) -> Response {
        let after = match cursor {
            None => 0,
            Some(cursor) => self.read_cursor(cursor).ok_or_else(|| {
                ErrorObject::invalid_params(format!(
                    "`cursor` is not one that this list of {} gave; start again without it",
                    T::KIND
                ))
            })?,
        };
        if self.is_limited(view) {
            return self.write_page(after, size, revision, |item| view.lists(item)).0;
        }
        let write = || self.write_pages(size, revision);
        let pages = self.pages.get(revision as usize).map(|pages| pages.get_or_init(write));
        let written = pages.and_then(|pages| pages.iter().find(|page| page.after == after));
        match written {
            Some(page) => page.response.clone(),
            // The list has changed since the cursor was given, and pages begin elsewhere now.
            None => self.write_page(after, size, revision, |_| true).0,
        }
    }

    /// All pages at once, in the shape of one revision; later requests of that revision clone them.
    fn write_pages(&self, size: usize, revision: Revision) -> Vec<Page> {
        let mut pages = Vec::new();
        let mut next = Some(0);
        while let Some(after) = next {
            let (response, last) = self.write_page(after, size, revision, |_| true);
            pages.push(Page { after, response: response.map(Success::shared) });
            next = last;
        }
        pages
    }

    /// Writes the page after an item, and names the item that the next one comes after.
    fn write_page(
        &self,
        after: u64,
        size: usize,
        revision: Revision,
        shows: impl Fn(&T) -> bool,
    ) -> (Response, Option<u64>) {
        let start = self.items.partition_point(|numbered| numbered.number <= after);
        let rest = self.items.get(start..).unwrap_or_default();
        let mut shown = rest.iter().filter(|numbered| shows(&numbered.item));
        let page: Vec<_> = shown.by_ref().take(size.max(1)).collect();
        let is_last = shown.next().is_none();
        let last = page.last().filter(|_| !is_last).map(|numbered| numbered.number);
        let items: Vec<&T> = page.iter().map(|numbered| &*numbered.item).collect();
        (T::page(&items, last.map(write_cursor::<T>), revision), last)
    }

    fn read_cursor(&self, cursor: &Cursor) -> Option<u64> {
        let bytes = URL_SAFE_NO_PAD.decode(cursor.as_str()).ok()?;
        let text = std::str::from_utf8(&bytes).ok()?;
        let number = text.strip_prefix(T::KIND)?.strip_prefix(':')?.parse().ok()?;
        (1..=self.last).contains(&number).then_some(number)
    }

    fn insert(&mut self, item: T) -> bool {
        if self.positions.contains_key(item.name()) {
            return false;
        }
        self.is_offered = true;
        self.limited += usize::from(is_limited(&item));
        self.last += 1;
        self.positions.insert(item.name().clone(), self.items.len());
        self.items.push(Numbered { number: self.last, item: Arc::new(item) });
        true
    }

    fn remove(&mut self, name: &str) -> bool {
        let Some(position) = self.positions.remove(name) else { return false };
        let Numbered { item, .. } = self.items.remove(position);
        self.limited -= usize::from(is_limited(&*item));
        for other in self.positions.values_mut().filter(|other| **other > position) {
            *other -= 1;
        }
        true
    }
}

/// Whether the lists of some callers lack an item.
fn is_limited<T: FeatureEntry>(item: &T) -> bool {
    item.visibility().is_limited() || item.scopes().hides()
}

fn write_cursor<T: FeatureEntry>(number: u64) -> Cursor {
    Cursor::new(URL_SAFE_NO_PAD.encode(format!("{}:{number}", T::KIND)))
}

impl<T> Default for Snapshot<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            positions: HashMap::default(),
            last: 0,
            is_offered: false,
            limited: 0,
            pages: Default::default(),
        }
    }
}

impl<T> Clone for Snapshot<T> {
    /// Pages are left behind: a copy is made to be changed.
    fn clone(&self) -> Self {
        Self {
            items: self.items.clone(),
            positions: self.positions.clone(),
            last: self.last,
            is_offered: self.is_offered,
            limited: self.limited,
            pages: Default::default(),
        }
    }
}

impl<T> Clone for Numbered<T> {
    fn clone(&self) -> Self {
        Self { number: self.number, item: self.item.clone() }
    }
}

#[cfg(test)]
mod tests;
