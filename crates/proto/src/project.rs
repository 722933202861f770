//! Fits outgoing values to the revision of the peer.
//!
//! Handlers use the newest revision. Before a value is serialized for a peer of an older one,
//! members that its revision does not know are dropped, and newer shapes are replaced by older
//! ones: links and audio become text, structured output becomes an object, choices become plain
//! enums. Afterwards the value fits the official schema of that revision, which
//! `proto/tests/project.rs` checks for every type. For the newest revision there is almost nothing to do.
//!
//! Some values have no older shape. An elicitation by URL, or any elicitation before 2025-06-18, is
//! left as it is: the caller checks revision and capabilities before it asks.

use bowline_types::capability::{ClientCapabilities, DeclaredExtensions, ServerCapabilities};
use bowline_types::completion::{CompleteParams, CompleteResult, Reference};
use bowline_types::discover::DiscoverResult;
use bowline_types::empty::EmptyResult;
use bowline_types::ext::tasks;
use bowline_types::implementation::Implementation;
use bowline_types::legacy::initialize::{InitializeParams, InitializeResult};
use bowline_types::meta::Meta;
use bowline_types::progress::ProgressParams;
use bowline_types::prompt::{GetPromptResult, ListPromptsResult, PromptDefinition};
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, ResourceContents,
    ResourceDefinition, ResourceTemplate,
};
use bowline_types::revision::Revision;

mod content;
mod question;
mod schema;
mod tool;

/// A value that may hold members or shapes that an older revision does not know. Implemented for
/// every type that is sent and differs between revisions.
pub trait Project {
    /// Drops or replaces what the revision does not know.
    fn project(&mut self, revision: Revision);
}

impl<T: Project> Project for [T] {
    fn project(&mut self, revision: Revision) {
        self.iter_mut().for_each(|item| item.project(revision));
    }
}

impl<T: Project> Project for Option<T> {
    fn project(&mut self, revision: Revision) {
        self.iter_mut().for_each(|item| item.project(revision));
    }
}

/// Titles came with 2025-06-18, icons and descriptions with 2025-11-25.
impl Project for Implementation {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.title, revision.has_titles());
        keep_if(&mut self.description, revision.has_icons());
        keep_if(&mut self.website_url, revision.has_icons());
        keep_if(&mut self.icons, revision.has_icons());
    }
}

/// A client must not see a capability that its revision does not define, since it may act on its
/// presence.
impl Project for ServerCapabilities {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.completions, revision.has_completions_capability());
        keep_if(&mut self.tasks, revision.has_core_tasks());
        project_extensions(&mut self.extensions, revision);
    }
}

impl Project for ClientCapabilities {
    fn project(&mut self, revision: Revision) {
        if let Some(roots) = &mut self.roots {
            // The revision has no such notification, so the capability must not announce it.
            roots.list_changed &= revision.has_roots_changes();
        }
        if let Some(sampling) = &mut self.sampling {
            keep_if(&mut sampling.context, revision.has_sampling_tools());
            keep_if(&mut sampling.tools, revision.has_sampling_tools());
        }
        if !revision.has_elicitation_modes() {
            // Without modes, the bare capability means forms.
            let asks_by_form = revision.has_elicitation() && self.supports_form_elicitation();
            self.elicitation = asks_by_form.then(Default::default);
        }
        keep_if(&mut self.tasks, revision.has_core_tasks());
        project_extensions(&mut self.extensions, revision);
    }
}

impl Project for InitializeParams {
    fn project(&mut self, revision: Revision) {
        self.capabilities.project(revision);
        self.client_info.project(revision);
    }
}

impl Project for InitializeResult {
    fn project(&mut self, revision: Revision) {
        self.capabilities.project(revision);
        self.server_info.project(revision);
    }
}

impl Project for DiscoverResult {
    fn project(&mut self, revision: Revision) {
        self.capabilities.project(revision);
    }
}

impl Project for EmptyResult {
    /// Nothing to do: an empty result.
    fn project(&mut self, _: Revision) {}
}

impl Project for ProgressParams {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.message, revision.has_progress_message());
    }
}

impl Project for ListResourcesResult {
    fn project(&mut self, revision: Revision) {
        self.resources.project(revision);
    }
}

impl Project for ListResourceTemplatesResult {
    fn project(&mut self, revision: Revision) {
        self.resource_templates.project(revision);
    }
}

impl Project for ReadResourceResult {
    fn project(&mut self, revision: Revision) {
        self.contents.project(revision);
    }
}

impl Project for ResourceDefinition {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.title, revision.has_titles());
        self.annotations.project(revision);
        keep_if(&mut self.icons, revision.has_icons());
        project_meta(&mut self.meta, revision);
    }
}

impl Project for ResourceTemplate {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.title, revision.has_titles());
        self.annotations.project(revision);
        keep_if(&mut self.icons, revision.has_icons());
        project_meta(&mut self.meta, revision);
    }
}

impl Project for ResourceContents {
    fn project(&mut self, revision: Revision) {
        project_meta(&mut self.meta, revision);
    }
}

impl Project for ListPromptsResult {
    fn project(&mut self, revision: Revision) {
        self.prompts.project(revision);
    }
}

impl Project for PromptDefinition {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.title, revision.has_titles());
        for argument in &mut self.arguments {
            keep_if(&mut argument.title, revision.has_titles());
        }
        keep_if(&mut self.icons, revision.has_icons());
        project_meta(&mut self.meta, revision);
    }
}

impl Project for GetPromptResult {
    fn project(&mut self, revision: Revision) {
        for message in &mut self.messages {
            message.content.project(revision);
        }
    }
}

/// Context and titles came with 2025-06-18.
impl Project for CompleteParams {
    fn project(&mut self, revision: Revision) {
        keep_if(&mut self.context, revision.has_completion_context());
        if let Reference::Prompt(prompt) = &mut self.r#ref {
            keep_if(&mut prompt.title, revision.has_titles());
        }
    }
}

impl Project for CompleteResult {
    /// Nothing to do: it is the same in every revision.
    fn project(&mut self, _: Revision) {}
}

/// Older revisions declare extensions in the handshake, in a member that their schemas do not define
/// and do not forbid (EXT-6). Only that of tasks is left out: these revisions have tasks of their own
/// (XTASK-50).
fn project_extensions(extensions: &mut DeclaredExtensions, revision: Revision) {
    if !revision.has_extensions() {
        extensions.remove(tasks::IDENTIFIER);
    }
}

/// Keeps the member if the revision knows it, else clears it. The predicate comes from
/// [`Revision`], where every difference has a name; no revision is compared here.
fn keep_if<T: Default>(member: &mut T, is_known: bool) {
    if !is_known {
        *member = T::default();
    }
}

/// Clears the `_meta` of a value inside a message. Before 2025-06-18 only requests and results have
/// `_meta`, not the items inside.
fn project_meta(meta: &mut Meta, revision: Revision) {
    keep_if(meta, revision.has_meta_on_items());
}
