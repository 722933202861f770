//! Conditions on arrays.
//!
//! Each item is checked at most once by each keyword. Items that a keyword has checked are marked,
//! for `unevaluatedItems`.

use serde_json::Value;

use super::{Evaluation, Stop, Verdict};
use crate::equality::{first_repetition, measure};
use crate::evaluated::EvaluatedParts;
use crate::instance::{Instance, count};
use crate::node::{ArrayRule, ContainsRule, ItemSchemas, Node, NodeId};

impl Evaluation<'_> {
    /// Checks one condition on an array.
    pub(super) fn array(
        &mut self,
        rule: &ArrayRule,
        items: &[Value],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let found = items.len();
        match rule {
            ArrayRule::MinItems(least) if found < *least => self.violate(instance, || {
                format!("expected at least {}, found {found}", count(*least, "item", "items"))
            }),
            ArrayRule::MaxItems(most) if found > *most => self.violate(instance, || {
                format!("expected at most {}, found {found}", count(*most, "item", "items"))
            }),
            ArrayRule::MinItems(_) | ArrayRule::MaxItems(_) => Ok(true),
            ArrayRule::UniqueItems => self.unique_items(items, instance),
            ArrayRule::Items(schemas) => self.items(schemas, items, instance, marks),
            ArrayRule::Contains(rule) => self.contains(rule, items, instance, marks),
        }
    }

    /// Applies `unevaluatedItems` to the items that no other keyword evaluated.
    pub(super) fn unevaluated_items(
        &mut self,
        node: &Node,
        items: &[Value],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let Some(schema) = node.unevaluated_items else {
            return Ok(true);
        };
        let verdict = self.every(items.iter().enumerate(), |this, (index, item)| {
            if marks.is_marked(index) {
                return Ok(true);
            }
            this.extra_item(schema, &instance.item(index, item), || "unexpected item".to_owned())
        })?;
        marks.mark_all();
        Ok(verdict)
    }

    /// Checks `uniqueItems`. Linear in the number of items: they are hashed as JSON Schema compares
    /// them.
    fn unique_items(&mut self, items: &[Value], instance: &Instance<'_>) -> Verdict {
        // The depth is checked first, because comparing goes as deep as the items do.
        for item in items {
            let cost = measure(item, self.bounds.nesting).ok_or(Stop::Nesting)?;
            self.charge(cost)?;
        }
        let Some((earlier, later)) = first_repetition(items) else {
            return Ok(true);
        };
        self.violate(instance, || {
            format!("items {earlier} and {later} are equal, but each value may occur only once")
        })
    }

    /// Checks `prefixItems` and `items`.
    fn items(
        &mut self,
        schemas: &ItemSchemas,
        items: &[Value],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let most = schemas.prefix.len();
        let with_schema = items.iter().enumerate().map_while(|(index, item)| {
            Some((index, item, schemas.prefix.get(index).copied().or(schemas.rest)?))
        });
        self.every(with_schema, |this, (index, item, schema)| {
            marks.mark(index);
            this.extra_item(schema, &instance.item(index, item), || {
                format!("unexpected item: at most {} allowed", count(most, "is", "are"))
            })
        })
    }

    /// Applies a schema to an item. The schema `false` gets a message of its own.
    fn extra_item(
        &mut self,
        schema: NodeId,
        item: &Instance<'_>,
        unexpected: impl FnOnce() -> String,
    ) -> Verdict {
        if self.compiled.node(schema).is_never() {
            self.charge(1)?;
            return self.violate(item, unexpected);
        }
        self.apply(schema, item, &mut EvaluatedParts::Unwanted)
    }

    /// Checks `contains`, `minContains` and `maxContains`. Stops as soon as the outcome is certain,
    /// unless all matching items have to be marked.
    fn contains(
        &mut self,
        rule: &ContainsRule,
        items: &[Value],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let ContainsRule { schema, least, most, excerpt } = rule;
        let mut matching = 0;
        for (index, item) in items.iter().enumerate() {
            if self.probe(*schema, &instance.item(index, item), &mut EvaluatedParts::Unwanted)? {
                matching += 1;
                marks.mark(index);
            }
            if matching >= *least && most.is_none() && !marks.is_wanted() {
                return Ok(true);
            }
        }
        if matching < *least {
            return self.violate(instance, || {
                let least = count(*least, "item", "items");
                format!("expected at least {least} matching {excerpt}, found {matching}")
            });
        }
        match most {
            Some(most) if matching > *most => self.violate(instance, || {
                let most = count(*most, "item", "items");
                format!("expected at most {most} matching {excerpt}, found {matching}")
            }),
            _ => Ok(true),
        }
    }
}
