//! Lists of a server and of the servers that it mounts, as one list.
//!
//! What the server has itself comes first, then what each mounted server has, in the order in which
//! they were mounted. A page takes in server after server until it is full or one of them has
//! another page; so it costs each of them one page at most, and it may be longer than the server's
//! own pages are. All are asked at once, so that a slow one does not hold up those after it; requests
//! to servers that the page has no room for are dropped. A cursor names a server and the place in its
//! own list.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::members::Members;
use bowline_proto::request::{HostsTasks, Outgoing, Parts, Request, Response, Success};
use bowline_types::cache::{CacheHint, CacheScope};
use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::error::{ErrorObject, code};
use bowline_types::id::Cursor;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::page::{LEFT_OUT, LeftOutServer, PagedResult};
use bowline_types::prompt::{ListPromptsResult, PromptDefinition};
use bowline_types::read::read;
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ResourceDefinition, ResourceTemplate,
};
use bowline_types::revision::Revision;
use bowline_types::tool::{ListToolsResult, ToolDefinition};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;

use super::together::Together;
use super::{Router, not_offered};
use crate::mount::Mount;

impl Router {
    /// Lists the features of the server and of the mounted servers.
    pub(super) fn list_all(&self, request: Request) -> BoxFuture<'static, Response> {
        let router = self.clone();
        match request.parts.method {
            Method::ToolsList => Box::pin(router.merge::<ListToolsResult>(request)),
            Method::PromptsList => Box::pin(router.merge::<ListPromptsResult>(request)),
            Method::ResourcesList => Box::pin(router.merge::<ListResourcesResult>(request)),
            _ => Box::pin(router.merge::<ListResourceTemplatesResult>(request)),
        }
    }

    /// If a mounted server fails and the page does not begin with it, its items are skipped and the
    /// page must not be cached. The metadata of the result names the server, and the client gets a log
    /// message if it wants any. If the whole server is one mounted server, its error is the answer.
    pub(super) async fn merge<P: Merged>(self, request: Request) -> Response {
        if !P::are_offered(&self.capabilities()) {
            return Err(not_offered(request.parts.method));
        }
        let mut sources = self.sources::<P>();
        let (first, mut cursor) = match cursor_of(&request)? {
            None => (0, None),
            Some((source, cursor)) => {
                let position = sources.iter().position(|it| it.as_str() == source);
                (position.ok_or_else(lost)?, cursor)
            }
        };
        let mut merging = Merging::<P>::default();
        let rest = sources.split_off(first);
        let mut is_begun = cursor.is_some();
        let mut pages = Together::new(rest.iter().map(|source| {
            let page: BoxFuture<'_, Response> =
                Box::pin(self.page(source, cursor.take(), &request));
            page
        }));
        let mut following = rest.iter().skip(1);
        for source in &rest {
            let Some(page) = pages.next().await else { break };
            match page {
                Ok(page) => merging.add(source, &page, &request.parts)?,
                // A client that asks for a page of this server gets its error; a list that only
                // includes it leaves it out.
                Err(error) if is_begun || matches!(source, Source::Own) => return Err(error),
                // It has no such list, which is known only now.
                Err(error) if error.code == code::METHOD_NOT_FOUND => merging.forbid_caching(),
                Err(error) if self.is_one_mount() => return Err(error),
                Err(error) => {
                    merging.leave_out(source, &error);
                    source.report_left_out(&error, &request.parts);
                }
            }
            is_begun = false;
            let next = following.next();
            if merging.next.is_none() && merging.items.len() >= self.0.profile.page_size {
                merging.next = next.map(|next| cursor_at(next, None));
            }
            if merging.next.is_some() {
                break;
            }
        }
        let Merging { items, next, left_out, cache } = merging;
        let mut page = P::new(items, next);
        if !left_out.is_empty() {
            // The key obeys the rules of keys.
            _ = page.meta().set(LEFT_OUT, &left_out);
        }
        page.finish(cache, request.parts.revision)
    }

    /// Whether this server has nothing but what one mounted server has.
    fn is_one_mount(&self) -> bool {
        let own = self.own_capabilities();
        let has_own = own.supports_tools() || own.supports_prompts() || own.supports_resources();
        self.0.registry.mounts().len() == 1 && !has_own
    }

    /// Where a list comes from, in order.
    fn sources<P: Merged>(&self) -> Vec<Source> {
        let mounts = self.0.registry.mounts();
        let mounted = mounts.iter().filter(|mount| P::are_offered(&mount.capabilities()));
        let own = P::are_offered(&self.own_capabilities()).then_some(Source::Own);
        own.into_iter().chain(mounted.cloned().map(Source::Mount)).collect()
    }

    /// One page of one source.
    async fn page(&self, source: &Source, cursor: Option<Cursor>, request: &Request) -> Response {
        let mut params = Members::default();
        if let Some(cursor) = cursor {
            params = params.with("cursor", &cursor);
        }
        match source {
            Source::Own => {
                let request = Request { parts: request.parts.clone(), params };
                match self.serve_own_extension(&request) {
                    Some(page) => page.await,
                    None => self.list_own(&request),
                }
            }
            Source::Mount(mount) => mount.ask(&request.parts, request.parts.method, params).await,
        }
    }
}

