//! A serde `Deserializer` that reads texts as the types that handlers take.
//!
//! Arguments of prompts and variables of URI templates are texts in the protocol, but a handler may
//! take numbers, lists or structs. A text becomes a number by parsing it, a list by its items or as
//! JSON, an object as JSON. So the same handler type works for tools, whose arguments are JSON, and
//! for these.

use std::borrow::Cow;

use bowline_types::read::read_seed;
use bowline_types::template::{TemplateValue, Variables};
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::TextError;

/// Short methods of a deserializer, each with the types of the arguments that it ignores.
macro_rules! methods {
    ($($method:ident($self:ident, $visitor:ident $(, $ignored:ty)*) $body:block)*) => {$(
        fn $method<V: Visitor<'de>>(
            $self $(, _: $ignored)*,
            $visitor: V,
        ) -> Result<V::Value, TextError> $body
    )*};
}

/// All texts, as a struct or a map. For handlers that take all arguments as one struct.
pub(super) struct All<'a>(pub(super) &'a Variables);

impl<'de> Deserializer<'de> for All<'de> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let mut members = self.0.iter();
        visitor.visit_map(Named { next: members.next(), rest: members })
    }

    methods! {
        deserialize_option(self, visitor) { visitor.visit_some(self) }
        deserialize_newtype_struct(self, visitor, &'static str) {
            visitor.visit_newtype_struct(self)
        }
        deserialize_unit(self, visitor) { visitor.visit_unit() }
        deserialize_unit_struct(self, visitor, &'static str) { visitor.visit_unit() }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf seq
        tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// The texts with their names, one after the other.
struct Named<'a, I> {
    next: Option<(&'a str, &'a TemplateValue)>,
    rest: I,
}

impl<'de, I: Iterator<Item = (&'de str, &'de TemplateValue)>> MapAccess<'de> for Named<'de, I> {
    type Error = TextError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, TextError> {
        let name = |(name, _): (&str, _)| seed.deserialize(StrDeserializer::new(name));
        self.next.map(name).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, TextError> {
        let Some((name, value)) = self.next.take() else {
            return seed.deserialize(Absent);
        };
        self.next = self.rest.next();
        seed.deserialize(One::from(value)).map_err(|error| error.at(name))
    }
}

/// One text, or several under one name. Templates can give lists and pairs (`{ids*}`); prompts give
/// single texts.
#[derive(Clone, Copy)]
pub(super) enum One<'a> {
    Text(&'a str),
    List(&'a [String]),
    Pairs(&'a [(String, String)]),
}

impl<'a> From<&'a TemplateValue> for One<'a> {
    fn from(value: &'a TemplateValue) -> Self {
        match value {
            TemplateValue::Text(text) => Self::Text(text),
            TemplateValue::List(items) => Self::List(items),
            TemplateValue::Pairs(pairs) => Self::Pairs(pairs),
        }
    }
}

impl<'a> One<'a> {
    /// As one text, in which the members of a list are joined by commas.
    fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(items) => Cow::Owned(items.join(",")),
            Self::Pairs(pairs) => {
                TemplateValue::Pairs(pairs.to_vec()).to_text().into_owned().into()
            }
        }
    }

    /// What is written as JSON because it is more than a text. `None` if the text does not begin
    /// like JSON of that kind; it is then read as it is.
    fn as_json(self, opening: char) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|text| text.starts_with(opening)),
            Self::List(_) | Self::Pairs(_) => None,
        }
    }
}

/// Numbers, which are read from their text.
macro_rules! numbers {
    ($($method:ident, $visit:ident, $what:expr;)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
                let text = self.text();
                match text.trim().parse() {
                    Ok(number) => visitor.$visit(number),
                    Err(_) => Err(TextError::expected($what, &text)),
                }
            }
        )*
    };
}

/// How messages call the numbers of a type.
macro_rules! range {
    ($type:ty) => {
        format_args!("a whole number from {} to {}", <$type>::MIN, <$type>::MAX)
    };
}

