//! Checks values against a compiled schema.
//!
//! A first pass only asks whether the value passes and stops at the first violation; most values
//! pass. For a value that does not, a second pass records what is wrong. Both count their steps and
//! their nesting, so neither a hostile schema nor a hostile value can block the thread or overflow
//! the stack.

use serde_json::Value;

use crate::compile::Compiled;
use crate::evaluated::EvaluatedParts;
use crate::instance::{Instance, InstanceLocation};
use crate::limits::SchemaLimits;
use crate::node::{InPlaceRule, Keyword, Node, NodeId, ResourceId, Types};
use crate::violation::{Expected, Violation, Violations};

mod array;
mod choice;
mod object;
mod scalar;

/// Checks a value. `root` is its name in messages. The two passes are the same code; whether
/// violations are collected decides how far each goes.
pub(crate) fn check(
    compiled: &Compiled,
    bounds: SchemaLimits,
    root: &str,
    value: &Value,
) -> Result<(), Violations> {
    let instance = Instance::root(value);
    let mut evaluation = Evaluation::new(compiled, bounds, root);
    match evaluation.apply(NodeId(0), &instance, &mut EvaluatedParts::Unwanted) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(stop) => return Err(Violations::stopped(stop.at(root, bounds))),
    }
    let mut evaluation = Evaluation::new(compiled, bounds, root);
    evaluation.found = Some(Vec::new());
    let outcome = evaluation.apply(NodeId(0), &instance, &mut EvaluatedParts::Unwanted);
    let found = evaluation.found.unwrap_or_default();
    match outcome {
        // The second pass goes on after the first violation, so it may exceed limits that the first
        // did not.
        Err(stop) if found.is_empty() => Err(Violations::stopped(stop.at(root, bounds))),
        _ => Err(Violations::new(found, bounds.violations)),
    }
}

/// Whether the value passes, or why checking stopped. An error ends the whole check at once, from
/// any depth.
type Verdict = Result<bool, Stop>;

/// Why checking stopped before there was an answer. Either limit is reported as a violation that
/// asks for a smaller or flatter value. The value is then neither right nor wrong.
#[derive(Clone, Copy, Debug)]
enum Stop {
    Steps,
    Nesting,
}

impl Stop {
    /// The limit as a violation of the whole value.
    fn at(self, root: &str, bounds: SchemaLimits) -> Violation {
        let reason = match self {
            Self::Steps => format!(
                "takes more than {} steps to check against its schema: send a smaller value",
                bounds.steps
            ),
            Self::Nesting => format!(
                "takes more than {} nested levels to check against its schema: send a flatter value",
                bounds.nesting
            ),
        };
        Violation::new(InstanceLocation::root(root), Expected::Other, reason)
    }
}

/// One pass over a value. Lives for one pass. Everything that a hostile schema or value could make
/// large is counted here.
struct Evaluation<'e> {
    compiled: &'e Compiled,
    bounds: SchemaLimits,
    root: &'e str,
    /// The rest of [`SchemaLimits::steps`].
    steps: usize,
    /// How deep the calls of `apply` are nested at this moment; bounds the stack.
    nesting: usize,
    /// The resources entered on the way here, outermost first. Only kept if `$dynamicRef` needs
    /// them.
    scope: Vec<ResourceId>,
    /// The violations so far, or `None` in the first pass.
    found: Option<Vec<Violation>>,
}

impl<'e> Evaluation<'e> {
    fn new(compiled: &'e Compiled, bounds: SchemaLimits, root: &'e str) -> Self {
        let (steps, scope) = (bounds.steps, Vec::new());
        Self { compiled, bounds, root, steps, nesting: 0, scope, found: None }
    }

