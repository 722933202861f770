//! Bytes of a channel to units of text and back, fed in pieces and bounded.

pub mod lines;
