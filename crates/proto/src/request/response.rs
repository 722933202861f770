//! The answer to a call, before the members that its era requires are added.
//!
//! A result is serialized once, here, and carried as text. What the era adds (`resultType`, caching
//! hints, server info, the id) is spliced into that text when it is written, without parsing it
//! again ([`crate::wire`]). So one result can be shared by many callers.

use std::borrow::Cow;

use bowline_types::cache::CacheHint;
use bowline_types::completion::CompleteResult;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::Task;
use bowline_types::input::InputRequired;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::prompt::{GetPromptResult, ListPromptsResult};
use bowline_types::read::{ReadError, read};
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
};
use bowline_types::revision::Revision;
use bowline_types::tool::{CallToolResult, ListToolsResult};
use bytestring::ByteString;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::project::Project;

/// The answer to a call. The connection adds the id. An [`ErrorObject`] goes to the client as it
/// is; errors that are not for the client never get here.
pub type Response = Result<Success, ErrorObject>;

/// A result as text, without the members that the era requires. Made by the server layer from the
/// value of a handler, or by a relay from the answer of another server.
#[derive(Clone, Debug)]
pub struct Success {
    /// The JSON object of the result, without `_meta`.
    pub(crate) body: ResultText,
    /// `_meta` of the handler, merged with the keys that the server adds.
    pub(crate) meta: Meta,
    pub(crate) kind: SuccessKind,
    /// Written only for methods whose results may be stored (CACHE-1).
    pub(crate) cache: CacheHint,
}

/// The text of a result: a JSON object. Without `_meta` and without the members of the era.
#[derive(Clone, Debug)]
pub struct ResultText(TextOwnership);

/// The two ways to hold the text of a result.
#[derive(Clone, Debug)]
enum TextOwnership {
    /// Made for one answer, so it can be moved out.
    Once(String),
    /// Shared by many answers.
    Shared(ByteString),
}

impl ResultText {
    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            TextOwnership::Once(text) => text,
            TextOwnership::Shared(text) => text,
        }
    }

    /// The text, moved out if it is not shared.
    pub(crate) fn text(&mut self) -> Cow<'_, str> {
        match &mut self.0 {
            TextOwnership::Once(text) => Cow::Owned(std::mem::take(text)),
            TextOwnership::Shared(text) => Cow::Borrowed(text),
        }
    }

    /// Parses the text as a type.
    ///
    /// # Errors
    ///
    /// If the text does not have the shape of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        read(self.as_str())
    }
}

impl From<RawJson> for ResultText {
    fn from(json: RawJson) -> Self {
        Self(TextOwnership::Once(json.into_text()))
    }
}

/// What kind of result it is (`resultType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuccessKind {
    /// The call has ended.
    Complete,
    /// The client must answer questions first.
    InputRequired,
    /// The call continues as a task.
    Task,
}

/// A result type that can be sent: it can be fitted to an older revision, and its `_meta` taken
/// out. Implemented for the result types of the specification, not for types of users: those are
/// content of a tool result.
pub trait ResultBody: Serialize + Project {
    /// Takes `_meta` out, so that it can be merged with the members that the server adds.
    fn take_meta(&mut self) -> Meta;

    /// The result as JSON.
    ///
    /// # Errors
    ///
    /// If something in it cannot be written as JSON.
    fn write(self) -> Result<String, serde_json::Error>
    where
        Self: Sized,
    {
        serde_json::to_string(&self)
    }
}

impl ResultBody for CallToolResult {
    fn take_meta(&mut self) -> Meta {
        std::mem::take(&mut self.meta)
    }

    fn write(self) -> Result<String, serde_json::Error> {
        self.into_json()
    }
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
    /// A complete result, fitted to the revision of the caller.
    ///
    /// Projection comes first, so that the text fits the schema of the caller's revision; what it
    /// drops is not serialized.
    ///
    /// # Errors
    ///
    /// If the result cannot be written as a JSON object, which is the fault of the handler.
    pub fn complete<T: ResultBody>(mut result: T, revision: Revision) -> Response {
        result.project(revision);
        let meta = result.take_meta();
        Self::written(result.write(), meta, SuccessKind::Complete)
    }

    /// Questions that the client must answer before the call goes on (2026-07-28), fitted to its
    /// revision.
    ///
    /// Only `tools/call`, `prompts/get` and `resources/read` may answer so (MRTR-2, MRTR-3); the
    /// exchange replaces it by an error elsewhere.
    ///
    /// # Errors
    ///
    /// If the questions cannot be written as JSON.
    pub fn input_required(mut required: InputRequired, revision: Revision) -> Response {
        required.project(revision);
        let meta = std::mem::take(&mut required.meta);
        let written = serde_json::to_string(&required);
        Self::written(written, meta, SuccessKind::InputRequired)
    }

    /// A task that goes on with the call (2026-07-28).
    ///
    /// # Errors
    ///
    /// If the task cannot be written as JSON.
    pub fn task(mut task: Task) -> Response {
        let meta = std::mem::take(&mut task.meta);
        Self::written(serde_json::to_string(&task), meta, SuccessKind::Task)
    }

    /// A complete result that is JSON already and fits the caller's revision.
    pub fn raw(body: RawJson, meta: Meta) -> Self {
        Self { body: body.into(), meta, kind: SuccessKind::Complete, cache: CacheHint::default() }
    }

    /// An empty result.
    pub fn empty() -> Self {
        Self::raw(RawJson::empty_object(), Meta::new())
    }

    /// Sets how long the result stays fresh, and for whom.
    #[must_use]
    pub fn with_cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// The same result with shared text, cheap to clone. For lists that are the same for every
    /// caller: each answer then clones a pointer.
    #[must_use]
    pub fn shared(mut self) -> Self {
        if let TextOwnership::Once(text) = self.body.0 {
            self.body.0 = TextOwnership::Shared(text.into());
        }
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

    /// The JSON object of the result, without `_meta` and the members that the server adds.
    pub fn body(&self) -> &ResultText {
        &self.body
    }

    /// The `_meta` of the result, without the members that the server adds.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Serializes a result after its `_meta` was taken out.
    fn written(
        written: Result<String, serde_json::Error>,
        meta: Meta,
        kind: SuccessKind,
    ) -> Response {
        let unwritable =
            |error| ErrorObject::internal(format!("the result cannot be written: {error}"));
        let body = written.map_err(unwritable)?;
        if !body.starts_with('{') {
            return Err(ErrorObject::internal("the result is not a JSON object"));
        }
        let body = ResultText(TextOwnership::Once(body));
        Ok(Self { body, meta, kind, cache: CacheHint::default() })
    }
}
