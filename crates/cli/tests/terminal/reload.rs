//! A gateway at a terminal whose file changes: it asks there, and nothing else is written meanwhile.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::screen::Screen;

/// A gateway in a terminal, and the file of a project that it serves.
struct Reloading {
    screen: Screen,
    file: PathBuf,
    url: String,
}

impl Reloading {
    fn start(config: &Value, options: &str) -> Self {
        let screen = Screen::sized(80, 24);
        let file = screen.folder().join("bowline.json");
        write(&file, config);
        screen.run(&format!("bowline gateway bowline.json --http 127.0.0.1:0 {options}"));
        let shown = screen.wait_for("/mcp");
        let url = shown.split_whitespace().find(|word| word.starts_with("http://127.0.0.1:"));
        let url = url.unwrap().trim_end_matches([',', ';', '.']).to_owned();
        Self { screen, file, url }
    }

    /// Lists the tools of the gateway, so that its servers start and it writes to its log.
    fn list(&self) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bowline"));
        command.args(["list", &self.url, "tools"]).env("HOME", self.screen.folder());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }

    fn has_run(&self) -> bool {
        self.screen.folder().join("PWNED").exists()
    }

    fn stop(self) {
        self.screen.press("C-c");
        self.screen.wait_for("code ");
    }
}

/// Replaces a file in one step, so that no half of it is read.
fn write(file: &PathBuf, config: &Value) {
    let new = file.with_extension("new");
    fs::write(&new, config.to_string()).unwrap();
    fs::rename(new, file).unwrap();
}

fn demo() -> Value {
    let script = "for i in 1 2 3 4 5 6 7 8 9; do printf 'NOISE \\033[2J\\n' >&2; done; \
                  exec bowline demo --stdio";
    json!({ "command": "sh", "args": ["-c", script], "env": { "PATH": path() } })
}

fn path() -> String {
    let bowline = PathBuf::from(env!("CARGO_BIN_EXE_bowline"));
    format!("{}:/usr/bin:/bin", bowline.parent().unwrap().display())
}

/// The same file with a command that leaves a mark.
fn with_a_command() -> Value {
    let evil = json!({ "command": "sh", "args": ["-c", "touch ~/PWNED"] });
    json!({ "mcpServers": { "near": demo(), "evil": evil } })
}

// spec: LOCAL-2, LOCAL-4
#[test]
fn a_command_that_a_changed_file_brings_runs_if_the_user_agrees_at_the_terminal() {
    for (key, note, runs) in [("n", "left out: ", false), ("y", "started evil", true)] {
        let gateway = Reloading::start(&json!({ "mcpServers": { "near": demo() } }), "");
        write(&gateway.file, &with_a_command());
        gateway.screen.wait_for("Run it?");
        let shown = gateway.screen.shown();
        assert!(shown.contains("  sh -c \"touch ~/PWNED\""), "{shown}");
        gateway.screen.answer(key);
        gateway.screen.wait_for(note);
        assert!(gateway.list().contains("near__echo"));
        assert_eq!(gateway.has_run(), runs);
        gateway.stop();
    }
}

// spec: LOCAL-2, LOCAL-4
#[test]
fn nothing_else_is_written_to_the_terminal_while_it_asks() {
    let config = json!({ "mcpServers": { "near": demo() } });
    let gateway = Reloading::start(&config, "-v --log json");
    write(&gateway.file, &with_a_command());
    gateway.screen.wait_for("Run it?");
    gateway.screen.wait_for_reader();
    let before = gateway.screen.shown();
    for _ in 0..4 {
        assert!(gateway.list().contains("near__echo"));
    }
    assert_eq!(gateway.screen.shown(), before);
    gateway.screen.answer("n");
    // What was held back is shown then, and commands nothing.
    gateway.screen.wait_for("left out: ");
    gateway.screen.wait_for("\"method\":\"tools/list\"");
    let log = gateway.screen.history();
    assert!(log.contains("NOISE") && log.contains("wants to run code"), "{log}");
    assert!(!gateway.has_run());
    gateway.stop();
}

#[test]
fn notes_about_a_changed_file_do_not_command_the_terminal() {
    let gateway = Reloading::start(&json!({ "mcpServers": { "near": demo() } }), "");
    let forged = "\u{1b}[2J\nhint: x";
    write(&gateway.file, &json!({ "mcpServers": { forged: { "command": "sh" } } }));
    let shown = gateway.screen.wait_for("hint: x");
    assert!(shown.contains("bowline gateway bowline.json"), "the screen is cleared: {shown}");
    assert!(shown.contains("\\u{1b}[2J\\nhint: x"), "{shown}");
    gateway.stop();
}

/// A server may write what it likes in an error, on lines of their own.
#[test]
fn an_error_of_a_server_does_not_look_like_a_hint_of_the_command() {
    let screen = Screen::sized(80, 24);
    screen.run(r#"bowline list -- sh -c 'printf "oops\nhint: sh evil\n" >&2; exit 1'"#);
    assert_eq!(screen.code(), 3);
    let shown = screen.shown();
    assert!(shown.contains("\n  hint: sh evil\n"), "{shown}");
    assert!(!shown.lines().any(|line| line.starts_with("hint: sh")), "{shown}");
}
