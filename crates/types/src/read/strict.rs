//! A deserializer that reads structs only from objects, at every depth.
//!
//! It wraps another deserializer and passes everything on, with three exceptions. A struct is read
//! as a map, so that an array in its place is refused. The error for an unknown enum variant lists
//! the known ones, which `serde_json` leaves out. And when a value does not fit, the wrapper
//! records the members and items around it, because `serde_json` reports a position only after it
//! has read further.

use std::cell::RefCell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// A deserializer, visitor or access of serde, made strict. The same wrapper serves all traits of
/// serde, because each of them hands out parts of the others.
pub(super) struct Strict<'s, T> {
    inner: T,
    path: &'s ErrorPath,
}

/// The members and items around an error, innermost first. `Some` is the index of an item of an
/// array, `None` a member of an object. Names of members are found in the text afterwards, from the
/// position of the error.
#[derive(Default)]
pub(super) struct ErrorPath(RefCell<Vec<Option<usize>>>);

impl ErrorPath {
    /// Records a member or an item if reading it failed. A success forgets what inner failures have
    /// recorded: a type may try one reading and then another.
    fn note<T, E>(&self, index: Option<usize>, outcome: Result<T, E>) -> Result<T, E> {
        let mut steps = self.0.borrow_mut();
        match outcome {
            Ok(_) => steps.clear(),
            Err(_) => steps.push(index),
        }
        outcome
    }

    /// The same steps, outermost first.
    pub(super) fn into_steps(self) -> Vec<Option<usize>> {
        let mut steps = self.0.into_inner();
        steps.reverse();
        steps
    }
}

impl<'s, T> Strict<'s, T> {
    pub(super) fn new(inner: T, path: &'s ErrorPath) -> Self {
        Self { inner, path }
    }

    /// Wraps another part of the same deserializer.
    fn with<U>(&self, inner: U) -> Strict<'s, U> {
        Strict { inner, path: self.path }
    }
}

/// Forwards these methods, with the visitor made strict. Those that take more than a visitor list
/// their arguments.
macro_rules! forward {
    ($($method:ident $(($($argument:ident: $type:ty),*))?)*) => {
        $(
            fn $method<V: Visitor<'de>>(
                self,
                $($($argument: $type,)*)?
                visitor: V,
            ) -> Result<V::Value, Self::Error> {
                let visitor = self.with(visitor);
                self.inner.$method($($($argument,)*)? visitor)
            }
        )*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<'_, D> {
    type Error = D::Error;

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let visitor = self.with(visitor);
        self.inner.deserialize_enum(name, variants, visitor).map_err(|error| {
            if !error.to_string().starts_with("expected value") {
                return error;
            }
            let words: Vec<_> = variants.iter().map(|word| format!("`{word}`")).collect();
            D::Error::custom(format_args!("expected one of {}", words.join(", ")))
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        // `serde_json` marks raw text by a struct name of its own, which must reach it unchanged.
        if name.starts_with("$serde_json::") {
            return self.inner.deserialize_newtype_struct(name, visitor);
        }
        let visitor = self.with(visitor);
        self.inner.deserialize_newtype_struct(name, visitor)
    }

    forward! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32
        deserialize_i64 deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32
        deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
        deserialize_unit_struct(name: &'static str)
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Forwards plain values to the visitor.
macro_rules! values {
    ($($method:ident($type:ty))*) => {
        $(
            fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
                self.inner.$method(value)
            }
        )*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strict<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    values! {
        visit_bool(bool) visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128) visit_f32(f32)
        visit_f64(f64) visit_char(char) visit_str(&str) visit_borrowed_str(&'de str)
        visit_string(String) visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8])
        visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.with(value);
        self.inner.visit_some(value)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        let value = self.with(value);
        self.inner.visit_newtype_struct(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        let items = CountedItems { inner: items, path: self.path, index: 0 };
        self.inner.visit_seq(items)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        let members = self.with(members);
        self.inner.visit_map(members)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        let variant = self.with(variant);
        self.inner.visit_enum(variant)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strict<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        let deserializer = self.with(deserializer);
        self.inner.deserialize(deserializer)
    }
}

/// The items of an array, counted for the path of an error. serde does not say at which item it is.
struct CountedItems<'s, A> {
    inner: A,
    path: &'s ErrorPath,
    index: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for CountedItems<'_, A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        let item = self.inner.next_element_seed(Strict::new(seed, self.path));
        let item = self.path.note(Some(self.index), item)?;
        self.index += 1;
        Ok(item)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<'_, A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        let outcome = self.inner.next_value_seed(Strict::new(seed, self.path));
        self.path.note(None, outcome)
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 's, A: EnumAccess<'de>> EnumAccess<'de> for Strict<'s, A> {
    type Error = A::Error;
    type Variant = Strict<'s, A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.inner.variant_seed(seed)?;
        Ok((value, Strict { inner: variant, path: self.path }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        let outcome = self.inner.newtype_variant_seed(Strict::new(seed, self.path));
        self.path.note(None, outcome)
    }

    forward! { tuple_variant(length: usize) }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.newtype_variant_seed(Object(visitor))
    }
}

/// A visitor that accepts only objects. For variants of enums with named fields, which are structs
/// too.
struct Object<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Object<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        deserializer.deserialize_map(self.0)
    }
}
