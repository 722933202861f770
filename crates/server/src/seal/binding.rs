//! What sealed state is bound to: the caller, the method, the name and the arguments.
//!
//! All of it is authenticated along with the state and none of it is stored, so state opens only
//! for the same call by the same caller. A client may write the same arguments in another order or
//! with other spaces when it retries, so they are normalised first.

use std::fmt;

use bowline_proto::request::{Owner, Request};
use bowline_types::method::Method;
use bowline_types::read::{ReadError, plain_integers, read_seed, text};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// What sealed state is bound to.
///
/// The specification asks for exactly this: the state belongs to one principal, one method and one
/// set of parameters (MRTR-13, MRTR-15).
#[derive(Debug, PartialEq, Eq)]
pub struct Binding(Vec<u8>);

impl Binding {
    /// Binds to one call.
    ///
    /// # Errors
    ///
    /// If the arguments are not JSON.
    pub fn new(
        owner: &Owner,
        method: Method,
        name: &str,
        arguments: &[u8],
    ) -> Result<Self, ReadError> {
        let mut bound = Vec::new();
        match owner.identity() {
            None => bound.push(0),
            Some((issuer, subject)) => {
                bound.push(1);
                push(&mut bound, issuer.as_bytes());
                push(&mut bound, subject.as_bytes());
            }
        }
        push(&mut bound, method.name().as_bytes());
        push(&mut bound, name.as_bytes());
        push(&mut bound, &canonical(arguments)?);
        Ok(Self(bound))
    }

    /// Binds to the call of a request; `None` if the method can have no state.
    pub fn of_request(request: &Request) -> Option<Self> {
        let Request { parts, params } = request;
        let name = params.string(parts.method.named_by()?).ok()??;
        let given = params.bytes("arguments").filter(|text| text.starts_with(b"{"));
        let arguments = given.as_deref().unwrap_or(b"{}");
        Self::new(&parts.owner, parts.method, &name, arguments).ok()
    }

    /// Binds to a place as well, such as one of several servers that offer the same tool.
    #[must_use]
    pub fn within(mut self, place: &str) -> Self {
        push(&mut self.0, place.as_bytes());
        self
    }

    /// The bytes to authenticate: the binding and the plain header of the sealed state. So neither
    /// version nor key can be replaced without notice.
    pub(super) fn with_head(&self, version: u8, key_id: [u8; 4]) -> Vec<u8> {
        let mut bound = Vec::with_capacity(1 + key_id.len() + self.0.len());
        bound.push(version);
        bound.extend(key_id);
        bound.extend(&self.0);
        bound
    }
}

/// Adds a part with its length, so that no two lists of parts give the same bytes.
fn push(bound: &mut Vec<u8>, part: &[u8]) {
    bound.extend((part.len() as u64).to_be_bytes());
    bound.extend(part);
}

/// JSON in one form: members sorted by name, no spaces, whole numbers without fraction. It need not
/// be any standard form: it is never stored or sent, and both sides of the comparison are made
/// here.
fn canonical(json: &[u8]) -> Result<Vec<u8>, ReadError> {
    let mut out = Vec::new();
    read_seed(Canonical(&mut out), &plain_integers(text(json)?))?;
    Ok(out)
}

/// Writes JSON in normal form while reading it.
struct Canonical<'a>(&'a mut Vec<u8>);

impl Canonical<'_> {
    fn text<E>(self, text: impl fmt::Display) -> Result<(), E> {
        self.0.extend(text.to_string().into_bytes());
        Ok(())
    }

    fn string(&mut self, text: &str) {
        // Any text can be a string.
        self.0.extend(serde_json::to_vec(text).unwrap_or_default());
    }
}

impl<'de> DeserializeSeed<'de> for Canonical<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Canonical<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.text("null")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.text(value)
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.text(value)
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.text(value)
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        // `Display` writes 1.0 as `1`, as JavaScript does, and never an exponent.
        self.text(value)
    }

    fn visit_str<E>(mut self, value: &str) -> Result<(), E> {
        self.string(value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.0.push(b'[');
        while items.next_element_seed(Canonical(self.0))?.is_some() {
            self.0.push(b',');
        }
        self.0.push(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut members: Vec<(String, Vec<u8>)> = Vec::new();
        while let Some(name) = map.next_key()? {
            let mut value = Vec::new();
            map.next_value_seed(Canonical(&mut value))?;
            members.push((name, value));
        }
        // Stable, so that of two members of one name the last stays last.
        members.sort_by(|(one, _), (other, _)| one.cmp(other));
        self.0.push(b'{');
        for (name, value) in members {
            Canonical(self.0).string(&name);
            self.0.push(b':');
            self.0.extend(value);
            self.0.push(b',');
        }
        self.0.push(b'}');
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(text: &str) -> String {
        String::from_utf8(canonical(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn arguments_have_one_form_however_they_are_written() {
        let one = form(r#"{"b": [1.0, "x\u0041", null], "a": {"d": true, "c": -2}}"#);
        let other = form(r#"{"a":{"c":-2,"d":true},"b":[1,"xA",null]}"#);
        assert_eq!(one, other);
    }

    #[test]
    fn different_arguments_have_different_forms() {
        let texts = [
            "{}",
            "[]",
            "[[]]",
            "[{}]",
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1.5}"#,
            r#"{"b":1}"#,
            r#"{"a":1,"b":1}"#,
            r#"{"a":[1,1]}"#,
            r#"{"a":[11]}"#,
            r#"{"a":null}"#,
            r#"{"a":"\",\""}"#,
            r#"{"a":18446744073709551615}"#,
            r#"{"a":-1}"#,
            r#"{"a":{"b":1}}"#,
            r#"{"a,b":1}"#,
        ];
        let forms: std::collections::HashSet<_> = texts.iter().map(|text| form(text)).collect();
        assert_eq!(forms.len(), texts.len());
    }

    #[test]
    fn whole_numbers_are_told_apart_digit_by_digit() {
        assert_ne!(form(r#"{"a":9007199254740993.0}"#), form(r#"{"a":9007199254740992}"#));
        assert_eq!(form(r#"{"a":9007199254740993.0}"#), form(r#"{"a":9007199254740993}"#));
    }

    // spec: MRTR-13, MRTR-15
    #[test]
    fn every_part_of_a_call_counts() {
        let bind = |owner: Owner, method, name, arguments: &str| {
            Binding::new(&owner, method, name, arguments.as_bytes()).unwrap()
        };
        let all = [
            bind(Owner::anonymous(), Method::ToolsCall, "a", "{}"),
            bind(Owner::known("i", "s"), Method::ToolsCall, "a", "{}"),
            bind(Owner::known("is", ""), Method::ToolsCall, "a", "{}"),
            bind(Owner::anonymous(), Method::PromptsGet, "a", "{}"),
            bind(Owner::anonymous(), Method::ToolsCall, "b", "{}"),
            bind(Owner::anonymous(), Method::ToolsCall, "a", r#"{"x":1}"#),
        ];
        for (position, one) in all.iter().enumerate() {
            assert!(all.iter().skip(position + 1).all(|other| one != other), "{position}");
        }
    }
}
