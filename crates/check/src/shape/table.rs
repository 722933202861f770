//! Reads the table of members, once.

use std::fmt;
use std::sync::LazyLock;

use bowline_types::revision::Revision;

static TEXT: &str = include_str!("fields.txt");

static TYPES: LazyLock<Vec<(&'static str, Vec<Field>)>> = LazyLock::new(|| {
    let mut types: Vec<(&'static str, Vec<Field>)> = Vec::new();
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => types.push((line, Vec::new())),
            Some(line) => {
                if let (Some((_, fields)), Some(field)) = (types.last_mut(), Field::read(line)) {
                    fields.push(field);
                }
            }
        }
    }
    types
});

/// The members of a type.
pub(super) fn named(name: &str) -> Option<(&'static str, &'static [Field])> {
    let found = TYPES.iter().find(|(known, _)| *known == name)?;
    Some((found.0, &found.1))
}

/// All types, for a test that looks for names without a type.
#[cfg(test)]
pub(super) fn all() -> &'static [(&'static str, Vec<Field>)] {
    &TYPES
}

/// A member of a type.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// A letter for each revision, oldest first.
    letters: &'static str,
}

/// Whether a member stands in a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    Required,
    Optional,
    Undefined,
}

/// The type of a member.
#[derive(Debug)]
pub(super) enum Kind {
    /// `string`, `integer`, `number`, `boolean`, `object`, `null`, `any`.
    Simple(String),
    /// This text and no other.
    Word(String),
    Either(Vec<Kind>),
    List(Box<Kind>),
    Map(Box<Kind>),
    /// A type of the table, or one that `shape.rs` knows.
    Named(String),
}

impl Field {
    fn read(line: &'static str) -> Option<Self> {
        let mut words = line.split(' ');
        let (name, kind, letters) = (words.next()?, words.next()?, words.next()?);
        Some(Self { name: name.to_owned(), kind: Kind::read(kind), letters })
    }

    pub(super) fn presence(&self, revision: Revision) -> Presence {
        let position = Revision::ALL.iter().position(|known| *known == revision);
        match position.and_then(|position| self.letters.as_bytes().get(position)) {
            Some(b'R') => Presence::Required,
            Some(b'o') => Presence::Optional,
            _ => Presence::Undefined,
        }
    }
}

impl Kind {
    fn read(text: &str) -> Self {
        if text.contains('|') {
            return Self::Either(text.split('|').map(Self::read).collect());
        }
        if let Some(item) = text.strip_suffix("[]") {
            return Self::List(Box::new(Self::read(item)));
        }
        if let Some(item) = text.strip_prefix("map<").and_then(|text| text.strip_suffix('>')) {
            return Self::Map(Box::new(Self::read(item)));
        }
        if let Some(word) = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
            return Self::Word(word.to_owned());
        }
        match text.starts_with(|letter: char| letter.is_ascii_uppercase()) {
            true => Self::Named(text.to_owned()),
            false => Self::Simple(text.to_owned()),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple(name) | Self::Named(name) => f.write_str(name),
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Either(kinds) => {
                for (index, kind) in kinds.iter().enumerate() {
                    write!(f, "{}{kind}", if index == 0 { "" } else { " or " })?;
                }
                Ok(())
            }
            Self::List(item) => write!(f, "array of {item}"),
            Self::Map(item) => write!(f, "object of {item}"),
        }
    }
}
