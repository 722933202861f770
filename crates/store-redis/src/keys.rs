//! The names of values, logs and topics in the database.
//!
//! `session/ID` becomes `bowline:v:session/{ID}`. A cluster places a key by the part in braces, so all
//! that belongs to a session, or to the owner of a task, is on one server, and one script can use it.

use std::borrow::Cow;

use bowline_store::Key;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Value,
    Log,
    Topic,
}

/// Makes names that begin with the prefix of a store.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
}

impl Names {
    pub(crate) fn new(prefix: &str) -> Self {
        Self { prefix: escape(prefix).into_owned() }
    }

    pub(crate) fn of(&self, kind: Kind, key: &Key) -> String {
        let (first, tag, rest) = parts(key.as_str());
        let mut name = self.start(kind);
        if let Some(first) = first {
            name.push_str(&escape(first));
            name.push('/');
        }
        name.push('{');
        name.push_str(&tag_text(tag));
        name.push('}');
        if let Some(rest) = rest {
            name.push('/');
            name.push_str(&escape(rest));
        }
        name
    }

    /// The key of a value, from its name. `None` if the name is not one of this store's values.
    pub(crate) fn key(&self, name: &str) -> Option<Key> {
        let text = name.strip_prefix(&self.start(Kind::Value))?;
        let (before, after) = text.split_once('{')?;
        let (tag, rest) = after.split_once('}')?;
        let tag = if tag == EMPTY { Cow::Borrowed("") } else { unescape(tag)? };
        let key = format!("{}{tag}{}", unescape(before)?, unescape(rest)?);
        Some(Key::new([key.as_str()]))
    }

    /// A pattern that matches the names of all values whose keys begin with a prefix, and maybe of
    /// others.
    pub(crate) fn pattern(&self, prefix: &Key) -> String {
        let start = glob(&self.start(Kind::Value));
        match parts(prefix.as_str()) {
            // A key that begins so may have one part or several.
            (None, ..) => format!("{start}*"),
            // The tag may go on, also from nothing.
            (Some(first), "", None) => format!("{start}{}/{{*", glob(&escape(first))),
            (Some(first), tag, None) => {
                format!("{start}{}/{{{}*", glob(&escape(first)), glob(&escape(tag)))
            }
            (Some(first), tag, Some(rest)) => {
                let (first, tag, rest) = (escape(first), tag_text(tag), escape(rest));
                format!("{start}{}/{{{}}}/{}*", glob(&first), glob(&tag), glob(&rest))
            }
        }
    }

    fn start(&self, kind: Kind) -> String {
        let kind = match kind {
            Kind::Value => 'v',
            Kind::Log => 'l',
            Kind::Topic => 't',
        };
        format!("{}:{kind}:", self.prefix)
    }
}

/// Whether a cluster keeps both on the same server.
pub(crate) fn are_together(one: &Key, other: &Key) -> bool {
    parts(one.as_str()).1 == parts(other.as_str()).1
}

/// The first part if there are several, the part that places the key, and the rest.
fn parts(key: &str) -> (Option<&str>, &str, Option<&str>) {
    let Some((first, after)) = key.split_once('/') else { return (None, key, None) };
    match after.split_once('/') {
        Some((tag, rest)) => (Some(first), tag, Some(rest)),
        None => (Some(first), after, None),
    }
}

/// Stands for an empty tag, which a cluster would ignore. No other escaped text is like it.
const EMPTY: &str = "%";

fn tag_text(tag: &str) -> Cow<'_, str> {
    if tag.is_empty() { Cow::Borrowed(EMPTY) } else { escape(tag) }
}

/// Braces are the database's own. Keys of the server never have one, so nothing is copied.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['%', '{', '}']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('%', "%25").replace('{', "%7B").replace('}', "%7D"))
}

fn unescape(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut parts = text.split('%');
    let mut plain = parts.next()?.to_owned();
    for part in parts {
        let (code, after) = part.split_at_checked(2)?;
        plain.push(match code {
            "25" => '%',
            "7B" => '{',
            "7D" => '}',
            _ => return None,
        });
        plain.push_str(after);
    }
    Some(Cow::Owned(plain))
}

/// Escapes text so that `SCAN MATCH` takes it literally.
fn glob(text: &str) -> String {
    let mut literal = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '\\' | '^' | '-') {
            literal.push('\\');
        }
        literal.push(letter);
    }
    literal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new("bowline")
    }

    #[test]
    fn the_second_part_places_a_key() {
        let name = |parts: &[&str]| names().of(Kind::Log, &Key::new(parts.iter().copied()));
        assert_eq!(name(&["events", "abc", "7"]), "bowline:l:events/{abc}/7");
        assert_eq!(name(&["session", "abc"]), "bowline:l:session/{abc}");
        assert_eq!(name(&["sessions"]), "bowline:l:{sessions}");
        assert_eq!(name(&["events", "", "7"]), "bowline:l:events/{%}/7");
        assert_eq!(name(&["events", "{a}%", "{b}"]), "bowline:l:events/{%7Ba%7D%25}/%7Bb%7D");
    }

    #[test]
    fn a_name_leads_back_to_its_key() {
        for key in
            ["a", "a/b", "a/b/c", "a/b/c/d", "", "/", "//", "a//", "%/{/}", "a/%25/{}", "%7B"]
        {
            let key = Key::new([key]);
            assert_eq!(names().key(&names().of(Kind::Value, &key)), Some(key));
        }
        assert_eq!(names().key("bowline:v:foreign"), None);
        assert_eq!(names().key("other:v:{a}"), None);
    }

    #[test]
    fn patterns_take_keys_literally() {
        let pattern = |key: &str| names().pattern(&Key::new([key]));
        assert_eq!(pattern("task/ann/"), "bowline:v:task/{ann}/*");
        assert_eq!(pattern("task/an"), "bowline:v:task/{an*");
        assert_eq!(pattern("task/"), "bowline:v:task/{*");
        assert_eq!(pattern("ta"), "bowline:v:*");
        assert_eq!(pattern("a*/[b]/c?"), r"bowline:v:a\*/{\[b\]}/c\?*");
    }
}
