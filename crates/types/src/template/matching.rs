//! Matches a URI with a template, and finds the values of the variables.
//!
//! Each expression may end in several places; the rest of the template decides which one is right.
//! So the text is swept from right to left, once per expression, to mark the places from which the
//! rest of the template matches. Then it is read from left to right, and every expression ends at
//! the first marked place. No place is visited twice per expression, whatever the URI.

use std::borrow::Cow;

use super::values::Found;
use super::{Expression, Modifier, Operator, TemplateVariable, UriTemplate, Variables};
use super::{is_reserved, is_unreserved, push_octet, starts_with_octet};

impl UriTemplate {
    /// The longest URI that is matched, in bytes; longer ones match nothing.
    pub const MAX_URI: usize = 8 * 1024;

    /// Finds the values of the variables in a URI that matches the template, percent-decoded.
    ///
    /// - A variable without operator, or with `+`, needs at least one character: `users://{id}`
    ///   does not match `users://`. Expressions with another operator may be missing altogether.
    /// - A value ends at the first place from which the rest of the template matches. Only `+` and
    ///   `#` let it run across `/`, `?` and `#`.
    /// - Query parameters may come in any order, but unknown ones match nothing.
    /// - A raw comma makes a [`TemplateValue::List`](super::TemplateValue::List), as does `*`.
    /// - Reserved characters that are encoded stay encoded in values of `+` and `#`: `%2F`.
    /// - Characters that should have been encoded are accepted where they are not ambiguous.
    ///
    /// A decoded value may contain anything, including `../`. Check it before use.
    ///
    /// Time and space are linear in the length of the URI, for each expression of the template.
    pub fn match_uri(&self, uri: &str) -> Option<Variables> {
        if uri.len() > Self::MAX_URI {
            return None;
        }
        let uri = normalize(uri);
        let head = normalize(&self.head);
        let rest = uri.strip_prefix(&*head)?.as_bytes();
        self.read(rest, Reading::Exact).or_else(|| self.read(rest, Reading::Generous))
    }

    /// The second sweep: from left to right, each expression ends at the first place that the first
    /// sweep has marked.
    fn read(&self, text: &[u8], reading: Reading) -> Option<Variables> {
        let literals: Vec<_> = self.parts.iter().map(|part| normalize(&part.literal)).collect();
        let ends_of_parts = self.sweep(text, &literals, reading)?;
        let mut found = Found::default();
        let mut position = 0;
        for ((part, literal), ends) in self.parts.iter().zip(&literals).zip(&ends_of_parts) {
            let expression = ExpressionMatcher::new(&part.expression, text, reading);
            let end = match expression.end_from(position, ends) {
                Some((start, end)) => {
                    found.add(&part.expression, text.get(start..end)?)?;
                    end
                }
                None => position,
            };
            position = end + literal.len();
        }
        (position == text.len()).then(|| found.into_variables())
    }

    /// For each expression, the places where it may end because the rest of the template matches
    /// from there. `None` if the URI does not match.
    fn sweep(
        &self,
        text: &[u8],
        literals: &[Cow<'_, str>],
        reading: Reading,
    ) -> Option<Vec<PositionSet>> {
        let mut ends_of_parts = Vec::with_capacity(self.parts.len());
        let mut reached = PositionSet::only(text.len(), text.len());
        for (part, literal) in self.parts.iter().zip(literals).rev() {
            let ends = before_literal(text, literal.as_bytes(), reached);
            let expression = ExpressionMatcher::new(&part.expression, text, reading);
            reached = expression.before(&ends);
            ends_of_parts.push(ends);
        }
        ends_of_parts.reverse();
        reached.has(0).then_some(ends_of_parts)
    }
}

/// How strictly values are matched. The exact one is tried first, so that a URI which the template
/// made always gives back its values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Values contain only what expanding the template can produce.
    Exact,
    /// Values contain any character that does not end them, as in URIs that people write by hand.
    Generous,
}

/// A set of positions in a text, including its end. One for each expression. It makes the work
/// linear, whatever a client sends as a URI.
struct PositionSet(Vec<bool>);

impl PositionSet {
    fn none(length: usize) -> Self {
        Self(vec![false; length + 1])
    }

    fn only(length: usize, place: usize) -> Self {
        let mut places = Self::none(length);
        places.set(place, true);
        places
    }

