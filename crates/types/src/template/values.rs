//! Takes the text that an expression matched apart into the values of its variables.

use std::collections::BTreeMap;

use super::{Expression, Modifier, Operator, Value, Variable, Variables, starts_with_octet};

/// The values found so far.
#[derive(Default)]
pub(super) struct Found(BTreeMap<String, (Value, Modifier)>);

impl Found {
    pub(super) fn into_variables(self) -> Variables {
        Variables(self.0.into_iter().map(|(name, (value, _))| (name, value)).collect())
    }

    /// Takes the values of an expression apart; fails if they do not fit its variables.
    pub(super) fn add(&mut self, expression: &Expression, text: &[u8]) -> Option<()> {
        let text = std::str::from_utf8(text).ok()?;
        match expression.operator.is_named() {
            true => self.add_named(expression, text),
            false => self.add_in_order(expression, text),
        }
    }

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

    fn add_named(&mut self, expression: &Expression, text: &str) -> Option<()> {
        let mut members: Vec<(&Variable, Value)> = Vec::new();
        for pair in text.split(expression.operator.separator()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let known = expression.variables.iter().find(|variable| variable.name == name);
            let any = || expression.variables.iter().find(|it| it.modifier == Modifier::Explode);
            let variable = known.or_else(any)?;
            let earlier = members.iter_mut().find(|(earlier, _)| earlier.name == variable.name);
            match (variable.modifier, known, earlier) {
                (Modifier::Explode, Some(_), Some((_, Value::List(items)))) => {
                    items.push(decode(value)?);
                }
                (Modifier::Explode, None, Some((_, Value::Pairs(pairs)))) => {
                    pairs.push((decode(name)?, decode(value)?));
                }
                (_, _, Some(_)) => return None,
                (Modifier::Explode, Some(_), None) => {
                    members.push((variable, Value::List(vec![decode(value)?])));
                }
                (_, None, None) => {
                    let pair = (decode(name)?, decode(value)?);
                    members.push((variable, Value::Pairs(vec![pair])));
                }
                (_, Some(_), None) => {
                    members.push((variable, plain(expression.operator, value)?));
                }
            }
        }
        members.into_iter().try_for_each(|(variable, value)| self.set(variable, value))
    }

    /// Notes a value. A variable that is used twice must agree with itself.
    fn set(&mut self, variable: &Variable, value: Value) -> Option<()> {
        use Modifier::Prefix;
        let modifier = variable.modifier;
        if let Prefix(length) = modifier {
            let Value::Text(text) = &value else { return None };
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
fn first(value: &Value, length: usize) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.chars().take(length).collect()),
        Value::List(_) | Value::Pairs(_) => None,
    }
}

/// The text before a separator, and the text after it if there is one.
fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    text.split_once(separator).map_or((text, None), |(one, others)| (one, Some(others)))
}

/// A value that is not exploded: a list if it holds raw commas, unless they may be part of text.
fn plain(operator: Operator, text: &str) -> Option<Value> {
    if operator.allows_reserved() || !text.contains(',') {
        return decode(text).map(Value::Text);
    }
    text.split(',').map(decode).collect::<Option<_>>().map(Value::List)
}

/// Takes the members of an exploded value from the front: as many pairs as there are, or, if
/// there is none, as many items.
fn exploded(operator: Operator, rest: &mut Option<&str>) -> Option<Value> {
    let is_pair = |text: &str| !operator.allows_reserved() && text.contains('=');
    let (mut pairs, mut items) = (Vec::new(), Vec::new());
    let takes_pairs = is_pair(split(rest.as_ref()?, operator.separator()).0);
    while let Some(text) = *rest {
        let (one, others) = split(text, operator.separator());
        match one.split_once('=') {
            _ if is_pair(one) != takes_pairs => break,
            Some((name, value)) if takes_pairs => pairs.push((decode(name)?, decode(value)?)),
            _ => items.push(decode(one)?),
        }
        *rest = others;
    }
    Some(if takes_pairs { Value::Pairs(pairs) } else { Value::List(items) })
}

/// Decodes what is percent-encoded; fails if it is not text.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = match rest {
            [_, high, low, after @ ..] if starts_with_octet(rest) => {
                let digit = |digit: u8| char::from(digit).to_digit(16);
                let octet = digit(*high)? * 16 + digit(*low)?;
                bytes.push(u8::try_from(octet).ok()?);
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
