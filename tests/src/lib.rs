//! Helpers that the tests of this package share.

pub mod peers;