/// Where a part of a list comes from. In the order of the list: own features, then each mounted
/// server.
enum Source {
    Own,
    Mount(Mount),
}

impl Source {
    /// How cursors name it.
    fn as_str(&self) -> &str {
        match self {
            Self::Own => "",
            Self::Mount(mount) => mount.namespace.as_str(),
        }
    }

    /// Logs to the client that a list lacks what this server has.
    fn report_left_out(&self, error: &ErrorObject, parts: &Parts) {
        let items = match parts.method {
            Method::ToolsList => "tools",
            Method::PromptsList => "prompts",
            Method::ResourcesList => "resources",
            _ => "resource templates",
        };
        let text = format!("the {items} of `{}` are left out: {}", self.as_str(), error.message);
        let Ok(data) = RawJson::from_value(&text) else { return };
        let message = LogMessageParams::new(LoggingLevel::Warning, data);
        // It may be dropped if there is no room.
        _ = parts.outbox.emit(Outgoing::Log(message));
    }
}

/// A page that is being made of others. The cache hint of the whole is the strictest of its parts.
struct Merging<P: PagedResult> {
    items: Vec<P::Item>,
    next: Option<Cursor>,
    left_out: Vec<LeftOutServer>,
    cache: CacheHint,
}

impl<P: PagedResult> Default for Merging<P> {
    fn default() -> Self {
        // The parts of the page can only shorten that.
        let cache = CacheHint::public(std::time::Duration::MAX);
        Self { items: Vec::new(), next: None, left_out: Vec::new(), cache }
    }
}

impl<P: Merged> Merging<P> {
    /// The next list may have what this one lacks.
    fn forbid_caching(&mut self) {
        self.cache.ttl = Default::default();
    }

    fn leave_out(&mut self, source: &Source, error: &ErrorObject) {
        self.forbid_caching();
        self.left_out.push(LeftOutServer::new(source.as_str(), error.message.as_str()));
    }

    /// Adds a page of a source.
    ///
    /// # Errors
    ///
    /// If it is no such page.
    fn add(&mut self, source: &Source, page: &Success, parts: &Parts) -> Result<(), ErrorObject> {
        let invalid = |error| {
            ErrorObject::internal(format!("the list of `{}` is invalid: {error}", source.as_str()))
        };
        let parsed = page.body().parse::<P>().map_err(invalid)?;
        let hint = parsed.hint(page);
        if let Source::Mount(mount) = source {
            let qualify = |it: LeftOutServer| {
                LeftOutServer::new(mount.namespace.qualify(&it.server), it.cause)
            };
            let left_out: Vec<_> = page.meta().parse(LEFT_OUT).unwrap_or_default();
            self.left_out.extend(left_out.into_iter().map(qualify));
        }
        let (mut items, next) = parsed.into_parts();
        if let Source::Mount(mount) = source {
            items.iter_mut().for_each(|item| P::qualify(item, mount, parts));
        }
        self.items.extend(items);
        self.next = next.map(|next| cursor_at(source, Some(&next)));
        self.cache.ttl = self.cache.ttl.min(hint.ttl);
        if hint.scope == CacheScope::Private {
            self.cache.scope = CacheScope::Private;
        }
        Ok(())
    }
}

