//! What a number of sessions costs: `cargo run -p scale-model -- --sessions 10000000`.
//!
//! Counts requests, operations of Redis, memory and machines. `docs/scale.md` explains it and shows
//! what it prints. Each constant in [`cost`] was measured; its comment has the command.

#![allow(clippy::print_stdout, reason = "its output is its purpose")]

mod cost;
mod plan;

use clap::Parser;

use crate::plan::Plan;

/// Counts what sessions of clients before 2026-07-28 cost
#[derive(Clone, Debug, Parser)]
struct Load {
    /// Sessions that are open at the same time
    #[arg(long, default_value_t = 10_000_000.0)]
    sessions: f64,
    /// Requests of one session in a minute
    #[arg(long, default_value_t = 1.0)]
    requests: f64,
    /// The share of requests that are answered with a stream of events
    #[arg(long, default_value_t = 0.1)]
    streaming: f64,
    /// Events of such a stream, with the answer
    #[arg(long, default_value_t = 5.0)]
    events: f64,
    /// The share of sessions with an open GET stream
    #[arg(long, default_value_t = 0.5)]
    listening: f64,
    /// Notifications on a GET stream in an hour
    #[arg(long, default_value_t = 6.0)]
    notifications: f64,
    /// Sessions in one cell
    #[arg(long, default_value_t = 2_000_000.0)]
    cell: f64,
}

fn main() {
    print!("{}", Plan::new(&Load::parse()));
}
