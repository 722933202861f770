//! Finds every subschema of a document, its identifiers and its anchors.
//!
//! One pass over the places where the dialect puts schemas collects identifiers and anchors before
//! any reference is followed. The survey is a queue, so a deep document costs no stack, and it
//! stays within [`SchemaLimits`].

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::dialect::{Dialect, Holds};
use crate::error::{Kind, SchemaError};
use crate::identifiers::Resource;
use crate::limits::SchemaLimits;
use crate::node::{NodeId, ResourceId};

/// All places of a document that hold schemas. Borrows the document, and lives while it is
/// compiled.
pub(crate) struct Survey<'s> {
    bounds: SchemaLimits,
    /// Read from the root before everything that depends on it.
    dialect: Dialect,
    pub(crate) places: Vec<Place<'s>>,
    /// How many places have been visited.
    scanned: usize,
    /// Places by address: each value of the borrowed document has its own.
    ids: HashMap<*const Value, NodeId>,
    pub(crate) resources: Vec<Resource<'s>>,
    pub(crate) uris: HashMap<String, ResourceId>,
    /// Set once all identifiers are known. Places that join later declare none.
    pub(crate) is_complete: bool,
}

/// A subschema and where it is. Its number is its index, and later that of its node.
pub(crate) struct Place<'s> {
    pub(crate) schema: &'s Value,
    pub(crate) location: Location<'s>,
    pub(crate) resource: ResourceId,
    pub(crate) depth: usize,
}

