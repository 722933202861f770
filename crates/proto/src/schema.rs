//! Checks JSON values against JSON Schema, within limits, and reports what is wrong.
//!
//! Tool arguments and structured results are checked against schemas that may come from the peer,
//! so a schema is untrusted input. It is never fetched, it is compiled once within
//! [`SchemaLimits`], and checking a value costs a bounded number of steps. Violations are reported
//! in words that a model can act on.
//!
//! Two dialects are supported: 2020-12, the default of a schema without `$schema`, and draft-07,
//! which many servers publish. Of 2020-12, all keywords of the core, applicator, validation and
//! unevaluated vocabularies work; in both, `format` and the content keywords are annotations.
//! References stay inside the document, and the whole document is in one dialect. Patterns run in
//! linear time: lookaround, backreferences and `\p{…}` are refused when the schema is compiled.
//!
//! The way of a schema: `simple` recognizes the usual ones, which need no compilation until a value
//! comes. `survey` finds all places with schemas, `identifiers` their names; `reference` follows
//! references between them; `compile` turns each place into a `node`, reading `keywords` by the
//! `rules` of the `dialect`. The way of a value: `evaluate` walks through it beside the nodes, and
//! writes `violation`s.
//!
//! Which rules of the protocol hold here: a schema without `$schema` is 2020-12 (SCH-1), an
//! unsupported dialect is refused with a clear error (SCH-4), nothing is ever fetched (SCH-8), a
//! reference that leads outside is refused and not taken for permissive (SCH-13), and the cost is
//! bounded (SCH-14).

use std::sync::OnceLock;

use serde_json::Value;

mod compile;
mod dialect;
mod equality;
mod error;
mod evaluate;
mod evaluated;
mod identifiers;
mod instance;
mod keywords;
mod node;
mod number;
mod pattern;
mod reference;
mod rules;
mod simple;
mod survey;
mod uri;
mod violation;

#[cfg(test)]
mod tests;

pub use error::SchemaError;
pub use violation::{Violation, Violations};

/// A compiled schema. Compile once, share it (it is `Send` and `Sync`), check many values.
///
/// A server compiles one for each tool and keeps it as long as the tool. A client compiles one for
/// the output schema of a tool that it calls.
///
/// ```
/// use bowline_proto::schema::Validator;
/// use serde_json::json;
///
/// let validator = Validator::compile(&json!({
///     "type": "object",
///     "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 7}},
///     "required": ["city"],
/// }))
/// .unwrap();
///
/// assert!(validator.check("arguments", &json!({"city": "Oslo"})).is_ok());
///
/// let violations = validator.check("arguments", &json!({"days": 9})).unwrap_err();
/// assert_eq!(
///     violations.to_string(),
///     "`arguments.city`: missing, but required\n`arguments.days`: expected at most 7, found 9",
/// );
/// ```
#[derive(Debug)]
pub struct Validator {
    /// The schema, if it is a simple one. It is then compiled only when a value needs it.
    simple: Option<Value>,
    compiled: OnceLock<compile::Compiled>,
    asserts_beyond_types: bool,
    bounds: SchemaLimits,
}

impl Validator {
    /// Compiles a schema within the default [`SchemaLimits`].
    ///
    /// # Errors
    ///
    /// Fails if the schema declares a dialect other than 2020-12 and draft-07, is not valid in its
    /// dialect, refers to anything outside of itself, applies itself without end, has a pattern
    /// that cannot be run in linear time, or exceeds the bounds. The error names the place in the
    /// schema.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let bounds = SchemaLimits::default();
        match simple::asserts_beyond_types(schema) {
            Some(asserts_beyond_types) => {
                let (simple, compiled) = (Some(schema.clone()), OnceLock::new());
                Ok(Self { simple, compiled, asserts_beyond_types, bounds })
            }
            None => Self::compile_with(schema, bounds),
        }
    }

    /// Compiles a schema within other limits, which then hold for every check.
    ///
    /// # Errors
    ///
    /// As [`Validator::compile`].
    pub fn compile_with(schema: &Value, bounds: SchemaLimits) -> Result<Self, SchemaError> {
        let compiled = compile::compile(schema, bounds)?;
        let asserts_beyond_types = compiled.asserts_beyond_types;
        Ok(Self { simple: None, compiled: compiled.into(), asserts_beyond_types, bounds })
    }

    /// Checks a value, which messages call `root` (for example `arguments`).
    ///
    /// # Errors
    ///
    /// Fails with the violations in reading order. If the check exceeds its [`SchemaLimits`], the
    /// error says only that.
    pub fn check(&self, root: &str, value: &Value) -> Result<(), Violations> {
        evaluate::check(self.compiled(), self.bounds, root, value)
    }

    /// The first check of a simple schema compiles it; later ones find it compiled.
    fn compiled(&self) -> &compile::Compiled {
        self.compiled.get_or_init(|| {
            let simple = self.simple.as_ref();
            let compiled = simple.and_then(|schema| compile::compile(schema, self.bounds).ok());
            // A simple schema always compiles; if it did not, every value would be refused.
            compiled.unwrap_or_else(compile::Compiled::never)
        })
    }

    /// Whether the schema may refuse a value that decodes into the Rust type it was derived from.
    ///
    /// Decoding into a Rust type enforces types, properties, items and required names, and the
    /// limits of an integer if `format` names its Rust type. A schema with no more than these need
    /// not be checked before decoding. Anything else (a range, a length, a pattern, an `enum`, a
    /// closed object) counts as more, even if it came from a Rust type: an unneeded check costs
    /// time, a missing one lets a bad value in.
    pub fn asserts_beyond_types(&self) -> bool {
        self.asserts_beyond_types
    }
}

/// How much a schema and a check may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaLimits {
    /// How many levels schemas may nest, and values in `const` and `enum`.
    pub depth: usize,
    /// How many subschemas a schema may have.
    pub nodes: usize,
    /// How many kibibytes all compiled patterns of a schema may take.
    pub patterns: usize,
    /// How many levels a check may nest: one for each level of the value, and one for each schema
    /// in `allOf`, `anyOf` and similar keywords or behind a reference among them. It bounds the
    /// stack.
    pub nesting: usize,
    /// How many steps a check may take; roughly, how often a subschema meets a value. Reporting
    /// what is wrong may take as many again.
    pub steps: usize,
    /// How many violations a check reports.
    pub violations: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            depth: 64,
            nodes: 10_000,
            patterns: 4096,
            nesting: 256,
            steps: 1_000_000,
            violations: 16,
        }
    }
}
