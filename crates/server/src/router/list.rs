//! Lists of features: page by page, as the caller may see them.
//!
//! A page is taken from a snapshot of the features, so a change in the meantime does not disturb
//! it. Features that the caller may not see are left out.

use bowline_proto::request::{Request, Response};
use bowline_types::cache::CacheScope;
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::method::Method;

use super::caching::ListKind;
use super::{Router, not_offered};
use crate::feature::set::{FeatureEntry, Snapshot};

impl Router {
    pub(super) fn list_tools(&self, request: &Request) -> Response {
        let tools = self.0.registry.tools();
        if !tools.is_offered() {
            return Err(not_offered(Method::ToolsList));
        }
        self.page_of(&tools, ListKind::Tools, request)
    }

    pub(super) fn list_prompts(&self, request: &Request) -> Response {
        let prompts = self.0.registry.prompts();
        if !prompts.is_offered() {
            return Err(not_offered(Method::PromptsList));
        }
        self.page_of(&prompts, ListKind::Prompts, request)
    }

    pub(super) fn list_resources(&self, request: &Request) -> Response {
        self.check_resources(request)?;
        self.page_of(&self.0.registry.resources(), ListKind::Resources, request)
    }

    pub(super) fn list_templates(&self, request: &Request) -> Response {
        self.check_resources(request)?;
        self.page_of(&self.0.registry.templates(), ListKind::ResourceTemplates, request)
    }

    /// One page of what the server itself offers. A cursor that this list did not give is an error
    /// (PAGE-9).
    fn page_of<T: FeatureEntry>(
        &self,
        items: &Snapshot<T>,
        list: ListKind,
        request: &Request,
    ) -> Response {
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
