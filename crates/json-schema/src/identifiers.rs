//! Finds the names that the places of a document have: `$id` and the anchors.
//!
//! A part of the document with an `$id` of its own is a resource: references and anchors below it
//! are relative to it. Names are collected by the survey before any reference is followed, so a
//! reference may lead forwards.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::error::{Kind, SchemaError};
use crate::node::{NodeId, ResourceId};
use crate::survey::Survey;
use crate::uri;

/// The longest identifier, in bytes. Identifiers below it repeat it when they are resolved.
const LONGEST_URI: usize = 2048;

/// The document, or a part of it with its own `$id`. The first one is the document itself, with an
/// empty URI unless its root has an `$id`.
pub(crate) struct Resource<'s> {
    pub(crate) uri: String,
    pub(crate) root: NodeId,
    pub(crate) anchors: HashMap<&'s str, NodeId>,
    pub(crate) dynamic_anchors: HashMap<&'s str, NodeId>,
}

impl Resource<'_> {
    pub(crate) fn new(uri: String, root: NodeId) -> Self {
        Self { uri, root, anchors: HashMap::new(), dynamic_anchors: HashMap::new() }
    }
}

impl<'s> Survey<'s> {
    /// Notes all names that a schema declares for itself.
    pub(crate) fn identify(
        &mut self,
        id: NodeId,
        keywords: &'s Map<String, Value>,
    ) -> Result<(), SchemaError> {
        if let Some(identifier) = self.dialect().value(keywords, "$id") {
            self.read_identifier(id, identifier)?;
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let Some(name) = self.dialect().value(keywords, keyword) else {
                continue;
            };
            let Some(name) = name.as_str().filter(|name| is_anchor_name(name)) else {
                let message = "expected a name of letters, digits, `-`, `_` and `.` that starts \
                               with a letter or `_`";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            };
            self.add_anchor(id, keyword, name)?;
        }
        Ok(())
    }

    /// Reads `$id`: a new resource, or in draft-07 an anchor. Draft-07 has no `$anchor`; there the
    /// fragment of an `$id` names a place.
    fn read_identifier(&mut self, id: NodeId, identifier: &'s Value) -> Result<(), SchemaError> {
        let parts = identifier.as_str().map(uri::split_fragment);
        if !self.dialect().has_anchors_in_identifiers() {
            let Some((address, None | Some(""))) = parts else {
                let message = "expected a URI reference without fragment: name a place inside of \
                               a schema with `$anchor`";
                return Err(self.error(id, "$id", Kind::Invalid, message));
            };
            return self.enter_resource(id, address);
        }
        let Some((address, fragment)) = parts else {
            return Err(self.error(id, "$id", Kind::Invalid, "expected a URI reference"));
        };
        if !address.is_empty() {
            self.enter_resource(id, address)?;
        }
        // Some generators write the pointer of the place as its `$id`; it names nothing new.
        match fragment.filter(|name| !name.is_empty() && !name.contains('/')) {
            Some(name) => self.add_anchor(id, "$id", name),
            None => Ok(()),
        }
    }

    /// Makes a place the root of a resource with its own URI. The URI is resolved against that of
    /// the resource around, and must be the only one of its kind in the document.
    fn enter_resource(&mut self, id: NodeId, address: &str) -> Result<(), SchemaError> {
        let uri = uri::resolve(&self.resource(self.place(id).resource).uri, address);
        if uri.len() > LONGEST_URI {
            let message = format!("the URI is longer than {LONGEST_URI} bytes: shorten it");
            return Err(self.error(id, "$id", Kind::Limits, message));
        }
        let resource = if id == NodeId(0) {
            self.resources[0].uri.clone_from(&uri);
            ResourceId(0)
        } else {
            self.resources.push(Resource::new(uri.clone(), id));
            ResourceId(self.resources.len() - 1)
        };
        self.places[id.0].resource = resource;
        if self.is_complete {
            return Ok(());
        }
        match self.uris.insert(uri, resource) {
            Some(other) if other != resource => {
                let message = "another schema of this document has the same `$id`: rename one";
                Err(self.error(id, "$id", Kind::Invalid, message))
            }
            _ => Ok(()),
        }
    }

    /// Adds an anchor to the resource of a place. It must be new there.
    fn add_anchor(&mut self, id: NodeId, keyword: &str, name: &'s str) -> Result<(), SchemaError> {
        let resource = self.place(id).resource;
        let resource = &mut self.resources[resource.0];
        let earlier = *resource.anchors.entry(name).or_insert(id);
        if keyword == "$dynamicAnchor" {
            resource.dynamic_anchors.entry(name).or_insert(id);
        }
        if earlier != id && !self.is_complete {
            let message = format!("the anchor `{name}` is declared twice: rename one");
            return Err(self.error(id, keyword, Kind::Invalid, message));
        }
        Ok(())
    }
}

fn is_anchor_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}
