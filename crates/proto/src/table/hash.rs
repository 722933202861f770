//! A fast hash for tables whose keys are numbers that this program counts itself.
//!
//! A peer can only look such numbers up. It cannot choose which of them are in the table, so it
//! cannot make them collide, and the hash needs no secret. Names, URIs, ids and other keys that a
//! peer can choose need the hasher of the standard library, which has a random seed.

use std::hash::{BuildHasherDefault, Hasher};

/// The hasher for tables whose keys are numbers that this program counts itself.
pub type CountedKeys = BuildHasherDefault<CountedHasher>;

/// Multiplies by an odd number, and folds the upper half of the product into the lower.
#[derive(Clone, Debug, Default)]
pub struct CountedHasher(u64);

/// 2^64 divided by the golden ratio: it spreads consecutive numbers.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for CountedHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(FACTOR);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    /// Keys are single numbers, so this is not called.
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn numbers_that_follow_one_another_are_spread_over_the_table() {
        let hash = |number: u64| CountedKeys::default().hash_one(number);
        let buckets: HashSet<_> = (0..1024).map(|number| hash(number) % 1024).collect();
        let tags: HashSet<_> = (0..1024).map(|number| hash(number) >> 57).collect();
        assert!(buckets.len() > 512, "{}", buckets.len());
        assert_eq!(tags.len(), 128);
        assert_eq!(CountedKeys::default().hash_one(7_i64), hash(7));
    }
}