/// How a place is reached. Its JSON pointer is built from this when an error needs it. Parents are
/// named by number, so a place stores no path.
pub(crate) enum Location<'s> {
    Root,
    Keyword(NodeId, &'s str),
    Member(NodeId, &'s str, &'s str),
    Item(NodeId, &'s str, usize),
    /// Below a place, by the pointer of a reference.
    Pointed(NodeId, String),
}

impl<'s> Survey<'s> {
    /// Surveys a document.
    ///
    /// # Errors
    ///
    /// If the dialect is not supported, an identifier is malformed or occurs twice, or a bound is
    /// exceeded.
    pub(crate) fn of(schema: &'s Value, bounds: SchemaLimits) -> Result<Self, SchemaError> {
        let mut survey = Self {
            bounds,
            dialect: Dialect::default(),
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

    /// The dialect of the document.
    pub(crate) fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Finds the resource with this absolute URI.
    pub(crate) fn resource_at(&self, uri: &str) -> Option<ResourceId> {
        self.uris.get(uri).copied()
    }

    /// The place of a schema, if it was found.
    pub(crate) fn id_of(&self, schema: &Value) -> Option<NodeId> {
        self.ids.get(&std::ptr::from_ref(schema)).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn schema(&self, id: NodeId) -> &'s Value {
        self.place(id).schema
    }

    pub(crate) fn resource_of(&self, id: NodeId) -> ResourceId {
        self.place(id).resource
    }

    /// Every dynamic anchor: its resource, its name and its place.
    pub(crate) fn dynamic_anchors(&self) -> impl Iterator<Item = (ResourceId, &'s str, NodeId)> {
        self.resources.iter().enumerate().flat_map(|(index, resource)| {
            let anchors = resource.dynamic_anchors.iter();
            anchors.map(move |(name, node)| (ResourceId(index), *name, *node))
        })
    }

    /// An error at a keyword of a place; an empty keyword means the place itself.
    pub(crate) fn error(
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

    /// The JSON pointer of a place.
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

    /// Visits every place that was not visited yet. Called again after a reference has added a
    /// place.
    pub(crate) fn scan(&mut self) -> Result<(), SchemaError> {
        while self.scanned < self.places.len() {
            let id = NodeId(self.scanned);
            self.scanned += 1;
            let Value::Object(keywords) = self.schema(id) else {
                continue;
            };
            self.read_dialect(id, keywords)?;
            self.identify(id, keywords)?;
            for (keyword, value) in keywords {
                if self.dialect.reads(keywords, keyword) {
                    self.add_subschemas(id, keyword, value)?;
                }
            }
        }
        Ok(())
    }

    /// Reads the dialect at the root. Further down, only the same dialect may be declared.
    fn read_dialect(
        &mut self,
        id: NodeId,
        keywords: &Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let Some(declared) = self.dialect.value(keywords, "$schema") else {
            return Ok(());
        };
        let Value::String(declared) = declared else {
            return Err(self.error(id, "$schema", Kind::Invalid, "expected the URI of a dialect"));
        };
        let (default, older) = (Dialect::V2020_12.uri(), Dialect::Draft07.uri());
        let message = match Dialect::named(declared) {
            Some(dialect) if id == NodeId(0) => {
                self.dialect = dialect;
                return Ok(());
            }
            Some(dialect) if dialect == self.dialect => return Ok(()),
            Some(_) => format!(
                "the dialect `{declared}` is not that of the document, `{}`: write all of it in \
                 one dialect",
                self.dialect.uri()
            ),
            None => format!(
                "the dialect `{declared}` is not supported: rewrite the schema for `{default}` or \
                 `{older}`, or remove `$schema` if it is written for the former already"
            ),
        };
        Err(self.error(id, "$schema", Kind::Dialect, message))
    }

    /// Adds the subschemas that a keyword holds.
    fn add_subschemas(
        &mut self,
        id: NodeId,
        keyword: &'s str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        let parent = self.place(id);
        let (resource, depth) = (parent.resource, parent.depth + 1);
        let place = |schema, location| Place { schema, location, resource, depth };
        match (self.dialect.holds(keyword), value) {
            (Holds::Nothing, _) => {}
            (Holds::List | Holds::OneOrList, Value::Array(items)) if !items.is_empty() => {
                for (index, schema) in items.iter().enumerate() {
                    self.add(place(schema, Location::Item(id, keyword, index)))?;
                }
            }
            (Holds::List, _) | (Holds::OneOrList, Value::Array(_)) => {
                let message = "expected a non-empty array of schemas";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            }
            (Holds::One | Holds::OneOrList, schema) => {
                self.add(place(schema, Location::Keyword(id, keyword)))?;
            }
            (holds @ (Holds::Map | Holds::Dependencies), Value::Object(members)) => {
                let is_names = |value: &Value| holds == Holds::Dependencies && value.is_array();
                for (name, schema) in members.iter().filter(|(_, value)| !is_names(value)) {
                    self.add(place(schema, Location::Member(id, keyword, name)))?;
                }
            }
            (Holds::Map | Holds::Dependencies, _) => {
                let message = "expected an object whose values are schemas";
                return Err(self.error(id, keyword, Kind::Invalid, message));
            }
        }
        Ok(())
    }

    /// Adds a place, within the limits. A place that is known already keeps its number, so a schema
    /// that many references name is compiled once.
    pub(crate) fn add(&mut self, place: Place<'s>) -> Result<NodeId, SchemaError> {
        if let Some(id) = self.id_of(place.schema) {
            return Ok(id);
        }
        let id = NodeId(self.places.len());
        let depth = place.depth;
        self.ids.insert(std::ptr::from_ref(place.schema), id);
        self.places.push(place);
        if depth > self.bounds.depth {
            let message = format!("schemas nest deeper than {} levels: flatten", self.bounds.depth);
            return Err(self.error(id, "", Kind::Limits, message));
        }
        if self.places.len() > self.bounds.nodes {
            let message = format!("the schema has more than {} parts: split it", self.bounds.nodes);
            return Err(self.error(id, "", Kind::Limits, message));
        }
        Ok(id)
    }

    // Only `add` and `enter_resource` make ids, so they are always in range.
    pub(crate) fn place(&self, id: NodeId) -> &Place<'s> {
        &self.places[id.0]
    }

    pub(crate) fn resource(&self, id: ResourceId) -> &Resource<'s> {
        &self.resources[id.0]
    }
}

/// Escapes a member's name for a JSON pointer.
fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}
