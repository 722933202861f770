//! The list of skills of a server and of the servers that it mounts.

use bowline_proto::request::{Parts, Request, Response, Success};
use bowline_skills::Skill;
use bowline_skills::entry::{GET, IDENTIFIER, LIST, ListSkillsResult, READ_DIRECTORY};
use bowline_types::cache::{CacheHint, CacheScope};
use bowline_types::capability::ServerCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;

use super::Router;
use super::merge::Merged;
use crate::mount::Mount;

impl Router {
    pub(super) fn list_skills(&self, request: Request) -> BoxFuture<'static, Response> {
        Box::pin(self.clone().merge::<ListSkillsResult>(request))
    }
}

/// Whether a method lists skills.
pub(super) fn is_list(method: Method) -> bool {
    method.name() == LIST
}

/// Whether a method is about the skill or the directory at a URI.
pub(super) fn is_by_uri(method: Method) -> bool {
    matches!(method.name(), GET | READ_DIRECTORY)
}

/// Skills keep their URIs, as resources do. The hints for storing a page are members of the page.
impl Merged for ListSkillsResult {
    fn new(items: Vec<Skill>, next: Option<Cursor>) -> Self {
        Self::new(items, next)
    }

    fn meta(&mut self) -> &mut Meta {
        &mut self.meta
    }

    fn hint(&self, _: &Success) -> CacheHint {
        let ttl = std::time::Duration::from_millis(self.ttl_ms.unwrap_or(0));
        let mut hint = CacheHint::public(ttl);
        if self.cache_scope.as_deref() != Some(CacheScope::Public.as_str()) {
            hint.scope = CacheScope::Private;
        }
        hint
    }

    fn finish(self, cache: CacheHint, revision: Revision) -> Response {
        let mut page = if revision.has_cache_hints() { self.with_cache(cache) } else { self };
        let meta = std::mem::take(&mut page.meta);
        let body = RawJson::from_value(&page).map_err(|error| {
            ErrorObject::internal(format!("the list of skills cannot be written: {error}"))
        })?;
        Ok(Success::raw(body, meta))
    }

    fn qualify(_: &mut Skill, _: &Mount, _: &Parts) {}

    fn are_offered(capabilities: &ServerCapabilities) -> bool {
        capabilities.supports_extension(IDENTIFIER)
    }
}
