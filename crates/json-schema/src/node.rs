//! The compiled form of a schema: an arena of nodes that refer to one another by index.
//!
//! No keyword is looked up in the JSON while a value is checked: keywords are parsed, names are
//! sorted, patterns are compiled and references are indices.

use serde_json::Value;

use crate::number::{Decimal, Number};
use crate::pattern::Pattern;

/// The place of a node in the arena. The same number as the place has in the survey.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(pub(crate) usize);

/// The place of a schema resource (the document, or a part with its own `$id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResourceId(pub(crate) usize);

/// One subschema. An empty node allows everything, as the schemas `true` and `{}` do.
#[derive(Debug)]
pub(crate) struct Node {
    /// The conditions, in the order of reporting.
    pub(crate) keywords: Vec<Keyword>,
    /// Applied to the parts that no other keyword of this node evaluated.
    pub(crate) unevaluated_items: Option<NodeId>,
    pub(crate) unevaluated_properties: Option<NodeId>,
    /// The resource of this node, for `$dynamicRef`.
    pub(crate) resource: ResourceId,
}

/// One condition of a subschema. Conditions on one type of value are grouped, so that a check skips
/// those of other types with one comparison.
#[derive(Debug)]
pub(crate) enum Keyword {
    /// The schema `false`.
    Never,
    Type(Types),
    /// `enum`, or `const` as an `enum` of one, and the steps for comparing with all of them.
    Enum {
        values: Vec<Value>,
        cost: usize,
    },
    Number(NumberRule),
    Text(TextRule),
    Array(ArrayRule),
    Object(ObjectRule),
    InPlace(InPlaceRule),
}

/// A condition on numbers, with the text of the limit in the schema. The text is made once, when
/// the schema is compiled.
#[derive(Debug)]
pub(crate) enum NumberRule {
    Minimum(Number, Box<str>),
    ExclusiveMinimum(Number, Box<str>),
    Maximum(Number, Box<str>),
    ExclusiveMaximum(Number, Box<str>),
    MultipleOf(Decimal, Box<str>),
}

/// A condition on strings.
#[derive(Debug)]
pub(crate) enum TextRule {
    MinLength(usize),
    MaxLength(usize),
    Pattern(Pattern),
}

/// A condition on arrays.
#[derive(Debug)]
pub(crate) enum ArrayRule {
    MinItems(usize),
    MaxItems(usize),
    UniqueItems,
    Items(ItemSchemas),
    Contains(ContainsRule),
}

/// `prefixItems`, and `items` for the rest. `items` and `additionalItems` of draft-07 become the
/// same.
#[derive(Debug)]
pub(crate) struct ItemSchemas {
    pub(crate) prefix: Vec<NodeId>,
    pub(crate) rest: Option<NodeId>,
}

/// `contains`, and how often.
#[derive(Debug)]
pub(crate) struct ContainsRule {
    pub(crate) schema: NodeId,
    pub(crate) least: usize,
    pub(crate) most: Option<usize>,
    /// The schema as messages quote it.
    pub(crate) excerpt: Box<str>,
}

/// A condition on objects.
#[derive(Debug)]
pub(crate) enum ObjectRule {
    MinProperties(usize),
    MaxProperties(usize),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    PropertyNames(NodeId),
    Properties(PropertySchemas),
}

/// `properties` sorted by name, `patternProperties`, and `additionalProperties` for the rest.
#[derive(Debug)]
pub(crate) struct PropertySchemas {
    pub(crate) known: Vec<(String, NodeId)>,
    pub(crate) patterns: Vec<(Pattern, NodeId)>,
    pub(crate) additional: Option<NodeId>,
}

/// A condition that applies other schemas to the same value. These are the rules that could form an
/// endless circle, which the compiler refuses.
#[derive(Debug)]
pub(crate) enum InPlaceRule {
    Reference(NodeId),
    /// `$dynamicRef`: the outermost anchor of that number in scope, else the initial target.
    DynamicReference {
        anchor: usize,
        initial: NodeId,
    },
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not {
        schema: NodeId,
        excerpt: Box<str>,
    },
    If {
        condition: NodeId,
        then: Option<NodeId>,
        otherwise: Option<NodeId>,
    },
    DependentSchemas(Vec<(String, NodeId)>),
}

