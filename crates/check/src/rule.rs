//! A rule of the ledger that can be seen from outside, and what became of it.

use bowline_types::revision::Revision;

use crate::seen::Seen;

/// A rule of the ledger (`docs/spec`), with the observer that watches for it.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// The id in the ledger, such as `RPC-6`.
    pub id: &'static str,
    /// How strongly the specification demands it.
    pub strength: Strength,
    /// Whether the ledger marks it with `†`: the specification says it in lower case, in its schema or
    /// by examples only.
    pub is_inferred: bool,
    /// The revisions in which the rule holds.
    pub revisions: &'static [Revision],
    /// The rule in few words of ours.
    pub words: &'static str,
    pub(crate) look: Look,
}

/// How strongly the specification demands something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strength {
    /// MUST or MUST NOT.
    Must,
    /// SHOULD or SHOULD NOT.
    Should,
}

/// What a broken rule means for the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weight {
    /// It decides the exit code.
    Violation,
    /// It is reported, and decides nothing.
    Warning,
}

/// What an observer does with what it sees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look {
    /// Asks a function.
    With(fn(&Seen<'_>) -> Verdict),
    /// Expects no difference in the types of these names (`shape/fields.txt`).
    Shape(&'static [&'static str]),
}

/// What an observer says about one thing that it saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule says nothing about this.
    Idle,
    /// The rule applies and is kept.
    Kept,
    /// The rule applies and is broken: what is wrong, and where.
    Broken(String),
}

impl Verdict {
    /// Kept if the condition holds, else broken with this reason.
    pub(crate) fn that(holds: bool, reason: impl FnOnce() -> String) -> Self {
        if holds { Self::Kept } else { Self::Broken(reason()) }
    }

    /// Broken with the first reason, else kept.
    pub(crate) fn first(reasons: impl IntoIterator<Item = String>) -> Self {
        reasons.into_iter().next().map_or(Self::Kept, Self::Broken)
    }
}

impl Rule {
    /// Whether the rule holds in a revision.
    pub fn holds_in(&self, revision: Revision) -> bool {
        self.revisions.contains(&revision)
    }

    /// How much a break of it weighs: only what the specification demands in capitals is a violation,
    /// unless the check is strict.
    pub fn weight(&self, is_strict: bool) -> Weight {
        match self.strength {
            Strength::Must if is_strict || !self.is_inferred => Weight::Violation,
            Strength::Must | Strength::Should => Weight::Warning,
        }
    }

    /// The id, with `†` if the ledger infers the rule.
    pub fn marked_id(&self) -> String {
        format!("{}{}", self.id, if self.is_inferred { "†" } else { "" })
    }

    /// Judges what was seen.
    pub(crate) fn judge(&self, seen: &Seen<'_>) -> Verdict {
        match self.look {
            Look::With(look) => look(seen),
            Look::Shape(owners) => shape(owners, seen),
        }
    }

    /// Marks the rule as one that the ledger infers.
    pub(crate) const fn inferred(mut self) -> Self {
        self.is_inferred = true;
        self
    }
}

fn shape(owners: &[&str], seen: &Seen<'_>) -> Verdict {
    if seen.server().is_none() {
        return Verdict::Idle;
    }
    let mut faults = seen.faults.iter().filter(|fault| owners.contains(&fault.owner));
    match faults.next() {
        Some(fault) => Verdict::Broken(format!("`{}` {}", fault.place, fault.reason)),
        None if seen.mentions(owners) => Verdict::Kept,
        None => Verdict::Idle,
    }
}

/// A rule that servers must keep.
pub(crate) const fn must(
    id: &'static str,
    revisions: &'static [Revision],
    words: &'static str,
    look: fn(&Seen<'_>) -> Verdict,
) -> Rule {
    binding(id, revisions, words, Look::With(look))
}

/// A rule that servers should keep.
pub(crate) const fn should(
    id: &'static str,
    revisions: &'static [Revision],
    words: &'static str,
    look: fn(&Seen<'_>) -> Verdict,
) -> Rule {
    Rule { strength: Strength::Should, ..must(id, revisions, words, look) }
}

/// A rule about the members of types.
pub(crate) const fn shaped(
    id: &'static str,
    revisions: &'static [Revision],
    words: &'static str,
    owners: &'static [&'static str],
) -> Rule {
    binding(id, revisions, words, Look::Shape(owners))
}

const fn binding(
    id: &'static str,
    revisions: &'static [Revision],
    words: &'static str,
    look: Look,
) -> Rule {
    Rule { id, strength: Strength::Must, is_inferred: false, revisions, words, look }
}

/// The revisions of rules, named by what they leave out.
pub(crate) mod span {
    use bowline_types::revision::Revision::{
        self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28,
    };

    pub(crate) const ALL: &[Revision] = &Revision::ALL;
    pub(crate) const STATEFUL: &[Revision] = &[V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];
    pub(crate) const SINCE_03: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];
    pub(crate) const SINCE_06: &[Revision] = &[V2025_06_18, V2025_11_25, V2026_07_28];
    pub(crate) const SINCE_11: &[Revision] = &[V2025_11_25, V2026_07_28];
    pub(crate) const FROM_03_TO_11: &[Revision] = &[V2025_03_26, V2025_06_18, V2025_11_25];
    pub(crate) const FROM_06_TO_11: &[Revision] = &[V2025_06_18, V2025_11_25];
    pub(crate) const UP_TO_03: &[Revision] = &[V2024_11_05, V2025_03_26];
    pub(crate) const ONLY_03: &[Revision] = &[V2025_03_26];
    pub(crate) const ONLY_06: &[Revision] = &[V2025_06_18];
    pub(crate) const ONLY_11: &[Revision] = &[V2025_11_25];
    pub(crate) const STATELESS: &[Revision] = &[V2026_07_28];
}
