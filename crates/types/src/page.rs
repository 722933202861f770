//! Lists that are sent in pages: the request carries a cursor, the result the cursor of the next
//! page.

use serde::{Deserialize, Serialize};

use crate::id::Cursor;

/// The page of a list that a client requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PageParams {
    /// The `nextCursor` of the page before. `None` requests the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

impl PageParams {
    /// Requests the first page.
    pub fn first() -> Self {
        Self::default()
    }

    /// Requests the page after the one that returned this cursor.
    pub fn after(cursor: Cursor) -> Self {
        Self { cursor: Some(cursor) }
    }
}

/// The key in `_meta` of a page for the servers that are missing from the list: an array of
/// [`LeftOutServer`]. A gateway sets it if it cannot list one of its servers.
pub const LEFT_OUT: &str = "io.github.bowline-mcp/leftOut";

/// A server behind a gateway whose items are missing from a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeftOutServer {
    /// The prefix of its names.
    pub server: String,
    /// Why it is missing.
    pub cause: String,
}

impl LeftOutServer {
    /// The server with this prefix, for this cause.
    pub fn new(server: impl Into<String>, cause: impl Into<String>) -> Self {
        Self { server: server.into(), cause: cause.into() }
    }
}

/// A result that is one page of a list.
///
/// A client requests pages until one has no cursor:
///
/// ```
/// use bowline_types::page::{PageParams, PagedResult};
/// use bowline_types::tool::ListToolsResult;
///
/// # fn request(_: PageParams) -> ListToolsResult { ListToolsResult::new(Vec::new()) }
/// let mut tools = Vec::new();
/// let mut params = Some(PageParams::first());
/// while let Some(page) = params {
///     let (items, next) = request(page).into_parts();
///     tools.extend(items);
///     params = next.map(PageParams::after);
/// }
/// ```
///
/// Bound the number of pages: a server that always sends a cursor would otherwise never let the loop
/// end.
pub trait PagedResult {
    /// The type of the list's items.
    type Item;

    /// The servers that the page lacks ([`LEFT_OUT`]).
    fn left_out(&self) -> Vec<LeftOutServer> {
        Vec::new()
    }

    /// The items of this page, and the cursor of the next page if there is one.
    fn into_parts(self) -> (Vec<Self::Item>, Option<Cursor>);
}

/// Declares a list request, its result with one page, and their traits.
macro_rules! list {
    (
        $(#[$rpc_doc:meta])* $rpc:ident = $method:ident,
        $(#[$result_doc:meta])* $result:ident { $(#[$items_doc:meta])* $items:ident: $item:ty }
    ) => {
        $crate::rpc::request! {
            $(#[$rpc_doc])*
            $rpc = $method($crate::page::PageParams) -> $result
        }

        $(#[$result_doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[non_exhaustive]
        pub struct $result {
            $(#[$items_doc])*
            pub $items: Vec<$item>,
            /// The cursor of the next page. `None` on the last one.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub next_cursor: Option<$crate::id::Cursor>,
            /// Further metadata.
            #[serde(rename = "_meta", default, skip_serializing_if = "crate::meta::Meta::is_empty")]
            pub meta: $crate::meta::Meta,
        }

        impl $result {
            /// The last page of a list.
            pub fn new($items: Vec<$item>) -> Self {
                Self { $items, next_cursor: None, meta: $crate::meta::Meta::new() }
            }

            /// Sets the cursor of the next page.
            #[must_use]
            pub fn with_next_cursor(mut self, cursor: $crate::id::Cursor) -> Self {
                self.next_cursor = Some(cursor);
                self
            }
        }

        impl $crate::page::PagedResult for $result {
            type Item = $item;

            fn left_out(&self) -> Vec<$crate::page::LeftOutServer> {
                self.meta.parse($crate::page::LEFT_OUT).unwrap_or_default()
            }

            fn into_parts(self) -> (Vec<$item>, Option<$crate::id::Cursor>) {
                (self.$items, self.next_cursor)
            }
        }
    };
}
pub(crate) use list;

#[cfg(test)]
mod tests {
    use super::*;

    // spec: PAGE-6, PAGE-8
    #[test]
    fn a_cursor_is_passed_on_untouched_even_when_empty() {
        for cursor in ["", " ", "a=b&c", "é\n"] {
            let params = PageParams::after(Cursor::new(cursor));
            let text = serde_json::to_string(&params).unwrap();
            assert_eq!(serde_json::from_str::<PageParams>(&text).unwrap(), params);
        }
    }

    // spec: PAGE-5
    #[test]
    fn the_first_page_is_asked_for_without_a_cursor() {
        assert_eq!(serde_json::to_string(&PageParams::first()).unwrap(), "{}");
        let null = serde_json::from_str::<PageParams>(r#"{"cursor":null}"#).unwrap();
        assert_eq!(null, PageParams::first());
    }
}
