//! A value together with its place in the value that is checked.
//!
//! Instances live on the stack and point to the one around them, so that a path is written only
//! when a violation needs it.

use std::fmt::Write;

use serde_json::Value;

/// A value and the way to it from the checked value. The root is the value that is checked; each
/// step down borrows the instance above.
pub(crate) struct Instance<'i> {
    pub(crate) value: &'i Value,
    within: Option<(&'i Instance<'i>, Step<'i>)>,
}

/// How an instance is reached from the one around it.
#[derive(Clone, Copy)]
enum Step<'i> {
    /// A member of an object, and its position among the members.
    Member(&'i str, usize),
    Item(usize),
}

impl<'i> Instance<'i> {
    pub(crate) fn root(value: &'i Value) -> Self {
        Self { value, within: None }
    }

    pub(crate) fn member(&'i self, position: usize, name: &'i str, value: &'i Value) -> Self {
        Self { value, within: Some((self, Step::Member(name, position))) }
    }

    pub(crate) fn item(&'i self, index: usize, value: &'i Value) -> Self {
        Self { value, within: Some((self, Step::Item(index))) }
    }

    /// Where the value is. The path begins with `root`.
    pub(crate) fn location(&self, root: &str) -> InstanceLocation {
        let mut location = InstanceLocation::root(root);
        for step in self.steps() {
            match step {
                Step::Member(name, position) => {
                    location.push_member(name);
                    location.position.push(position);
                }
                Step::Item(index) => location.push_item(index),
            }
        }
        location
    }

    /// The steps from the checked value to this one.
    fn steps(&self) -> Vec<Step<'i>> {
        let mut steps = Vec::new();
        let mut within = self.within;
        while let Some((around, step)) = within {
            steps.push(step);
            within = around.within;
        }
        steps.reverse();
        steps
    }
}

/// Where a value is in the value that is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InstanceLocation {
    /// For people and models: `arguments.items[2].price`.
    pub(crate) path: String,
    /// For programs, a JSON pointer: `/items/2/price`.
    pub(crate) pointer: String,
    /// In reading order. Violations are sorted by it, since the order of keywords in a schema means
    /// nothing to the sender.
    pub(crate) position: Vec<usize>,
}

impl InstanceLocation {
    /// The location of the whole value.
    pub(crate) fn root(root: &str) -> Self {
        Self { path: root.to_owned(), pointer: String::new(), position: Vec::new() }
    }

    /// Goes on to a member of the object at this location. The object need not have it: a missing
    /// member is reported where it should be, at the position of the object.
    pub(crate) fn push_member(&mut self, name: &str) {
        push_member(&mut self.path, name);
        self.pointer.push('/');
        self.pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
    }

    fn push_item(&mut self, index: usize) {
        // Writing to a `String` cannot fail.
        _ = write!(self.path, "[{index}]");
        _ = write!(self.pointer, "/{index}");
        self.position.push(index);
    }
}

/// Adds a member to a path: `.name` if it is a word, otherwise `["a name"]`.
fn push_member(path: &mut String, name: &str) {
    let is_word = name
        .starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '$'))
        && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '-'));
    if is_word && name.len() <= LONGEST_QUOTE {
        path.push('.');
        path.push_str(name);
    } else {
        _ = write!(path, "[{}]", quote(name));
    }
}

/// A short description of a value: `the string "abc"`, `an array of 3 items`.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the string {}", quote(text)),
        Value::Array(items) => format!("an array of {}", count(items.len(), "item", "items")),
        Value::Object(members) => {
            format!("an object of {}", count(members.len(), "property", "properties"))
        }
    }
}

/// A value as JSON if it is short, else a description of it.
pub(crate) fn spell(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        Value::Array(items) if !items.is_empty() => describe(value),
        Value::Object(members) if !members.is_empty() => describe(value),
        _ => value.to_string(),
    }
}

pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The longest text in messages; a model does not need all of what it sent.
const LONGEST_QUOTE: usize = 60;

/// Text as a JSON string.
fn json(text: &str) -> String {
    Value::from(text).to_string()
}

/// Text as a JSON string, cut if it is long.
fn quote(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTE) {
        None => json(text),
        Some((end, _)) => {
            let mut quoted = json(text.split_at(end).0);
            quoted.insert(quoted.len() - 1, '…');
            quoted
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_read_like_code() {
        let value = json!(null);
        let root = Instance::root(&value);
        let items = root.member(3, "items", &value);
        let item = items.item(2, &value);
        let price = item.member(0, "unit price", &value);
        let location = price.location("arguments");
        assert_eq!(location.path, r#"arguments.items[2]["unit price"]"#);
        assert_eq!(location.pointer, "/items/2/unit price");
        assert_eq!(location.position, [3, 2, 0]);
    }

    #[test]
    fn slashes_and_tildes_are_escaped_in_pointers() {
        let value = json!(null);
        let root = Instance::root(&value);
        assert_eq!(root.member(0, "a/b~c", &value).location("value").pointer, "/a~1b~0c");
    }

    #[test]
    fn long_texts_are_cut() {
        let long = "é".repeat(100);
        let described = describe(&json!(long));
        assert_eq!(described, format!(r#"the string "{}…""#, "é".repeat(60)));
    }
}
