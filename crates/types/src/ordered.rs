//! A JSON object whose members keep their order.
//!
//! Users see the fields of a form, and the questions of a server, in the order in which the server
//! sent them. The maps of the standard library would lose that order.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Members in order. No name occurs twice. A search is linear, which is fine for the few fields of
/// a form.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ordered<T>(Vec<(String, T)>);

impl<T> Ordered<T> {
    /// Wraps members. The caller knows that their names differ.
    pub(crate) fn from_distinct(members: Vec<(String, T)>) -> Self {
        Self(members)
    }

    /// Replaces the member of this name in its place, or adds one at the end.
    pub(crate) fn set(&mut self, name: String, value: T) {
        match self.0.iter_mut().find(|(there, _)| *there == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name, value)),
        }
    }

    pub(crate) fn value(&self, name: &str) -> Option<&T> {
        self.iter().find(|(there, _)| *there == name).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    pub(crate) fn iter_mut(&mut self) -> impl ExactSizeIterator<Item = (&str, &mut T)> {
        self.0.iter_mut().map(|(name, value)| (name.as_str(), value))
    }
}

impl<T> IntoIterator for Ordered<T> {
    type Item = (String, T);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OrderedVisitor(PhantomData))
    }
}

/// A name that occurs twice is refused, because two readers could take different values.
struct OrderedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrderedVisitor<T> {
    type Value = Ordered<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered<T>, A::Error> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!("member `{name}` occurs twice")));
            }
            members.push((name, map.next_value()?));
        }
        Ok(Ordered(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"b":1,"a":2,"c":3}"#;
        round_trip::<Ordered<u8>>(text);
    }

    #[test]
    fn a_member_that_is_set_again_stays_in_its_place() {
        let mut ordered = Ordered::default();
        for (name, value) in [("b", 1), ("a", 2), ("b", 3)] {
            ordered.set(name.to_owned(), value);
        }
        assert_eq!(ordered.iter().collect::<Vec<_>>(), [("b", &3), ("a", &2)]);
        assert_eq!(ordered.value("a"), Some(&2));
    }

    #[test]
    fn a_member_that_occurs_twice_is_refused_by_name() {
        let error = serde_json::from_str::<Ordered<u8>>(r#"{"a":1,"a":2}"#).unwrap_err();
        assert!(error.to_string().contains("member `a` occurs twice"), "{error}");
    }
}
