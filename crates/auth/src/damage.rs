//! Damage to texts, for tests with random input.

use proptest::prelude::*;

/// One change of a text, at a place that is taken modulo its length.
#[derive(Clone, Debug)]
pub(crate) enum Damage {
    Replace(usize, u8),
    Insert(usize, u8),
    Remove(usize),
    /// Cuts the rest off.
    Cut(usize),
    /// Repeats the text between two places.
    Repeat(usize, usize),
}

impl Damage {
    pub(crate) fn apply(&self, mut text: Vec<u8>) -> Vec<u8> {
        let length = text.len();
        let at = |place: usize| place % length.max(1);
        match *self {
            Self::Insert(place, byte) => text.insert(at(place), byte),
            _ if length == 0 => {}
            Self::Replace(place, byte) => text[at(place)] = byte,
            Self::Remove(place) => drop(text.remove(at(place))),
            Self::Cut(place) => text.truncate(at(place)),
            Self::Repeat(one, other) => {
                let (start, end) = (at(one).min(at(other)), at(one).max(at(other)));
                text.splice(start..start, text[start..end].to_vec());
            }
        }
        text
    }
}

/// Up to three changes. Most bytes are those that readers of the text look for.
pub(crate) fn damages(bytes: &'static [u8]) -> impl Strategy<Value = Vec<Damage>> {
    let byte = || prop_oneof![4 => prop::sample::select(bytes), 1 => any::<u8>()];
    let place = any::<usize>;
    let one = prop_oneof![
        4 => (place(), byte()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        4 => (place(), byte()).prop_map(|(at, byte)| Damage::Insert(at, byte)),
        4 => place().prop_map(Damage::Remove),
        1 => place().prop_map(Damage::Cut),
        1 => (place(), place()).prop_map(|(one, other)| Damage::Repeat(one, other)),
    ];
    prop::collection::vec(one, 0..=3)
}

pub(crate) fn damaged(text: &str, damages: &[Damage]) -> Vec<u8> {
    damages.iter().fold(text.as_bytes().to_vec(), |text, damage| damage.apply(text))
}

/// At least this many cases; `PROPTEST_CASES` asks for more.
pub(crate) fn cases(least: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    ProptestConfig { cases: config.cases.max(least), failure_persistence: None, ..config }
}
