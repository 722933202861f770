//! Turns a schema document into an arena of nodes.
//!
//! Everything that can be wrong with a schema is found here, before any value is checked: keywords
//! of the wrong type, unsupported patterns, references without a target or to themselves.
//!
//! A node is made for each place of the survey, under the same number, so references need no table
//! of their own. Following a reference may add a place; the loop in [`compile`] goes on until no
//! place is left.

use std::cell::Cell;
use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::equality::measure;
use crate::error::{Kind, SchemaError};
use crate::keywords::Keywords;
use crate::limits::SchemaLimits;
use crate::node::{InPlaceRule, Keyword, Node, NodeId, ResourceId};
use crate::number::Number;
use crate::rules;
use crate::survey::Survey;

/// A schema in the form that values are checked against. Immutable, so many checks may share it.
/// Node 0 is the whole schema.
#[derive(Debug)]
pub(crate) struct Compiled {
    nodes: Vec<Node>,
    /// The dynamic anchors that references name, by the number of the name and the resource.
    dynamic_anchors: HashMap<(usize, ResourceId), NodeId>,
    /// See [`Validator::asserts_beyond_types`](super::Validator::asserts_beyond_types).
    pub(crate) asserts_beyond_types: bool,
}

impl Compiled {
    /// A schema that no value passes.
    pub(crate) fn never() -> Self {
        let node = Node {
            keywords: vec![Keyword::Never],
            unevaluated_items: None,
            unevaluated_properties: None,
            resource: ResourceId(0),
        };
        Self { nodes: vec![node], dynamic_anchors: HashMap::new(), asserts_beyond_types: true }
    }

    // Ids come from the survey, and each of its places has become a node.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// If not, a check need not remember which resources it has entered.
    pub(crate) fn has_dynamic_references(&self) -> bool {
        !self.dynamic_anchors.is_empty()
    }

    /// The node of a dynamic anchor in a resource, if the resource has that anchor.
    pub(crate) fn dynamic_anchor(&self, anchor: usize, resource: ResourceId) -> Option<NodeId> {
        self.dynamic_anchors.get(&(anchor, resource)).copied()
    }
}

/// Compiles a schema document.
///
/// # Errors
///
/// Names the place of the first problem, as a JSON pointer.
pub(crate) fn compile(schema: &Value, bounds: SchemaLimits) -> Result<Compiled, SchemaError> {
    let mut compiler = Compiler {
        survey: Survey::of(schema, bounds)?,
        bounds,
        dynamic_names: HashMap::new(),
        pattern_room: Cell::new(bounds.patterns),
        asserts_beyond_types: false,
    };
    let mut nodes = Vec::with_capacity(compiler.survey.len());
    // Following references may add places, so the end moves.
    while nodes.len() < compiler.survey.len() {
        nodes.push(compiler.node(NodeId(nodes.len()))?);
    }
    compiler.refuse_cycles(&nodes)?;
    let numbered = |(resource, name, node)| {
        compiler.dynamic_names.get(name).map(|number| ((*number, resource), node))
    };
    let dynamic_anchors = compiler.survey.dynamic_anchors().filter_map(numbered).collect();
    let asserts_beyond_types = compiler.asserts_beyond_types;
    Ok(Compiled { nodes, dynamic_anchors, asserts_beyond_types })
}

/// The state of one compilation. Dropped when the last node is made. It borrows the document; the
/// nodes own what they need of it.
struct Compiler<'s> {
    survey: Survey<'s>,
    bounds: SchemaLimits,
    /// Numbers for the names of dynamic anchors.
    dynamic_names: HashMap<&'s str, usize>,
    /// The rest of [`SchemaLimits::patterns`].
    pattern_room: Cell<usize>,
    asserts_beyond_types: bool,
}

impl<'s> Compiler<'s> {
    /// Compiles the place with this id to a node.
    fn node(&mut self, id: NodeId) -> Result<Node, SchemaError> {
        let mut node = Node {
            keywords: Vec::new(),
            unevaluated_items: None,
            unevaluated_properties: None,
            resource: self.survey.resource_of(id),
        };
        match self.survey.schema(id) {
            Value::Bool(true) => {}
            Value::Bool(false) => node.keywords.push(Keyword::Never),
            Value::Object(members) => self.fill(&mut node, id, members)?,
            other => {
                let hint = match other {
                    Value::Array(_) if self.survey.dialect().has("prefixItems") => {
                        "; for items by position, 2020-12 has `prefixItems`"
                    }
                    _ => "",
                };
                let message = format!("a schema is an object or a boolean{hint}");
                return Err(self.survey.error(id, "", Kind::Invalid, message));
            }
        }
        self.asserts_beyond_types |= !is_structural(&node, self.survey.schema(id));
        Ok(node)
    }

    /// Adds the conditions of all keywords to a node.
    ///
    /// The order of the conditions is the order in which violations at one place are reported:
    /// types first, since a value of the wrong type breaks everything else too.
    fn fill(
        &mut self,
        node: &mut Node,
        id: NodeId,
        members: &'s Map<String, Value>,
    ) -> Result<(), SchemaError> {
        let references = self.references(id, members)?;
        let keywords = Keywords::new(&self.survey, &self.pattern_room, id, members);
        rules::check_annotations(&keywords)?;
        node.keywords.extend(keywords.types()?.map(Keyword::Type));
        self.constants(&keywords, id, &mut node.keywords)?;
        let list = &mut node.keywords;
        list.extend(rules::number_rules(&keywords)?.into_iter().map(Keyword::Number));
        list.extend(rules::text_rules(&keywords)?.into_iter().map(Keyword::Text));
        list.extend(rules::array_rules(&keywords)?.into_iter().map(Keyword::Array));
        list.extend(rules::object_rules(&keywords)?.into_iter().map(Keyword::Object));
        list.extend(references.into_iter().map(Keyword::InPlace));
        list.extend(rules::in_place_rules(&keywords).into_iter().map(Keyword::InPlace));
        node.unevaluated_items = keywords.child("unevaluatedItems");
        node.unevaluated_properties = keywords.child("unevaluatedProperties");
        Ok(())
    }

