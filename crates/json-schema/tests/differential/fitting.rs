//! Values that follow a random schema, so that many of them are valid.
//!
//! A value drawn without regard to the schema is nearly always invalid, and a validator that
//! refuses too much would pass. These values need not be valid: keywords that are hard to follow
//! are left out.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};

use crate::{number, value};

/// How often a schema is followed into its parts before any value will do.
const DEPTH: usize = 3;

const KINDS: [&str; 6] = ["null", "boolean", "number", "string", "array", "object"];

/// Values that mostly follow the schema.
pub(crate) fn fitting(document: &Value) -> BoxedStrategy<Value> {
    Schemas::of(document, DEPTH, [document]).value()
}

/// The rules for one value, from all schemas that apply to it.
struct Schemas<'s> {
    document: &'s Value,
    depth: usize,
    said: Vec<&'s Map<String, Value>>,
}

impl<'s> Schemas<'s> {
    fn of(document: &'s Value, depth: usize, schemas: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut all = Self { document, depth, said: Vec::new() };
        for schema in schemas {
            all.add(schema, depth);
        }
        all
    }

    /// Adds a schema and those that it applies to the same value, of alternatives the first.
    fn add(&mut self, schema: &'s Value, depth: usize) {
        let (Some(keywords), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
            return;
        };
        self.said.push(keywords);
        let target = keywords.get("$ref").and_then(Value::as_str);
        if let Some(target) = target.and_then(|text| self.document.pointer(text.strip_prefix('#')?))
        {
            self.add(target, depth);
        }
        for (keyword, most) in [("allOf", usize::MAX), ("anyOf", 1), ("oneOf", 1)] {
            let parts = keywords.get(keyword).and_then(Value::as_array);
            for part in parts.into_iter().flatten().take(most) {
                self.add(part, depth);
            }
        }
    }

    fn value(&self) -> BoxedStrategy<Value> {
        if self.depth == 0 || self.said.is_empty() {
            return value().boxed();
        }
        if let Some(only) = self.all("const").next() {
            return Just(only.clone()).boxed();
        }
        if let Some(choices) = self.lists("enum").find(|choices| !choices.is_empty()) {
            return select(choices.clone()).boxed();
        }
        let kinds: Vec<_> = KINDS.into_iter().filter(|kind| self.allows(kind)).collect();
        let made = kinds.into_iter().map(|kind| self.of_kind(kind));
        let made: Vec<_> = made.map(|strategy| (1, strategy)).collect();
        if made.is_empty() {
            value().boxed()
        } else {
            prop::strategy::Union::new_weighted(made).boxed()
        }
    }

    fn of_kind(&self, kind: &str) -> BoxedStrategy<Value> {
        match kind {
            "null" => Just(Value::Null).boxed(),
            "boolean" => any::<bool>().prop_map(Value::Bool).boxed(),
            "number" => self.number(),
            "string" => self.string(),
            "array" => self.array(),
            _ => self.object(),
        }
    }

    fn number(&self) -> BoxedStrategy<Value> {
        let is_whole = self.all("type").any(|types| !names_type(types, "number"));
        let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
        let bounds = bounds.map(|keyword| self.all(keyword).filter_map(Value::as_f64).collect());
        let [least, most, above, below]: [Vec<f64>; 4] = bounds;
        let fits = move |number: &Value| {
            let number = number.as_f64().unwrap_or_default();
            (!is_whole || number.fract() == 0.0)
                && least.iter().all(|bound| number >= *bound)
                && most.iter().all(|bound| number <= *bound)
                && above.iter().all(|bound| number > *bound)
                && below.iter().all(|bound| number < *bound)
        };
        let more = select(vec![json!(-2), json!(3), json!(1.5), json!(2e20)]);
        chosen(prop_oneof![2 => number(), 1 => more], fits)
    }

    fn string(&self) -> BoxedStrategy<Value> {
        let (least, most) = (self.most("minLength"), self.least("maxLength", usize::MAX));
        let texts = select(vec!["", "a", "ab", "é", "b\n", "aab", "cab"]).prop_map(Value::from);
        chosen(texts, move |text| {
            let length = text.as_str().unwrap_or_default().chars().count();
            (least..=most).contains(&length)
        })
    }

    fn array(&self) -> BoxedStrategy<Value> {
        let least = self.most("minItems");
        let most = self.least("maxItems", least + 2).max(least);
        (least..=most)
            .prop_flat_map({
                let items: Vec<_> = (0..most).map(|index| self.item(index)).collect();
                move |length| items.iter().take(length).cloned().collect::<Vec<_>>()
            })
            .prop_map(Value::from)
            .boxed()
    }

