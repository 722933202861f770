//! Features that work in every revision but that nobody should adopt anew since 2026-07-28.

pub mod logging;
pub mod roots;
pub mod sampling;
