//! A JSON object as its members, with their values still text.
//!
//! Before a handler reads params, only their members are known: the names, and where each value is
//! in the text. No value is copied or built. A name that occurs twice is refused, so that two
//! readers of the same message cannot read different values.
//!
//! The values are read later, one by one, by the code that wants them: an extractor, the envelope
//! of the era, a handler. Values that no code asks for are never decoded. A clone shares the text.

pub(crate) mod scan;
mod unique;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use bowline_types::read::{self, ReadError, read};
use bytes::Bytes;
use bytestring::ByteString;
use serde::Serialize;
use serde::de::{DeserializeOwned, Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::members::scan::Scanner;
use crate::splice;

/// From this many members on, a set finds duplicates; with fewer, comparing them is faster.
pub(crate) const MANY: usize = 32;

/// The members of one JSON object, in the order of the text.
///
/// ```
/// use bowline_proto::members::Members;
///
/// let members = Members::cut(r#"{"name":"add","arguments":{"a":1}}"#.into())?;
/// assert_eq!(members.string("name")?.as_deref(), Some("add"));
/// assert_eq!(members.value("arguments"), Some(r#"{"a":1}"#));
/// assert!(Members::cut(r#"{"a":1,"a":2}"#.into()).is_err());
/// # Ok::<(), bowline_types::read::ReadError>(())
/// ```
#[derive(Clone, Default)]
pub struct Members {
    /// The text of the whole object, already checked to be JSON.
    text: ByteString,
    members: Vec<Member>,
}

/// Where a member is in the text of its object.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: Name,
    pub(crate) value: Range<usize>,
}

/// The name of a member.
#[derive(Clone)]
pub(crate) enum Name {
    /// A slice of the text.
    Plain(Range<usize>),
    /// Decoded, because the text has escapes.
    Decoded(Box<str>),
}

impl Members {
    /// Finds the members in the text of a JSON object. Only the outermost object is cut. A NUL is
    /// refused, because a reader written in C may end the name there.
    ///
    /// # Errors
    ///
    /// If the text is not an object, or a name occurs twice or holds a NUL.
    pub fn cut(text: Bytes) -> Result<Self, ReadError> {
        let text = ByteString::try_from(text).map_err(|error| read::not_text(&error))?;
        Self::cut_text(text)
    }

    /// Finds the members by the scanner, or by serde where the scanner gives up.
    fn cut_text(text: ByteString) -> Result<Self, ReadError> {
        let mut scanner = Scanner::new(&text, Scanner::DEPTH);
        if let Some(members) = scanner.members()
            && scanner.is_over()
        {
            return Ok(members);
        }
        let cut = MemberFinder { text: &text }.cut();
        let members = cut.map_err(|error| ReadError::new(&error, &text))?;
        Ok(Self { text, members })
    }

    /// Members that the scanner has found in a text.
    pub(crate) fn new(text: ByteString, members: Vec<Member>) -> Self {
        Self { text, members }
    }

    /// The text of the whole object; `{}` if there are no members.
    pub fn as_str(&self) -> &str {
        if self.text.is_empty() { "{}" } else { &self.text }
    }

    /// The text of a member's value.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.find(name).map(|member| self.slice(&member.value))
    }

    /// The text of a member's value, sharing the memory of the whole text. For values that outlive
    /// the members, such as arguments that are passed on to another server.
    pub fn bytes(&self, name: &str) -> Option<Bytes> {
        self.value(name).map(|value| self.text.slice_ref(value).into_bytes())
    }

    /// The value of a member that is a string, borrowed if it has no escapes; `None` if it is
    /// missing or `null`.
    ///
    /// # Errors
    ///
    /// If the value is something else.
    pub fn string(&self, name: &str) -> Result<Option<Cow<'_, str>>, ReadError> {
        match self.value(name).and_then(unescaped) {
            Some(text) => Ok(Some(Cow::Borrowed(text))),
            None => Ok(self.parse(name)?.map(Cow::Owned)),
        }
    }

    /// A member that is itself an object; empty if it is missing or `null`. Used for `_meta` and
    /// `arguments`, which are often left out.
    ///
    /// # Errors
    ///
    /// If it is something else, or a name in it occurs twice.
    pub fn object(&self, name: &str) -> Result<Self, ReadError> {
        match self.value(name) {
            Some(text) if text != "null" => {
                Self::cut_text(self.text.slice_ref(text)).map_err(|error| error.at_member(name))
            }
            _ => Ok(Self::default()),
        }
    }

    /// A member's value, parsed as a type; `None` if it is missing or `null`.
    ///
    /// # Errors
    ///
    /// If the value has another shape.
    pub fn parse<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, ReadError> {
        match self.value(name) {
            Some(text) if text != "null" => {
                read(text).map(Some).map_err(|error| error.at_member(name))
            }
            _ => Ok(None),
        }
    }

    /// The whole object, parsed as a type.
    ///
    /// # Errors
    ///
    /// If the object has another shape.
    pub fn parse_all<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        read(self.as_str())
    }

    /// The same object with another value for one member. A new member comes last. The whole text
    /// is written anew, so this is for rare rewrites.
    #[must_use]
    pub fn with<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Self {
        let others = self.iter().filter(|(other, _)| *other != name);
        let mut members: Vec<_> =
            others.map(|(other, text)| format!("{}:{text}", splice::json(other))).collect();
        members.push(splice::member(name, value));
        // Text that is built from members is always an object.
        Self::cut(format!("{{{}}}", members.join(",")).into()).unwrap_or_default()
    }

    /// Names with the text of their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.members.iter().map(|member| (self.name(member), self.slice(&member.value)))
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The member with this name.
    fn find(&self, name: &str) -> Option<&Member> {
        self.members.iter().find(|member| match &member.name {
            Name::Plain(range) => {
                range.len() == name.len()
                    && self.text.as_bytes().get(range.clone()) == Some(name.as_bytes())
            }
            Name::Decoded(decoded) => **decoded == *name,
        })
    }

    /// The name of a member.
    fn name<'a>(&'a self, member: &'a Member) -> &'a str {
        match &member.name {
            Name::Plain(range) => self.slice(range),
            Name::Decoded(name) => name,
        }
    }

    fn slice(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// The text between the quotes of a string, if it has no escapes.
pub(crate) fn unescaped(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inside.contains('\\')).then_some(inside)
}

