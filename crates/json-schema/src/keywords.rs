//! Reads the values of keywords, and reports one that the dialect does not allow.
//!
//! Every method returns `None` for a keyword that is absent or that the dialect does not read, so
//! that the compiler is a plain list of keywords.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::equality::sorted;
use crate::error::{Kind, SchemaError};
use crate::node::{NodeId, Types};
use crate::number::{Decimal, Number};
use crate::pattern::Pattern;
use crate::survey::Survey;

/// The keywords of one subschema. Made for each place that is compiled, and for its references once
/// more.
pub(crate) struct Keywords<'a, 's> {
    survey: &'a Survey<'s>,
    /// Kibibytes that are left for compiled patterns.
    pattern_room: &'a Cell<usize>,
    id: NodeId,
    members: &'s Map<String, Value>,
    /// A bit for each length among the names of the members. There are sixty keywords to look for,
    /// and most schemas have three, so most look-ups end here.
    lengths: u64,
}

/// `None` for a keyword that is absent, an error for one that has the wrong type.
type Read<T> = Result<Option<T>, SchemaError>;

impl<'a, 's> Keywords<'a, 's> {
    pub(crate) fn new(
        survey: &'a Survey<'s>,
        pattern_room: &'a Cell<usize>,
        id: NodeId,
        members: &'s Map<String, Value>,
    ) -> Self {
        let lengths = members.keys().fold(0, |lengths, name| lengths | bit(name.len()));
        Self { survey, pattern_room, id, members, lengths }
    }