    /// Checks an instance against a node, and marks the parts that the node evaluated. Every check
    /// of a subschema goes through here, so here nesting and steps are counted.
    fn apply(
        &mut self,
        id: NodeId,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        if self.nesting >= self.bounds.nesting {
            return Err(Stop::Nesting);
        }
        self.nesting += 1;
        let scope = self.scope.len();
        let node = self.enter(id)?;
        self.charge(weight(instance.value))?;
        let verdict = self.node(node, instance, marks);
        self.scope.truncate(scope);
        self.nesting -= 1;
        verdict
    }

    /// Enters a node's resource. A node that is only a reference is followed here, without nesting;
    /// the compiler has checked that such references end.
    fn enter(&mut self, id: NodeId) -> Result<&'e Node, Stop> {
        let mut node = self.compiled.node(id);
        loop {
            self.charge(1)?;
            if self.compiled.has_dynamic_references() && self.scope.last() != Some(&node.resource) {
                self.scope.push(node.resource);
            }
            match node.keywords.as_slice() {
                [Keyword::InPlace(InPlaceRule::Reference(target))] if !node.has_unevaluated() => {
                    node = self.compiled.node(*target);
                }
                _ => return Ok(node),
            }
        }
    }

    /// Checks all keywords of a node, then its unevaluated parts. `unevaluated…` comes last,
    /// because it depends on what all other keywords have evaluated.
    fn node(
        &mut self,
        node: &'e Node,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        if !node.has_unevaluated() {
            return self.keywords(node, instance, marks);
        }
        // Which parts are unevaluated here does not depend on schemas around this one.
        let mut own = EvaluatedParts::of(instance.value);
        self.charge(own.weight())?;
        // After a violation the evaluated parts are incomplete, so reporting unevaluated ones would
        // mislead.
        if !self.keywords(node, instance, &mut own)? {
            return Ok(false);
        }
        let verdict = match instance.value {
            Value::Array(items) => self.unevaluated_items(node, items, instance, &mut own)?,
            Value::Object(members) => {
                self.unevaluated_properties(node, members, instance, &mut own)?
            }
            _ => true,
        };
        marks.merge(&own);
        Ok(verdict)
    }

    /// Checks the conditions of a node that apply to the type of the value. A condition on one type
    /// says nothing about values of other types; `type` itself is a condition of its own.
    fn keywords(
        &mut self,
        node: &'e Node,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        self.every(&node.keywords, |this, keyword| {
            match (keyword, instance.value) {
                (Keyword::Never, _) => {
                    this.violate(instance, || "no value is allowed here".to_owned())
                }
                (Keyword::Type(types), value) => {
                    Ok(types.intersects(Types::of(value)) || this.wrong_type(*types, instance))
                }
                (Keyword::Enum { values, cost }, _) => {
                    this.charge(*cost)?;
                    this.enumeration(values, instance)
                }
                (Keyword::Number(rule), Value::Number(number)) => {
                    this.number(rule, number, instance)
                }
                (Keyword::Text(rule), Value::String(text)) => this.text(rule, text, instance),
                (Keyword::Array(rule), Value::Array(items)) => {
                    this.array(rule, items, instance, marks)
                }
                (Keyword::Object(rule), Value::Object(members)) => {
                    this.object(rule, members, instance, marks)
                }
                (Keyword::InPlace(rule), _) => this.in_place(rule, instance, marks),
                // A condition on one type holds for all values of other types.
                _ => Ok(true),
            }
        })
    }

    /// Checks a condition that applies other schemas to the same value. Marks of evaluated parts
    /// are merged from every schema that passes, as the specification of `unevaluated…` demands.
    fn in_place(
        &mut self,
        rule: &'e InPlaceRule,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        match rule {
            InPlaceRule::Reference(target) => self.apply(*target, instance, marks),
            InPlaceRule::DynamicReference { anchor, initial } => {
                self.charge(self.scope.len())?;
                let target = self.dynamic_target(*anchor).unwrap_or(*initial);
                self.apply(target, instance, marks)
            }
            InPlaceRule::AllOf(all) => {
                self.every(all, |this, schema| this.apply(*schema, instance, marks))
            }
            InPlaceRule::AnyOf(any) => self.any_of(any, instance, marks),
            InPlaceRule::OneOf(one) => self.one_of(one, instance, marks),
            InPlaceRule::Not { schema, excerpt } => {
                if !self.probe(*schema, instance, &mut EvaluatedParts::Unwanted)? {
                    return Ok(true);
                }
                self.violate(instance, || format!("must not match {excerpt}"))
            }
            InPlaceRule::If { condition, then, otherwise } => {
                let mut own = self.branch(marks)?;
                let consequence = if self.probe(*condition, instance, &mut own)? {
                    marks.merge(&own);
                    then
                } else {
                    otherwise
                };
                consequence.map_or(Ok(true), |schema| self.apply(schema, instance, marks))
            }
            InPlaceRule::DependentSchemas(schemas) => {
                self.charge(schemas.len() / 8)?;
                self.every(schemas, |this, (name, schema)| match instance.value.get(name) {
                    Some(_) => this.apply(*schema, instance, marks),
                    None => Ok(true),
                })
            }
        }
    }

    /// The anchor in the outermost resource that has it. That is how a schema can extend a
    /// recursive one: the outermost definition wins.
    fn dynamic_target(&self, anchor: usize) -> Option<NodeId> {
        let mut resources = self.scope.iter();
        resources.find_map(|resource| self.compiled.dynamic_anchor(anchor, *resource))
    }

    /// Checks without recording violations. For `not`, `if` and `contains`, whose failures are no
    /// violations.
    fn probe(
        &mut self,
        id: NodeId,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let found = self.found.take();
        let verdict = self.apply(id, instance, marks);
        self.found = found;
        verdict
    }

    /// Blank marks for an alternative. They count only if the alternative passes.
    fn branch(&mut self, marks: &EvaluatedParts) -> Result<EvaluatedParts, Stop> {
        self.charge(marks.weight())?;
        Ok(marks.blank())
    }

    /// Runs all checks in the second pass, and those up to the first failure in the first.
    fn every<T>(
        &mut self,
        all: impl IntoIterator<Item = T>,
        mut check: impl FnMut(&mut Self, T) -> Verdict,
    ) -> Verdict {
        let mut verdict = true;
        for one in all {
            verdict &= check(self, one)?;
            if !verdict && self.found.is_none() {
                break;
            }
        }
        Ok(verdict)
    }

    /// Counts steps, and stops the check beyond the limit. Called before the work that it pays for.
    fn charge(&mut self, steps: usize) -> Result<(), Stop> {
        self.steps = self.steps.checked_sub(steps).ok_or(Stop::Steps)?;
        Ok(())
    }

    /// Records a violation. Always gives false.
    fn violate(&mut self, instance: &Instance<'_>, reason: impl FnOnce() -> String) -> Verdict {
        self.record(instance, || (Expected::Other, reason()));
        Ok(false)
    }

    /// Records a violation with what was expected.
    fn record(&mut self, instance: &Instance<'_>, describe: impl FnOnce() -> (Expected, String)) {
        let root = self.root;
        self.push(|| {
            let (expected, reason) = describe();
            Violation::new(instance.location(root), expected, reason)
        });
    }

    /// Whether to record one more violation: one past the limit, to know that there are more.
    fn has_room(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.len() <= self.bounds.violations)
    }

    /// Records a violation, unless this is the first pass or the limit is reached. The text is made
    /// only if it is kept.
    fn push(&mut self, violation: impl FnOnce() -> Violation) {
        if !self.has_room() {
            return;
        }
        if let Some(found) = &mut self.found {
            found.push(violation());
            // Writing a path costs as many steps as the path has parts. If they exceed the limit,
            // the next check stops.
            self.steps = self.steps.saturating_sub(self.nesting);
        }
    }
}

/// The steps for looking at a value itself, which grow with the length of its text.
fn weight(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.len() / 256)
}
