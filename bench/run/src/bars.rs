//! The targets of the figures, and whether they are reached.

use std::fmt;

use crate::case::Role;
use crate::rounds::Measured;

/// One row of the table of bars.
struct Bar {
    /// The start of the case's name; the bar applies to every case that matches.
    case: &'static str,
    /// The end of the case's name.
    shape: &'static str,
    unit: &'static str,
    /// The target.
    needs: &'static [Need],
    /// The ambitious target.
    moonshot: &'static [Need],
}

/// The figure that ours is compared with.
#[derive(Debug)]
enum Need {
    AtMost(f64),
    TimesAtMost(Role, f64),
    MoreAtMost(Role, f64),
    TimesAtLeast(Role, f64),
}

use Need::{AtMost, MoreAtMost, TimesAtLeast, TimesAtMost};
use Role::{Ceiling, RmcpBest};

const BARS: &[Bar] = &[
    Bar {
        case: "cost/http",
        shape: "",
        unit: "instructions",
        needs: &[TimesAtMost(Ceiling, 1.6)],
        moonshot: &[TimesAtMost(Ceiling, 1.25)],
    },
    Bar {
        case: "cost/http",
        shape: "",
        unit: "allocations",
        needs: &[TimesAtMost(Ceiling, 2.0)],
        moonshot: &[MoreAtMost(Ceiling, 5.0)],
    },
    Bar {
        case: "http",
        shape: "/64B/c32",
        unit: "calls/s",
        needs: &[TimesAtLeast(Ceiling, 0.70), TimesAtLeast(RmcpBest, 3.0)],
        moonshot: &[TimesAtLeast(Ceiling, 0.85)],
    },
    Bar {
        case: "http",
        shape: "/64B/c1",
        unit: "p50 µs",
        needs: &[TimesAtMost(Ceiling, 1.35)],
        moonshot: &[TimesAtMost(Ceiling, 1.15)],
    },
    Bar {
        case: "http",
        shape: "/1MiB/c4",
        unit: "calls/s",
        needs: &[TimesAtLeast(Ceiling, 0.95)],
        moonshot: &[TimesAtLeast(Ceiling, 1.5)],
    },
    Bar {
        case: "stdio",
        shape: "/64B/w32",
        unit: "calls/s",
        needs: &[TimesAtLeast(Ceiling, 0.35), TimesAtLeast(RmcpBest, 2.5)],
        moonshot: &[TimesAtLeast(Ceiling, 0.60)],
    },
    Bar {
        case: "client/http",
        shape: "/16",
        unit: "calls/s",
        needs: &[TimesAtLeast(RmcpBest, 2.5)],
        moonshot: &[TimesAtLeast(Ceiling, 0.6)],
    },
    Bar {
        case: "memory",
        shape: "/session",
        unit: "bytes",
        needs: &[AtMost(8.0 * 1024.0)],
        moonshot: &[AtMost(2.0 * 1024.0)],
    },
    Bar {
        case: "memory",
        shape: "/stream",
        unit: "bytes",
        needs: &[AtMost(20.0 * 1024.0)],
        moonshot: &[AtMost(14.0 * 1024.0)],
    },
    Bar {
        case: "start",
        shape: "",
        unit: "ms",
        needs: &[TimesAtMost(RmcpBest, 1.0)],
        moonshot: &[MoreAtMost(Ceiling, 0.5)],
    },
    Bar {
        case: "start",
        shape: "",
        unit: "MB idle",
        needs: &[AtMost(5.0)],
        moonshot: &[AtMost(4.0)],
    },
    // Half the rate of a static answer is twice its cost.
    Bar {
        case: "list",
        shape: "",
        unit: "calls/s",
        needs: &[TimesAtLeast(Ceiling, 0.5)],
        moonshot: &[],
    },
    Bar {
        case: "build",
        shape: "",
        unit: "seconds",
        needs: &[TimesAtMost(RmcpBest, 1.0)],
        moonshot: &[TimesAtMost(RmcpBest, 0.5)],
    },
    Bar {
        case: "build",
        shape: "",
        unit: "crates",
        needs: &[TimesAtMost(RmcpBest, 1.0)],
        moonshot: &[TimesAtMost(RmcpBest, 0.5)],
    },
    Bar {
        case: "build",
        shape: "",
        unit: "MB binary",
        needs: &[TimesAtMost(RmcpBest, 1.0)],
        moonshot: &[TimesAtMost(RmcpBest, 0.5)],
    },
];

/// A figure compared with its bar.
#[derive(Clone, Debug)]
pub(crate) struct Verdict {
    pub(crate) case: String,
    pub(crate) unit: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) is_noisy: bool,
    pub(crate) bar: String,
    pub(crate) moonshot: String,
}

