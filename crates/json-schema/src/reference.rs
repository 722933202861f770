//! Follows `$ref` and `$dynamicRef` inside one document, and never leaves it.
//!
//! A reference may name an identifier, an anchor or a JSON pointer. A pointer may lead to a place
//! that no keyword declares as a schema (a keyword of another dialect, an example); such a place
//! joins the survey when it is named. A target outside the document is refused: it is neither
//! fetched nor assumed to allow everything.

use serde_json::Value;

use crate::error::{Kind, SchemaError};
use crate::node::{NodeId, ResourceId};
use crate::survey::{Location, Place, Survey};
use crate::uri;

/// The target of a reference. A dynamic anchor is remembered by name, because its target may change
/// while a value is checked.
pub(crate) struct Target<'s> {
    pub(crate) node: NodeId,
    /// The name, if the reference named a dynamic anchor.
    pub(crate) dynamic_anchor: Option<&'s str>,
}

impl<'s> Survey<'s> {
    /// Follows a reference, which may add places to the survey.
    ///
    /// # Errors
    ///
    /// If the target is outside of the document, or there is no such place.
    pub(crate) fn follow(
        &mut self,
        from: NodeId,
        keyword: &str,
        reference: &'s str,
    ) -> Result<Target<'s>, SchemaError> {
        let (address, fragment) = uri::split_fragment(reference);
        let mut resource = self.place(from).resource;
        if !address.is_empty() {
            let absolute = uri::resolve(&self.resource(resource).uri, address);
            resource = self.resource_at(&absolute).ok_or_else(|| {
                let definitions = self.dialect().definitions();
                let message = format!(
                    "`{keyword}` leads to `{absolute}`, outside of this document, and nothing is \
                     fetched: put that schema under `{definitions}` and refer to it as \
                     `#/{definitions}/<name>`"
                );
                self.error(from, keyword, Kind::External, message)
            })?;
        }
        let fragment = fragment.unwrap_or_default();
        if fragment.is_empty() {
            return Ok(Target { node: self.resource(resource).root, dynamic_anchor: None });
        }
        let found = if fragment.starts_with('/') {
            self.pointed(resource, fragment)?
        } else {
            self.resource(resource).anchors.get(fragment).copied()
        };
        let node = found.ok_or_else(|| {
            let message = format!(
                "`{keyword}` leads to `{reference}`, but there is no such place in this document: \
                 correct the reference or add what it names"
            );
            self.error(from, keyword, Kind::Invalid, message)
        })?;
        let is_dynamic = self.resource(resource).dynamic_anchors.contains_key(fragment);
        Ok(Target { node, dynamic_anchor: is_dynamic.then_some(fragment) })
    }

    /// Finds the place that a JSON pointer names, below the root of a resource. Every step of the
    /// pointer may enter another resource, whose identifier then counts.
    fn pointed(
        &mut self,
        resource: ResourceId,
        fragment: &str,
    ) -> Result<Option<NodeId>, SchemaError> {
        let Some(pointer) = uri::percent_decode(fragment) else {
            return Ok(None);
        };
        let root = self.resource(resource).root;
        let mut place = Place {
            schema: self.schema(root),
            location: Location::Pointed(root, pointer.clone()),
            resource,
            depth: self.place(root).depth,
        };
        for token in pointer.split('/').skip(1) {
            let Some(inner) = step(place.schema, &token.replace("~1", "/").replace("~0", "~"))
            else {
                return Ok(None);
            };
            place.schema = inner;
            place.depth += 1;
            if let Some(known) = self.id_of(inner) {
                place.resource = self.place(known).resource;
            }
        }
        let id = self.add(place)?;
        self.scan()?;
        Ok(Some(id))
    }
}

/// Follows one token of a JSON pointer. An index has no leading zero and no sign (RFC 6901).
fn step<'s>(value: &'s Value, token: &str) -> Option<&'s Value> {
    match value {
        Value::Object(members) => members.get(token),
        Value::Array(items) if token == "0" || !token.starts_with(['0', '+']) => {
            items.get(token.parse::<usize>().ok()?)
        }
        _ => None,
    }
}
