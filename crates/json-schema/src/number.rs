//! Compares JSON numbers exactly, and checks multiples in decimal arithmetic.
//!
//! JSON has one kind of number: `1`, `1.0` and `1e0` are the same integer. Comparing everything as
//! `f64` would confuse integers beyond 2^53, and dividing `0.0075` by `0.0001` in binary would
//! leave a remainder.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// A number in a form that is the same for all spellings of the same value. An integer that fits is
/// never a float, so equal numbers have equal forms and equal hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// An integer, however it was written.
    Integer(i128),
    /// A number with a fraction, or an integer too large for an `i128`.
    Float(f64),
}

impl Number {
    pub(crate) fn of(number: &serde_json::Number) -> Self {
        if let Some(integer) = number.as_i64() {
            return Self::Integer(integer.into());
        }
        if let Some(integer) = number.as_u64() {
            return Self::Integer(integer.into());
        }
        // Only a build of serde_json that keeps arbitrary digits has numbers without an `f64`.
        let float = number.as_f64().unwrap_or(f64::INFINITY);
        if float.fract() == 0.0 && float.abs() < LARGEST_EXACT {
            Self::Integer(float as i128)
        } else {
            Self::Float(float)
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        match self {
            Self::Integer(_) => true,
            Self::Float(float) => float.fract() == 0.0,
        }
    }

    /// Exact, also between an integer and a float.
    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(&right),
            (Self::Float(left), Self::Float(right)) => left.total_cmp(&right),
            (Self::Integer(left), Self::Float(right)) => compare_mixed(left, right),
            (Self::Float(left), Self::Integer(right)) => compare_mixed(right, left).reverse(),
        }
    }
}

/// 2^126: every integral float below it converts to `i128` without loss.
const LARGEST_EXACT: f64 = (1_u128 << 126) as f64;

/// Never equal: a float that is an integer of this size has become one.
fn compare_mixed(integer: i128, float: f64) -> Ordering {
    if float.abs() >= LARGEST_EXACT {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    // The float has a fraction here, so it lies strictly above its floor.
    if integer <= float.floor() as i128 { Ordering::Less } else { Ordering::Greater }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.compare(*other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Integer(integer) => integer.hash(state),
            Self::Float(float) => float.to_bits().hash(state),
        }
    }
}

/// The magnitude of a number as `digits * 10^exponent`, with no trailing zero in `digits`. The sign
/// is left out, because it does not matter for multiples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decimal {
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// Reads the shortest decimal text of this number, which is what its author wrote.
    pub(crate) fn of(number: &serde_json::Number) -> Self {
        let whole = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
        if let Some(digits) = whole {
            return Self { digits, exponent: 0 }.without_trailing_zeros();
        }
        let text = format!("{:e}", number.as_f64().unwrap_or_default().abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{integer}{fraction}").parse().unwrap_or_default();
        let shift = i32::try_from(fraction.len()).unwrap_or_default();
        let exponent = exponent.parse::<i32>().unwrap_or_default() - shift;
        Self { digits, exponent }.without_trailing_zeros()
    }

    pub(crate) fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// Computed modulo the divisor, so that `1e300` needs no large numbers.
    pub(crate) fn is_multiple_of(self, divisor: Self) -> bool {
        if self.is_zero() || divisor.is_zero() {
            return self.is_zero();
        }
        let Ok(shift) = u32::try_from(self.exponent - divisor.exponent) else {
            // The quotient would need a factor ten in `digits`, which has none left.
            return false;
        };
        let modulus = u128::from(divisor.digits);
        let shifted = u128::from(self.digits) % modulus * power_of_ten(shift, modulus);
        shifted.is_multiple_of(modulus)
    }

    fn without_trailing_zeros(mut self) -> Self {
        while self.digits != 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.exponent += 1;
        }
        self
    }
}

/// 10^exponent modulo `modulus`; no product overflows, because the modulus came from a `u64`.
fn power_of_ten(mut exponent: u32, modulus: u128) -> u128 {
    let mut base = 10 % modulus;
    let mut power = 1 % modulus;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = power * base % modulus;
        }
        base = base * base % modulus;
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        Number::of(&serde_json::from_str(text).unwrap())
    }

    fn is_multiple(value: &str, divisor: &str) -> bool {
        let decimal = |text: &str| Decimal::of(&serde_json::from_str(text).unwrap());
        decimal(value).is_multiple_of(decimal(divisor))
    }

    #[test]
    fn spellings_of_one_integer_are_equal() {
        assert_eq!(number("1"), number("1.0"));
        assert_eq!(number("0"), number("-0.0"));
        assert_eq!(number("18446744073709551615"), number("18446744073709551615"));
        assert!(number("1e300").is_integer());
        assert!(!number("1.5").is_integer());
    }

    #[test]
    fn integers_beyond_the_precision_of_floats_stay_apart() {
        assert_ne!(number("9007199254740993"), number("9007199254740992.0"));
        assert_eq!(number("18446744073709551615").compare(number("1e19")), Ordering::Greater);
        assert_eq!(number("18446744073709551615").compare(number("1e300")), Ordering::Less);
        assert_eq!(number("-9223372036854775808").compare(number("-1e300")), Ordering::Greater);
    }

    #[test]
    fn fractions_order_between_their_neighbours() {
        assert_eq!(number("2").compare(number("2.5")), Ordering::Less);
        assert_eq!(number("3").compare(number("2.5")), Ordering::Greater);
        assert_eq!(number("-2").compare(number("-2.5")), Ordering::Greater);
        assert_eq!(number("-2.5").compare(number("-3")), Ordering::Greater);
        assert_eq!(number("0.5").compare(number("0.25")), Ordering::Greater);
    }

    #[test]
    fn multiples_are_those_of_the_decimal_text() {
        assert!(is_multiple("0.0075", "0.0001"));
        assert!(!is_multiple("0.00751", "0.0001"));
        assert!(is_multiple("19.99", "0.01"));
        assert!(is_multiple("-7", "3.5"));
        assert!(is_multiple("0", "7"));
        assert!(!is_multiple("7", "14"));
        assert!(!is_multiple("1", "10"));
        assert!(is_multiple("18446744073709551615", "5"));
    }

    #[test]
    fn multiples_of_extremes_neither_overflow_nor_round() {
        assert!(is_multiple("1e308", "0.5"));
        assert!(!is_multiple("1e308", "0.123456789"));
        assert!(is_multiple("12391239123", "1e-8"));
        assert!(is_multiple("5e-324", "5e-324"));
        assert!(!is_multiple("5e-324", "1e308"));
    }
}
