//! The vocabulary of the Model Context Protocol: what messages say, in all five revisions.

pub mod revision;
pub mod method;
pub mod rpc;
pub mod id;
pub mod meta;
pub mod error;
pub mod json;
