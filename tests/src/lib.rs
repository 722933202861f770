//! Code that the tests of this package share.

pub mod peers;
pub mod process;
pub mod sample;
pub mod serving;
pub mod wire;

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
