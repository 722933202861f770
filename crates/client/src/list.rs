//! Paged lists as streams of their items.
//!
//! The next page is fetched when the current one is used up. Only [`List::all`] holds a whole list.
//! Cursors are sent back unchanged; an empty string is a valid cursor.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use bowline_proto::client::{CallError, CallRequest};
use bowline_transport::connect::Link;
use bowline_types::error::code;
use bowline_types::id::Cursor;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::page::{LeftOutServer, PageParams, PagedResult};
use bowline_types::read::ReadError;
use bowline_types::rpc::Rpc;
use futures_core::Stream;
use futures_core::future::BoxFuture;

use crate::error::{Error, Result};
use crate::request;

/// The most items that [`List::all`] returns; longer lists can be read as a stream.
const ALL: usize = 100_000;

/// The items of a list, page after page.
///
/// It is a [`Stream`]; without a crate for streams, use [`next`](Self::next) or
/// [`all`](Self::all). It ends after the last item or the first error.
///
/// ```no_run
/// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
/// let mut tools = client.tools();
/// while let Some(tool) = tools.next().await {
///     println!("{}", tool?.display_name());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a list is fetched when it is read"]
pub struct List<T> {
    link: Link,
    method: Method,
    request: fn(&PageParams) -> CallRequest,
    read: fn(&RawJson) -> Result<Page<T>, ReadError>,
    items: vec::IntoIter<T>,
    left_out: Vec<LeftOutServer>,
    next: Next<T>,
    cycle: CursorCycle,
    note: Option<Note<T>>,
    /// Whether the cache is bypassed.
    fresh: bool,
    /// Whether a page so far came from the cache.
    reused: bool,
}

/// Observes each page, and may remove items.
type Note<T> = Box<dyn Fn(&mut Vec<T>) + Send + Sync>;

/// One page.
pub(crate) struct Page<T> {
    items: Vec<T>,
    left_out: Vec<LeftOutServer>,
    /// The cursor of the next page.
    next: Option<Cursor>,
}

impl<T> Page<T> {
    pub(crate) fn of<R: PagedResult<Item: Into<T>>>(result: R) -> Self {
        let left_out = result.left_out();
        let (items, next) = result.into_parts();
        Self { items: items.into_iter().map(Into::into).collect(), left_out, next }
    }
}

/// A page that is being fetched, and whether it came from the cache.
type Fetch<T> = BoxFuture<'static, Result<(Page<T>, bool)>>;

/// What follows when the current page is used up.
enum Next<T> {
    Page(PageParams),
    Fetching(Fetch<T>),
    /// The list ends with this error.
    Failure(Error),
    End,
}

impl<T> List<T> {
    /// The list that a method returns.
    pub(crate) fn new<R>(link: Link) -> Self
    where
        R: Rpc<Params = PageParams>,
        R::Result: PagedResult<Item: Into<T>>,
    {
        let read = |result: &RawJson| result.parse::<R::Result>().map(Page::of);
        Self::of(link, R::METHOD, request::of::<R>, read)
    }

    /// The list that a method returns, given how its pages are requested and read.
    pub(crate) fn of(
        link: Link,
        method: Method,
        request: fn(&PageParams) -> CallRequest,
        read: fn(&RawJson) -> Result<Page<T>, ReadError>,
    ) -> Self {
        Self {
            link,
            method,
            request,
            read,
            items: Vec::new().into_iter(),
            left_out: Vec::new(),
            next: Next::Page(PageParams::first()),
            cycle: CursorCycle::default(),
            note: None,
            fresh: false,
            reused: false,
        }
    }

    /// Asks the server for every page, also for pages in the [cache](crate::ClientBuilder::cache).
    /// So no page is older than the others.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// A list that ends with this error, before anything is sent.
    #[cfg(feature = "skills")]
    pub(crate) fn failing(mut self, error: Error) -> Self {
        self.next = Next::Failure(error);
        self
    }

    /// Passes each page to a function, which may remove items. Functions that were added before
    /// get the page first.
    pub(crate) fn noted(mut self, note: impl Fn(&mut Vec<T>) + Send + Sync + 'static) -> Self
    where
        T: 'static,
    {
        self.note = Some(match self.note.take() {
            None => Box::new(note),
            Some(first) => Box::new(move |items| {
                first(items);
                note(items);
            }),
        });
        self
    }
}

impl<T: Send + 'static> List<T> {
    /// The next item, or `None` after the last one.
    ///
    /// Dropping the returned future loses nothing.
    pub async fn next(&mut self) -> Option<Result<T>> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Reads all remaining items.
    ///
    /// # Errors
    ///
    /// If a page cannot be fetched, or there are more than 100 000 items.
    pub async fn all(mut self) -> Result<Vec<T>> {
        self.remaining().await
    }

    /// The servers that the pages so far lack, if the server is a gateway that says so: it left them
    /// out because they fail or are slow. The same list may have them later.
    pub fn left_out(&self) -> &[LeftOutServer] {
        &self.left_out
    }