    /// Compiles `$ref` and `$dynamicRef`. Read before the other keywords, because following a
    /// reference needs the survey for itself.
    fn references(
        &mut self,
        id: NodeId,
        members: &'s Map<String, Value>,
    ) -> Result<Vec<InPlaceRule>, SchemaError> {
        let mut rules = Vec::new();
        let keywords = Keywords::new(&self.survey, &self.pattern_room, id, members);
        let (fixed, dynamic) = (keywords.text("$ref")?, keywords.text("$dynamicRef")?);
        if let Some(reference) = fixed {
            rules.push(InPlaceRule::Reference(self.survey.follow(id, "$ref", reference)?.node));
        }
        if let Some(reference) = dynamic {
            let target = self.survey.follow(id, "$dynamicRef", reference)?;
            rules.push(match target.dynamic_anchor {
                None => InPlaceRule::Reference(target.node),
                Some(name) => {
                    let next = self.dynamic_names.len();
                    let anchor = *self.dynamic_names.entry(name).or_insert(next);
                    InPlaceRule::DynamicReference { anchor, initial: target.node }
                }
            });
        }
        Ok(rules)
    }

    /// Compiles `enum` and `const`. The steps for comparing are counted once here, so that a check
    /// can charge them without walking through the values.
    fn constants(
        &self,
        keywords: &Keywords<'_, 's>,
        id: NodeId,
        rules: &mut Vec<Keyword>,
    ) -> Result<(), SchemaError> {
        let mut add = |keyword: &str, values: &[Value]| {
            let costs = values.iter().map(|value| measure(value, self.bounds.depth));
            let Some(cost) = costs.sum::<Option<usize>>() else {
                let message = format!("a value nests deeper than {} levels", self.bounds.depth);
                return Err(self.survey.error(id, keyword, Kind::Limits, message));
            };
            rules.push(Keyword::Enum { values: values.to_vec(), cost: cost / 8 });
            Ok(())
        };
        if let Some(value) = keywords.value("const") {
            add("const", std::slice::from_ref(value))?;
        }
        if let Some(values) = keywords.list("enum")? {
            add("enum", values)?;
        }
        Ok(())
    }

    /// Refuses schemas that apply themselves to the same value, because checking would never end.
    ///
    /// A circle through `properties` or `items` is fine: each turn goes one level deeper into the
    /// value, which ends. The search keeps its own stack, so a long chain of references does not
    /// overflow that of the thread.
    fn refuse_cycles(&self, nodes: &[Node]) -> Result<(), SchemaError> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let targets: Vec<_> = nodes.iter().map(Node::in_place).collect();
        let mut states = vec![State::New; nodes.len()];
        for start in 0..nodes.len() {
            let mut path = vec![(start, 0)];
            while let Some((node, next)) = path.pop() {
                if next == 0 && states[node] == State::Done {
                    continue;
                }
                states[node] = State::Open;
                let Some(target) = targets[node].get(next) else {
                    states[node] = State::Done;
                    continue;
                };
                if states[target.0] == State::Open {
                    let message = "this schema applies itself to the same value without end: \
                                   break the circle of references";
                    return Err(self.survey.error(*target, "", Kind::Invalid, message));
                }
                path.push((node, next + 1));
                path.push((target.0, 0));
            }
        }
        Ok(())
    }
}

/// Whether a node asserts no more than the Rust type that its schema was derived from. Decides
/// whether a value has to be checked before it is decoded.
fn is_structural(node: &Node, schema: &Value) -> bool {
    let has_range_of_type = schema.as_object().is_some_and(has_range_of_format);
    let is_implied = |keyword: &Keyword| {
        keyword.is_structural() || (has_range_of_type && matches!(keyword, Keyword::Number(_)))
    };
    !node.has_unevaluated() && node.keywords.iter().all(is_implied)
}

/// Whether the limits of an integer are exactly those of the Rust type that `format` names.
/// Generators write `"format": "uint8", "minimum": 0, "maximum": 255` for a `u8`, which decoding
/// enforces anyway.
pub(crate) fn has_range_of_format(members: &Map<String, Value>) -> bool {
    let Some(format) = members.get("format").and_then(Value::as_str) else {
        return false;
    };
    let (least, most) = match format {
        "int8" => (i8::MIN.into(), Some(i8::MAX.into())),
        "int16" => (i16::MIN.into(), Some(i16::MAX.into())),
        "uint8" => (0, Some(u8::MAX.into())),
        "uint16" => (0, Some(u16::MAX.into())),
        "uint" | "uint32" | "uint64" | "uint128" => (0, None),
        _ => return false,
    };
    let limit = |keyword| members.get(keyword).map(|limit| limit.as_number().map(Number::of));
    let is_implied = |keyword, bound: Option<i128>| {
        limit(keyword).is_none_or(|limit| limit == bound.map(Number::Integer))
    };
    let others = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    is_implied("minimum", Some(least))
        && is_implied("maximum", most)
        && !others.iter().any(|keyword| members.contains_key(*keyword))
}
