//! The keywords of each vocabulary, compiled to conditions of a node.
//!
//! One function for each vocabulary, each a list of keywords in the order in which violations are
//! reported. A keyword of the wrong type ends the compilation; a keyword that is absent adds
//! nothing.

use serde_json::Value;

use crate::equality::measure;
use crate::error::SchemaError;
use crate::keywords::Keywords;
use crate::node::{
    ArrayRule, ContainsRule, InPlaceRule, ItemSchemas, NumberRule, ObjectRule, PropertySchemas,
    TextRule,
};

/// Checks the types of keywords that assert nothing about values. A schema with a title that is no
/// string is not valid in its dialect, and must not be published (SCH-6).
pub(crate) fn check_annotations(keywords: &Keywords<'_, '_>) -> Result<(), SchemaError> {
    for keyword in ["$comment", "title", "description", "format"] {
        keywords.text(keyword)?;
    }
    for keyword in ["contentEncoding", "contentMediaType"] {
        keywords.text(keyword)?;
    }
    for keyword in ["deprecated", "readOnly", "writeOnly"] {
        keywords.flag(keyword)?;
    }
    keywords.list("examples")?;
    Ok(())
}

/// The conditions on numbers.
pub(crate) fn number_rules(keywords: &Keywords<'_, '_>) -> Result<Vec<NumberRule>, SchemaError> {
    let mut rules = Vec::new();
    if let Some((limit, text)) = keywords.limit("minimum")? {
        rules.push(NumberRule::Minimum(limit, text));
    }
    if let Some((limit, text)) = keywords.limit("exclusiveMinimum")? {
        rules.push(NumberRule::ExclusiveMinimum(limit, text));
    }
    if let Some((limit, text)) = keywords.limit("maximum")? {
        rules.push(NumberRule::Maximum(limit, text));
    }
    if let Some((limit, text)) = keywords.limit("exclusiveMaximum")? {
        rules.push(NumberRule::ExclusiveMaximum(limit, text));
    }
    if let Some((divisor, text)) = keywords.divisor("multipleOf")? {
        rules.push(NumberRule::MultipleOf(divisor, text));
    }
    Ok(rules)
}

/// The conditions on strings.
pub(crate) fn text_rules(keywords: &Keywords<'_, '_>) -> Result<Vec<TextRule>, SchemaError> {
    let mut rules = Vec::new();
    rules.extend(keywords.count("minLength")?.map(TextRule::MinLength));
    rules.extend(keywords.count("maxLength")?.map(TextRule::MaxLength));
    rules.extend(keywords.pattern("pattern")?.map(TextRule::Pattern));
    Ok(rules)
}

/// The conditions on arrays. `minContains` and `maxContains` mean nothing without `contains`.
pub(crate) fn array_rules(keywords: &Keywords<'_, '_>) -> Result<Vec<ArrayRule>, SchemaError> {
    let mut rules = Vec::new();
    rules.extend(keywords.count("minItems")?.map(ArrayRule::MinItems));
    rules.extend(keywords.count("maxItems")?.map(ArrayRule::MaxItems));
    if keywords.flag("uniqueItems")? == Some(true) {
        rules.push(ArrayRule::UniqueItems);
    }
    rules.extend(item_schemas(keywords).map(ArrayRule::Items));
    let (least, most) = (keywords.count("minContains")?, keywords.count("maxContains")?);
    if let Some(schema) = keywords.child("contains") {
        let (least, excerpt) = (least.unwrap_or(1), excerpt(keywords.value("contains")));
        rules.push(ArrayRule::Contains(ContainsRule { schema, least, most, excerpt }));
    }
    Ok(rules)
}

/// The schemas of the first items by position, and that of the rest.
fn item_schemas(keywords: &Keywords<'_, '_>) -> Option<ItemSchemas> {
    let items = keywords.value("items");
    // An array of schemas has become `prefixItems`, and with it `additionalItems` became `items`.
    let (prefix, rest) = match items.and_then(Value::as_array) {
        Some(_) => (keywords.children("items"), keywords.child("additionalItems")),
        None => (keywords.children("prefixItems"), keywords.child("items")),
    };
    let prefix = prefix.unwrap_or_default();
    (!prefix.is_empty() || rest.is_some()).then_some(ItemSchemas { prefix, rest })
}

/// The conditions on objects. All property keywords become one rule, because `additionalProperties`
/// depends on the other two.
pub(crate) fn object_rules(keywords: &Keywords<'_, '_>) -> Result<Vec<ObjectRule>, SchemaError> {
    let mut rules = Vec::new();
    rules.extend(keywords.names("required")?.map(ObjectRule::Required));
    rules.extend(keywords.names_by_name("dependentRequired")?.map(ObjectRule::DependentRequired));
    let dependencies = keywords.names_among_schemas("dependencies")?;
    rules.extend(dependencies.map(ObjectRule::DependentRequired));
    rules.extend(keywords.count("minProperties")?.map(ObjectRule::MinProperties));
    rules.extend(keywords.count("maxProperties")?.map(ObjectRule::MaxProperties));
    rules.extend(keywords.child("propertyNames").map(ObjectRule::PropertyNames));
    let known = keywords.children_by_name("properties");
    let by_pattern = keywords.children_by_name("patternProperties");
    let additional = keywords.child("additionalProperties");
    if known.is_some() || by_pattern.is_some() || additional.is_some() {
        let owned = |(name, node): (&str, _)| (name.to_owned(), node);
        let known = known.into_iter().flatten().map(owned).collect();
        let mut patterns = Vec::new();
        for (source, node) in by_pattern.into_iter().flatten() {
            patterns.push((keywords.compile_pattern("patternProperties", source)?, node));
        }
        rules.push(ObjectRule::Properties(PropertySchemas { known, patterns, additional }));
    }
    Ok(rules)
}

/// The conditions that apply other schemas to the same value. `then` and `else` mean nothing
/// without `if`.
pub(crate) fn in_place_rules(keywords: &Keywords<'_, '_>) -> Vec<InPlaceRule> {
    let mut rules = Vec::new();
    rules.extend(keywords.children("allOf").map(InPlaceRule::AllOf));
    rules.extend(keywords.children("anyOf").map(InPlaceRule::AnyOf));
    rules.extend(keywords.children("oneOf").map(InPlaceRule::OneOf));
    if let Some(schema) = keywords.child("not") {
        rules.push(InPlaceRule::Not { schema, excerpt: excerpt(keywords.value("not")) });
    }
    if let Some(condition) = keywords.child("if") {
        let (then, otherwise) = (keywords.child("then"), keywords.child("else"));
        rules.push(InPlaceRule::If { condition, then, otherwise });
    }
    for keyword in ["dependentSchemas", "dependencies"] {
        if let Some(schemas) = keywords.children_by_name(keyword) {
            let owned = |(name, node): (&str, _)| (name.to_owned(), node);
            rules.push(InPlaceRule::DependentSchemas(schemas.into_iter().map(owned).collect()));
        }
    }
    rules
}

/// A schema for a message: its text if it is short, else an ellipsis.
fn excerpt(schema: Option<&Value>) -> Box<str> {
    let is_short = |schema: &&Value| measure(schema, 8).is_some_and(|size| size <= 24);
    let text = schema.filter(is_short).and_then(|schema| serde_json::to_string(schema).ok());
    text.filter(|text| text.len() <= 160).unwrap_or_else(|| "{…}".to_owned()).into()
}
