//! URI templates (RFC 6570): read, filled in, and matched back to what they were filled in with.
//!
//! All four levels are understood. RFC 6570 leaves matching open; [`UriTemplate::match_uri`] says
//! what it means here. Nothing is compiled to a regular expression, so that no URI can make the
//! matching slow.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

mod expand;
mod matching;
mod parse;
mod values;

pub use expand::PrefixOfMany;

/// A template of URIs, such as `users://{id}/files{/path*}{?version}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    /// What stands before the first expression.
    head: String,
    /// The expressions, each with what stands between it and the next.
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    expression: Expression,
    literal: String,
}

/// What stands between braces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expression {
    operator: Operator,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    modifier: Modifier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modifier {
    None,
    /// `{name:3}`: at most so many characters of the value.
    Prefix(usize),
    /// `{name*}`: each member of the value for itself.
    Explode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `{name}`
    Simple,
    /// `{+name}`
    Reserved,
    /// `{#name}`
    Fragment,
    /// `{.name}`
    Label,
    /// `{/name}`
    Path,
    /// `{;name}`
    Parameter,
    /// `{?name}`
    Query,
    /// `{&name}`
    Continuation,
}

impl UriTemplate {
    /// The longest template that is read, in bytes.
    pub const MAX_LENGTH: usize = 8 * 1024;

    /// The most variables that a template may use, each counted as often as it is used.
    pub const MAX_VARIABLES: usize = 64;

    /// Reads a template.
    ///
    /// # Errors
    ///
    /// Says what is wrong and where, if the text is not a template of RFC 6570 or goes beyond
    /// [`Self::MAX_LENGTH`] or [`Self::MAX_VARIABLES`].
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        parse::template(text)
    }

    /// The template as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables, in the order of their use; a name used twice comes twice.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.steps.iter().map(|step| &step.expression);
        expressions.flat_map(|it| &it.variables).map(|variable| variable.name.as_str())
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for UriTemplate {
    type Err = InvalidTemplate;

    fn from_str(text: &str) -> Result<Self, InvalidTemplate> {
        Self::parse(text)
    }
}

/// What the variables of a template stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, Value>);

impl Variables {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// What a variable stands for.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// What a variable stands for, as one text; see [`Value::to_text`].
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.value(name).map(Value::to_text)
    }

    /// All variables that stand for something, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        variables.into_iter().fold(Self::new(), |all, (name, value)| all.with(name, value))
    }
}

/// What one variable stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// One text.
    Text(String),
    /// Several texts; none at all is like no value.
    List(Vec<String>),
    /// Names with values; none at all is like no value.
    Pairs(Vec<(String, String)>),
}

impl Value {
    /// The value as one text: members of a list, and names with their values, joined by commas as
    /// they would stand in a URI.
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(items) => Cow::Owned(items.join(",")),
            Self::Pairs(pairs) => {
                let pairs = pairs.iter().map(|(name, value)| format!("{name},{value}"));
                Cow::Owned(pairs.collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Value {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

/// A text that is not a URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTemplate {
    text: String,
    position: usize,
    reason: String,
}

impl InvalidTemplate {
    /// Where reading stopped, in bytes from the beginning.
    pub fn position(&self) -> usize {
        self.position
    }
}

impl fmt::Display for InvalidTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, position, reason } = self;
        write!(f, "URI template `{text}`: {reason} (at byte {position})")
    }
}

impl std::error::Error for InvalidTemplate {}

impl Operator {
    /// What stands before the first value.
    fn first(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved => "",
            Self::Fragment => "#",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameter => ";",
            Self::Query => "?",
            Self::Continuation => "&",
        }
    }

    /// What stands between values.
    fn separator(self) -> char {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ',',
            Self::Label => '.',
            Self::Path => '/',
            Self::Parameter => ';',
            Self::Query | Self::Continuation => '&',
        }
    }

    /// Whether values are written with their names.
    fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Whether values may hold reserved characters as they are.
    fn allows_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

/// Characters that never need encoding in a URI.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Characters that mean something in a URI unless they are encoded.
fn is_reserved(byte: u8) -> bool {
    matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')')
        || matches!(byte, b'*' | b'+' | b',' | b';' | b'=')
}

/// Whether an encoded octet such as `%2F` stands at the beginning.
fn starts_with_octet(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Appends one byte in encoded form.
fn push_octet(out: &mut String, byte: u8) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    out.push('%');
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests;
