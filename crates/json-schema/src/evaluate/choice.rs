//! The alternatives of `anyOf` and `oneOf`, and the message when none fits.
//!
//! A message with every violation of every alternative does not help. The alternative that the
//! sender meant is usually clear: the one of the right type, or the one whose tag matches.

use super::{Evaluation, Stop, Verdict};
use crate::evaluated::EvaluatedParts;
use crate::instance::Instance;
use crate::node::{NodeId, Types};
use crate::violation::{Expected, Violation};

/// The violations of the value as one of the alternatives. Empty in the first pass, which records
/// nothing.
type Failure = Vec<Violation>;

/// The most alternatives in a summary.
const MOST_FORMS: usize = 4;
/// The most characters for each of them. Summaries may be part of summaries.
const LONGEST_SUMMARY: usize = 160;

impl Evaluation<'_> {
    /// Checks `anyOf`. Goes on after the first match only if evaluated parts are wanted.
    pub(super) fn any_of(
        &mut self,
        schemas: &[NodeId],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        let enough = if marks.is_wanted() { usize::MAX } else { 1 };
        let (passing, failures) = self.alternatives(schemas, instance, marks, enough)?;
        if passing.is_empty() {
            self.no_alternative(failures, instance);
        }
        Ok(!passing.is_empty())
    }

    /// Checks `oneOf`: exactly one alternative passes. In the first pass it stops at the second
    /// match, since the outcome is certain then.
    pub(super) fn one_of(
        &mut self,
        schemas: &[NodeId],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Verdict {
        // A message names all that match.
        let enough = if self.found.is_some() { usize::MAX } else { 2 };
        let (passing, failures) = self.alternatives(schemas, instance, marks, enough)?;
        match passing.len() {
            1 => return Ok(true),
            0 => self.no_alternative(failures, instance),
            _ => self.record(instance, || {
                let passing: Vec<_> = passing.iter().map(ToString::to_string).collect();
                let passing = passing.join(" and ");
                let reason = format!("fits the alternatives {passing}, but exactly one may fit");
                (Expected::Other, reason)
            }),
        }
        Ok(false)
    }

    /// Checks the alternatives until enough of them pass. Returns which ones do, counted from 1,
    /// and the violations of the others.
    fn alternatives(
        &mut self,
        schemas: &[NodeId],
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
        enough: usize,
    ) -> Result<(Vec<usize>, Vec<Failure>), Stop> {
        let (mut passing, mut failures) = (Vec::new(), Vec::new());
        for (schema, number) in schemas.iter().zip(1..) {
            let mut own = self.branch(marks)?;
            let (passes, failure) = self.attempt(*schema, instance, &mut own)?;
            if passes {
                marks.merge(&own);
                passing.push(number);
            } else {
                failures.push(failure);
            }
            if passing.len() >= enough {
                break;
            }
        }
        Ok((passing, failures))
    }

    /// Checks against a schema, and gives its violations apart from the others. The list of
    /// violations is swapped for an empty one and put back afterwards.
    pub(super) fn attempt(
        &mut self,
        schema: NodeId,
        instance: &Instance<'_>,
        marks: &mut EvaluatedParts,
    ) -> Result<(bool, Failure), Stop> {
        let apart = self.found.is_some().then(Vec::new);
        let found = std::mem::replace(&mut self.found, apart);
        let verdict = self.apply(schema, instance, marks);
        let apart = std::mem::replace(&mut self.found, found);
        Ok((verdict?, apart.unwrap_or_default()))
    }

    /// Records why no alternative passes.
    fn no_alternative(&mut self, failures: Vec<Failure>, instance: &Instance<'_>) {
        if !self.has_room() {
            return;
        }
        for violation in summarize(failures, instance, self.root) {
            self.push(|| violation);
        }
    }
}

/// Reduces the violations of all alternatives to those that the sender needs.
///
/// Tried in this order: if every alternative wants another type, the types are joined ("expected a
/// string or null"); alternatives of the wrong type are left out; if all of the rest expect another
/// value at one place, that place is the tag, and its values are listed; if the tag fits one
/// alternative, only the violations of that one count; otherwise the first violation of each is
/// quoted.
fn summarize(failures: Vec<Failure>, instance: &Instance<'_>, root: &str) -> Vec<Violation> {
    let location = instance.location(root);
    let here = |(expected, reason)| vec![Violation::new(location.clone(), expected, reason)];
    let types_of =
        |failure: &Failure| failure.iter().find_map(|one| one.types_at(&location.position));
    if let Some(types) = failures.iter().map(types_of).collect::<Option<Vec<_>>>() {
        let types = types.into_iter().fold(Types::NONE, Types::union);
        return here(Expected::types(types, instance.value));
    }
    let total = failures.len();
    let mut likely: Vec<_> =
        failures.into_iter().filter(|failure| types_of(failure).is_none()).collect();
    if likely.len() > 1 {
        if let Some(violation) = wrong_tag(&likely) {
            return vec![violation];
        }
        let has_tag = |failure: &Failure| failure.iter().all(|one| one.values().is_none());
        if likely.iter().filter(|failure| has_tag(failure)).count() == 1 {
            likely.retain(has_tag);
        }
    }
    match likely.len() {
        1 => likely.remove(0),
        _ => {
            let reason = format!("fits none of {total} alternatives: {}", reasons(&likely));
            here((Expected::Other, reason))
        }
    }
}

/// If every alternative expects another value at the same place, that place is the tag. Such a tag
/// is how tagged unions look in JSON: `{"kind": "circle", …}`.
fn wrong_tag(failures: &[Failure]) -> Option<Violation> {
    let (first, others) = failures.split_first()?;
    first.iter().find_map(|candidate| {
        candidate.values()?;
        others.iter().try_fold(candidate.clone(), |merged, failure| {
            let same = failure.iter().find(|other| other.path() == candidate.path())?;
            Some(merged.or_values(same.values()?))
        })
    })
}

/// The first violation of each alternative.
fn reasons(failures: &[Failure]) -> String {
    let first = |failure: &Failure| {
        let text = failure.first()?.to_string();
        Some(text.chars().take(LONGEST_SUMMARY).collect::<String>())
    };
    let reasons: Vec<_> = failures.iter().filter_map(first).take(MOST_FORMS).collect();
    reasons.join("; or ")
}
