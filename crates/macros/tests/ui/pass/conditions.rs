//! A tool exists where its function does.

#![deny(warnings)]

use bowline::{tool, tools};

#[tool]
#[cfg(unix)]
fn shell(command: String) -> String {
    command
}

#[tool]
#[cfg(not(unix))]
fn shell(command: String, drive: String) -> String {
    command + &drive
}

#[cfg(any())]
#[tool]
fn never(nonsense: Nonsense) {}

fn main() {
    let all = tools![shell, #[cfg(any())] never];
    assert_eq!(all.len(), 1);
    assert_eq!(tools![].len(), 0);
}
