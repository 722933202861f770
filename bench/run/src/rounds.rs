//! Measures subjects in turn, round after round, and takes the median of each.

use anyhow::Result;

use crate::case::{Case, Figure, Repeats, Role};
use crate::programs::Bench;

/// If the ratios of the middle half of the rounds spread over more than this share, the machine was
/// too noisy.
const NOISE: f64 = 0.25;

/// One figure of one case, of all its subjects.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) case: String,
    pub(crate) measures: String,
    pub(crate) figure: Figure,
    pub(crate) cells: Vec<Cell>,
}

/// The values of one subject.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) role: Role,
    pub(crate) values: Vec<f64>,
    /// The error after which it was not measured any more.
    pub(crate) failure: Option<String>,
}

/// Measures cases, one after another.
pub(crate) fn measure(bench: &Bench, cases: &[Case]) -> Vec<Measured> {
    let mut measured = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        eprintln!("{}/{} {}: {}", number + 1, cases.len(), case.name, case.measures);
        measured.extend(measure_case(bench, case));
    }
    measured
}

fn measure_case(bench: &Bench, case: &Case) -> Vec<Measured> {
    let rounds = match case.repeats {
        Repeats::EveryRound => bench.options.rounds,
        Repeats::Once => 1,
    };
    let mut outcomes: Vec<Result<Vec<Vec<f64>>>> =
        case.subjects.iter().map(|_| Ok(Vec::new())).collect();
    for round in 0..rounds {
        for turn in 0..case.subjects.len() {
            // Each round begins with another subject, so that none always runs after the same one.
            let place = (turn + round) % case.subjects.len();
            let outcome = &mut outcomes[place];
            // A subject that failed once is not measured again.
            let Ok(values) = outcome else { continue };
            match (case.round)(bench, &case.subjects[place]) {
                Ok(value) => values.push(value),
                Err(error) => *outcome = Err(error),
            }
        }
    }
    let figures = case.figures.iter().enumerate();
    figures.map(|(place, figure)| gather(case, place, *figure, &outcomes)).collect()
}

fn gather(
    case: &Case,
    place: usize,
    figure: Figure,
    outcomes: &[Result<Vec<Vec<f64>>>],
) -> Measured {
    let cell = |(subject, outcome): (&crate::case::Subject, &Result<Vec<Vec<f64>>>)| {
        let (values, failure) = match outcome {
            Ok(rounds) => (rounds.iter().map(|values| values[place]).collect(), None),
            Err(error) => (Vec::new(), Some(format!("{error:#}"))),
        };
        Cell { role: subject.role.clone(), values, failure }
    };
    Measured {
        case: case.name.clone(),
        measures: case.measures.clone(),
        figure,
        cells: case.subjects.iter().zip(outcomes).map(cell).collect(),
    }
}

impl Measured {
    /// The median of a subject.
    pub(crate) fn of(&self, role: &Role) -> Option<f64> {
        self.cells.iter().find(|cell| cell.role == *role)?.median()
    }

    /// Our value as a multiple of another subject's: the median over the rounds, since noise of the
    /// machine in one round affects both.
    pub(crate) fn ratio_to(&self, role: &Role) -> Option<f64> {
        median(&self.ratios_to(role))
    }

    /// The same for each round. A value of zero, such as the memory of the ceiling's session, has
    /// no multiples.
    fn ratios_to(&self, role: &Role) -> Vec<f64> {
        let values = |role: &Role| {
            let cell = self.cells.iter().find(|cell| cell.role == *role);
            cell.map_or(&[][..], |cell| &cell.values)
        };
        let rounds = values(&Role::Bowline).iter().zip(values(role));
        rounds.filter(|(_, theirs)| theirs.abs() > f64::EPSILON).map(|(a, b)| a / b).collect()
    }

    /// Whether the machine was too noisy to compare us with one of the others.
    pub(crate) fn is_noisy(&self) -> bool {
        let others = [Role::Ceiling, Role::RmcpBest];
        others.iter().any(|role| middle_spread(&self.ratios_to(role)) > NOISE)
    }

    /// The subjects that failed, and why.
    pub(crate) fn failures(&self) -> impl Iterator<Item = (&Role, &str)> {
        self.cells.iter().filter_map(|cell| Some((&cell.role, cell.failure.as_deref()?)))
    }
}

impl Cell {
    pub(crate) fn median(&self) -> Option<f64> {
        median(&self.values)
    }

    /// The spread of the values, as a share of the median.
    pub(crate) fn spread(&self) -> Option<f64> {
        let median = self.median()?;
        let most = self.values.iter().copied().max_by(f64::total_cmp)?;
        let least = self.values.iter().copied().min_by(f64::total_cmp)?;
        Some(if most > least { (most - least) / median.abs() } else { 0.0 })
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

/// The spread of the middle half of some values, as a share of the median.
fn middle_spread(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let quarter = sorted.len() / 4;
    let (Some(least), Some(median)) = (sorted.get(quarter), median(values)) else { return 0.0 };
    (sorted[sorted.len() - 1 - quarter] - least) / median.abs()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn measured(case: &str, figure: Figure, cells: &[(Role, &[f64])]) -> Measured {
        let cell = |(role, values): &(Role, &[f64])| Cell {
            role: role.clone(),
            values: values.to_vec(),
            failure: None,
        };
        let cells = cells.iter().map(cell).collect();
        Measured { case: case.to_owned(), measures: String::new(), figure, cells }
    }

    #[test]
    fn the_middle_and_the_spread_are_of_all_values() {
        let cell = Cell { role: Role::Ceiling, values: vec![90.0, 100.0, 120.0], failure: None };
        assert_eq!((cell.median(), cell.spread()), (Some(100.0), Some(0.3)));
    }

    #[test]
    fn a_ratio_is_the_middle_of_those_of_all_rounds() {
        // The machine was half as fast in the second round, for both.
        let cells: [(Role, &[f64]); 2] =
            [(Role::Ceiling, &[100.0, 50.0, 100.0]), (Role::Bowline, &[80.0, 40.0, 70.0])];
        let measured = measured("a", Figure::higher("calls/s"), &cells);
        assert_eq!(measured.ratio_to(&Role::Ceiling), Some(0.8));
        assert_eq!(measured.ratio_to(&Role::RmcpBest), None);
    }

    #[test]
    fn a_machine_is_noisy_if_the_rounds_disagree() {
        let noisy = |ceiling: &[f64]| {
            let ours: &[f64] = &[50.0; 5];
            let cells = [(Role::Ceiling, ceiling), (Role::Bowline, ours)];
            measured("a", Figure::higher("calls/s"), &cells).is_noisy()
        };
        assert!(!noisy(&[100.0, 101.0, 99.0, 100.0, 200.0]), "one that stands out is left out");
        assert!(noisy(&[100.0, 200.0, 99.0, 60.0, 150.0]));
    }
}
