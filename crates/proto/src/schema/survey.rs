//! Finds every subschema of a document, its identifiers and its anchors.
//!
//! One pass over the places where 2020-12 puts schemas collects identifiers and anchors before any
//! reference is followed. The survey is a queue, so a deep document costs no stack, and it stays
//! within [`Bounds`].

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::Bounds;
use super::error::{Kind, SchemaError};
use super::node::{NodeId, ResourceId};
use super::uri;

/// The dialect that is understood, and the default.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Bytes of an identifier: every one below it repeats it when resolved.
const LONGEST_URI: usize = 2048;

pub(super) struct Survey<'s> {
    bounds: Bounds,
    places: Vec<Place<'s>>,
    /// How many places have been looked into.
    scanned: usize,
    /// Places by address: within a borrowed document each value has its own.
    ids: HashMap<*const Value, NodeId>,
    resources: Vec<Resource<'s>>,
    uris: HashMap<String, ResourceId>,
    /// Set once identifiers are complete: places that join later announce none.
    is_complete: bool,
}

/// A subschema and where it is.
pub(super) struct Place<'s> {
    pub(super) schema: &'s Value,
    pub(super) location: Location<'s>,
    pub(super) resource: ResourceId,
    pub(super) depth: usize,
}

/// How a place is reached, from which its JSON pointer is built when an error needs it.
pub(super) enum Location<'s> {
    Root,
    Keyword(NodeId, &'s str),
    Member(NodeId, &'s str, &'s str),
    Item(NodeId, &'s str, usize),
    /// Below a place, by the pointer of a reference.
    Pointed(NodeId, String),
}

/// The document, or a part of it with its own `$id`.
pub(super) struct Resource<'s> {
    pub(super) uri: String,
    pub(super) root: NodeId,
    pub(super) anchors: HashMap<&'s str, NodeId>,
    pub(super) dynamic_anchors: HashMap<&'s str, NodeId>,
}

impl<'s> Survey<'s> {
    pub(super) fn of(schema: &'s Value, bounds: Bounds) -> Result<Self, SchemaError> {
        let mut survey = Self {
            bounds,
            places: Vec::new(),
            scanned: 0,
            ids: HashMap::new(),
            resources: vec![Resource::new(String::new(), NodeId(0))],
            uris: HashMap::from([(String::new(), ResourceId(0))]),
            is_complete: false,
        };
        survey.add(Place {
            schema,
            location: Location::Root,
            resource: ResourceId(0),
            depth: 0,
        })?;
        survey.scan()?;
        survey.is_complete = true;
        Ok(survey)
    }

    /// Finds the resource with this absolute URI.
    pub(super) fn resource_at(&self, uri: &str) -> Option<ResourceId> {
        self.uris.get(uri).copied()
    }

    /// The place a schema was found at, if it was.
    pub(super) fn id_of(&self, schema: &Value) -> Option<NodeId> {
        self.ids.get(&std::ptr::from_ref(schema)).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn schema(&self, id: NodeId) -> &'s Value {
        self.place(id).schema
    }

    pub(super) fn resource_of(&self, id: NodeId) -> ResourceId {
        self.place(id).resource
    }

    /// Every dynamic anchor: its resource, its name and its place.
    pub(super) fn dynamic_anchors(&self) -> impl Iterator<Item = (ResourceId, &'s str, NodeId)> {
        self.resources.iter().enumerate().flat_map(|(index, resource)| {
            let anchors = resource.dynamic_anchors.iter();
            anchors.map(move |(name, node)| (ResourceId(index), *name, *node))
        })
    }

    /// An error at a keyword of a place; an empty keyword means the place itself.
    pub(super) fn error(
        &self,
        id: NodeId,
        keyword: &str,
        kind: Kind,
        message: impl Into<String>,
    ) -> SchemaError {
        let mut pointer = self.pointer(id);
        if !keyword.is_empty() {
            pointer = format!("{pointer}/{}", escape(keyword));
        }
        SchemaError::new(kind, pointer, message)
    }

    fn pointer(&self, id: NodeId) -> String {
        let mut parts = Vec::new();
        let mut place = self.place(id);
        loop {
            let (parent, part) = match &place.location {
                Location::Root => break,
                Location::Keyword(parent, keyword) => (parent, format!("/{}", escape(keyword))),
                Location::Member(parent, keyword, name) => {
                    (parent, format!("/{}/{}", escape(keyword), escape(name)))
                }
                Location::Item(parent, keyword, index) => (parent, format!("/{keyword}/{index}")),
                Location::Pointed(parent, pointer) => (parent, pointer.clone()),
            };
            parts.push(part);
            place = self.place(*parent);
        }
        parts.reverse();
        parts.concat()
    }