impl<'de> Deserializer<'de> for One<'de> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self {
            Self::Text(text) => visitor.visit_str(text),
            Self::List(_) => self.deserialize_seq(visitor),
            Self::Pairs(_) => self.deserialize_map(visitor),
        }
    }

    numbers! {
        deserialize_bool, visit_bool, "`true` or `false`";
        deserialize_i8, visit_i8, range!(i8);
        deserialize_i16, visit_i16, range!(i16);
        deserialize_i32, visit_i32, range!(i32);
        deserialize_i64, visit_i64, range!(i64);
        deserialize_i128, visit_i128, range!(i128);
        deserialize_u8, visit_u8, range!(u8);
        deserialize_u16, visit_u16, range!(u16);
        deserialize_u32, visit_u32, range!(u32);
        deserialize_u64, visit_u64, range!(u64);
        deserialize_u128, visit_u128, range!(u128);
        deserialize_f32, visit_f32, "a number";
        deserialize_f64, visit_f64, "a number";
    }

    methods! {
        deserialize_str(self, visitor) { visitor.visit_str(&self.text()) }
        deserialize_string(self, visitor) { self.deserialize_str(visitor) }
        deserialize_newtype_struct(self, visitor, &'static str) {
            visitor.visit_newtype_struct(self)
        }
        deserialize_tuple(self, visitor, usize) { self.deserialize_seq(visitor) }
        deserialize_tuple_struct(self, visitor, &'static str, usize) {
            self.deserialize_seq(visitor)
        }
        deserialize_struct(self, visitor, &'static str, &'static [&'static str]) {
            self.deserialize_map(visitor)
        }
        deserialize_ignored_any(self, visitor) { visitor.visit_unit() }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self {
            // Clients send empty text for fields that the user left empty.
            Self::Text("") => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        if let Some(text) = self.as_json('[') {
            return read_json(text, Items(visitor));
        }
        let texts: Vec<&str> = match self {
            Self::Text("") => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Pairs(_) => return Err(TextError::expected("a list", &self.text())),
        };
        visitor.visit_seq(SeqDeserializer::new(texts.into_iter().map(One::Text)))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        if let Some(text) = self.as_json('{') {
            return read_json(text, Members(visitor));
        }
        let Self::Pairs(pairs) = self else {
            return Err(TextError::expected("an object written as JSON", &self.text()));
        };
        let pairs = pairs.iter().map(|(name, value)| (name.as_str(), Self::Text(value)));
        visitor.visit_map(MapDeserializer::new(pairs))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        if let Some(text) = self.as_json('{') {
            return read_json(text, Variant { name, variants, visitor });
        }
        visitor.visit_enum(StrDeserializer::new(self.text().trim()))
    }

    forward_to_deserialize_any! { char bytes byte_buf unit unit_struct identifier }
}

impl<'de> IntoDeserializer<'de, TextError> for One<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Reads a text that is JSON.
fn read_json<'a, S: DeserializeSeed<'a>>(text: &'a str, seed: S) -> Result<S::Value, TextError> {
    read_seed(seed, text).map_err(TextError::within)
}

/// What is read from an array.
struct Items<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Items<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_seq(self.0)
    }
}

/// What is read from an object.
struct Members<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Members<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_map(self.0)
    }
}

/// What is read as one of several.
struct Variant<V> {
    name: &'static str,
    variants: &'static [&'static str],
    visitor: V,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Variant<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_enum(self.name, self.variants, self.visitor)
    }
}

/// A text that was not given. Optional types and lists accept it, every other type reports it as
/// missing.
pub(super) struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, TextError> {
        Err(serde::de::Error::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_none()
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let none: [One<'_>; 0] = [];
        visitor.visit_seq(SeqDeserializer::new(none.into_iter()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct tuple tuple_struct map struct enum identifier ignored_any
    }
}
