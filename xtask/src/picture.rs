//! The picture of a terminal in the README: types commands into a real terminal (tmux) and draws
//! what it shows.

mod svg;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use crate::command::{cargo, program, run as start};
use crate::tree::root;

/// Where the picture is.
const PICTURE: &str = "docs/picture.svg";

/// What is typed, one after another.
const TYPED: &[&str] = &[
    "bowline list -- bowline demo --stdio",
    "bowline call add a=40 b=2 -- bowline demo --stdio",
    "bowline call sleep seconds=soon -- bowline demo --stdio",
];

const COLUMNS: usize = 92;
const ROWS: usize = 50;

/// How long a command may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `cargo xtask picture`.
pub(crate) fn run() -> Result<()> {
    start(cargo().args(["build", "--release", "--package", "bowline-cli"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let terminal = Terminal::open(&target.join("release"))?;
    for line in TYPED {
        terminal.enter(line)?;
    }
    let shown = terminal.shown(&["-e"])?;
    fs::write(root().join(PICTURE), svg::draw(&shown, COLUMNS))?;
    println!("wrote {PICTURE}");
    Ok(())
}

/// A terminal that is closed when this is dropped.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Opens a terminal with a shell that finds `bowline` in this folder.
    fn open(folder: &Path) -> Result<Self> {
        let terminal = Self { socket: format!("bowline-picture-{}", std::process::id()) };
        let path = std::env::var("PATH").unwrap_or_default();
        let shell = format!("env PATH={}:{path} PS1='$ ' sh", folder.display());
        let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
        let size = ["-x", &columns, "-y", &rows];
        start(terminal.tmux(&["-f", "/dev/null", "new-session", "-d"]).args(size).arg(shell))
            .context("tmux is needed (Debian: apt-get install tmux)")?;
        terminal.wait()?;
        Ok(terminal)
    }

    /// Types a line, and waits until the shell is ready for the next.
    fn enter(&self, line: &str) -> Result<()> {
        start(&mut self.tmux(&["send-keys", "-l", line]))?;
        start(&mut self.tmux(&["send-keys", "Enter"]))?;
        self.wait()
    }

    /// Waits for the shell's prompt.
    fn wait(&self) -> Result<()> {
        let end = Instant::now() + PATIENCE;
        loop {
            // First, so that the prompt of the line before is gone.
            sleep(Duration::from_millis(200));
            let shown = self.shown(&[])?;
            if shown.trim_end().ends_with("\n$") || shown.trim() == "$" {
                return Ok(());
            }
            ensure!(Instant::now() < end, "no prompt after {PATIENCE:?}:\n{shown}");
        }
    }

    /// The text of the terminal.
    fn shown(&self, options: &[&str]) -> Result<String> {
        let output = self.tmux(&["capture-pane", "-p"]).args(options).output()?;
        ensure!(output.status.success(), "tmux cannot show its text");
        Ok(String::from_utf8(output.stdout)?)
    }

    fn tmux(&self, arguments: &[&str]) -> Command {
        let mut tmux = program("tmux");
        tmux.args(["-L", &self.socket]).args(arguments);
        tmux
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A server that is gone needs no end.
        let _ = self.tmux(&["kill-server"]).status();
    }
}
