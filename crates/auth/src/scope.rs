//! Sets of scopes: the permissions that a token carries, as one text with spaces.

use std::fmt;

use crate::error::{Error, Kind};

/// The most bytes of one scope, and the most scopes of a set.
pub const MOST_SCOPE: usize = 256;
/// The most scopes of a set.
pub const MOST_SCOPES: usize = 100;

/// Scopes without repetition, in the order in which they were added.
///
/// ```
/// use bowline_auth::scope::Scopes;
///
/// let scopes = Scopes::parse("mcp files:read mcp")?;
/// assert_eq!(scopes.to_string(), "mcp files:read");
/// # Ok::<(), bowline_auth::error::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// No scopes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads scopes that spaces separate.
    ///
    /// # Errors
    ///
    /// If a scope contains a character that a scope must not contain, or there are too many.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::of(text.split(' ').filter(|scope| !scope.is_empty()))
    }

    /// Takes scopes one by one.
    ///
    /// # Errors
    ///
    /// If one is not a scope, or there are too many.
    pub fn of<I>(scopes: I) -> Result<Self, Error>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let mut set = Self::new();
        for scope in scopes {
            set.insert(scope.as_ref())?;
        }
        Ok(set)
    }

    /// Adds a scope, unless the set has it.
    ///
    /// # Errors
    ///
    /// If it is not a scope, or the set is full.
    pub fn insert(&mut self, scope: &str) -> Result<(), Error> {
        if scope.len() > MOST_SCOPE {
            return Err(Error::too_large("a scope", MOST_SCOPE, "bytes"));
        }
        if !is_scope(scope) {
            let text = format!(
                "{scope:?} is no scope: it must be printable ASCII without spaces, quotes and backslashes"
            );
            return Err(Error::new(Kind::Scope, text));
        }
        if self.contains(scope) {
            return Ok(());
        }
        if self.0.len() == MOST_SCOPES {
            return Err(Error::too_large("a list of scopes", MOST_SCOPES, "scopes"));
        }
        self.0.push(scope.to_owned());
        Ok(())
    }

    /// The scopes of both sets, those of this one first. What exceeds the limit is left out.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let new = other.iter().filter(|scope| !self.contains(scope));
        Self(self.iter().chain(new).take(MOST_SCOPES).map(str::to_owned).collect())
    }

    /// Whether the set has a scope. Scopes are case-sensitive.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|known| known == scope)
    }

    /// Whether the other set has all scopes of this one.
    pub fn is_within(&self, other: &Self) -> bool {
        self.iter().all(|scope| other.contains(scope))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Two sets are equal if they have the same scopes, in any order.
impl PartialEq for Scopes {
    fn eq(&self, other: &Self) -> bool {
        self.is_within(other) && other.is_within(self)
    }
}

impl Eq for Scopes {}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// `1*( %x21 / %x23-5B / %x5D-7E )` of OAuth.
fn is_scope(text: &str) -> bool {
    let is_character = |c: u8| c.is_ascii_graphic() && c != b'"' && c != b'\\';
    !text.is_empty() && text.bytes().all(is_character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Scopes {
        Scopes::parse(text).unwrap()
    }

    #[test]
    fn scopes_are_separated_by_spaces_and_not_repeated() {
        assert_eq!(scopes("b  a b ").to_string(), "b a");
        assert!(scopes("").is_empty());
        assert_eq!(scopes("a b"), scopes("b a"));
        for (one, other) in [("a", "A"), ("a b", "a"), ("a", "a b"), ("", "a")] {
            assert_ne!(scopes(one), scopes(other));
        }
    }

    #[test]
    fn a_scope_with_a_quote_a_backslash_or_a_control_is_refused() {
        for text in ["a\"b", "a\\b", "a\tb", "a\u{7f}", "\u{e9}", "a\nb"] {
            assert!(Scopes::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn scopes_are_bounded() {
        assert!(Scopes::parse(&"a".repeat(MOST_SCOPE)).is_ok());
        assert!(Scopes::parse(&"a".repeat(MOST_SCOPE + 1)).unwrap_err().is_too_large());
        let many = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        assert!(Scopes::of(many(MOST_SCOPES)).is_ok());
        assert!(Scopes::of(many(MOST_SCOPES + 1)).unwrap_err().is_too_large());
        let more = Scopes::of(["x"]).unwrap().union(&Scopes::of(many(MOST_SCOPES)).unwrap());
        assert_eq!(more.iter().count(), MOST_SCOPES);
    }

    #[test]
    fn a_union_keeps_the_first_set_and_adds_what_is_new() {
        assert_eq!(scopes("a b").union(&scopes("c a")).to_string(), "a b c");
        assert!(scopes("a").is_within(&scopes("b a")) && !scopes("a c").is_within(&scopes("a")));
    }
}
