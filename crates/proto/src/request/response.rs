//! The answer to a call, before its era has stamped it.

use bowline_types::cache::CacheHint;
use bowline_types::completion::CompleteResult;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequired;
use bowline_types::json::Json;
use bowline_types::meta::Meta;
use bowline_types::prompt::{GetPromptResult, ListPromptsResult};
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
};
use bowline_types::revision::Revision;
use bowline_types::tool::{CallToolResult, ListToolsResult};
use serde::Serialize;

use crate::wire::project::Project;

/// The answer to a call; the id is added on the way out.
pub type Response = Result<Success, ErrorObject>;

/// A result, serialized but not yet stamped with what its era demands.
#[derive(Clone, Debug)]
pub struct Success {
    /// The JSON object of the result, without `_meta`.
    pub(crate) body: Json,
    pub(crate) meta: Meta,
    pub(crate) kind: SuccessKind,
    pub(crate) cache: CacheHint,
}

/// What kind of result it is (`resultType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuccessKind {
    /// The call is done.
    Complete,
    /// The call wants answers first.
    InputRequired,
    /// The call goes on as a task.
    Task,
}

/// A result type that can be sent: it fits itself to a revision and gives up its `_meta`.
pub trait ResultBody: Serialize + Project {
    /// Takes `_meta` out, so that it can be joined with what the engine adds.
    fn take_meta(&mut self) -> Meta;
}

macro_rules! result_bodies {
    ($($result:ty),* $(,)?) => {
        $(impl ResultBody for $result {
            fn take_meta(&mut self) -> Meta {
                std::mem::take(&mut self.meta)
            }
        })*
    };
}

result_bodies!(
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    GetPromptResult,
    ListPromptsResult,
    ListResourceTemplatesResult,
    ListResourcesResult,
    ListToolsResult,
    ReadResourceResult,
);

impl Success {
    /// A finished result, fitted to the revision of the caller.
    ///
    /// # Errors
    ///
    /// If the result cannot be written as a JSON object, which is the fault of the handler.
    pub fn complete<T: ResultBody>(mut result: T, revision: Revision) -> Response {
        result.project(revision);
        let meta = result.take_meta();
        Self::write(&result, meta, SuccessKind::Complete)
    }

    /// Questions that the client must answer before the call goes on (2026-07-28), fitted to its
    /// revision.
    ///
    /// # Errors
    ///
    /// If the questions cannot be written as JSON.
    pub fn input_required(mut required: InputRequired, revision: Revision) -> Response {
        required.project(revision);
        let meta = std::mem::take(&mut required.meta);
        Self::write(&required, meta, SuccessKind::InputRequired)
    }

    /// A finished result that is JSON already, fitted to the caller's revision by its maker.
    pub fn raw(body: Json, meta: Meta) -> Self {
        Self { body, meta, kind: SuccessKind::Complete, cache: CacheHint::default() }
    }

    /// An empty result.
    pub fn empty() -> Self {
        Self::raw(Json::empty_object(), Meta::new())
    }

    /// Says how long the result stays fresh, and for whom.
    #[must_use]
    pub fn with_cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// How long the result stays fresh, and for whom.
    pub fn cache(&self) -> CacheHint {
        self.cache
    }

    /// What kind of result it is.
    pub fn kind(&self) -> SuccessKind {
        self.kind
    }

    /// The JSON object of the result, without `_meta` and what the engine adds.
    pub fn body(&self) -> &Json {
        &self.body
    }

    fn write<T: Serialize>(result: &T, meta: Meta, kind: SuccessKind) -> Response {
        let unwritable =
            |error| ErrorObject::internal(format!("the result cannot be written: {error}"));
        let body = Json::from_value(result).map_err(unwritable)?;
        if !body.is_object() {
            return Err(ErrorObject::internal("the result is not a JSON object"));
        }
        Ok(Self { body, meta, kind, cache: CacheHint::default() })
    }
}
