//! The fields of a schema, nested ones included, as the user reads them.

use bowline_types::json::{RawJson, Schema};

use super::{DEEPEST, JsonType, Node, alternatives, types};

/// The most fields that are shown: schemas that refer to themselves have no end.
const MOST: usize = 200;

/// How many references and alternatives within a type are followed.
const DEEPEST_TYPE: usize = 3;

/// A field of an object.
#[derive(Debug, PartialEq)]
pub struct Field {
    /// Its name, after those of the objects around it: `order.items[].price`.
    pub path: String,
    /// Whether the object must have it.
    pub is_required: bool,
    /// Its type or its values, and what restricts them.
    kind: String,
    description: String,
}

impl Field {
    /// The type, then the description.
    pub fn described(&self) -> String {
        match self.description.is_empty() {
            true => self.kind.clone(),
            false => format!("{}: {}", self.kind, self.description),
        }
    }
}

/// The fields that a schema describes, in its order.
pub fn fields(schema: &Schema) -> Vec<Field> {
    let mut walk = Walk { root: schema, found: Vec::new() };
    if let Ok(root) = schema.parse::<Node>() {
        walk.object("", &root, DEEPEST);
    }
    walk.found
}

struct Walk<'s> {
    root: &'s Schema,
    found: Vec<Field>,
}

impl Walk<'_> {
    /// Adds the fields of an object, or of the alternatives that are objects.
    fn object(&mut self, path: &str, node: &Node, depth: usize) {
        let required = node.required.as_deref().unwrap_or_default();
        for (name, json) in node.properties.iter().flat_map(|it| &it.0) {
            if self.found.len() == MOST {
                return;
            }
            let field: Node = json.parse().unwrap_or_default();
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.found.push(Field {
                path: path.clone(),
                is_required: required.contains(name),
                kind: self.kind(&field, DEEPEST_TYPE),
                description: self.description(&field),
            });
            self.nested(&path, &field, depth);
        }
        if let Some(depth) = depth.checked_sub(1) {
            for one in alternatives(node, self.root).collect::<Vec<_>>() {
                self.object(path, &one, depth);
            }
        }
    }

    /// Adds the fields of what a field holds.
    fn nested(&mut self, path: &str, field: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        self.object(path, field, depth);
        let all: Vec<Node> = alternatives(field, self.root).collect();
        for node in std::iter::once(field).chain(&all) {
            if let Some(items) = node.items.as_ref().and_then(|items| items.parse().ok()) {
                self.object(&format!("{path}[]"), &items, depth);
            }
        }
    }

    /// The description of a field, or of what it refers to.
    fn description(&self, field: &Node) -> String {
        let own = field.description.clone().or_else(|| field.title.clone());
        let referred = || alternatives(field, self.root).find_map(|it| it.description);
        let text = own.or_else(referred).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// What values fit: `integer, 1 to 10`, `"a" | "b"`, `array of string`.
    fn kind(&self, node: &Node, depth: usize) -> String {
        let values: Vec<&str> =
            node.r#enum.iter().flatten().chain(&node.r#const).map(RawJson::as_str).collect();
        let mut kind = match values.is_empty() {
            false => values.join(" | "),
            true => self.type_of(node, depth),
        };
        for restriction in restrictions(node) {
            kind.push_str(&format!(", {restriction}"));
        }
        kind
    }

    fn type_of(&self, node: &Node, depth: usize) -> String {
        let of_items = |items: &RawJson| {
            let items: Node = items.parse().unwrap_or_default();
            depth.checked_sub(1).map(|depth| self.kind(&items, depth))
        };
        let own = types(node, self.root, DEEPEST);
        if node.r#type.is_none() && depth > 0 {
            let all = alternatives(node, self.root).map(|one| self.kind(&one, depth - 1));
            let mut all: Vec<String> = all.collect();
            all.dedup();
            if !all.is_empty() {
                return all.join(" | ");
            }
        }
        match node.items.as_ref().and_then(of_items) {
            Some(items) if own.0.contains(&JsonType::Array) => {
                own.to_string().replace("array", &format!("array of {items}"))
            }
            _ => own.to_string(),
        }
    }
}