/// A page whose items can be made one with those of other servers.
pub(super) trait Merged: PagedResult<Item: Send> + DeserializeOwned + Send {
    fn new(items: Vec<Self::Item>, next: Option<Cursor>) -> Self;

    /// Its `_meta`.
    fn meta(&mut self) -> &mut Meta;

    /// How long a page may be stored.
    fn hint(&self, page: &Success) -> CacheHint {
        page.cache()
    }

    /// The page as a result that may be stored so long.
    fn finish(self, cache: CacheHint, revision: Revision) -> Response;

    /// Names an item so that it cannot be taken for another server's, in a list for a caller.
    fn qualify(item: &mut Self::Item, mount: &Mount, parts: &Parts);

    /// Whether a server has such a list.
    fn are_offered(capabilities: &ServerCapabilities) -> bool;
}

macro_rules! merged {
    ($($page:ident of $item:ty, if $are_offered:ident, by $qualify:expr;)*) => {
        $(impl Merged for $page {
            fn new(items: Vec<$item>, next: Option<Cursor>) -> Self {
                let mut page = Self::new(items);
                page.next_cursor = next;
                page
            }

            fn meta(&mut self) -> &mut Meta {
                &mut self.meta
            }

            fn finish(self, cache: CacheHint, revision: Revision) -> Response {
                Ok(Success::complete(self, revision)?.with_cache(cache))
            }

            fn qualify(item: &mut $item, mount: &Mount, parts: &Parts) {
                let qualify: fn(&mut $item, &Mount, &Parts) = $qualify;
                qualify(item, mount, parts);
            }

            fn are_offered(capabilities: &ServerCapabilities) -> bool {
                capabilities.$are_offered()
            }
        })*
    };
}

// Resources keep their URIs, because texts also name them and cannot be rewritten.
merged! {
    ListToolsResult of ToolDefinition, if supports_tools,
        by |tool, mount, parts| {
            tool.name = mount.namespace.qualify(&tool.name);
            let is_hosted = parts.extensions.get::<HostsTasks>().is_some();
            if !mount.has_tasks() && !is_hosted {
                // Its calls do not become tasks here.
                tool.execution = None;
            }
        };
    ListPromptsResult of PromptDefinition, if supports_prompts,
        by |prompt, mount, _| prompt.name = mount.namespace.qualify(&prompt.name);
    ListResourcesResult of ResourceDefinition, if supports_resources, by |_, _, _| {};
    ListResourceTemplatesResult of ResourceTemplate, if supports_resources, by |_, _, _| {};
}

/// The source that a page begins with, and the place in its list.
fn cursor_of(request: &Request) -> Result<Option<(String, Option<Cursor>)>, ErrorObject> {
    let cursor: Option<Cursor> =
        request.params.parse("cursor").map_err(ErrorObject::misread_params)?;
    let Some(cursor) = cursor else { return Ok(None) };
    let bytes = URL_SAFE_NO_PAD.decode(cursor.as_str()).map_err(|_| lost())?;
    let text = std::str::from_utf8(&bytes).map_err(|_| lost())?;
    read(text).map(Some).map_err(|_| lost())
}

fn cursor_at(source: &Source, cursor: Option<&Cursor>) -> Cursor {
    let place = serde_json::json!([source.as_str(), cursor]);
    Cursor::new(URL_SAFE_NO_PAD.encode(place.to_string()))
}

fn lost() -> ErrorObject {
    ErrorObject::invalid_params(
        "`params.cursor` is not one that this list gave; begin again without it",
    )
}