    /// `None` also for a keyword that the dialect does not have, or ignores beside `$ref`.
    pub(crate) fn value(&self, keyword: &str) -> Option<&'s Value> {
        if self.lengths & bit(keyword.len()) == 0 {
            return None;
        }
        self.survey.dialect().value(self.members, keyword)
    }

    pub(crate) fn error(&self, keyword: &str, message: impl Into<String>) -> SchemaError {
        self.survey.error(self.id, keyword, Kind::Invalid, message)
    }

    pub(crate) fn text(&self, keyword: &str) -> Read<&'s str> {
        self.read(keyword, "a string", Value::as_str)
    }

    pub(crate) fn flag(&self, keyword: &str) -> Read<bool> {
        self.read(keyword, "true or false", Value::as_bool)
    }

    pub(crate) fn list(&self, keyword: &str) -> Read<&'s Vec<Value>> {
        self.read(keyword, "an array", Value::as_array)
    }

    /// Written as `3` or `3.0`: both are the same number in JSON Schema.
    pub(crate) fn count(&self, keyword: &str) -> Read<usize> {
        self.read(keyword, "an integer from 0", |value| {
            match Number::of(value.as_number()?) {
                // No value is as long as the largest `usize`, so larger counts become that.
                Number::Integer(count @ 0..) => Some(usize::try_from(count).unwrap_or(usize::MAX)),
                Number::Float(count) if count > 0.0 && count.fract() == 0.0 => Some(usize::MAX),
                _ => None,
            }
        })
    }

    /// A limit on numbers, and its text in the schema.
    pub(crate) fn limit(&self, keyword: &str) -> Read<(Number, Box<str>)> {
        self.read(keyword, "a number", |value| {
            let number = value.as_number()?;
            Some((Number::of(number), number.to_string().into()))
        })
    }

    /// A divisor of zero would make every check meaningless.
    pub(crate) fn divisor(&self, keyword: &str) -> Read<(Decimal, Box<str>)> {
        self.read(keyword, "a number above 0", |value| {
            let number = value.as_number()?;
            let decimal = Decimal::of(number);
            let is_positive = number.as_f64().is_some_and(|number| number > 0.0);
            (is_positive && !decimal.is_zero()).then(|| (decimal, number.to_string().into()))
        })
    }

    pub(crate) fn names(&self, keyword: &str) -> Read<Vec<String>> {
        self.read(keyword, "an array of strings without repetition", names)
    }

    /// Lists of names by name.
    pub(crate) fn names_by_name(&self, keyword: &str) -> Read<Vec<(String, Vec<String>)>> {
        self.read(keyword, "an object of arrays of strings without repetition", |value| {
            value.as_object()?.iter().map(names_of).collect()
        })
    }

    /// Lists of names by name, among schemas by name. `dependencies` of draft-07 mixes both; the
    /// schemas among them are read as children.
    pub(crate) fn names_among_schemas(&self, keyword: &str) -> Read<Vec<(String, Vec<String>)>> {
        let expected = "an object of schemas and of arrays of strings without repetition";
        self.read(keyword, expected, |value| {
            let lists = value.as_object()?.iter().filter(|(_, value)| value.is_array());
            lists.map(names_of).collect()
        })
    }

    /// One name, or an array of names.
    pub(crate) fn types(&self) -> Read<Types> {
        let Some(value) = self.value("type") else { return Ok(None) };
        let types = match value {
            Value::Array(_) => names(value).and_then(|names| {
                let add = |types: Types, name: &String| Some(types.union(Types::named(name)?));
                names.iter().try_fold(Types::NONE, add).filter(|types| *types != Types::NONE)
            }),
            _ => value.as_str().and_then(Types::named),
        };
        types.map(Some).ok_or_else(|| {
            let all = Types::names().join(", ");
            self.error("type", format!("expected one of the types {all}, or an array of them"))
        })
    }

    pub(crate) fn pattern(&self, keyword: &str) -> Read<Pattern> {
        let Some(source) = self.text(keyword)? else {
            return Ok(None);
        };
        self.compile_pattern(keyword, source).map(Some)
    }

    /// Compiles a pattern that is in, or below, this keyword. All patterns of a schema share one
    /// bound, so that many small ones cannot add up.
    pub(crate) fn compile_pattern(
        &self,
        keyword: &str,
        source: &str,
    ) -> Result<Pattern, SchemaError> {
        let pattern = Pattern::compile(source)
            .map_err(|reason| format!("the pattern `{source}`: {reason}"))
            .map_err(|message| self.survey.error(self.id, keyword, Kind::Pattern, message))?;
        let Some(room) = self.pattern_room.get().checked_sub(pattern.size()) else {
            let message = "the patterns of this schema are too large together: simplify them";
            return Err(self.survey.error(self.id, keyword, Kind::Limits, message));
        };
        self.pattern_room.set(room);
        Ok(pattern)
    }

    /// The subschema that this keyword holds.
    pub(crate) fn child(&self, keyword: &str) -> Option<NodeId> {
        self.survey.id_of(self.value(keyword)?)
    }

    /// The subschemas that this keyword holds in an array.
    pub(crate) fn children(&self, keyword: &str) -> Option<Vec<NodeId>> {
        let items = self.value(keyword)?.as_array()?;
        Some(items.iter().filter_map(|item| self.survey.id_of(item)).collect())
    }

    /// The subschemas that this keyword holds in an object, sorted by name.
    pub(crate) fn children_by_name(&self, keyword: &str) -> Option<Vec<(&'s str, NodeId)>> {
        let members = sorted(self.value(keyword)?.as_object()?).into_iter();
        let child =
            |(name, schema): (&'s String, _)| Some((name.as_str(), self.survey.id_of(schema)?));
        Some(members.filter_map(child).collect())
    }

    /// Reads a keyword with a function, and reports a value of the wrong type.
    fn read<T>(
        &self,
        keyword: &str,
        expected: &str,
        parse: impl FnOnce(&'s Value) -> Option<T>,
    ) -> Read<T> {
        let Some(value) = self.value(keyword) else {
            return Ok(None);
        };
        let parsed = parse(value);
        if parsed.is_none() {
            return Err(self.error(keyword, format!("expected {expected}")));
        }
        Ok(parsed)
    }
}

/// The bit of a length. All very long names share one.
fn bit(length: usize) -> u64 {
    1 << length.min(63)
}

fn names_of((name, value): (&String, &Value)) -> Option<(String, Vec<String>)> {
    Some((name.clone(), names(value)?))
}

/// `None` unless it is an array of strings, each different.
fn names(value: &Value) -> Option<Vec<String>> {
    let name = |name: &Value| name.as_str().map(str::to_owned);
    let names: Vec<_> = value.as_array()?.iter().map(name).collect::<Option<_>>()?;
    let distinct: HashSet<&str> = names.iter().map(String::as_str).collect();
    (distinct.len() == names.len()).then_some(names)
}