/// Whether the bar was reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Moonshot,
    Pass,
    Fail,
    /// A figure is missing.
    Unknown,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Moonshot => "moonshot",
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Unknown => "unknown",
        })
    }
}

/// Compares every figure that has a bar.
pub(crate) fn judge(measured: &[Measured]) -> Vec<Verdict> {
    let judged = BARS
        .iter()
        .flat_map(|bar| measured.iter().filter(|it| bar.is_about(it)).map(move |it| bar.judge(it)));
    judged.collect()
}

impl Bar {
    fn is_about(&self, measured: &Measured) -> bool {
        let begins = measured.case.strip_prefix(self.case);
        begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            && measured.case.ends_with(self.shape)
            && measured.figure.unit == self.unit
    }

    fn judge(&self, measured: &Measured) -> Verdict {
        let outcome = match (all(self.needs, measured), all(self.moonshot, measured)) {
            (None, _) => Outcome::Unknown,
            (Some(false), _) => Outcome::Fail,
            (Some(true), Some(true)) if !self.moonshot.is_empty() => Outcome::Moonshot,
            (Some(true), _) => Outcome::Pass,
        };
        let say = |needs: &[Need]| needs.iter().map(|need| need.say(measured)).collect::<Vec<_>>();
        Verdict {
            case: measured.case.clone(),
            unit: self.unit,
            outcome,
            is_noisy: measured.is_noisy(),
            bar: say(self.needs).join(", "),
            moonshot: say(self.moonshot).join(", "),
        }
    }
}

fn all(needs: &[Need], measured: &Measured) -> Option<bool> {
    needs.iter().map(|need| need.holds(measured)).try_fold(true, |all, one| Some(all && one?))
}

impl Need {
    fn holds(&self, measured: &Measured) -> Option<bool> {
        let ours = measured.of(&Role::Bowline)?;
        Some(match self {
            AtMost(most) => ours <= *most,
            TimesAtMost(role, times) => measured.ratio_to(role)? <= *times,
            MoreAtMost(role, more) => ours <= measured.of(role)? + more,
            TimesAtLeast(role, times) => measured.ratio_to(role)? >= *times,
        })
    }

    /// The bar and our figure.
    fn say(&self, measured: &Measured) -> String {
        let ratio = |role| {
            measured.ratio_to(role).map_or_else(|| "?".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        let ours = measured.of(&Role::Bowline);
        match self {
            AtMost(most) => {
                format!(
                    "≤ {most}: {}",
                    ours.map_or_else(|| "?".to_owned(), |it| format!("{it:.1}"))
                )
            }
            TimesAtMost(role, times) => format!("≤ {times} × {role}: {}", ratio(role)),
            MoreAtMost(role, more) => {
                let above = ours.zip(measured.of(role)).map(|(ours, theirs)| ours - theirs);
                let above = above.map_or_else(|| "?".to_owned(), |above| format!("{above:+.1}"));
                format!("≤ {role} + {more}: {above}")
            }
            TimesAtLeast(role, times) => format!("≥ {times} × {role}: {}", ratio(role)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Figure;
    use crate::rounds::tests::measured;

    fn outcome(ceiling: f64, ours: f64, rmcp: f64) -> Outcome {
        let cells: [(Role, &[f64]); 3] =
            [(Ceiling, &[ceiling]), (Role::Bowline, &[ours]), (RmcpBest, &[rmcp])];
        let figure = Figure::higher("calls/s");
        judge(&[measured("http/2025-11-25/64B/c32", figure, &cells)])[0].outcome
    }

    #[test]
    fn a_bar_holds_only_if_all_its_needs_do() {
        assert_eq!(outcome(100.0, 90.0, 20.0), Outcome::Moonshot);
        assert_eq!(outcome(100.0, 75.0, 20.0), Outcome::Pass);
        assert_eq!(outcome(100.0, 75.0, 30.0), Outcome::Fail);
        assert_eq!(outcome(100.0, 60.0, 10.0), Outcome::Fail);
    }

    #[test]
    fn a_missing_subject_leaves_the_bar_open() {
        let cells: [(Role, &[f64]); 2] = [(Ceiling, &[1.0]), (Role::Bowline, &[1.0])];
        let figure = Figure::higher("calls/s");
        let verdicts = judge(&[measured("http/2025-11-25/64B/c32", figure, &cells)]);
        assert_eq!(verdicts[0].outcome, Outcome::Unknown);
    }

    #[test]
    fn a_case_of_another_shape_has_no_bar() {
        let figure = Figure::higher("calls/s");
        assert!(judge(&[measured("http/2025-11-25/4KiB/c32", figure, &[])]).is_empty());
    }
}
