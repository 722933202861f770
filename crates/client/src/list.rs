//! Lists that come in pages, as streams of their items.
//!
//! A page is fetched when the one before is used up, so a list is never held as a whole unless
//! [`List::all`] is asked for. Cursors go back as they came; an empty one is a cursor like any
//! other.

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
use bowline_types::page::{PageParams, PagedResult};
use bowline_types::read::ReadError;
use bowline_types::rpc::Rpc;
use futures_core::Stream;

use crate::call;
use crate::error::{Error, Result};

/// More items than any server means to offer; who wants more reads the list as a stream.
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
#[must_use = "a list is asked for when it is read"]
pub struct List<T> {
    link: Link,
    method: Method,
    request: fn(&PageParams) -> CallRequest,
    read: fn(&RawJson) -> Result<Items<T>, ReadError>,
    items: vec::IntoIter<T>,
    next: Next<T>,
    circles: Circles,
    note: Option<Note<T>>,
    /// Whether the server is asked for every page, whatever is kept.
    fresh: bool,
    /// Whether a page so far was kept from before.
    reused: bool,
}

/// Remembers something of each page, and may leave items out.
type Note<T> = Box<dyn Fn(&mut Vec<T>) + Send + Sync>;

/// The items of one page, and the cursor of the next.
type Items<T> = (Vec<T>, Option<Cursor>);

/// A page on its way, and whether it was kept from before.
type Fetch<T> = Pin<Box<dyn Future<Output = Result<(Items<T>, bool)>> + Send>>;

/// Where the next item comes from once this page is used up.
enum Next<T> {
    Page(PageParams),
    Fetching(Fetch<T>),
    /// There is no next one, only this to tell.
    Failure(Error),
    Nowhere,
}

impl<T> List<T> {
    /// The list that a method gives.
    pub(crate) fn new<R>(link: Link) -> Self
    where
        R: Rpc<Params = PageParams>,
        R::Result: PagedResult<Item = T>,
    {
        Self {
            link,
            method: R::METHOD,
            request: call::request::<R>,
            read: |result| result.parse::<R::Result>().map(PagedResult::into_parts),
            items: Vec::new().into_iter(),
            next: Next::Page(PageParams::first()),
            circles: Circles::default(),
            note: None,
            fresh: false,
            reused: false,
        }
    }

    /// Asks the server for every page, also for those that are [kept](crate::ClientBuilder::cache).
    /// So all pages are of one time.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Has somebody remember something of each page, or leave items out.
    pub(crate) fn noted(mut self, note: impl Fn(&mut Vec<T>) + Send + Sync + 'static) -> Self {
        self.note = Some(Box::new(note));
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

    /// All items that are left.
    ///
    /// # Errors
    ///
    /// If a page cannot be had, or there are more than 100 000 items.
    pub async fn all(mut self) -> Result<Vec<T>> {
        let is_unread = self.is_unread();
        let outcome = self.rest().await;
        if is_unread && self.reused && outcome.as_ref().is_err_and(is_refusal_of_cursor) {
            // What was kept led to a page that is gone; so begin again, with nothing kept.
            return self.again().rest().await;
        }
        outcome
    }

    /// Whether nothing has been read.
    fn is_unread(&self) -> bool {
        matches!(&self.next, Next::Page(params) if params.cursor.is_none())
    }

    /// The same list from its beginning, asked for anew.
    fn again(mut self) -> Self {
        self.next = Next::Page(PageParams::first());
        self.circles = Circles::default();
        self.fresh()
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
            match std::mem::replace(&mut self.next, Next::Nowhere) {
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
                Next::Nowhere => return Poll::Ready(None),
            }
        }
    }

    fn fetch(&self, params: &PageParams) -> Fetch<T> {
        let (link, method, read) = (self.link.clone(), self.method, self.read);
        let mut request = (self.request)(params);
        request.fresh = self.fresh;
        Box::pin(async move {
            let answer = call::ask(&link, method.name(), request).await?;
            let page = read(&answer.result).map_err(|error| {
                Error::call(method.name(), CallError::Invalid(error.within("result").to_string()))
            })?;
            Ok((page, answer.reused))
        })
    }

    /// Goes on to a page.
    fn turn(&mut self, (mut items, cursor): Items<T>) {
        if let Some(note) = &self.note {
            note(&mut items);
        }
        self.items = items.into_iter();
        self.next = match cursor {
            None => Next::Nowhere,
            Some(cursor) if self.circles.is_old(&cursor) => {
                let reason = format!(
                    "its pages go round in circles: the server gave the cursor {:?} again",
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

/// Whether a page was refused because of its cursor, as far as the code says.
fn is_refusal_of_cursor(error: &Error) -> bool {
    error.rpc().is_some_and(|error| error.code == code::INVALID_PARAMS)
}

/// Notices when cursors repeat, in constant memory (Brent's method): one cursor is remembered, and
/// replaced by the newest after 1, 2, 4, 8… pages, so that it stands inside any circle in the end.
#[derive(Debug, Default)]
struct Circles {
    remembered: Option<Cursor>,
    steps: u64,
    patience: u64,
}

impl Circles {
    fn is_old(&mut self, cursor: &Cursor) -> bool {
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
    fn cursors_that_repeat_are_noticed_however_long_the_circle() {
        for length in 1..=20 {
            for lead in 0..10 {
                let mut circles = Circles::default();
                let at = |step: u64| if step < lead { step } else { lead + (step - lead) % length };
                let noticed =
                    (0..200).find(|step| circles.is_old(&Cursor::new(at(*step).to_string())));
                assert!(noticed.is_some_and(|step| step >= length), "{lead} then {length}");
            }
        }
    }

    #[test]
    fn cursors_that_never_repeat_are_all_new() {
        let mut circles = Circles::default();
        assert!((0..10_000).all(|step: u64| !circles.is_old(&Cursor::new(step.to_string()))));
    }
}
