//! The frontmatter of a `SKILL.md`: YAML between two lines `---`.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeSeq as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::yaml;

/// The longest frontmatter, in bytes.
const MOST_BYTES: usize = 64 * 1024;

/// The most members of one map. No author writes so many, and a client compares them one by one.
pub(crate) const MOST_MEMBERS: usize = 1024;

/// The fields that the author of a skill wrote into the frontmatter of its `SKILL.md`.
///
/// ```
/// use bowline_skills::Frontmatter;
///
/// let text = "---\nname: greet\ndescription: Say hello\nlicense: MIT\n---\n\n# Greetings\n";
/// let frontmatter = Frontmatter::of_skill(text)?;
/// assert_eq!(frontmatter.name(), "greet");
/// assert_eq!(frontmatter.text("license"), Some("MIT"));
/// # Ok::<(), bowline_skills::frontmatter::FrontmatterError>(())
/// ```
///
/// Two are equal if they have the same fields, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Frontmatter {
    fields: FrontmatterValue,
}

/// A value of a field, as in JSON. Numbers are equal if they have the same value, and maps if they
/// have the same members in any order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FrontmatterValue {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Integer(i64),
    /// Another number.
    Float(f64),
    /// A text.
    Text(String),
    /// Values in order.
    List(Vec<FrontmatterValue>),
    /// Values by their names, each name once.
    Map(Vec<(String, FrontmatterValue)>),
}

impl Default for Frontmatter {
    /// Without any field. No skill has such a one.
    fn default() -> Self {
        Self { fields: FrontmatterValue::Null }
    }
}

/// Why a text has no usable frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontmatterError {
    /// The line, from 1; 0 if the frontmatter as a whole is wrong.
    pub(crate) line: usize,
    pub(crate) problem: String,
}

impl Frontmatter {
    /// Reads the frontmatter of a `SKILL.md`.
    ///
    /// # Errors
    ///
    /// Says what is wrong, and in which line.
    pub fn of_skill(text: &str) -> Result<Self, FrontmatterError> {
        let yaml = head(text)?;
        // The first line of the file is `---`.
        let fields = yaml::read(yaml).map_err(|mut error| {
            error.line += 1;
            error
        })?;
        match fields {
            FrontmatterValue::Map(_) => {
                let frontmatter = Self { fields };
                frontmatter.check()?;
                Ok(frontmatter)
            }
            _ => Err(FrontmatterError::new(2, "the frontmatter is not a list of `name: value`")),
        }
    }

    /// Checks that it has the fields that every skill has.
    ///
    /// # Errors
    ///
    /// Names the field that is missing or no text.
    pub(crate) fn check(&self) -> Result<(), FrontmatterError> {
        for name in ["name", "description"] {
            let problem = match self.get(name) {
                Some(FrontmatterValue::Text(text)) if !text.trim().is_empty() => continue,
                Some(FrontmatterValue::Text(_)) => format!("`{name}` is empty"),
                Some(_) => format!("`{name}` is not a text; quote it"),
                None => format!("the frontmatter has no `{name}`"),
            };
            return Err(FrontmatterError::new(0, problem));
        }
        Ok(())
    }

    /// The name of the skill.
    pub fn name(&self) -> &str {
        self.text("name").unwrap_or_default()
    }

    /// What the skill is for, and when to use it.
    pub fn description(&self) -> &str {
        self.text("description").unwrap_or_default()
    }

    /// A field that is a text. `None` if it is missing or has another type.
    pub fn text(&self, field: &str) -> Option<&str> {
        match self.get(field)? {
            FrontmatterValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A field of any type.
    pub fn get(&self, field: &str) -> Option<&FrontmatterValue> {
        self.fields().find(|(name, _)| *name == field).map(|(_, value)| value)
    }

    /// All fields, in the order in which they were written.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &FrontmatterValue)> {
        let members = match &self.fields {
            FrontmatterValue::Map(members) => members.as_slice(),
            _ => &[],
        };
        members.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The first field, by name, that the other one does not have in the same way.
    pub(crate) fn difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let differs = |name: &&str| self.get(name) != other.get(name);
        self.fields().chain(other.fields()).map(|(name, _)| name).find(differs)
    }
}

/// The YAML between the first line and the next line `---`.
fn head(text: &str) -> Result<&str, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let Some(rest) = rest else {
        return Err(FrontmatterError::new(1, "the file must begin with a line `---`"));
    };
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok(&rest[..end]);
        }
        end += line.len();
        if end > MOST_BYTES {
            let problem = format!("the frontmatter is longer than {MOST_BYTES} bytes");
            return Err(FrontmatterError::new(0, problem));
        }
    }
    Err(FrontmatterError::new(1, "no second line `---` ends the frontmatter"))
}

impl FrontmatterError {
    pub(crate) fn new(line: usize, problem: impl Into<String>) -> Self {
        Self { line, problem: problem.into() }
    }

    /// The line that is wrong, from 1. `None` if the problem is not in one line.
    pub fn line(&self) -> Option<usize> {
        (self.line > 0).then_some(self.line)
    }
}

impl fmt::Display for FrontmatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line() {
            Some(line) => write!(f, "line {line}: {}", self.problem),
            None => f.write_str(&self.problem),
        }
    }
}

impl std::error::Error for FrontmatterError {}

impl PartialEq for FrontmatterValue {
    #[expect(clippy::cast_precision_loss, reason = "JSON has one kind of number")]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Bool(one), Self::Bool(other)) => one == other,
            (Self::Integer(one), Self::Integer(other)) => one == other,
            (Self::Float(one), Self::Float(other)) => one == other,
            (Self::Integer(integer), Self::Float(float))
            | (Self::Float(float), Self::Integer(integer)) => *integer as f64 == *float,
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::List(one), Self::List(other)) => one == other,
            (Self::Map(one), Self::Map(other)) => {
                let has = |(name, value): &(String, Self)| {
                    one.iter().any(|(own, it)| own == name && it == value)
                };
                one.len() == other.len() && other.iter().all(has)
            }
            _ => false,
        }
    }
}

impl Serialize for Frontmatter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Frontmatter {
    /// Takes any value: one bad entry must not cost the list that it stands in.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FrontmatterValue::deserialize(deserializer).map(|fields| Self { fields })
    }
}

impl Serialize for FrontmatterValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            Self::Text(value) => serializer.serialize_str(value),
            Self::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                items.iter().try_for_each(|item| list.serialize_element(item))?;
                list.end()
            }
            Self::Map(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

impl<'de> Deserialize<'de> for FrontmatterValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

/// What is wrong with a map of more than [`MOST_MEMBERS`].
pub(crate) fn too_many_members() -> String {
    format!("a map has more than {MOST_MEMBERS} members")
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = FrontmatterValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(FrontmatterValue::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(FrontmatterValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(FrontmatterValue::Integer(value))
    }

    #[expect(clippy::cast_precision_loss, reason = "YAML reads such a number the same way")]
    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        let float = FrontmatterValue::Float(value as f64);
        Ok(i64::try_from(value).map_or(float, FrontmatterValue::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(FrontmatterValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(FrontmatterValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(FrontmatterValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(String, FrontmatterValue)> = Vec::new();
        let mut names = HashSet::new();
        while let Some((name, value)) = map.next_entry::<String, _>()? {
            if !names.insert(name.clone()) {
                return Err(de::Error::custom(format!("duplicate member `{name}`")));
            }
            members.push((name, value));
            if members.len() > MOST_MEMBERS {
                return Err(de::Error::custom(too_many_members()));
            }
        }
        Ok(FrontmatterValue::Map(members))
    }
}

#[cfg(test)]
mod tests;