    /// The same as [`all`](Self::all), after which [`left_out`](Self::left_out) tells what is missing.
    ///
    /// # Errors
    ///
    /// As [`all`](Self::all).
    pub async fn remaining(&mut self) -> Result<Vec<T>> {
        let is_unread = self.is_unread();
        let outcome = self.rest().await;
        if is_unread && self.reused && outcome.as_ref().is_err_and(is_refusal_of_cursor) {
            // A cursor from the cache is not valid any more. Start again without the cache.
            self.begin_again();
            return self.rest().await;
        }
        outcome
    }

    /// Whether no page was fetched yet.
    fn is_unread(&self) -> bool {
        matches!(&self.next, Next::Page(params) if params.cursor.is_none())
    }

    /// Goes back to the beginning of the list, without the cache.
    fn begin_again(&mut self) {
        self.next = Next::Page(PageParams::first());
        self.cycle = CursorCycle::default();
        self.left_out.clear();
        self.fresh = true;
    }

    async fn rest(&mut self) -> Result<Vec<T>> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await {
            if all.len() == ALL {
                let reason = format!("it has more than {ALL} items; read it as a stream");
                return Err(Error::endless(self.method.name(), reason));
            }
            all.push(item?);
        }
        Ok(all)
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        loop {
            if let Some(item) = self.items.next() {
                return Poll::Ready(Some(Ok(item)));
            }
            match std::mem::replace(&mut self.next, Next::End) {
                Next::Page(params) => self.next = Next::Fetching(self.fetch(&params)),
                Next::Fetching(mut page) => match page.as_mut().poll(cx) {
                    Poll::Ready(page) => {
                        let (page, reused) = page?;
                        self.reused |= reused;
                        self.turn(page);
                    }
                    Poll::Pending => {
                        self.next = Next::Fetching(page);
                        return Poll::Pending;
                    }
                },
                Next::Failure(error) => return Poll::Ready(Some(Err(error))),
                Next::End => return Poll::Ready(None),
            }
        }
    }

    fn fetch(&self, params: &PageParams) -> Fetch<T> {
        let (link, method, read) = (self.link.clone(), self.method, self.read);
        let mut request = (self.request)(params);
        request.fresh = self.fresh;
        Box::pin(async move {
            let answer = request::ask(&link, method.name(), request).await?;
            let page = read(&answer.result).map_err(|error| {
                Error::call(method.name(), CallError::Invalid(error.within("result").to_string()))
            })?;
            Ok((page, answer.reused))
        })
    }

    /// Makes a fetched page the current one.
    fn turn(&mut self, page: Page<T>) {
        let Page { mut items, left_out, next: cursor } = page;
        self.left_out.extend(left_out);
        if let Some(note) = &self.note {
            note(&mut items);
        }
        self.items = items.into_iter();
        self.next = match cursor {
            None => Next::End,
            Some(cursor) if self.cycle.is_repeated(&cursor) => {
                let reason = format!(
                    "its pages repeat: the server sent the cursor {:?} again",
                    cursor.as_str()
                );
                Next::Failure(Error::endless(self.method.name(), reason))
            }
            Some(cursor) => Next::Page(PageParams::after(cursor)),
        };
    }
}

impl<T: Send + Unpin + 'static> Stream for List<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(cx)
    }
}

impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("List").field("method", &self.method).finish_non_exhaustive()
    }
}

/// Whether a page was probably refused because of its cursor: the error code is the same for all
/// invalid params.
fn is_refusal_of_cursor(error: &Error) -> bool {
    error.rpc().is_some_and(|error| error.code == code::INVALID_PARAMS)
}

/// Detects a cycle of cursors in constant memory (Brent's algorithm): remembers one cursor, and
/// replaces it by the newest after 1, 2, 4, 8… pages, so that it lies inside any cycle in the end.
#[derive(Debug, Default)]
struct CursorCycle {
    remembered: Option<Cursor>,
    steps: u64,
    /// After how many steps the remembered cursor is replaced.
    patience: u64,
}

impl CursorCycle {
    fn is_repeated(&mut self, cursor: &Cursor) -> bool {
        if self.remembered.as_ref() == Some(cursor) {
            return true;
        }
        if self.steps == self.patience {
            self.remembered = Some(cursor.clone());
            self.patience = self.patience.saturating_mul(2).max(1);
            self.steps = 0;
        }
        self.steps += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_that_repeat_are_noticed_however_long_the_cycle() {
        for length in 1..=20 {
            for lead in 0..10 {
                let mut cycle = CursorCycle::default();
                let at = |step: u64| if step < lead { step } else { lead + (step - lead) % length };
                let noticed =
                    (0..200).find(|step| cycle.is_repeated(&Cursor::new(at(*step).to_string())));
                assert!(noticed.is_some_and(|step| step >= length), "{lead} then {length}");
            }
        }
    }

    #[test]
    fn cursors_that_never_repeat_are_all_new() {
        let mut cycle = CursorCycle::default();
        assert!((0..10_000).all(|step: u64| !cycle.is_repeated(&Cursor::new(step.to_string()))));
    }
}
