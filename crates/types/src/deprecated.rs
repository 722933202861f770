//! Features that still work in every revision, but that 2026-07-28 deprecates for new programs.

pub mod logging;
pub mod roots;
pub mod sampling;
