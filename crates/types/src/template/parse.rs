//! Parses the text of a template, and reports where it breaks the grammar.
//!
//! The grammar is that of RFC 6570, level 4, without the reserved operators. A template comes from
//! the author of a server, or from a server that a client lists; an error names the place in the
//! text.

use super::{
    Expression, InvalidTemplate, Modifier, Operator, TemplatePart, TemplateVariable, UriTemplate,
};
use super::{is_reserved, is_unreserved, push_octet, starts_with_octet};

/// The position and the reason of an error.
type ParseFailure = (usize, String);

pub(super) fn template(text: &str) -> Result<UriTemplate, InvalidTemplate> {
    read(text).map_err(|(position, reason)| {
        let shown = text.chars().take(200).collect();
        InvalidTemplate { text: shown, position, reason }
    })
}

/// Length and number of variables are bounded, because matching costs as much for each of them.
fn read(text: &str) -> Result<UriTemplate, ParseFailure> {
    if text.len() > UriTemplate::MAX_LENGTH {
        let reason = format!("it is longer than {} bytes", UriTemplate::MAX_LENGTH);
        return Err((UriTemplate::MAX_LENGTH, reason));
    }
    let (head, mut rest) = split_literal(text);
    let mut template =
        UriTemplate { text: text.to_owned(), head: literal(head, 0)?, parts: Vec::new() };
    while let Some(opened) = rest.strip_prefix('{') {
        let start = text.len() - opened.len();
        let Some((inside, after)) = opened.split_once('}') else {
            return Err((start - 1, "`{` is never closed by `}`".to_owned()));
        };
        let expression = expression(inside, start)?;
        if template.variables().count() + expression.variables.len() > UriTemplate::MAX_VARIABLES {
            let reason = format!("it uses more than {} variables", UriTemplate::MAX_VARIABLES);
            return Err((start, reason));
        }
        let (between, next) = split_literal(after);
        let literal = literal(between, text.len() - after.len())?;
        template.parts.push(TemplatePart { expression, literal });
        rest = next;
    }
    Ok(template)
}

/// Splits off the text before the next expression.
fn split_literal(text: &str) -> (&str, &str) {
    text.split_at(text.find('{').unwrap_or(text.len()))
}

/// Parses text outside of braces, and encodes characters that a URI must not contain.
fn literal(text: &str, start: usize) -> Result<String, ParseFailure> {
    let mut encoded = String::with_capacity(text.len());
    for (offset, c) in text.char_indices() {
        let position = start + offset;
        match c {
            '%' if !starts_with_octet(&text.as_bytes()[offset..]) => {
                return Err((position, "`%` is not followed by two hex digits".to_owned()));
            }
            '}' => return Err((position, "`}` closes nothing".to_owned())),
            '%' => encoded.push(c),
            c if c.is_ascii() && (is_unreserved(c as u8) || is_reserved(c as u8)) => {
                encoded.push(c);
            }
            c if c.is_ascii() => {
                return Err((position, format!("{c:?} cannot stand in a URI; encode it")));
            }
            c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push_octet(&mut encoded, byte)),
        }
    }
    Ok(encoded)
}

/// The text between braces: an operator, if the first character is one, and variables with commas
/// between them.
fn expression(inside: &str, start: usize) -> Result<Expression, ParseFailure> {
    let (operator, list) = match inside.as_bytes().first() {
        Some(b'+') => (Operator::Reserved, &inside[1..]),
        Some(b'#') => (Operator::Fragment, &inside[1..]),
        Some(b'.') => (Operator::Label, &inside[1..]),
        Some(b'/') => (Operator::Path, &inside[1..]),
        Some(b';') => (Operator::Parameter, &inside[1..]),
        Some(b'?') => (Operator::Query, &inside[1..]),
        Some(b'&') => (Operator::Continuation, &inside[1..]),
        Some(b'=' | b',' | b'!' | b'@' | b'|') => {
            let operator = &inside[..1];
            return Err((
                start,
                format!("the operator `{operator}` is reserved and has no meaning"),
            ));
        }
        _ => (Operator::Simple, inside),
    };
    let mut position = start + inside.len() - list.len();
    let mut variables = Vec::new();
    for text in list.split(',') {
        variables.push(variable(text, position)?);
        position += text.len() + 1;
    }
    Ok(Expression { operator, variables })
}

/// A name, perhaps with `*` (one piece for each item) or `:3` (the first characters).
fn variable(text: &str, start: usize) -> Result<TemplateVariable, ParseFailure> {
    let (name, modifier) = match (text.strip_suffix('*'), text.split_once(':')) {
        (Some(name), _) => (name, Modifier::Explode),
        (None, Some((name, length))) => {
            (name, Modifier::Prefix(prefix_length(length, start + name.len() + 1)?))
        }
        (None, None) => (text, Modifier::None),
    };
    check_name(name, start)?;
    Ok(TemplateVariable { name: name.to_owned(), modifier })
}

/// RFC 6570 allows up to four digits, the first of them not zero.
fn prefix_length(digits: &str, start: usize) -> Result<usize, ParseFailure> {
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    match digits.parse() {
        Ok(length @ 1..=9999) if is_number => Ok(length),
        _ => Err((start, "a prefix is a number from 1 to 9999".to_owned())),
    }
}

/// Letters, digits, `_`, encoded octets, and `.` between labels.
fn check_name(name: &str, start: usize) -> Result<(), ParseFailure> {
    if name.is_empty() {
        return Err((start, "the name of a variable is missing".to_owned()));
    }
    let mut position = start;
    for label in name.split('.') {
        if label.is_empty() {
            return Err((
                position,
                "a name cannot begin or end with `.`, nor contain `..`".to_owned(),
            ));
        }
        let mut rest = label.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            let at = position + label.len() - rest.len();
            rest = match byte {
                b'%' if starts_with_octet(rest) => &rest[3..],
                byte if byte.is_ascii_alphanumeric() || *byte == b'_' => after,
                _ => {
                    let reason = "a name holds only letters, digits, `_`, `.` and encoded octets";
                    return Err((at, reason.to_owned()));
                }
            };
        }
        position += label.len() + 1;
    }
    Ok(())
}
