//! Resources and resource templates that have been checked, as the registry keeps them.
//!
//! Resources and templates are two lists in the protocol, although both are read in the same way.
//! So each has an entry for its list, and both share a [`ResourceReader`].

use std::sync::Arc;

use bowline_proto::request::{Response, Success};
use bowline_types::id::Cursor;
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ResourceDefinition as Definition,
    ResourceTemplate,
};
use bowline_types::revision::Revision;

use super::{Kind, Resource, ResourceReader};
use crate::error::BuildError;
use crate::feature::set::FeatureEntry;
use crate::feature::visible::{self, Visibility};
use crate::run::ScopeRules;

/// A resource, in the list of resources.
#[derive(Debug)]
pub(crate) struct ResourceEntry {
    uri: Arc<str>,
    pub(crate) reader: Arc<ResourceReader>,
}

/// A template, in the list of templates.
#[derive(Debug)]
pub(crate) struct TemplateEntry {
    text: Arc<str>,
    definition: ResourceTemplate,
    pub(crate) reader: Arc<ResourceReader>,
}

/// A checked resource, by the list that it belongs to. Whether a URI is a template was said by the
/// program (`Resource::new` or `Resource::template`), and checked.
pub(crate) enum CheckedResource {
    Resource(ResourceEntry),
    Template(Box<TemplateEntry>),
}

impl CheckedResource {
    /// Checks all of a resource but its state.
    ///
    /// # Errors
    ///
    /// Says what is wrong with the resource.
    pub(crate) fn new(resource: Resource) -> Result<Self, BuildError> {
        let reader = Arc::new(ResourceReader::check(resource)?);
        let key = reader.resource.uri().into();
        Ok(match reader.resource.kind {
            Kind::One => Self::Resource(ResourceEntry { uri: key, reader }),
            Kind::Family => {
                let definition = template(&reader.resource.definition);
                Self::Template(Box::new(TemplateEntry { text: key, definition, reader }))
            }
        })
    }
}

/// The definition of a template, made from that of a resource. A template has no size.
fn template(resource: &Definition) -> ResourceTemplate {
    let Definition { uri, name, title, description, mime_type, annotations, icons, meta, .. } =
        resource.clone();
    let mut template = ResourceTemplate::new(uri, name);
    template.title = title;
    template.description = description;
    template.mime_type = mime_type;
    template.annotations = annotations;
    template.icons = icons;
    template.meta = meta;
    template
}

impl FeatureEntry for ResourceEntry {
    const KIND: &'static str = "resources";

    fn name(&self) -> &Arc<str> {
        &self.uri
    }

    fn definition(&self) -> visible::Definition<'_> {
        visible::Definition::Resource(&self.reader.resource.definition)
    }

    fn visibility(&self) -> &Visibility {
        &self.reader.resource.core.visibility
    }

    fn scopes(&self) -> &ScopeRules {
        &self.reader.resource.core.scopes
    }

    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response {
        let definition = |entry: &&Self| entry.reader.resource.definition.clone();
        let mut page = ListResourcesResult::new(items.iter().map(definition).collect());
        page.next_cursor = next;
        Success::complete(page, revision)
    }
}

impl FeatureEntry for TemplateEntry {
    const KIND: &'static str = "resource templates";

    fn name(&self) -> &Arc<str> {
        &self.text
    }

    fn definition(&self) -> visible::Definition<'_> {
        visible::Definition::ResourceTemplate(&self.definition)
    }

    fn visibility(&self) -> &Visibility {
        &self.reader.resource.core.visibility
    }

    fn scopes(&self) -> &ScopeRules {
        &self.reader.resource.core.scopes
    }

    fn page(items: &[&Self], next: Option<Cursor>, revision: Revision) -> Response {
        let definition = |entry: &&Self| entry.definition.clone();
        let mut page = ListResourceTemplatesResult::new(items.iter().map(definition).collect());
        page.next_cursor = next;
        Success::complete(page, revision)
    }
}
