//! The supported dialects of JSON Schema, and every difference between them by name.
//!
//! A document is in one dialect, which its root declares. Both dialects compile to the same nodes,
//! so the dialect matters only while a schema is compiled: which keywords exist, what they hold,
//! and what an identifier may be.

use serde_json::{Map, Value};

/// A dialect, oldest first. Older and newer ones than these two are refused when the schema is
/// compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Written by generators for TypeScript and older ones for Python.
    Draft07,
    /// The dialect of a schema without `$schema`.
    #[default]
    V2020_12,
}

use Dialect::{Draft07, V2020_12};

/// Which subschemas a keyword holds. The survey walks only where a schema can be. An object below
/// `default` or `examples` is data, even if it looks like a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    One,
    List,
    OneOrList,
    Map,
    /// By name, either a schema or a list of names.
    Dependencies,
}

impl Dialect {
    /// The dialect that `$schema` names, if it is supported.
    ///
    /// Both URIs occur with either scheme, and with or without an empty fragment.
    pub(crate) fn named(uri: &str) -> Option<Self> {
        let uri = uri.strip_suffix('#').unwrap_or(uri);
        let address = uri.strip_prefix("https://").or_else(|| uri.strip_prefix("http://"))?;
        match address {
            "json-schema.org/draft-07/schema" => Some(Draft07),
            "json-schema.org/draft/2020-12/schema" => Some(V2020_12),
            _ => None,
        }
    }

    /// The URI as the dialect itself writes it.
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Draft07 => "http://json-schema.org/draft-07/schema#",
            V2020_12 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// The keyword for schemas that others refer to.
    pub(crate) fn definitions(self) -> &'static str {
        match self {
            Draft07 => "definitions",
            V2020_12 => "$defs",
        }
    }

    /// The value of a keyword, if the dialect has such a keyword and does not ignore it here.
    pub(crate) fn value<'s>(
        self,
        keywords: &'s Map<String, Value>,
        keyword: &str,
    ) -> Option<&'s Value> {
        let value = keywords.get(keyword)?;
        self.reads(keywords, keyword).then_some(value)
    }

    /// Whether the dialect has such a keyword and does not ignore it among these.
    ///
    /// Beside `$ref`, draft-07 ignores all other keywords. Definitions are found nonetheless: whole
    /// documents are written as a reference to one of their own.
    pub(crate) fn reads(self, keywords: &Map<String, Value>, keyword: &str) -> bool {
        let is_hidden = self.has_lone_references() && keywords.contains_key("$ref");
        self.has(keyword) && (!is_hidden || matches!(keyword, "$ref" | "definitions"))
    }

    /// Whether the dialect has a keyword. Keywords that no dialect has are never read.
    pub(crate) fn has(self, keyword: &str) -> bool {
        match self {
            Draft07 => !matches!(
                keyword,
                "$anchor"
                    | "$defs"
                    | "$dynamicAnchor"
                    | "$dynamicRef"
                    | "contentSchema"
                    | "dependentRequired"
                    | "dependentSchemas"
                    | "deprecated"
                    | "maxContains"
                    | "minContains"
                    | "prefixItems"
                    | "unevaluatedItems"
                    | "unevaluatedProperties"
            ),
            V2020_12 => !matches!(keyword, "additionalItems" | "dependencies"),
        }
    }

    /// Which subschemas a keyword of the dialect holds.
    pub(crate) fn holds(self, keyword: &str) -> Holds {
        match keyword {
            "items" if self == Draft07 => Holds::OneOrList,
            "additionalItems"
            | "additionalProperties"
            | "contains"
            | "contentSchema"
            | "else"
            | "if"
            | "items"
            | "not"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Holds::One,
            "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
            "$defs" | "definitions" | "dependentSchemas" | "patternProperties" | "properties" => {
                Holds::Map
            }
            "dependencies" => Holds::Dependencies,
            _ => Holds::Nothing,
        }
    }

    /// Whether `$ref` makes a schema a reference only, so that its other keywords are ignored.
    fn has_lone_references(self) -> bool {
        self == Draft07
    }

    /// Whether the fragment of an `$id` is an anchor. Newer dialects have `$anchor`.
    pub(crate) fn has_anchors_in_identifiers(self) -> bool {
        self == Draft07
    }
}