impl Node {
    /// The nodes that are applied to the same value as this one. Those that look at the same value
    /// without going deeper, and so have to end by themselves.
    pub(crate) fn in_place(&self) -> Vec<NodeId> {
        let mut targets = Vec::new();
        for keyword in &self.keywords {
            let Keyword::InPlace(rule) = keyword else {
                continue;
            };
            match rule {
                InPlaceRule::Reference(target) => targets.push(*target),
                // Its target is known only while checking, where the depth is bounded.
                InPlaceRule::DynamicReference { .. } => {}
                InPlaceRule::AllOf(all) | InPlaceRule::AnyOf(all) | InPlaceRule::OneOf(all) => {
                    targets.extend(all);
                }
                InPlaceRule::Not { schema, .. } => targets.push(*schema),
                InPlaceRule::If { condition, then, otherwise } => {
                    targets.push(*condition);
                    targets.extend(then);
                    targets.extend(otherwise);
                }
                InPlaceRule::DependentSchemas(schemas) => {
                    targets.extend(schemas.iter().map(|(_, schema)| schema));
                }
            }
        }
        targets
    }

    pub(crate) fn has_unevaluated(&self) -> bool {
        self.unevaluated_items.is_some() || self.unevaluated_properties.is_some()
    }

    /// Whether no value passes this node.
    pub(crate) fn is_never(&self) -> bool {
        matches!(self.keywords.as_slice(), [Keyword::Never])
    }
}

impl Keyword {
    /// Whether the condition is one that a Rust type also enforces: types and names, but no values.
    pub(crate) fn is_structural(&self) -> bool {
        match self {
            Self::Type(_) => true,
            Self::Array(rule) => matches!(rule, ArrayRule::Items(_)),
            Self::Object(ObjectRule::Properties(schemas)) => schemas.patterns.is_empty(),
            Self::Object(rule) => matches!(rule, ObjectRule::Required(_)),
            Self::InPlace(rule) => matches!(
                rule,
                InPlaceRule::Reference(_) | InPlaceRule::AllOf(_) | InPlaceRule::AnyOf(_)
            ),
            Self::Never | Self::Enum { .. } | Self::Number(_) | Self::Text(_) => false,
        }
    }
}

/// A set of the JSON types; an integer is also a number. A bit for each type, so that comparing two
/// sets is one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Types(u8);

impl Types {
    pub(crate) const NONE: Self = Self(0);
    /// The name in schemas, the phrase in messages and the bit of each type.
    const ALL: [(&'static str, &'static str, u8); 7] = [
        ("string", "a string", 1),
        ("number", "a number", 2),
        ("integer", "an integer", 4),
        ("boolean", "a boolean", 8),
        ("object", "an object", 16),
        ("array", "an array", 32),
        ("null", "null", 64),
    ];

    /// The set with one type. `None` if JSON Schema has no type of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, ..)| *known == name).map(|(.., bit)| Self(*bit))
    }

    pub(crate) fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|(name, ..)| *name).collect()
    }

    pub(crate) fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The types that this value has.
    pub(crate) fn of(value: &Value) -> Self {
        Self(match value {
            Value::String(_) => 1,
            Value::Number(number) if Number::of(number).is_integer() => 2 | 4,
            Value::Number(_) => 2,
            Value::Bool(_) => 8,
            Value::Object(_) => 16,
            Value::Array(_) => 32,
            Value::Null => 64,
        })
    }

    /// The types as a phrase: `a string, an integer or null`.
    pub(crate) fn phrase(self) -> String {
        let phrases: Vec<_> = Self::ALL
            .iter()
            .filter(|(.., bit)| self.0 & bit != 0)
            .map(|(_, phrase, _)| *phrase)
            .collect();
        match phrases.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "nothing".to_owned(),
        }
    }
}
