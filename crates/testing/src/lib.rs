//! A test kit for servers and clients of the Model Context Protocol.
pub mod clock;
mod strict;
mod subject;
pub mod transcript;

pub use strict::Strict;
pub use subject::Subject;
