//! Finds names that occur twice in the values of members, at any depth.

use std::fmt;

use bowline_types::read::{ReadError, read};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::{MemberName, Members, Names};

impl Members {
    /// Checks the objects within the values. Cutting has checked the outermost object already.
    ///
    /// For a server between others: it compares some of the values and passes all of them on, so the
    /// next server must read the same ones.
    ///
    /// # Errors
    ///
    /// If a name occurs twice in an object, or holds a NUL.
    pub fn check_names_within(&self) -> Result<(), ReadError> {
        for (name, value) in self.iter().filter(|(_, value)| value.contains('{')) {
            read::<UniqueNames>(value).map_err(|error| error.at_member(name))?;
        }
        Ok(())
    }
}

/// Any value whose objects have no name twice.
struct UniqueNames;

impl<'de> Deserialize<'de> for UniqueNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueNames {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = Names::default();
        while let Some(name) = map.next_key::<MemberName<'de>>()? {
            names.add(name.as_str()).map_err(A::Error::custom)?;
            map.next_value::<Self>()?;
        }
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_occurs_twice_is_found_at_any_depth() {
        let check = |text: &'static str| Members::cut(text.into()).unwrap().check_names_within();
        for unique in [r#"{"a":{"b":1},"c":[{"b":2},{"b":null}]}"#, r#"{"a":"{","b":-1.5e3}"#] {
            check(unique).unwrap();
        }
        for twice in [
            r#"{"a":{"b":1,"b":2}}"#,
            r#"{"a":[true,{"b":{"c":1,"c":1}}]}"#,
            r#"{"a":{"b":1,"\u0062":2}}"#,
        ] {
            assert!(check(twice).unwrap_err().to_string().contains("it occurs twice"), "{twice}");
        }
    }
}
