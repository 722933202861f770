//! Conditions on objects.
//!
//! Members are visited in the order of the value, and names are looked up in sorted lists, so an
//! object costs about as many steps as it has members.

use serde_json::{Map, Value};

use super::{Evaluation, Verdict};
use crate::evaluated::EvaluatedParts;
use crate::instance::{Instance, count};
use crate::node::{Node, NodeId, ObjectRule, PropertySchemas};
use crate::violation::{Expected, Violation};

/// The most known properties that a message lists for an unknown one.
const MOST_NAMES: usize = 24;

impl Evaluation<'_> {
    /// Checks one condition on an object.
    pub(super) fn object(
        &mut self,
        rule: &ObjectRule,
        members: &Map<String, Value>,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let found = members.len();
        match rule {
            ObjectRule::MinProperties(least) if found < *least => self.violate(instance, || {
                let least = count(*least, "property", "properties");
                format!("expected at least {least}, found {found}")
            }),
            ObjectRule::MaxProperties(most) if found > *most => self.violate(instance, || {
                let most = count(*most, "property", "properties");
                format!("expected at most {most}, found {found}")
            }),
            ObjectRule::MinProperties(_) | ObjectRule::MaxProperties(_) => Ok(true),
            ObjectRule::Required(names) => {
                self.required(names, instance, members, || "missing, but required".to_owned())
            }
            ObjectRule::DependentRequired(dependencies) => {
                self.charge(dependencies.len() / 8)?;
                self.every(dependencies, |this, (name, names)| {
                    if !members.contains_key(name) {
                        return Ok(true);
                    }
                    this.required(names, instance, members, || {
                        format!("missing, but required because `{name}` is present")
                    })
                })
            }
            ObjectRule::PropertyNames(schema) => self.property_names(*schema, members, instance),
            ObjectRule::Properties(schemas) => self.properties(schemas, members, instance, marks),
        }
    }

    /// Applies `unevaluatedProperties` to the members that no other keyword evaluated.
    pub(super) fn unevaluated_properties(
        &mut self,
        node: &Node,
        members: &Map<String, Value>,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let Some(schema) = node.unevaluated_properties else {
            return Ok(true);
        };
        let verdict =
            self.every(members.iter().enumerate(), |this, (position, (name, value))| {
                if marks.is_marked(position) {
                    return Ok(true);
                }
                let member = instance.member(position, name, value);
                if this.compiled.node(schema).is_never() {
                    this.charge(1)?;
                    return this.violate(&member, || "unexpected property: remove it".to_owned());
                }
                this.apply(schema, &member, &mut EvaluatedParts::Unwanted)
            })?;
        marks.mark_all();
        Ok(verdict)
    }

    /// Checks `required` and `dependentRequired`. The violation stands at the missing member, so
    /// that a model sees what to add.
    fn required(
        &mut self,
        names: &[String],
        instance: &Instance<'_>,
        members: &Map<String, Value>,
        reason: impl Fn() -> String,
    ) -> Verdict {
        self.charge(names.len() / 8)?;
        self.every(names, |this, name| {
            if members.contains_key(name) {
                return Ok(true);
            }
            let root = this.root;
            this.push(|| {
                let mut location = instance.location(root);
                location.push_member(name);
                Violation::new(location, Expected::Other, reason())
            });
            Ok(false)
        })
    }

    /// Checks `propertyNames`. The reason says that the name is wrong, because the path alone would
    /// point to the value.
    fn property_names(
        &mut self,
        schema: NodeId,
        members: &Map<String, Value>,
        instance: &Instance<'_>,
    ) -> Verdict {
        self.every(members.iter().enumerate(), |this, (position, (name, _))| {
            let name_value = Value::from(name.as_str());
            let member = instance.member(position, name, &name_value);
            let (verdict, violations) =
                this.attempt(schema, &member, &mut EvaluatedParts::Unwanted)?;
            for violation in violations {
                this.push(|| violation.about("wrong name: "));
            }
            Ok(verdict)
        })
    }

    /// Checks `properties`, `patternProperties` and `additionalProperties`.
    ///
    /// A member may be covered by its name and by several patterns; all of them apply.
    /// `additionalProperties` gets the members that neither covers.
    fn properties(
        &mut self,
        schemas: &PropertySchemas,
        members: &Map<String, Value>,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        self.every(members.iter().enumerate(), |this, (position, (name, value))| {
            this.charge(1)?;
            let member = instance.member(position, name, value);
            let by_name = schemas.of(name);
            let mut is_known = by_name.is_some();
            let mut verdict = match by_name {
                Some(schema) => this.apply(schema, &member, &mut EvaluatedParts::Unwanted)?,
                None => true,
            };
            for (pattern, schema) in &schemas.patterns {
                this.charge(pattern.cost(name))?;
                if pattern.is_match(name) {
                    is_known = true;
                    verdict &= this.apply(*schema, &member, &mut EvaluatedParts::Unwanted)?;
                }
            }
            if let Some(additional) = schemas.additional.filter(|_| !is_known) {
                is_known = true;
                verdict = this.additional_property(additional, schemas, &member)?;
            }
            if is_known {
                marks.mark(position);
            }
            Ok(verdict)
        })
    }

    /// Checks a member that no name or pattern covers.
    fn additional_property(
        &mut self,
        schema: NodeId,
        schemas: &PropertySchemas,
        member: &Instance<'_>,
    ) -> Verdict {
        if self.compiled.node(schema).is_never() {
            return self.violate(member, || format!("unknown property: {}", schemas.known_names()));
        }
        self.apply(schema, member, &mut EvaluatedParts::Unwanted)
    }
}

impl PropertySchemas {
    /// The schema for a property with this name.
    fn of(&self, name: &str) -> Option<NodeId> {
        let found = self.known.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        self.known.get(found).map(|(_, schema)| *schema)
    }

    /// A list of what is allowed helps a model more than the report that something is not.
    fn known_names(&self) -> String {
        let known = self.known.iter().map(|(name, _)| format!("`{name}`"));
        let patterns = self.patterns.iter().map(|(pattern, _)| format!("`/{}/`", pattern.source()));
        let names: Vec<_> = known.chain(patterns).take(MOST_NAMES).collect();
        match names.as_slice() {
            [] => "no property is allowed here".to_owned(),
            [name] => format!("only {name} is allowed here"),
            _ if names.len() == MOST_NAMES => {
                format!("allowed are {} and others", names.join(", "))
            }
            _ => format!("allowed are {}", names.join(", ")),
        }
    }
}
