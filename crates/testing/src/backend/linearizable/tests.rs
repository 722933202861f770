//! The checker knows right orders from wrong ones, as an exhaustive search does.

use super::super::random::Random;
use super::*;

/// A number that is set and read.
#[derive(Clone, Copy, Debug)]
enum Register {
    Set(u64),
    Read(u64),
}

impl Model for Register {
    type State = u64;

    fn after(&self, state: &u64) -> Option<u64> {
        match self {
            Self::Set(value) => Some(*value),
            Self::Read(value) => (value == state).then_some(*state),
        }
    }
}

fn call(began: u64, returned: u64, call: Register) -> Timed<Register> {
    Timed { began, returned: Some(returned), call }
}

#[test]
fn a_read_during_a_write_may_see_either_value() {
    for seen in [0, 1] {
        let history = [call(1, 4, Register::Set(1)), call(2, 3, Register::Read(seen))];
        assert!(is_linearizable(&history));
    }
}

#[test]
fn a_read_after_a_write_must_see_it() {
    let history = [call(1, 2, Register::Set(1)), call(3, 4, Register::Read(0))];
    assert!(!is_linearizable(&history));
}

#[test]
fn two_reads_must_not_see_a_write_come_and_go() {
    let history = [
        call(1, 8, Register::Set(1)),
        call(2, 3, Register::Read(1)),
        call(4, 5, Register::Read(0)),
    ];
    assert!(!is_linearizable(&history));
}

#[test]
fn a_failed_write_may_take_effect_late_or_never() {
    let failed = Timed { began: 1, returned: None, call: Register::Set(1) };
    let read = |at, value| call(at, at + 1, Register::Read(value));
    assert!(is_linearizable(&[failed.clone(), read(3, 0), read(5, 1)]), "late");
    assert!(is_linearizable(&[failed.clone(), read(3, 0), read(5, 0)]), "never");
    assert!(!is_linearizable(&[failed, read(3, 1), read(5, 0)]), "and not undone");
}

/// Tries every order.
fn has_order(history: &[Timed<Register>], taken: u32, state: u64) -> bool {
    let is_open = |call: usize| taken & (1 << call) == 0;
    let open: Vec<_> = (0..history.len()).filter(|call| is_open(*call)).collect();
    let first_return = open.iter().filter_map(|call| history[*call].returned).min();
    let Some(first_return) = first_return else { return true };
    let mut next = open.iter().filter(|call| history[**call].began < first_return);
    next.any(|call| {
        let after = history[*call].call.after(&state);
        after.is_some_and(|after| has_order(history, taken | 1 << call, after))
    })
}

#[test]
fn the_checker_agrees_with_a_search_of_all_orders() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let history: Vec<_> = (0..7)
            .map(|_| {
                let began = random.below(40) * 2;
                // No two events happen at once: calls begin at even times and return at odd ones.
                let returned = began + 1 + random.below(12) * 2;
                let value = random.below(3);
                let call =
                    if random.below(2) == 0 { Register::Set(value) } else { Register::Read(value) };
                let returned = (random.below(8) > 0).then_some(returned);
                Timed { began, returned, call }
            })
            .collect();
        let expected = has_order(&history, 0, 0);
        assert_eq!(is_linearizable(&history), expected, "{history:?}");
        *(if expected { &mut right } else { &mut wrong }) += 1;
    }
    assert!(right > 300 && wrong > 300, "both kinds occur: {right}, {wrong}");
}