/// What else a value must be, in words.
fn restrictions(node: &Node) -> Vec<String> {
    let range = |low: &Option<RawJson>, high: &Option<RawJson>, unit: &str| match (low, high) {
        (Some(low), Some(high)) => Some(format!("{} to {}{unit}", low.as_str(), high.as_str())),
        (Some(low), None) => Some(format!("at least {}{unit}", low.as_str())),
        (None, Some(high)) => Some(format!("at most {}{unit}", high.as_str())),
        (None, None) => None,
    };
    let more = |limit: &Option<RawJson>, word: &str| {
        limit.as_ref().map(|limit| format!("{word} than {}", limit.as_str()))
    };
    let all = [
        range(&node.minimum, &node.maximum, ""),
        more(&node.exclusive_minimum, "more"),
        more(&node.exclusive_maximum, "less"),
        range(&node.min_length, &node.max_length, " characters"),
        range(&node.min_items, &node.max_items, " elements"),
        node.format.clone(),
        node.pattern.as_ref().map(|pattern| format!("matches `{pattern}`")),
        node.default.as_ref().map(|default| format!("default {}", default.as_str())),
    ];
    all.into_iter().flatten().collect()
}

/// The values that a schema lists, if it allows no others.
pub(super) fn values(node: &Node, root: &Schema, depth: usize) -> Option<Vec<RawJson>> {
    let own: Vec<RawJson> = node.r#enum.iter().flatten().chain(&node.r#const).cloned().collect();
    if !own.is_empty() {
        return Some(own);
    }
    let depth = depth.checked_sub(1)?;
    let all: Vec<Node> = alternatives(node, root).collect();
    if all.is_empty() {
        let is_null = types(node, root, DEEPEST).0 == [JsonType::Null];
        return is_null.then(|| RawJson::from_text("null").ok()).flatten().map(|it| vec![it]);
    }
    let all: Option<Vec<Vec<RawJson>>> = all.iter().map(|it| values(it, root, depth)).collect();
    all.map(|all| all.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(schema: &str) -> String {
        let schema = Schema::new(RawJson::from_text(schema).unwrap()).unwrap();
        let line = |field: &Field| {
            let mark = if field.is_required { "" } else { "?" };
            format!("{}{mark} {}\n", field.path, field.described())
        };
        fields(&schema).iter().map(line).collect()
    }

    #[test]
    fn nested_fields_have_paths_types_values_and_limits() {
        let schema = r##"{"type":"object","required":["order"],
            "properties":{
                "order":{"type":"object","required":["size"],"description":"What\n to order",
                    "properties":{"size":{"$ref":"#/$defs/Size"},
                                  "extras":{"type":"array","items":{"type":"object",
                                      "properties":{"name":{"type":"string","maxLength":9}}}}}},
                "count":{"type":"integer","minimum":1,"maximum":10,"default":1},
                "tags":{"type":"array","items":{"type":"string"}},
                "note":{"anyOf":[{"type":"string","format":"date"},{"type":"null"}]}},
            "$defs":{"Size":{"enum":["small","large"],"description":"How large"}}}"##;
        assert_eq!(
            shown(schema),
            "order object: What to order\n\
             order.size \"small\" | \"large\": How large\n\
             order.extras? array of object\n\
             order.extras[].name? string, at most 9 characters\n\
             count? integer, 1 to 10, default 1\n\
             tags? array of string\n\
             note? string, date | null\n"
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_has_a_bounded_number_of_fields() {
        let schema = r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object",
            "properties":{"w":{"$ref":"#/$defs/A"},"x":{"$ref":"#/$defs/A"},
                          "y":{"$ref":"#/$defs/A"},"z":{"$ref":"#/$defs/A"}}}}}"##;
        let schema = Schema::new(RawJson::from_text(schema).unwrap()).unwrap();
        assert_eq!(fields(&schema).len(), MOST);
    }
}
