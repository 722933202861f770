//! A random part of a list, the same for the same seed.

/// Draws so many of the list, in its order.
pub(super) fn sample(list: &[usize], size: usize, seed: u64) -> Vec<usize> {
    let mut keyed: Vec<(u64, usize)> =
        list.iter().enumerate().map(|(at, item)| (mix(seed, at as u64), *item)).collect();
    keyed.sort_unstable();
    keyed.truncate(size);
    let mut drawn: Vec<usize> = keyed.into_iter().map(|(_, item)| item).collect();
    drawn.sort_unstable();
    drawn
}

/// SplitMix64 of the seed and a position.
fn mix(seed: u64, position: u64) -> u64 {
    let mut mixed = seed.wrapping_add(position.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_draws_the_same_again_and_another_something_else() {
        let list: Vec<usize> = (100..200).collect();
        let drawn = sample(&list, 10, 1);
        assert_eq!(drawn.len(), 10);
        assert!(drawn.is_sorted() && drawn.iter().all(|item| list.contains(item)));
        assert_eq!(sample(&list, 10, 1), drawn);
        assert_ne!(sample(&list, 10, 2), drawn);
        assert_eq!(sample(&list, 1000, 1), list);
    }
}
