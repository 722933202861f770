//! JSON text as a value, and the keys that an object of it has twice.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// Parses a text. A `Value` keeps the last of two equal keys, so those are looked for beforehand.
pub(crate) fn parse(text: &str) -> Option<(Value, Vec<String>)> {
    let value = serde_json::from_str(text).ok()?;
    let mut repeated = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(text);
    // The text was parsed above, so this cannot fail either.
    let _ = Keys { place: String::new(), repeated: &mut repeated }.deserialize(&mut reader);
    Some((value, repeated))
}

/// Walks through a value at a place.
struct Keys<'a> {
    place: String,
    repeated: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Keys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Keys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            let place = format!("{}.{key}", self.place);
            if !seen.insert(key) {
                self.repeated.push(place.trim_start_matches('.').to_owned());
            }
            map.next_value_seed(Keys { place, repeated: self.repeated })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let place = format!("{}[]", self.place);
        loop {
            let item = Keys { place: place.clone(), repeated: self.repeated };
            if items.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_keys_are_found_with_their_place() {
        let (_, repeated) = parse(r#"{"a":{"b":1,"c":[{"d":1,"d":2}],"b":2}}"#).unwrap();
        assert_eq!(repeated, ["a.c[].d", "a.b"]);
    }
}