    fn set(&mut self, place: usize, is_in: bool) {
        if let Some(slot) = self.0.get_mut(place) {
            *slot = is_in;
        }
    }

    fn has(&self, place: usize) -> bool {
        self.0.get(place).copied().unwrap_or(false)
    }
}

/// The positions where a literal begins that ends at one of these positions (Knuth, Morris and
/// Pratt).
fn before_literal(text: &[u8], literal: &[u8], ends: PositionSet) -> PositionSet {
    if literal.is_empty() {
        return ends;
    }
    let fallback = fallbacks(literal);
    let mut begins = PositionSet::none(text.len());
    let mut matched = 0;
    for (place, byte) in text.iter().enumerate() {
        count_step();
        matched = extend(literal, &fallback, matched, *byte);
        if matched == literal.len() {
            begins.set(place + 1 - matched, ends.has(place + 1));
        }
    }
    begins
}

/// For each prefix of the literal, the length of its longest proper prefix that is also its suffix.
fn fallbacks(literal: &[u8]) -> Vec<usize> {
    let mut fallback = vec![0];
    for byte in literal.iter().skip(1) {
        let matched = fallback.last().copied().unwrap_or(0);
        fallback.push(extend(literal, &fallback, matched, *byte));
    }
    fallback
}

/// How many bytes of the literal match after one more byte.
fn extend(literal: &[u8], fallback: &[usize], mut matched: usize, byte: u8) -> usize {
    while literal.get(matched) != Some(&byte) {
        count_step();
        match matched.checked_sub(1) {
            Some(last) => matched = fallback.get(last).copied().unwrap_or(0),
            None => return 0,
        }
    }
    matched + 1
}

/// Matches one expression in a text.
struct ExpressionMatcher<'a> {
    expression: &'a Expression,
    text: &'a [u8],
    reading: Reading,
    /// The most separators between its values.
    most_separators: usize,
}

/// The meaning of a byte within an expression.
enum ByteKind {
    /// Part of a value.
    Value,
    /// The separator between two values.
    Separator,
    /// Not part of the expression.
    Foreign,
}

impl<'a> ExpressionMatcher<'a> {
    fn new(expression: &'a Expression, text: &'a [u8], reading: Reading) -> Self {
        let explodes = expression.variables.iter().any(|it| it.modifier == Modifier::Explode);
        let most_separators = if explodes { usize::MAX } else { expression.variables.len() - 1 };
        Self { expression, text, reading, most_separators }
    }

    /// The positions where the expression may begin so that it ends at one of these positions.
    fn before(&self, ends: &PositionSet) -> PositionSet {
        let length = self.text.len();
        let mut begins = PositionSet::none(length);
        // For each position, the number of separators before the nearest end. `None` if no end can
        // be reached.
        let mut needed: Vec<Option<usize>> = vec![None; length + 1];
        for place in (0..=length).rev() {
            count_step();
            let after = |next: usize| needed.get(next).copied().flatten();
            let fits = |count: usize| count <= self.most_separators;
            let begins_here = match self.value_start(place) {
                Some(start) => after(start).is_some_and(fits),
                None => false,
            };
            begins.set(place, begins_here || self.may_be_missing() && ends.has(place));
            let count = if ends.has(place) {
                Some(0)
            } else {
                self.next(place).and_then(|(next, crossed)| Some(after(next)? + crossed))
            };
            if let Some(slot) = needed.get_mut(place) {
                *slot = count;
            }
        }
        begins
    }

    /// Where the values begin and end if the expression begins here. `None` if the expression is
    /// absent.
    fn end_from(&self, place: usize, ends: &PositionSet) -> Option<(usize, usize)> {
        let values = place + self.expression.operator.first().len();
        let mut end = self.value_start(place)?;
        let mut separators = 0;
        while !ends.has(end) {
            count_step();
            let (next, crossed) = self.next(end)?;
            separators += crossed;
            if separators > self.most_separators {
                return None;
            }
            end = next;
        }
        Some((values, end))
    }

    /// The earliest position where an expression that begins here may end.
    fn value_start(&self, place: usize) -> Option<usize> {
        match self.expression.operator.first().as_bytes() {
            [] => self.next(place).map(|(next, _)| next),
            first => {
                self.text.get(place..)?.starts_with(first).then_some(())?;
                self.after_name(place + first.len())
            }
        }
    }

