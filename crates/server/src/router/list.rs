//! Lists of features: page by page, as the caller may see them.

use bowline_proto::request::{Request, Response};
use bowline_types::cache::{CacheHint, CacheScope};
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::method::Method;

use super::{Router, not_offered};
use crate::feature::set::{Item, Snapshot};

/// A list of features that clients can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum List {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
}

/// For how long lists may be reused, and by whom (2026-07-28).
#[derive(Clone, Debug)]
pub(crate) struct ListCaching {
    /// What holds for lists of which nothing else is said.
    pub(crate) general: CacheHint,
    special: Vec<(List, CacheHint)>,
}

impl ListCaching {
    pub(crate) fn new() -> Self {
        // Everybody is shown the same lists.
        Self { general: CacheHint::public(std::time::Duration::ZERO), special: Vec::new() }
    }

    /// Says something else of one list.
    pub(crate) fn set(&mut self, list: List, hint: CacheHint) {
        self.special.retain(|(other, _)| *other != list);
        self.special.push((list, hint));
    }

    fn hint(&self, list: List) -> CacheHint {
        let special = self.special.iter().find(|(other, _)| *other == list);
        special.map_or(self.general, |(_, hint)| *hint)
    }
}

impl Router {
    pub(super) fn list_tools(&self, request: &Request) -> Response {
        let tools = self.0.registry.tools();
        if !tools.is_offered() {
            return Err(not_offered(Method::ToolsList));
        }
        self.page_of(&tools, List::Tools, request)
    }

    pub(super) fn list_prompts(&self, request: &Request) -> Response {
        let prompts = self.0.registry.prompts();
        if !prompts.is_offered() {
            return Err(not_offered(Method::PromptsList));
        }
        self.page_of(&prompts, List::Prompts, request)
    }

    pub(super) fn list_resources(&self, request: &Request) -> Response {
        self.check_resources(request)?;
        self.page_of(&self.0.registry.resources(), List::Resources, request)
    }

    pub(super) fn list_templates(&self, request: &Request) -> Response {
        self.check_resources(request)?;
        self.page_of(&self.0.registry.templates(), List::ResourceTemplates, request)
    }

    /// One page of what the server itself offers.
    fn page_of<T: Item>(&self, items: &Snapshot<T>, list: List, request: &Request) -> Response {
        let cursor: Option<Cursor> =
            request.params.parse("cursor").map_err(ErrorObject::misread_params)?;
        let view = self.view(request);
        let size = self.0.profile.page_size;
        let page = items.page(cursor.as_ref(), size, request.parts.revision, view)?;
        let mut hint = self.0.profile.caching.hint(list);
        // The same on every page, as it depends on the whole list.
        if items.is_limited(view) {
            hint.scope = CacheScope::Private;
        }
        Ok(page.with_cache(hint))
    }
}
