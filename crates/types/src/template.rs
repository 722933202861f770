//! URI templates (RFC 6570): parsing, expanding, and matching URIs.
//!
//! All four levels are supported. RFC 6570 does not define matching; [`UriTemplate::match_uri`]
//! documents the rules of this library. It uses no regular expressions, so no URI can make matching
//! slow.

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
///
/// ```
/// use bowline_types::template::{UriTemplate, Variables};
///
/// let template = UriTemplate::parse("users://{id}/files{/path*}{?version}").unwrap();
/// let found = template.match_uri("users://7/files/a/b?version=2").unwrap();
/// assert_eq!(found.text("id").unwrap(), "7");
/// assert_eq!(found.text("path").unwrap(), "a,b");
/// assert_eq!(template.expand(&Variables::new().with("id", "8")).unwrap(), "users://8/files");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    text: String,
    /// The text before the first expression.
    head: String,
    /// The expressions, each with the text between it and the next one.
    parts: Vec<TemplatePart>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplatePart {
    expression: Expression,
    literal: String,
}

/// One expression: the part between braces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expression {
    operator: Operator,
    variables: Vec<TemplateVariable>,
}

/// One name between braces. The same variable may occur in several expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TemplateVariable {
    name: String,
    modifier: Modifier,
}

/// What is done to the value before it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Modifier {
    None,
    /// `{name:3}`: the first characters of the value, at most this many.
    Prefix(usize),
    /// `{name*}`: every item of the value separately.
    Explode,
}

/// What stands before a value, what separates values, whether names are written, and which
/// characters stay as they are (RFC 6570, section 3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `{name}`
    Simple,
    /// `{+name}` Reserved characters stay as they are, so a value may be a path.
    Reserved,
    /// `{#name}` Behind `#`, with reserved characters as they are.
    Fragment,
    /// `{.name}` Each value behind a `.`.
    Label,
    /// `{/name}` Each value behind a `/`.
    Path,
    /// `{;name}` Each value with its name, behind a `;`.
    Parameter,
    /// `{?name}` Each value with its name, the first behind a `?`, the others behind `&`.
    Query,
    /// `{&name}` Each value with its name, behind a `&`: the rest of a query that the literal
    /// begins.
    Continuation,
}

impl UriTemplate {
    /// The longest template that [`Self::parse`] accepts, in bytes.
    pub const MAX_LENGTH: usize = 8 * 1024;

    /// The most variables of a template. A variable that is used twice counts twice.
    pub const MAX_VARIABLES: usize = 64;

    /// Parses a template.
    ///
    /// # Errors
    ///
    /// If the text is not a template of RFC 6570, or exceeds [`Self::MAX_LENGTH`] or
    /// [`Self::MAX_VARIABLES`]. The error names the reason and the position.
    pub fn parse(text: &str) -> Result<Self, InvalidTemplate> {
        parse::template(text)
    }

    /// The text of the template.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the variables in the order of their use. A variable that is used twice occurs
    /// twice.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.parts.iter().map(|part| &part.expression);
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

/// The values of a template's variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, TemplateValue>);

impl Variables {
    /// No variables.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<TemplateValue>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<&TemplateValue> {
        self.0.get(name)
    }

    /// The value of a variable as one text; see [`TemplateValue::to_text`].
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.value(name).map(TemplateValue::to_text)
    }

    /// All variables that have a value, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TemplateValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<N: Into<String>, V: Into<TemplateValue>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(variables: I) -> Self {
        variables.into_iter().fold(Self::new(), |all, (name, value)| all.with(name, value))
    }
}

/// The value of one variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateValue {
    /// One text.
    Text(String),
    /// Several texts. An empty list counts as no value.
    List(Vec<String>),
    /// Names with values. An empty list counts as no value.
    Pairs(Vec<(String, String)>),
}

impl TemplateValue {
    /// The value as one text. Items, and names with their values, are joined by commas as in a URI.
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

impl From<&str> for TemplateValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for TemplateValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for TemplateValue {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

/// The error for a text that is not a URI template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidTemplate {
    text: String,
    position: usize,
    reason: String,
}

impl InvalidTemplate {
    /// The position of the error, in bytes from the beginning.
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
    /// The text before the first value.
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

    /// The character between values.
    fn separator(self) -> char {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ',',
            Self::Label => '.',
            Self::Path => '/',
            Self::Parameter => ';',
            Self::Query | Self::Continuation => '&',
        }
    }

    /// Whether the URI contains the names of the variables.
    fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Whether values may contain reserved characters without encoding.
    fn allows_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

/// Whether a character never needs encoding in a URI.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Whether a character has a meaning in a URI unless it is encoded.
fn is_reserved(byte: u8) -> bool {
    matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@')
        || matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')')
        || matches!(byte, b'*' | b'+' | b',' | b';' | b'=')
}

/// Whether the text begins with an encoded octet such as `%2F`.
fn starts_with_octet(bytes: &[u8]) -> bool {
    matches!(bytes, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Appends one byte, percent-encoded.
fn push_octet(out: &mut String, byte: u8) {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F'];
    out.push('%');
    out.push(DIGITS[usize::from(byte >> 4)]);
    out.push(DIGITS[usize::from(byte & 15)]);
}

#[cfg(test)]
mod tests;