    /// The next position inside the expression, and the number of separators before it.
    fn next(&self, place: usize) -> Option<(usize, usize)> {
        match self.kind(*self.text.get(place)?) {
            ByteKind::Value => Some((self.after_character(place), 0)),
            ByteKind::Separator => Some((self.after_name(place + 1)?, 1)),
            ByteKind::Foreign => None,
        }
    }

    /// Skips one character, which may be encoded in up to four octets.
    fn after_character(&self, place: usize) -> usize {
        if self.text.get(place) != Some(&b'%') {
            return place + 1;
        }
        let octets = self.text.get(place + 3..).unwrap_or_default().chunks(3).take(3);
        let is_inner = |octet: &&[u8]| matches!(octet, [b'%', b'8' | b'9' | b'A' | b'B', _]);
        place + 3 + 3 * octets.take_while(is_inner).count()
    }

    /// Skips the name of a value and its `=`, if the expression has a variable of that name.
    fn after_name(&self, place: usize) -> Option<usize> {
        let operator = self.expression.operator;
        if !operator.is_named() {
            return Some(place);
        }
        let rest = self.text.get(place..)?;
        let is_part = |byte: &&u8| is_unreserved(**byte) || **byte == b'%';
        let length = rest.iter().take_while(is_part).inspect(|_| count_step()).count();
        let (name, rest) = rest.split_at_checked(length).filter(|(name, _)| !name.is_empty())?;
        let is_known =
            |it: &TemplateVariable| it.name.as_bytes() == name || it.modifier == Modifier::Explode;
        self.expression.variables.iter().any(is_known).then_some(())?;
        let is_value = |byte: &u8| matches!(self.kind(*byte), ByteKind::Value);
        let (end, has_equals) = (place + length, rest.starts_with(b"="));
        match operator {
            _ if self.reading == Reading::Generous => Some(end + usize::from(has_equals)),
            // Expanding never writes `;name=` without a value, nor `?name` without `=`.
            Operator::Parameter if has_equals => {
                rest.get(1).is_some_and(is_value).then(|| self.after_character(end + 1))
            }
            Operator::Parameter => Some(end),
            _ => has_equals.then_some(end + 1),
        }
    }

    fn kind(&self, byte: u8) -> ByteKind {
        use Operator::{Continuation, Parameter, Path, Query};
        let operator = self.expression.operator;
        let is_list = byte == b',' && (operator.separator() == ',' || self.has_plain());
        match (operator, byte) {
            (Path, b'/') | (Parameter, b';') | (Query | Continuation, b'&') => ByteKind::Separator,
            (_, b'%') => ByteKind::Value,
            (_, byte) if is_unreserved(byte) || is_list => ByteKind::Value,
            (operator, _) if operator.allows_reserved() => ByteKind::Value,
            _ if self.reading == Reading::Exact => ByteKind::Foreign,
            (Query | Continuation, b'/' | b'?') => ByteKind::Value,
            (_, b'/' | b'?' | b'#') => ByteKind::Foreign,
            _ => ByteKind::Value,
        }
    }

    fn has_plain(&self) -> bool {
        self.expression.variables.iter().any(|variable| variable.modifier != Modifier::Explode)
    }

    fn may_be_missing(&self) -> bool {
        !self.expression.operator.first().is_empty()
    }
}

/// Normalizes a URI for comparison with templates: characters that a URI must not contain are
/// encoded, and encoded octets are in upper case.
fn normalize(text: &str) -> Cow<'_, str> {
    let is_plain = |byte: u8| is_unreserved(byte) || is_reserved(byte);
    if text.bytes().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len() + 16);
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = match rest.split_at_checked(3) {
            Some((octet, after)) if starts_with_octet(octet) => {
                normal.extend(octet.iter().map(|byte| char::from(byte.to_ascii_uppercase())));
                after
            }
            _ if is_plain(*byte) => {
                normal.push(char::from(*byte));
                after
            }
            _ => {
                push_octet(&mut normal, *byte);
                after
            }
        };
    }
    Cow::Owned(normal)
}

/// Counts the visited positions, so that tests can check that matching takes linear time.
fn count_step() {
    #[cfg(test)]
    STEPS.with(|steps| steps.set(steps.get() + 1));
}

#[cfg(test)]
thread_local! {
    pub(super) static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}