    /// Looks into every place that was not looked into yet.
    pub(super) fn scan(&mut self) -> Result<(), SchemaError> {
        while self.scanned < self.places.len() {
            let id = NodeId(self.scanned);
            self.scanned += 1;
            let Value::Object(keywords) = self.schema(id) else {
                continue;
            };
            self.check_dialect(id, keywords)?;
            self.enter_resource(id, keywords)?;
            self.add_anchors(id, keywords)?;
            for (keyword, value) in keywords {
                self.add_subschemas(id, keyword, value)?;
            }
        }
        Ok(())
    }

    fn check_dialect(&self, id: NodeId, keywords: &Map<String, Value>) -> Result<(), SchemaError> {
        let Some(dialect) = keywords.get("$schema") else {
            return Ok(());
        };
        let Value::String(dialect) = dialect else {
            return Err(self.error(id, "$schema", Kind::Invalid, "expected the URI of a dialect"));
        };
        if dialect.strip_suffix('#').unwrap_or(dialect) == DIALECT {
            return Ok(());
        }
        let message = format!(
            "the dialect `{dialect}` is not supported: rewrite the schema for `{DIALECT}`, \
             or remove `$schema` if it is written for that already"
        );
        Err(self.error(id, "$schema", Kind::Dialect, message))
    }

    fn enter_resource(
        &mut self,
        id: NodeId,
        keywords: &'s Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let Some(identifier) = keywords.get("$id") else {
            return Ok(());
        };
        let Some((address, None | Some(""))) = identifier.as_str().map(uri::split_fragment) else {
            let message = "expected a URI reference without fragment: name a place inside of a \
                           schema with `$anchor`";
            return Err(self.error(id, "$id", Kind::Invalid, message));
        };
        let uri = uri::resolve(&self.resource(self.place(id).resource).uri, address);
        if uri.len() > LONGEST_URI {
            let message = format!("the URI is longer than {LONGEST_URI} bytes: shorten it");
            return Err(self.error(id, "$id", Kind::Bounds, message));
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

    fn add_anchors(
        &mut self,
        id: NodeId,
        keywords: &'s Map<String, Value>,
    ) -> Result<(), SchemaError> {
        for keyword in ["$anchor", "$dynamicAnchor"] {
            let Some(name) = keywords.get(keyword) else {
                continue;
            };
            let Some(name) = name.as_str().filter(|name| is_anchor_name(name)) else {
                let message = "expected a name of letters, digits, `-`, `_` and `.` that starts \
                               with a letter or `_`";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            };
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
        }
        Ok(())
    }

    fn add_subschemas(
        &mut self,
        id: NodeId,
        keyword: &'s str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        let parent = self.place(id);
        let (resource, depth) = (parent.resource, parent.depth + 1);
        let place = |schema, location| Place { schema, location, resource, depth };
        match (Holds::of(keyword), value) {
            (Holds::Nothing, _) => {}
            (Holds::One, schema) => {
                self.add(place(schema, Location::Keyword(id, keyword)))?;
            }
            (Holds::List, Value::Array(items)) if !items.is_empty() => {
                for (index, schema) in items.iter().enumerate() {
                    self.add(place(schema, Location::Item(id, keyword, index)))?;
                }
            }
            (Holds::Map, Value::Object(members)) => {
                for (name, schema) in members {
                    self.add(place(schema, Location::Member(id, keyword, name)))?;
                }
            }
            (Holds::List, _) => {
                let message = "expected a non-empty array of schemas";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            }
            (Holds::Map, _) => {
                let message = "expected an object whose values are schemas";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            }
        }
        Ok(())
    }

    pub(super) fn add(&mut self, place: Place<'s>) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.id_of(place.schema) {
            return Ok(id);
        }
        let id = NodeId(self.places.len());
        let depth = place.depth;
        self.ids.insert(std::ptr::from_ref(place.schema), id);
        self.places.push(place);
        if depth > self.bounds.depth {
            let message = format!("schemas nest deeper than {} levels: flatten", self.bounds.depth);
            return Err(self.error(id, "", Kind::Bounds, message));
        }
        if self.places.len() > self.bounds.nodes {
            let message = format!("the schema has more than {} parts: split it", self.bounds.nodes);
            return Err(self.error(id, "", Kind::Bounds, message));
        }
        Ok(id)
    }

    // Ids are handed out by `add` and `enter_resource` only, so they are always in range.
    pub(super) fn place(&self, id: NodeId) -> &Place<'s> {
        &self.places[id.0]
    }

    pub(super) fn resource(&self, id: ResourceId) -> &Resource<'s> {
        &self.resources[id.0]
    }
}

impl Resource<'_> {
    fn new(uri: String, root: NodeId) -> Self {
        Self { uri, root, anchors: HashMap::new(), dynamic_anchors: HashMap::new() }
    }
}

/// What a keyword holds, as far as it is schemas.
enum Holds {
    Nothing,
    One,
    List,
    Map,
}

impl Holds {
    fn of(keyword: &str) -> Self {
        match keyword {
            "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "items"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Self::One,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Self::List,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
                Self::Map
            }
            _ => Self::Nothing,
        }
    }
}

fn is_anchor_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

/// Escapes a member's name for a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
