//! Fills a template in.

use std::fmt;

use super::{Expression, Modifier, Operator, UriTemplate, Value, Variable, Variables};
use super::{is_reserved, is_unreserved, push_octet, starts_with_octet};

impl UriTemplate {
    /// Writes the URI in which the variables have these values. Variables without a value, or
    /// with an empty list, leave no trace.
    ///
    /// # Errors
    ///
    /// If the template asks for the first characters (`{name:3}`) of a list or of pairs.
    pub fn expand(&self, variables: &Variables) -> Result<String, PrefixOfMany> {
        let mut uri = self.head.clone();
        for step in &self.steps {
            step.expression.expand(variables, &mut uri)?;
            uri.push_str(&step.literal);
        }
        Ok(uri)
    }
}

/// A variable of which a template wants the first characters, though its value is a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixOfMany {
    name: String,
}

impl fmt::Display for PrefixOfMany {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name } = self;
        write!(
            f,
            "variable `{name}`: the template wants its first characters, so it must be one text"
        )
    }
}

impl std::error::Error for PrefixOfMany {}

impl Expression {
    fn expand(&self, variables: &Variables, uri: &mut String) -> Result<(), PrefixOfMany> {
        let mut is_first = true;
        for variable in &self.variables {
            let Some(value) = variables.value(&variable.name) else { continue };
            for piece in pieces(self.operator, variable, value)? {
                if is_first {
                    uri.push_str(self.operator.first());
                } else {
                    uri.push(self.operator.separator());
                }
                is_first = false;
                uri.push_str(&piece);
            }
        }
        Ok(())
    }
}

/// What a variable contributes: the texts that stand between separators.
fn pieces(
    operator: Operator,
    variable: &Variable,
    value: &Value,
) -> Result<Vec<String>, PrefixOfMany> {
    let name = variable.name.as_str();
    let encoded = |text: &str| encode(text, operator);
    Ok(match (value, variable.modifier) {
        (Value::Text(text), Modifier::Prefix(length)) => {
            let prefix: String = text.chars().take(length).collect();
            vec![piece(operator, name, &encoded(&prefix))]
        }
        (Value::Text(text), _) => vec![piece(operator, name, &encoded(text))],
        (_, Modifier::Prefix(_)) => return Err(PrefixOfMany { name: name.to_owned() }),
        (Value::List(items), Modifier::Explode) => {
            items.iter().map(|item| piece(operator, name, &encoded(item))).collect()
        }
        (Value::Pairs(pairs), Modifier::Explode) => {
            let pair = |(key, value): &(String, String)| match operator.is_named() {
                true => piece(operator, &encoded(key), &encoded(value)),
                false => format!("{}={}", encoded(key), encoded(value)),
            };
            pairs.iter().map(pair).collect()
        }
        (Value::List(items), Modifier::None) if items.is_empty() => Vec::new(),
        (Value::Pairs(pairs), Modifier::None) if pairs.is_empty() => Vec::new(),
        (Value::List(items), Modifier::None) => {
            let items: Vec<_> = items.iter().map(|item| encoded(item)).collect();
            vec![piece(operator, name, &items.join(","))]
        }
        (Value::Pairs(pairs), Modifier::None) => {
            let pair = |(key, value): &(String, String)| [encoded(key), encoded(value)];
            let pairs: Vec<_> = pairs.iter().flat_map(pair).collect();
            vec![piece(operator, name, &pairs.join(","))]
        }
    })
}

/// A value that is encoded already, with its name where the operator wants it.
fn piece(operator: Operator, name: &str, value: &str) -> String {
    match operator {
        Operator::Parameter if value.is_empty() => name.to_owned(),
        operator if operator.is_named() => format!("{name}={value}"),
        _ => value.to_owned(),
    }
}

fn encode(text: &str, operator: Operator) -> String {
    let mut encoded = String::with_capacity(text.len());
    for (offset, byte) in text.bytes().enumerate() {
        let is_octet = || starts_with_octet(&text.as_bytes()[offset..]);
        let stays = is_unreserved(byte)
            || operator.allows_reserved() && (is_reserved(byte) || byte == b'%' && is_octet());
        if stays {
            encoded.push(char::from(byte));
        } else {
            push_octet(&mut encoded, byte);
        }
    }
    encoded
}
