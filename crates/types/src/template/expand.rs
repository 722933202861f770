//! Expands a template into a URI.

use std::fmt;

use super::{
    Expression, Modifier, Operator, TemplateValue, TemplateVariable, UriTemplate, Variables,
};
use super::{is_reserved, is_unreserved, push_octet, starts_with_octet};

impl UriTemplate {
    /// The URI in which the variables have these values. Variables without a value, or with an
    /// empty list, are left out.
    ///
    /// # Errors
    ///
    /// If the template takes the first characters (`{name:3}`) of a list or of pairs.
    pub fn expand(&self, variables: &Variables) -> Result<String, PrefixOfMany> {
        let mut uri = self.head.clone();
        for part in &self.parts {
            part.expression.expand(variables, &mut uri)?;
            uri.push_str(&part.literal);
        }
        Ok(uri)
    }
}

/// The error for a `{name:3}` whose value is not one text. The only way in which an expansion can
/// fail.
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
    /// The first piece is preceded by the mark of the operator, the others by its separator.
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

/// The texts of one variable, without the separators between them. Follows the table of RFC 6570,
/// section 3.2.1, for each operator and modifier.
fn pieces(
    operator: Operator,
    variable: &TemplateVariable,
    value: &TemplateValue,
) -> Result<Vec<String>, PrefixOfMany> {
    let name = variable.name.as_str();
    let encoded = |text: &str| encode(text, operator);
    Ok(match (value, variable.modifier) {
        (TemplateValue::Text(text), Modifier::Prefix(length)) => {
            let prefix: String = text.chars().take(length).collect();
            vec![piece(operator, name, &encoded(&prefix))]
        }
        (TemplateValue::Text(text), _) => vec![piece(operator, name, &encoded(text))],
        (_, Modifier::Prefix(_)) => return Err(PrefixOfMany { name: name.to_owned() }),
        (TemplateValue::List(items), Modifier::Explode) => {
            items.iter().map(|item| piece(operator, name, &encoded(item))).collect()
        }
        (TemplateValue::Pairs(pairs), Modifier::Explode) => {
            let pair = |(key, value): &(String, String)| match operator.is_named() {
                true => piece(operator, &encoded(key), &encoded(value)),
                false => format!("{}={}", encoded(key), encoded(value)),
            };
            pairs.iter().map(pair).collect()
        }
        (TemplateValue::List(items), Modifier::None) if items.is_empty() => Vec::new(),
        (TemplateValue::Pairs(pairs), Modifier::None) if pairs.is_empty() => Vec::new(),
        (TemplateValue::List(items), Modifier::None) => {
            let items: Vec<_> = items.iter().map(|item| encoded(item)).collect();
            vec![piece(operator, name, &items.join(","))]
        }
        (TemplateValue::Pairs(pairs), Modifier::None) => {
            let pair = |(key, value): &(String, String)| [encoded(key), encoded(value)];
            let pairs: Vec<_> = pairs.iter().flat_map(pair).collect();
            vec![piece(operator, name, &pairs.join(","))]
        }
    })
}

/// An encoded value, with its name if the operator writes names.
fn piece(operator: Operator, name: &str, value: &str) -> String {
    match operator {
        Operator::Parameter if value.is_empty() => name.to_owned(),
        operator if operator.is_named() => format!("{name}={value}"),
        _ => value.to_owned(),
    }
}

/// Operators that allow reserved characters also keep octets that are encoded already.
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
