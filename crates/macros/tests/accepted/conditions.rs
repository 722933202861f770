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

struct Machine;

#[tool]
impl Machine {
    #[tool]
    #[cfg(any())]
    fn never(&self, nonsense: Nonsense) {}

    #[tool]
    #[cfg(all())]
    #[allow(clippy::non_minimal_cfg)]
    fn always(&self) {}
}

#[cfg(any())]
#[tool]
impl Nonsense {
    #[tool]
    fn never(&self) {}
}

fn main() {
    assert_eq!(Machine.tools().len(), 1);
    let all = tools![
        shell,
        #[cfg(any())]
        never
    ];
    assert_eq!(all.len(), 1);
    assert_eq!(tools![].len(), 0);
}
