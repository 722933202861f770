//! A test kit for servers and clients of the Model Context Protocol.
pub mod clock;
#[cfg(feature = "schemas")]
pub mod schema;
mod mailbox;
pub mod pair;
mod strict;
mod subject;
pub mod transcript;

pub use strict::Strict;
pub use subject::Subject;
