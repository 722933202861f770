//! Arguments of tools that are mirrored into HTTP headers: finds the marks in a tool's schema, and
//! refuses tools that mark arguments wrongly.
//!
//! A property of a tool's `inputSchema` with the keyword `x-mcp-header` is also sent as the header
//! `Mcp-Param-<name>`, so that gateways need not read bodies ([custom headers]). A client that
//! speaks HTTP must leave out tools whose marks break the rules. Other transports may ignore the
//! marks, and this client does.
//!
//! [custom headers]:
//! https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters

use std::collections::HashSet;
use std::fmt;

use bowline_types::json::Schema;
use bowline_types::tool::ToolDefinition;
use serde_json::{Map, Value};

/// The keyword that marks a property.
const MARK: &str = "x-mcp-header";

/// Keywords whose value is a schema, or an array of schemas.
const SCHEMAS: &[&str] = &[
    "items",
    "prefixItems",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "contentSchema",
];

/// Keywords whose value is an object of schemas. Only `properties` may lead to a mark.
const NAMED_SCHEMAS: &[&str] =
    &["patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// An argument that is mirrored into a header. Found once for each tool, when its schema is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MirroredParam {
    /// The names of the properties from the arguments down to the value.
    pub path: Vec<String>,
    /// The name of the header without `Mcp-Param-`.
    pub name: String,
}

impl MirroredParam {
    /// A mark with this header name, on the property at this path.
    pub fn new<'a>(path: impl IntoIterator<Item = &'a str>, name: &str) -> Self {
        Self { path: path.into_iter().map(str::to_owned).collect(), name: name.to_owned() }
    }
}

/// Keeps the tools whose marks obey the rules. For each other tool, `warn` gets a line for the log.
/// A client must not offer such a tool over HTTP (XMH-11, XMH-12), since it could not send its
/// headers.
pub fn retain_valid(tools: &mut Vec<ToolDefinition>, mut warn: impl FnMut(&str)) {
    tools.retain(|tool| match mirrored(&tool.input_schema) {
        Ok(_) => true,
        Err(reason) => {
            warn(&format!("the tool `{}` is left out: {reason}", tool.name));
            false
        }
    });
}

/// The arguments that a tool with this `inputSchema` marks.
///
/// Whether an integer is within the exact range is checked when the tool is called.
///
/// # Errors
///
/// If a mark breaks a rule; the whole tool is invalid then.
pub fn mirrored(schema: &Schema) -> Result<Vec<MirroredParam>, InvalidHeaderMark> {
    let text = schema.as_str();
    // Most schemas have no mark, so they are not parsed. A mark may be written with escapes.
    if !text.contains(MARK) && !text.contains('\\') {
        return Ok(Vec::new());
    }
    // The text is part of a parsed message, so it is valid JSON.
    let schema: Value = schema.parse().unwrap_or_default();
    let mut marks = FoundMarks::default();
    marks.read(&schema, &mut Vec::new(), Reach::Root)?;
    Ok(marks.found)
}

/// The marks found so far. The first invalid mark ends the search: one is enough to leave the tool
/// out.
#[derive(Default)]
struct FoundMarks {
    found: Vec<MirroredParam>,
    /// The header names in lower case, because headers ignore case.
    names: HashSet<String>,
}

/// How a schema was reached. A mark counts only where the path to the argument is certain: not
/// inside arrays, alternatives or conditions (XMH-9, XMH-10).
#[derive(Clone, Copy, PartialEq)]
enum Reach {
    /// It is the whole schema.
    Root,
    /// Through `properties` alone.
    Properties,
    /// Through anything else.
    Other,
}

impl FoundMarks {
    /// Looks for marks in a schema and in all schemas inside it. Data, such as the values of `enum`
    /// and `default`, holds no marks. Recursion is safe, because messages have a depth limit.
    fn read(
        &mut self,
        schema: &Value,
        path: &mut Vec<String>,
        reach: Reach,
    ) -> Result<(), InvalidHeaderMark> {
        let Some(keywords) = schema.as_object() else { return Ok(()) };
        if let Some(mark) = keywords.get(MARK) {
            let mirrored = check(mark, keywords, reach)
                .and_then(|name| self.claim(name))
                .map(|name| MirroredParam { path: path.clone(), name });
            self.found.push(mirrored.map_err(|reason| InvalidHeaderMark::new(path, reason))?);
        }
        for (keyword, value) in keywords {
            let within = if reach == Reach::Other { Reach::Other } else { Reach::Properties };
            match keyword.as_str() {
                "properties" => self.read_named(value, path, within)?,
                word if NAMED_SCHEMAS.contains(&word) => {
                    path.push(word.to_owned());
                    self.read_named(value, path, Reach::Other)?;
                    path.pop();
                }
                word if SCHEMAS.contains(&word) => {
                    path.push(word.to_owned());
                    let many = value.as_array().map(Vec::as_slice);
                    for schema in many.unwrap_or(std::slice::from_ref(value)) {
                        self.read(schema, path, Reach::Other)?;
                    }
                    path.pop();
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Looks for marks in an object of schemas by name.
    fn read_named(
        &mut self,
        schemas: &Value,
        path: &mut Vec<String>,
        reach: Reach,
    ) -> Result<(), InvalidHeaderMark> {
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            path.push(name.clone());
            self.read(schema, path, reach)?;
            path.pop();
        }
        Ok(())
    }

    /// Takes a header name, unless another mark has it.
    fn claim(&mut self, name: &str) -> Result<String, String> {
        if self.names.insert(name.to_ascii_lowercase()) {
            Ok(name.to_owned())
        } else {
            Err(format!("the name `{name}` is used twice (case does not count)"))
        }
    }
}

/// The header name that a mark gives its property. The reason is a fragment for the log, after the
/// place of the mark.
fn check<'a>(
    mark: &'a Value,
    keywords: &Map<String, Value>,
    reach: Reach,
) -> Result<&'a str, String> {
    match reach {
        Reach::Properties => {}
        Reach::Root => return Err("it stands at the root, not on a property".to_owned()),
        Reach::Other => {
            return Err("only a chain of `properties` may lead to it, no other keyword".to_owned());
        }
    }
    let Some(name) = mark.as_str() else { return Err("its value is not a text".to_owned()) };
    if name.is_empty() {
        return Err("its name is empty".to_owned());
    }
    if let Some(bad) = name.chars().find(|character| !is_token(*character)) {
        return Err(format!("its name holds {bad:?}, which no header name may hold"));
    }
    match keywords.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(name),
        Some(other) => {
            Err(format!("the property is a {other}; only string, integer and boolean are mirrored"))
        }
        None => Err("the property has no single `type` of string, integer or boolean".to_owned()),
    }
}

/// Whether a character may be in the name of a header (`tchar` of RFC 9110).
fn is_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(character)
}

/// Why a tool that marks arguments is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidHeaderMark {
    path: String,
    reason: String,
}

impl InvalidHeaderMark {
    fn new(path: &[String], reason: String) -> Self {
        Self { path: path.join("."), reason }
    }
}

impl fmt::Display for InvalidHeaderMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{MARK}` at `inputSchema` `{}`: {}", self.path, self.reason)
    }
}

impl std::error::Error for InvalidHeaderMark {}

#[cfg(test)]
mod tests;