/// Compares the texts: the same members in another order or with other white space are not equal.
impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Members {}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Notes where each member is in the text that serde reads.
///
/// The slow path behind [`Members::cut`], for text that the scanner leaves. serde hands out slices
/// of the text, whose addresses give the ranges.
struct MemberFinder<'de> {
    text: &'de str,
}

impl<'de> MemberFinder<'de> {
    fn cut(self) -> Result<Vec<Member>, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        let members = json.deserialize_map(self)?;
        json.end().map(|()| members)
    }

    /// Where a slice is within the text, or `None` if it is not part of it.
    fn range(&self, slice: &str) -> Option<Range<usize>> {
        let start = (slice.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize)?;
        let range = start..start.checked_add(slice.len())?;
        (self.text.get(range.clone()) == Some(slice)).then_some(range)
    }
}

impl<'de> Visitor<'de> for MemberFinder<'de> {
    type Value = Vec<Member>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<Member> = Vec::new();
        let mut names = Names::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            names.add(name.as_str()).map_err(A::Error::custom)?;
            let value: &'de RawValue = map.next_value()?;
            let value = self.range(value.get()).ok_or_else(|| A::Error::custom("not borrowed"))?;
            let name = match &name {
                MemberName::Plain(text) => {
                    self.range(text).map_or_else(|| Name::Decoded((*text).into()), Name::Plain)
                }
                MemberName::Decoded(text) => Name::Decoded(text.as_str().into()),
            };
            members.push(Member { name, value });
        }
        Ok(members)
    }
}

/// A member's name, borrowed from the text unless it has escapes. A plain `&str` would fail for
/// names with escapes.
pub(crate) enum MemberName<'de> {
    /// Borrowed.
    Plain(&'de str),
    /// Unescaped.
    Decoded(String),
}

impl MemberName<'_> {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Decoded(text) => text,
        }
    }
}

impl<'de> serde::Deserialize<'de> for MemberName<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = MemberName<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(MemberName::Plain(text))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(MemberName::Decoded(text.to_owned()))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// The error for a name that occurs twice.
pub(crate) const TWICE: &str = "it occurs twice";

/// The names found so far in one object.
///
/// Comparing a new name with a few others is faster than hashing; with many it would be quadratic,
/// and a peer chooses how many there are.
#[derive(Default)]
pub(crate) struct Names {
    few: Vec<String>,
    many: std::collections::HashSet<String>,
}

impl Names {
    /// Adds a name, or gives the reason why it is refused.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), &'static str> {
        if name.contains('\0') {
            return Err("its name holds a NUL character");
        }
        if self.few.iter().any(|other| other == name) || self.many.contains(name) {
            return Err(TWICE);
        }
        if self.few.len() < MANY {
            self.few.push(name.to_owned());
        } else {
            self.many.insert(name.to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &'static str) -> Result<Members, String> {
        Members::cut(Bytes::from_static(text.as_bytes())).map_err(|error| error.to_string())
    }

    #[test]
    fn values_keep_their_exact_text() {
        let members = cut(r#"{ "a" : [1.0, {"x" : 2}] , "b\u0063":"\/", "n": null }"#).unwrap();
        assert_eq!(members.value("a"), Some(r#"[1.0, {"x" : 2}]"#));
        assert_eq!(members.value("bc"), Some(r#""\/""#));
        assert_eq!(members.value("x"), None);
        assert_eq!(members.parse::<String>("bc").unwrap().as_deref(), Some("/"));
        assert_eq!(members.parse::<String>("n").unwrap(), None);
    }

    #[test]
    fn a_name_that_occurs_twice_is_refused() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":2}"#] {
            assert!(cut(text).unwrap_err().contains("`a`: it occurs twice"), "{text}");
        }
        assert!(cut(r#"{"name":1,"Name":2}"#).is_ok());
    }

    #[test]
    fn a_name_that_occurs_twice_among_many_is_refused() {
        let members: Vec<_> = (0..1000).map(|n| format!("\"m{n}\":{n}")).collect();
        let good = format!("{{{}}}", members.join(","));
        assert!(Members::cut(Bytes::from(good.clone())).is_ok());
        let bad = good.replace("\"m999\"", "\"m500\"");
        assert!(Members::cut(Bytes::from(bad)).unwrap_err().to_string().contains("`m500`"));
    }

    #[test]
    fn odd_names_are_refused() {
        assert!(cut(r#"{"a\u0000":1}"#).is_err());
        assert!(cut(r#"{"\ud800":1}"#).is_err());
    }

    #[test]
    fn only_an_object_has_members() {
        for text in ["[]", "1", "\"a\"", "null", "{", "{} {}", ""] {
            assert!(cut(text).is_err(), "{text}");
        }
    }
}
