//! JSON with comments, or TOML, as one kind of tree, and a reader that knows its place in it.

use std::collections::BTreeSet;
use std::path::Path;

use jsonc_parser::ast;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::error::ConfigError;

/// A parsed document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Flag(bool),
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

impl Tree {
    /// Parses TOML if the name of the file ends so, otherwise JSON with comments and trailing commas.
    pub(crate) fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        if file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            return Self::parse_toml(text, file);
        }
        // Editors on Windows begin files with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
        let result = parse_to_ast(text, &collect, &options).map_err(|error| {
            let place = format!("line {} column {}", error.line_display(), error.column_display());
            let problem = format!("no JSON: {}", error.kind());
            ConfigError::new(file, place, problem).with_advice("fix the syntax")
        })?;
        // Hosts take an empty file for an empty configuration.
        result.value.map_or(Ok(Self::Map(Vec::new())), |value| Self::of_json(value, "$", file))
    }

    fn of_json(value: ast::Value<'_>, path: &str, file: &Path) -> Result<Self, ConfigError> {
        Ok(match value {
            ast::Value::NullKeyword(_) => Self::Null,
            ast::Value::BooleanLit(literal) => Self::Flag(literal.value),
            ast::Value::NumberLit(literal) => Self::Number(literal.value.to_owned()),
            ast::Value::StringLit(literal) => Self::Text(literal.value.into_owned()),
            ast::Value::Array(array) => {
                let elements = array.elements.into_iter().enumerate();
                let items = elements
                    .map(|(index, value)| Self::of_json(value, &format!("{path}[{index}]"), file));
                Self::List(items.collect::<Result<_, _>>()?)
            }
            ast::Value::Object(object) => Self::of_object(object, path, file)?,
        })
    }

    fn of_object(object: ast::Object<'_>, path: &str, file: &Path) -> Result<Self, ConfigError> {
        let mut seen = BTreeSet::new();
        let mut members = Vec::with_capacity(object.properties.len());
        for property in object.properties {
            let name = property.name.into_string();
            let path = step(path, &name);
            if !seen.insert(name.clone()) {
                let advice = "remove one of the two: hosts differ in which of them counts";
                let fault = ConfigError::new(file, path, "this name is there twice");
                return Err(fault.with_advice(advice));
            }
            let value = Self::of_json(property.value, &path, file)?;
            members.push((name, value));
        }
        Ok(Self::Map(members))
    }

    fn parse_toml(text: &str, file: &Path) -> Result<Self, ConfigError> {
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let place = format!("line {}", before.matches('\n').count() + 1);
            let problem = format!("no TOML: {}", error.message());
            ConfigError::new(file, place, problem).with_advice("fix the syntax")
        })?;
        Ok(Self::of_toml(toml::Value::Table(table)))
    }

    fn of_toml(value: toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Integer(number) => Self::Number(number.to_string()),
            toml::Value::Float(number) => Self::Number(number.to_string()),
            toml::Value::Boolean(flag) => Self::Flag(flag),
            toml::Value::Datetime(time) => Self::Text(time.to_string()),
            toml::Value::Array(items) => Self::List(items.into_iter().map(Self::of_toml).collect()),
            toml::Value::Table(table) => Self::Map(
                table.into_iter().map(|(name, value)| (name, Self::of_toml(value))).collect(),
            ),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "an array",
            Self::Map(_) => "an object",
        }
    }
}

/// A place in a document.
#[derive(Clone, Debug)]
pub(crate) struct At<'t> {
    tree: &'t Tree,
    path: String,
    file: &'t Path,
}

impl<'t> At<'t> {
    pub(crate) fn root(tree: &'t Tree, file: &'t Path) -> Self {
        Self { tree, path: "$".to_owned(), file }
    }

    pub(crate) fn file(&self) -> &'t Path {
        self.file
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The member with this name, unless it is absent or null.
    pub(crate) fn member(&self, name: &str) -> Option<Self> {
        let Tree::Map(members) = self.tree else { return None };
        let (_, tree) = members.iter().find(|(member, _)| member == name)?;
        let at = Self { tree, path: step(&self.path, name), file: self.file };
        (*tree != Tree::Null).then_some(at)
    }

    /// The first of these members that is there.
    pub(crate) fn member_of(&self, names: &[&str]) -> Option<Self> {
        names.iter().find_map(|name| self.member(name))
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.tree, Tree::Map(_))
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.tree, Tree::List(_))
    }

    pub(crate) fn text(&self) -> Result<&'t str, ConfigError> {
        match self.tree {
            Tree::Text(text) => Ok(text),
            _ => Err(self.wanted("a string")),
        }
    }

    /// Text, or a number or flag as text: people write ports without quotes.
    pub(crate) fn scalar(&self) -> Result<String, ConfigError> {
        match self.tree {
            Tree::Text(text) | Tree::Number(text) => Ok(text.clone()),
            Tree::Flag(flag) => Ok(flag.to_string()),
            _ => Err(self.wanted("a string")),
        }
    }

    pub(crate) fn flag(&self) -> Result<bool, ConfigError> {
        match self.tree {
            Tree::Flag(flag) => Ok(*flag),
            _ => Err(self.wanted("a boolean")),
        }
    }

    pub(crate) fn count(&self) -> Result<u64, ConfigError> {
        match self.tree {
            Tree::Number(text) => text.parse().map_err(|_| self.wanted("a whole number")),
            _ => Err(self.wanted("a whole number")),
        }
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, ConfigError> {
        let Tree::List(items) = self.tree else { return Err(self.wanted("an array")) };
        let items = items.iter().enumerate();
        Ok(items
            .map(|(index, tree)| Self {
                tree,
                path: format!("{}[{index}]", self.path),
                file: self.file,
            })
            .collect())
    }

    pub(crate) fn members(&self) -> Result<Vec<(&'t str, Self)>, ConfigError> {
        let Tree::Map(members) = self.tree else { return Err(self.wanted("an object")) };
        Ok(members
            .iter()
            .map(|(name, tree)| {
                (name.as_str(), Self { tree, path: step(&self.path, name), file: self.file })
            })
            .collect())
    }

    pub(crate) fn fault(&self, problem: impl Into<String>) -> ConfigError {
        ConfigError::new(self.file, self.path.as_str(), problem)
    }

    fn wanted(&self, kind: &str) -> ConfigError {
        self.fault(format!("expected {kind}, found {}", self.tree.kind()))
    }
}

/// The path of a member: names that are no plain words stand in brackets.
fn step(path: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_plain) {
        format!("{path}.{name}")
    } else {
        format!("{path}[{name:?}]")
    }
}
