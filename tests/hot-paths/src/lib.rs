//! The code that every message passes through, as cases that can be repeated.
//!
//! The program `hot_paths` runs a case a given number of times, so that `cargo xtask budget` can
//! count its instructions; `cargo bench -p bowline-hot-paths` measures the time of the same
//! functions. In reading order: `machine` has cases without a server, `served` has cases with one.

mod machine;
mod messages;
mod served;

use bytes::Bytes;

/// A case that can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Its name in the budget.
    pub name: &'static str,
    /// What one repetition does.
    pub what: &'static str,
    prepare: fn() -> Run,
}

/// One repetition. It panics if its result is wrong.
pub type Run = Box<dyn FnMut()>;

impl Case {
    /// Sets up what all repetitions share.
    pub fn prepare(&self) -> Run {
        (self.prepare)()
    }

    /// The case with this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        CASES.iter().find(|case| case.name == name)
    }
}

/// All cases, the smallest first.
pub const CASES: &[Case] = &[
    case("frame_legacy", "reads an echo call of 2025-11-25", machine::frame_legacy),
    case("frame_modern", "reads an echo call of 2026-07-28", machine::frame_modern),
    case("frame_large", "reads an echo call of 64 KiB", machine::frame_large),
    case("sse_write", "writes an answer as an event", machine::sse_write),
    case("sse_read", "reads a notification and an answer from events", machine::sse_read),
    case("projection", "fits a result to 2024-11-05 and writes it", machine::projection),
    case("exchange_legacy", "opens and answers a call in a session", machine::exchange_legacy),
    case("exchange_modern", "opens and answers a call that stands alone", machine::exchange_modern),
    case("router", "finds the echo tool and runs it", served::router),
    case("list", "answers `tools/list` with 100 tools", served::list),
    case("stdio_legacy", "answers a line of 2025-11-25 with a line", served::stdio_legacy),
    case("stdio_modern", "answers a line of 2026-07-28 with a line", served::stdio_modern),
    case("http_legacy", "answers a POST of 2025-11-25 in a session", served::http_legacy),
    case("http_modern", "answers a POST of 2026-07-28", served::http_modern),
    case("http_modern_jwt", "the same, with an access token", served::http_modern_jwt),
];

const fn case(name: &'static str, what: &'static str, prepare: fn() -> Run) -> Case {
    Case { name, what, prepare }
}

/// Repeats a function whose result is the same each time; `part` must be in it.
fn always(part: &str, mut make: impl FnMut() -> Bytes + 'static) -> Run {
    let first = make();
    let text = String::from_utf8_lossy(&first);
    assert!(text.contains(part), "`{part}` is not in {text}");
    Box::new(move || {
        let again = make();
        assert!(again == first, "{again:?} is not {first:?}");
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_can_be_repeated() {
        for case in CASES {
            let mut run = case.prepare();
            (0..3).for_each(|_| run());
        }
    }

    #[test]
    fn every_case_has_a_name_of_its_own() {
        for case in CASES {
            let found = CASES.iter().filter(|other| other.name == case.name);
            assert_eq!(found.count(), 1, "{}", case.name);
        }
    }

    #[test]
    #[should_panic(expected = "is not b")]
    fn another_outcome_than_before_is_noticed() {
        let mut answers = ["fine", "fine", "refused"].into_iter();
        let mut run = always("fine", move || answers.next().unwrap_or_default().into());
        (0..2).for_each(|_| run());
    }
}
