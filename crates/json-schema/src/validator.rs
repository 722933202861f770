//! A schema that is ready to check values.

use std::sync::OnceLock;

use serde_json::Value;

use crate::compile::{self, Compiled};
use crate::error::SchemaError;
use crate::limits::SchemaLimits;
use crate::violation::Violations;
use crate::{evaluate, simple};

/// A compiled schema. Compile once, share it (it is `Send` and `Sync`), check many values.
///
/// ```
/// use bowline_json_schema::Validator;
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
    compiled: OnceLock<Compiled>,
    asserts_beyond_types: bool,
    limits: SchemaLimits,
}

impl Validator {
    /// Compiles a schema within the default [`SchemaLimits`].
    ///
    /// # Errors
    ///
    /// Fails if the schema declares a dialect other than 2020-12 and draft-07, is not valid in its
    /// dialect, refers to anything outside of itself, applies itself without end, has a pattern
    /// that cannot be run in linear time, or exceeds the limits. The error names the place in the
    /// schema.
    pub fn compile(schema: &Value) -> Result<Self, SchemaError> {
        let limits = SchemaLimits::default();
        match simple::asserts_beyond_types(schema) {
            Some(asserts_beyond_types) => {
                let (simple, compiled) = (Some(schema.clone()), OnceLock::new());
                Ok(Self { simple, compiled, asserts_beyond_types, limits })
            }
            None => Self::compile_with(schema, limits),
        }
    }

    /// Compiles a schema within other limits, which then hold for every check.
    ///
    /// # Errors
    ///
    /// As [`Validator::compile`].
    pub fn compile_with(schema: &Value, limits: SchemaLimits) -> Result<Self, SchemaError> {
        let compiled = compile::compile(schema, limits)?;
        let asserts_beyond_types = compiled.asserts_beyond_types;
        Ok(Self { simple: None, compiled: compiled.into(), asserts_beyond_types, limits })
    }

    /// Checks a value, which messages call `root` (for example `arguments`).
    ///
    /// # Errors
    ///
    /// Fails with the violations in reading order. If the check exceeds its [`SchemaLimits`], the
    /// error says only that.
    pub fn check(&self, root: &str, value: &Value) -> Result<(), Violations> {
        evaluate::check(self.compiled(), self.limits, root, value)
    }

    /// The first check of a simple schema compiles it; later ones find it compiled.
    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let simple = self.simple.as_ref();
            let compiled = simple.and_then(|schema| compile::compile(schema, self.limits).ok());
            // A simple schema always compiles; if it did not, every value would be refused.
            compiled.unwrap_or_else(Compiled::never)
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
