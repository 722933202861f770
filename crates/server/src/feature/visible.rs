//! Which callers see which features.
//!
//! Lists leave out a feature that the caller does not see, and calling it fails as if it did not
//! exist. Scopes are another matter ([`super::scope`]): a feature that needs more of them is found.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bowline_proto::request::Parts;
use bowline_types::error::ErrorObject;
use bowline_types::prompt::PromptDefinition;
use bowline_types::resource::{ResourceDefinition, ResourceTemplate};
use bowline_types::tool::ToolDefinition;

use super::set::FeatureEntry;

/// The definition of a feature, as clients get it; see [`Server::visible`](crate::Server::visible).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Definition<'a> {
    /// A tool.
    Tool(&'a ToolDefinition),
    /// A resource.
    Resource(&'a ResourceDefinition),
    /// A family of resources.
    ResourceTemplate(&'a ResourceTemplate),
    /// A prompt.
    Prompt(&'a PromptDefinition),
}

impl Definition<'_> {
    /// The name that is unique among its kind: the name of a tool or prompt, the URI of a resource,
    /// the template of a family.
    pub fn key(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.name,
            Self::Resource(resource) => &resource.uri,
            Self::ResourceTemplate(template) => &template.uri_template,
            Self::Prompt(prompt) => &prompt.name,
        }
    }
}

/// Which callers see a feature: all of them, unless a test is added.
#[derive(Clone, Default)]
pub(crate) struct Visibility(Vec<Arc<FeatureTest>>);

type FeatureTest = dyn Fn(&Parts) -> bool + Send + Sync;

impl Visibility {
    /// Hides the feature from callers for whom the test fails.
    pub(crate) fn limit(&mut self, test: impl Fn(&Parts) -> bool + Send + Sync + 'static) {
        self.0.push(Arc::new(test));
    }

    /// Whether there may be callers who do not see it.
    pub(crate) fn is_limited(&self) -> bool {
        !self.0.is_empty()
    }

    fn admits(&self, parts: &Parts) -> bool {
        self.0.iter().all(|test| holds(|| test(parts)))
    }
}

impl fmt::Debug for Visibility {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Visibility({})", self.0.len())
    }
}

/// Which callers see which features of a server: all of them, unless a test is added.
#[derive(Clone, Default)]
pub(crate) struct VisibilityFilter(Vec<Arc<ServerTest>>);

type ServerTest = dyn Fn(&Parts, Definition<'_>) -> bool + Send + Sync;

impl VisibilityFilter {
    /// Hides features from callers for whom the test fails.
    pub(crate) fn limit(
        &mut self,
        test: impl Fn(&Parts, Definition<'_>) -> bool + Send + Sync + 'static,
    ) {
        self.0.push(Arc::new(test));
    }

    /// Whether there may be callers who do not see everything.
    pub(crate) fn is_limited(&self) -> bool {
        !self.0.is_empty()
    }

    fn admits(&self, parts: &Parts, definition: Definition<'_>) -> bool {
        self.0.iter().all(|test| holds(|| test(parts, definition)))
    }
}

/// Runs a test of the user's. A test that panics has failed.
fn holds(test: impl FnOnce() -> bool) -> bool {
    catch_unwind(AssertUnwindSafe(test)).unwrap_or(false)
}

/// What one caller sees.
#[derive(Clone, Copy)]
pub(crate) struct CallerView<'a> {
    parts: &'a Parts,
    filter: &'a VisibilityFilter,
}

impl<'a> CallerView<'a> {
    pub(crate) fn new(parts: &'a Parts, filter: &'a VisibilityFilter) -> Self {
        Self { parts, filter }
    }

    /// Whether the list of the caller has an item.
    pub(crate) fn lists<T: FeatureEntry>(&self, item: &T) -> bool {
        self.shows(item) && item.scopes().lists(self.parts)
    }

    /// Whether the caller sees an item. It may still lack scopes to use it.
    pub(crate) fn shows<T: FeatureEntry>(&self, item: &T) -> bool {
        item.visibility().admits(self.parts) && self.filter.admits(self.parts, item.definition())
    }

    /// Refuses the caller if it lacks a scope for an item, which `label` names.
    ///
    /// # Errors
    ///
    /// If it lacks one.
    pub(crate) fn check<T: FeatureEntry>(
        &self,
        item: &T,
        label: impl FnOnce() -> String,
    ) -> Result<(), ErrorObject> {
        item.scopes().check(self.parts, label)
    }

    /// Whether there may be callers who see less than others, of items that all show themselves.
    pub(crate) fn is_limited(&self) -> bool {
        self.filter.is_limited()
    }
}
