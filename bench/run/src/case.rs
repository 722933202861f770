//! What is measured, of which programs, and in which unit.

use std::fmt;

use anyhow::Result;

use crate::programs::Bench;

/// One thing to measure.
pub(crate) struct Case {
    /// Its name: the topic, from the general to the special, between slashes.
    pub(crate) name: String,
    /// What it measures, in a sentence.
    pub(crate) measures: String,
    /// The figures of a round, in this order.
    pub(crate) figures: Vec<Figure>,
    pub(crate) subjects: Vec<Subject>,
    pub(crate) repeats: Repeats,
    /// Measures one subject once.
    pub(crate) round: Round,
}

/// Measures one subject once, and returns one value for each figure of the case.
pub(crate) type Round = Box<dyn Fn(&Bench, &Subject) -> Result<Vec<f64>>>;

/// How often a case is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Repeats {
    EveryRound,
    /// Once: it gives the same figures each time, or takes too long.
    Once,
}

/// A program that is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Subject {
    pub(crate) role: Role,
    /// The program and its arguments, or other input of the case.
    pub(crate) command: Vec<String>,
}

/// The role of a subject in a comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// The minimal server or client.
    Ceiling,
    Bowline,
    RmcpBest,
    RmcpDefault,
    Peer(String),
}

impl fmt::Display for Role {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Ceiling => "ceiling",
            Self::Bowline => "bowline",
            Self::RmcpBest => "rmcp best",
            Self::RmcpDefault => "rmcp default",
            Self::Peer(name) => name,
        })
    }
}

/// One of the values of a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Figure {
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
}

/// Which way is better.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Better {
    Higher,
    Lower,
}

impl Figure {
    pub(crate) const fn higher(unit: &'static str) -> Self {
        Self { unit, better: Better::Higher }
    }

    pub(crate) const fn lower(unit: &'static str) -> Self {
        Self { unit, better: Better::Lower }
    }
}
