//! A shell in a terminal of a given width, kept by a tmux of its own.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Narrow, usual and wide terminals.
pub(crate) const WIDTHS: [usize; 3] = [40, 80, 200];

const PATIENCE: Duration = Duration::from_secs(30);

/// A shell in a terminal.
pub(crate) struct Screen {
    width: usize,
    folder: TempDir,
}

impl Screen {
    pub(crate) fn open(width: usize) -> Self {
        Self::sized(width, 100)
    }

    /// A terminal with so many columns and rows.
    pub(crate) fn sized(width: usize, height: usize) -> Self {
        let screen = Self { width, folder: tempfile::tempdir().unwrap() };
        let (x, y) = (width.to_string(), height.to_string());
        screen.tmux(&["new-session", "-d", "-x", &x, "-y", &y, "exec sh"]);
        screen.wait_for("$");
        screen
    }

    /// The folder in which the shell starts, the home of its user.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let programs = Path::new(env!("CARGO_BIN_EXE_bowline")).parent().unwrap().display();
        let home = self.folder.path();
        let mut command = Command::new("tmux");
        command.env_clear().env("PATH", format!("{programs}:/usr/bin:/bin")).env("HOME", home);
        command.env("LANG", "C.UTF-8").env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
        command.env("PS1", "$ ").current_dir(home);
        command.arg("-u").arg("-S").arg(home.join("tmux")).args(["-f", "/dev/null"]);
        let output = command.args(arguments).output();
        let output =
            output.expect("this test needs tmux: install it, or run `sh tests/peers/install.sh`");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "tmux {arguments:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Types a text.
    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Presses a key, by the name that tmux gives it.
    pub(crate) fn press(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Presses a key once the program reads keys. Before that, the terminal would show the key itself.
    #[track_caller]
    pub(crate) fn answer(&self, key: &str) {
        self.wait_for_reader();
        self.press(key);
    }

    /// Waits until the program reads keys one by one.
    #[track_caller]
    pub(crate) fn wait_for_reader(&self) {
        let terminal = self.variable("#{pane_tty}");
        self.wait_until("program that reads keys", |_| {
            let modes = Command::new("stty").args(["-a", "-F", &terminal]).output().unwrap();
            String::from_utf8_lossy(&modes.stdout).contains("-icanon")
        });
    }

    /// Types a command line, whose exit code is shown after its output.
    pub(crate) fn run(&self, command: &str) {
        self.type_text(&format!("{command}; echo code $?"));
        self.press("Enter");
    }

    /// Waits until a text is shown, and returns the screen.
    #[track_caller]
    pub(crate) fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |shown| shown.contains(text))
    }

    /// Waits for the end of the command, and returns its exit code.
    #[track_caller]
    pub(crate) fn code(&self) -> i32 {
        let code =
            |shown: &str| shown.lines().find_map(|it| it.strip_prefix("code ")?.parse().ok());
        let shown = self.wait_until("the exit code", |shown| {
            code(shown).is_some() && shown.trim_end().ends_with("\n$")
        });
        code(&shown).unwrap()
    }

    #[track_caller]
    fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let shown = self.shown();
            if holds(&shown) {
                return shown;
            }
            assert!(Instant::now() < deadline, "no {what} on the screen:\n{shown}");
            thread::park_timeout(Duration::from_millis(10));
        }
    }

    /// What the terminal shows, without colours.
    pub(crate) fn shown(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p"]))
    }

    /// What the terminal shows, and what has scrolled away.
    pub(crate) fn history(&self) -> String {
        trimmed(&self.tmux(&["capture-pane", "-p", "-S", "-"]))
    }

    /// What the terminal shows, with the codes of colours.
    pub(crate) fn coloured(&self) -> String {
        self.tmux(&["capture-pane", "-p", "-e"])
    }

    /// The value of a variable of tmux.
    pub(crate) fn variable(&self, name: &str) -> String {
        self.tmux(&["display-message", "-p", name]).trim().to_owned()
    }

    /// Lines of output that the terminal had to break because they are wider than it is.
    pub(crate) fn broken(&self) -> Vec<String> {
        let joined = self.tmux(&["capture-pane", "-p", "-J"]);
        let lines = joined.lines().map(str::trim_end).filter(|line| !line.starts_with("$ "));
        let is_broken = |line: &&str| line.chars().count() > self.width;
        lines.filter(is_broken).map(str::to_owned).collect()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn trimmed(screen: &str) -> String {
    let lines: Vec<&str> = screen.trim_end().lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

/// Compares a screen with the file of this name.
#[track_caller]
pub(crate) fn expect(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/terminal/expected").join(name);
    if std::env::var_os("UPDATE").is_some() {
        return fs::write(&path, actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(actual, expected, "`UPDATE=1 cargo test` writes {}", path.display());
}
