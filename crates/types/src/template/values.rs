//! Splits the text that an expression matched into the values of its variables.
//!
//! Matching has found where the text of each expression begins and ends. Here it is cut at
//! separators, names and commas, and decoded. A variable that occurs twice must have one value.

use std::collections::BTreeMap;

use super::{
    Expression, Modifier, Operator, TemplateValue, TemplateVariable, Variables, is_reserved,
};

/// The values found so far, each with the modifier of its variable. A prefix (`{name:3}`) is only a
/// part of the value; the longest part that was found counts.
#[derive(Default)]
pub(super) struct Found(BTreeMap<String, (TemplateValue, Modifier)>);

impl Found {
    pub(super) fn into_variables(self) -> Variables {
        let mut variables = BTreeMap::new();
        for (name, (value, _)) in self.0 {
            variables.insert(name, value);
        }
        Variables(variables)
    }

    /// Adds the values of an expression. `None` if they do not fit its variables.
    pub(super) fn add(&mut self, expression: &Expression, text: &[u8]) -> Option<()> {
        let text = std::str::from_utf8(text).ok()?;
        match expression.operator.is_named() {
            true => self.add_named(expression, text),
            false => self.add_in_order(expression, text),
        }
    }

    /// For operators without names: the values come in the order of the variables, and the last
    /// takes the rest.
    fn add_in_order(&mut self, expression: &Expression, text: &str) -> Option<()> {
        let operator = expression.operator;
        let mut rest = Some(text);
        let mut variables = expression.variables.iter().peekable();
        while let Some(variable) = variables.next() {
            let Some(text) = rest else { break };
            let value = match variable.modifier {
                Modifier::Explode => exploded(operator, &mut rest)?,
                _ if variables.peek().is_none() => plain(operator, rest.take()?)?,
                _ => {
                    let (one, others) = split(text, operator.separator());
                    rest = others;
                    plain(operator, one)?
                }
            };
            self.set(variable, value)?;
        }
        rest.is_none().then_some(())
    }

    /// For `;`, `?` and `&`: each value comes with its name, in any order. A name that no variable
    /// has belongs to the one with `*`.
    fn add_named(&mut self, expression: &Expression, text: &str) -> Option<()> {
        let operator = expression.operator;
        let mut members = vec![Vec::new(); expression.variables.len()];
        for pair in text.split(operator.separator()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let has_name = |variable: &TemplateVariable| variable.name == name;
            let explodes = |variable: &TemplateVariable| variable.modifier == Modifier::Explode;
            let variables = &expression.variables;
            let known = variables.iter().position(has_name);
            let index = known.or_else(|| variables.iter().position(explodes))?;
            members.get_mut(index)?.push((name, value));
        }
        for (variable, members) in expression.variables.iter().zip(members) {
            let is_own = |(name, _): &(&str, &str)| *name == variable.name;
            let value = match (variable.modifier, members.as_slice()) {
                (_, []) => continue,
                (Modifier::Explode, members) if members.iter().all(is_own) => {
                    let item = |(_, value): &(&str, &str)| decode(operator, value);
                    TemplateValue::List(members.iter().map(item).collect::<Option<_>>()?)
                }
                (Modifier::Explode, members) => {
                    let pair = |(name, value): &(&str, &str)| {
                        Some((decode(operator, name)?, decode(operator, value)?))
                    };
                    TemplateValue::Pairs(members.iter().map(pair).collect::<Option<_>>()?)
                }
                (_, [(_, value)]) => plain(operator, value)?,
                _ => return None,
            };
            self.set(variable, value)?;
        }
        Some(())
    }

    /// Records a value. `None` if the same variable had another value before.
    fn set(&mut self, variable: &TemplateVariable, value: TemplateValue) -> Option<()> {
        use Modifier::Prefix;
        let modifier = variable.modifier;
        if let Prefix(length) = modifier {
            let TemplateValue::Text(text) = &value else { return None };
            (text.chars().count() <= length).then_some(())?;
        }
        let Some((earlier, known)) = self.0.get(&variable.name) else {
            self.0.insert(variable.name.clone(), (value, modifier));
            return Some(());
        };
        let is_whole_value_new = match (*known, modifier) {
            (Prefix(a), Prefix(b)) => a < b,
            (Prefix(_), _) => true,
            _ => false,
        };
        let agree = match (*known, modifier) {
            (Prefix(a), Prefix(b)) => first(earlier, a.min(b)) == first(&value, a.min(b)),
            (Prefix(length), _) => first(&value, length) == first(earlier, length),
            (_, Prefix(length)) => first(earlier, length) == first(&value, length),
            _ => *earlier == value,
        };
        agree.then_some(())?;
        if is_whole_value_new {
            self.0.insert(variable.name.clone(), (value, modifier));
        }
        Some(())
    }
}

/// The first characters of a value, if it is one text.
fn first(value: &TemplateValue, length: usize) -> Option<String> {
    match value {
        TemplateValue::Text(text) => Some(text.chars().take(length).collect()),
        TemplateValue::List(_) | TemplateValue::Pairs(_) => None,
    }
}

/// The text before a separator, and the text after it if there is a separator.
fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(one, others)| (one, Some(others)))
}

/// A value without `*`: a list if it contains raw commas, unless the operator allows them in text.
fn plain(operator: Operator, text: &str) -> Option<TemplateValue> {
    if operator.allows_reserved() || !text.contains(',') {
        return decode(operator, text).map(TemplateValue::Text);
    }
    text.split(',')
        .map(|item| decode(operator, item))
        .collect::<Option<_>>()
        .map(TemplateValue::List)
}

/// Takes the items of a value with `*` from the front: all leading pairs, or if there are none all
/// leading items.
fn exploded(operator: Operator, rest: &mut Option<&str>) -> Option<TemplateValue> {
    let is_pair = |text: &str| !operator.allows_reserved() && text.contains('=');
    let (mut pairs, mut items) = (Vec::new(), Vec::new());
    let takes_pairs = is_pair(split(rest.as_ref()?, operator.separator()).0);
    while let Some(text) = *rest {
        let (one, others) = split(text, operator.separator());
        match one.split_once('=') {
            _ if is_pair(one) != takes_pairs => break,
            Some((name, value)) if takes_pairs => {
                pairs.push((decode(operator, name)?, decode(operator, value)?));
            }
            _ => items.push(decode(operator, one)?),
        }
        *rest = others;
    }
    Some(if takes_pairs { TemplateValue::Pairs(pairs) } else { TemplateValue::List(items) })
}

/// Percent-decodes a text. `None` if the result is not UTF-8.
///
/// Operators that allow reserved characters unencoded keep encoded ones encoded: there `%2F` is not
/// the same as `/`.
fn decode(operator: Operator, text: &str) -> Option<String> {
    let stays = |byte: u8| operator.allows_reserved() && (is_reserved(byte) || byte == b'%');
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = match octet(rest) {
            Some((byte, after)) if !stays(byte) => {
                bytes.push(byte);
                after
            }
            _ => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8(bytes).ok()
}

/// The encoded byte at the beginning, and the text after it.
fn octet(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'%', high, low, after @ ..] = text else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = digit(*high)? * 16 + digit(*low)?;
    Some((u8::try_from(byte).ok()?, after))
}
