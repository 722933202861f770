//! The bridge between the eras: a client, a relay and a server, each hop in a revision of its own.
//!
//! Each module is one subject, and each test runs in every cell that it names: the caller's revision
//! and the upstream server's, over memory and over HTTP.

mod asking;
mod calls;
mod changes;
mod errors;
mod headers;
mod logging;
mod pages;
mod roots;
mod sampling;
mod sessions;
mod support;
mod tasks;
mod views;
