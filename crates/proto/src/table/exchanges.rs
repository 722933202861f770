//! Values by the numbers of calls.
//!
//! A connection numbers its calls in the order of arrival and has few at a time, so a plain list in
//! the order of the numbers is the smallest and fastest map.

use crate::request::ExchangeId;

/// Values by the numbers of calls. Used for calls of a connection and for what a session over HTTP
/// keeps of each.
#[derive(Debug)]
pub struct ExchangeTable<T>(Vec<(ExchangeId, T)>);

impl<T> Default for ExchangeTable<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ExchangeTable<T> {
    /// Inserts a value under a new number. Numbers only grow, so it usually comes last.
    pub fn insert(&mut self, number: ExchangeId, value: T) {
        if self.0.is_empty() {
            // Most connections never hold more than one.
            self.0.reserve_exact(1);
        }
        let at = self.0.partition_point(|(other, _)| *other < number);
        self.0.insert(at, (number, value));
    }

    /// The value of a number.
    pub fn get(&self, number: ExchangeId) -> Option<&T> {
        self.0.get(self.find(number)?).map(|(_, value)| value)
    }

    /// The value of a number, to be changed.
    pub fn get_mut(&mut self, number: ExchangeId) -> Option<&mut T> {
        let at = self.find(number)?;
        self.0.get_mut(at).map(|(_, value)| value)
    }

    /// Removes the value of a number.
    pub fn remove(&mut self, number: ExchangeId) -> Option<T> {
        let at = self.find(number)?;
        Some(self.0.remove(at).1)
    }

    /// Keeps only some of the values.
    pub fn retain(&mut self, mut keeps: impl FnMut(&T) -> bool) {
        self.0.retain(|(_, value)| keeps(value));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all values.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All numbers with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ExchangeId, &T)> {
        self.0.iter().map(|(number, value)| (*number, value))
    }

    fn find(&self, number: ExchangeId) -> Option<usize> {
        self.0.binary_search_by_key(&number, |(other, _)| *other).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_their_numbers_whatever_was_taken_out() {
        let mut values = ExchangeTable::default();
        for number in [1, 2, 5, 3] {
            values.insert(ExchangeId(number), number * 10);
        }
        assert_eq!(values.remove(ExchangeId(2)), Some(20));
        assert_eq!(values.remove(ExchangeId(2)), None);
        assert_eq!(values.get(ExchangeId(5)), Some(&50));
        *values.get_mut(ExchangeId(3)).unwrap() += 1;
        let all: Vec<_> = values.iter().map(|(number, value)| (number.0, *value)).collect();
        assert_eq!(all, [(1, 10), (3, 31), (5, 50)]);
    }
}
