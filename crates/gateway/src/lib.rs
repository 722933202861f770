//! Many Model Context Protocol servers behind one endpoint, of any revision.
//!
//! # Reading order
//!
//! * [`config`]: the servers that configuration files of hosts name.

pub mod config;
