//! Runs the real command in a real terminal: tmux shows what a user sees.
//!
//! Expected screens are beside the tests, in `expected`; `UPDATE=1 cargo test` rewrites them.

#![cfg(target_os = "linux")]

mod colours;
mod consent;
mod forms;
mod interrupts;
mod progress;
mod reload;
mod screen;
mod widths;
