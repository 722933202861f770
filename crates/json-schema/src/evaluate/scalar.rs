//! Conditions on single values: types, constants, numbers and strings.
//!
//! The messages name what was expected and what was found, in words that a model can act on; values
//! of the sender are shortened.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Evaluation, Verdict};
use crate::equality::equal;
use crate::instance::{Instance, count, describe, spell};
use crate::node::{NumberRule, TextRule, Types};
use crate::number::{Decimal, Number};
use crate::violation::{Expected, MOST_VALUES};

impl Evaluation<'_> {
    /// Always false, so that it can follow `||`. Records that the value has none of these types.
    pub(super) fn wrong_type(&mut self, types: Types, instance: &Instance<'_>) -> bool {
        self.record(instance, || Expected::types(types, instance.value));
        false
    }

    /// Checks `enum` and `const`.
    pub(super) fn enumeration(&mut self, values: &[Value], instance: &Instance<'_>) -> Verdict {
        if values.iter().any(|value| equal(value, instance.value)) {
            return Ok(true);
        }
        self.record(instance, || {
            let values = values.iter().take(MOST_VALUES + 1).map(spell).collect();
            Expected::values(values, describe(instance.value))
        });
        Ok(false)
    }

    /// Checks one condition on a number.
    pub(super) fn number(
        &mut self,
        rule: &NumberRule,
        number: &serde_json::Number,
        instance: &Instance<'_>,
    ) -> Verdict {
        let compare = |limit: &Number| Number::of(number).compare(*limit);
        let (holds, wanted, limit) = match rule {
            NumberRule::Minimum(limit, text) => (compare(limit).is_ge(), "at least", text),
            NumberRule::ExclusiveMinimum(limit, text) => {
                (compare(limit).is_gt(), "more than", text)
            }
            NumberRule::Maximum(limit, text) => (compare(limit).is_le(), "at most", text),
            NumberRule::ExclusiveMaximum(limit, text) => {
                (compare(limit) == Ordering::Less, "less than", text)
            }
            NumberRule::MultipleOf(divisor, text) => {
                (Decimal::of(number).is_multiple_of(*divisor), "a multiple of", text)
            }
        };
        if holds {
            return Ok(true);
        }
        self.violate(instance, || format!("expected {wanted} {limit}, found {number}"))
    }

    /// Checks one condition on a string. Lengths are counted in characters, as JSON Schema does,
    /// not in bytes.
    pub(super) fn text(&mut self, rule: &TextRule, text: &str, instance: &Instance<'_>) -> Verdict {
        let (holds, wanted, limit) = match rule {
            TextRule::MinLength(least) => (text.chars().count() >= *least, "at least", least),
            TextRule::MaxLength(most) => (text.chars().count() <= *most, "at most", most),
            TextRule::Pattern(pattern) => {
                self.charge(pattern.cost(text))?;
                if pattern.is_match(text) {
                    return Ok(true);
                }
                return self.violate(instance, || {
                    let found = describe(instance.value);
                    format!("expected text that matches `{}`, found {found}", pattern.source())
                });
            }
        };
        if holds {
            return Ok(true);
        }
        self.violate(instance, || {
            let limit = count(*limit, "character", "characters");
            format!("expected {wanted} {limit}, found {}", text.chars().count())
        })
    }
}