    fn item(&self, index: usize) -> BoxedStrategy<Value> {
        let of = |keywords: &'s Map<String, Value>| {
            let first = keywords.get("prefixItems").or(keywords.get("items"));
            let own = first.and_then(|items| items.as_array()?.get(index));
            let contained = keywords.get("contains").filter(|_| index == 0);
            let rest = || keywords.get("items").or(keywords.get("unevaluatedItems"));
            own.or_else(rest).into_iter().chain(contained)
        };
        self.within(self.said.iter().flat_map(|keywords| of(keywords)))
    }

    fn object(&self) -> BoxedStrategy<Value> {
        let mut needed: BTreeSet<String> = self.lists("required").flatten().map(text).collect();
        for (name, others) in self.members("dependentRequired") {
            if needed.contains(name) {
                needed.extend(others.as_array().into_iter().flatten().map(text));
            }
        }
        let named: Vec<_> = self.members("properties").map(|(name, _)| name.clone()).collect();
        let spare = select(vec!["a", "b", "c", "ab"]).prop_map(str::to_owned);
        let more = (0..=named.len()).prop_flat_map(move |count| subsequence(named.clone(), count));
        let room = self.least("maxProperties", usize::MAX);
        let lacking = self.most("minProperties");
        let stock: Vec<_> = ["a", "b", "c", "ab"].map(|name| (name, self.member(name))).into();
        (more, prop::collection::vec(spare, lacking))
            .prop_flat_map(move |(more, spare)| {
                let mut names = needed.clone();
                for name in more.into_iter().chain(spare) {
                    if names.len() < room {
                        names.insert(name);
                    }
                }
                let members: Vec<_> =
                    stock.iter().filter(|(name, _)| names.contains(*name)).collect();
                let (names, values): (Vec<_>, Vec<_>) = members.into_iter().cloned().unzip();
                values.prop_map(move |values| {
                    names.iter().map(|name| (*name).to_owned()).zip(values).collect()
                })
            })
            .boxed()
    }

    fn member(&self, name: &str) -> BoxedStrategy<Value> {
        let of = |keywords: &'s Map<String, Value>| {
            let own = keywords.get("properties").and_then(|properties| properties.get(name));
            let rest =
                || keywords.get("additionalProperties").or(keywords.get("unevaluatedProperties"));
            own.or_else(rest)
        };
        self.within(self.said.iter().filter_map(|keywords| of(keywords)))
    }

    /// Values for the schemas of a part.
    fn within(&self, schemas: impl Iterator<Item = &'s Value>) -> BoxedStrategy<Value> {
        Schemas::of(self.document, self.depth - 1, schemas).value()
    }

    fn allows(&self, kind: &str) -> bool {
        self.all("type").all(|types| {
            names_type(types, kind) || (kind == "number" && names_type(types, "integer"))
        })
    }

    fn all(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.said.iter().filter_map(move |keywords| keywords.get(keyword))
    }

    fn lists(&self, keyword: &str) -> impl Iterator<Item = &'s Vec<Value>> {
        self.all(keyword).filter_map(Value::as_array)
    }

    fn members(&self, keyword: &str) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.all(keyword).filter_map(Value::as_object).flatten()
    }

    fn counts(&self, keyword: &str) -> impl Iterator<Item = usize> {
        self.all(keyword).filter_map(Value::as_u64).filter_map(|count| count.try_into().ok())
    }

    fn most(&self, keyword: &str) -> usize {
        self.counts(keyword).max().unwrap_or_default()
    }

    fn least(&self, keyword: &str, otherwise: usize) -> usize {
        self.counts(keyword).min().unwrap_or(otherwise)
    }
}

fn names_type(types: &Value, name: &str) -> bool {
    types == name || types.as_array().is_some_and(|types| types.iter().any(|one| one == name))
}

fn text(name: &Value) -> String {
    name.as_str().unwrap_or_default().to_owned()
}

/// Values that pass, or after some tries any of them: a schema may contradict itself.
fn chosen(
    values: impl Strategy<Value = Value> + 'static,
    fits: impl Fn(&Value) -> bool + 'static,
) -> BoxedStrategy<Value> {
    prop::collection::vec(values, 8)
        .prop_map(move |tried| {
            let found = tried.iter().find(|value| fits(value)).or(tried.last());
            found.cloned().unwrap_or_default()
        })
        .boxed()
}
