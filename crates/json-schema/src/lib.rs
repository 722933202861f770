//! Checks JSON values against JSON Schema, within limits.
//!
#![doc = include_str!("../README.md")]
//!
//! # In the code
//!
//! The way of a schema: `simple` recognizes the usual ones, which need no compilation until a value
//! comes. `survey` finds all places with schemas, `identifiers` their names; `reference` follows
//! references between them; `compile` turns each place into a `node`, reading `keywords` by the
//! `rules` of the `dialect`. The way of a value: `evaluate` walks through it beside the nodes, and
//! writes `violation`s.

// What a program uses.
mod error;
mod limits;
mod validator;
mod violation;

// A schema becomes nodes, once.
mod compile;
mod dialect;
mod identifiers;
mod keywords;
mod node;
mod reference;
mod rules;
mod simple;
mod survey;

// A value is checked against nodes.
mod evaluate;
mod evaluated;
mod instance;

// What both need: numbers, equality, patterns, URIs.
mod equality;
mod number;
mod pattern;
mod uri;

#[cfg(test)]
mod tests;

pub use error::SchemaError;
pub use limits::SchemaLimits;
pub use validator::Validator;
pub use violation::{Violation, Violations};
