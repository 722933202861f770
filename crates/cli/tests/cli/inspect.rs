//! `bowline inspect`: steps, findings, and the step that fails.

use std::net::TcpListener;

use tempfile::TempDir;

use super::demo::{HttpDemo, with_demo};
use super::terminal::Terminal;
use super::*;

/// The same text without times, which differ from run to run. They are in a column of their own.
fn timeless(text: &str) -> String {
    let line = |line: &str| match line.get(25..33) {
        Some(took) if took.ends_with(" ms") => format!("{}    N ms{}\n", &line[..25], &line[33..]),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn every_step_to_the_lists_is_named_over_both_transports_in_both_eras() {
    let http = HttpDemo::start();
    let port = http.url.split([':', '/']).nth(4).unwrap().to_owned();
    for revision in BOTH {
        let name = |transport: &str| format!("inspect_{transport}_{revision}.txt");
        let looked = run(&["inspect", &http.url, "--revision", revision]);
        assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
        expect(&name("http"), &timeless(&looked.stdout).replace(&port, "8808"));
        let looked = with_demo(&["inspect", "--revision", revision]);
        assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
        let program = env!("CARGO_BIN_EXE_bowline");
        expect(&name("stdio"), &timeless(&looked.stdout).replace(program, "bowline"));
    }
}

#[test]
fn the_first_step_that_fails_is_named_with_a_hint() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let closed = run(&["inspect", &format!("http://{free}/mcp")]);
    assert_eq!(closed.code, Some(3));
    let shown = timeless(&closed.stdout) + &closed.stderr;
    expect("inspect_closed.txt", &shown.replace(&free.port().to_string(), "1"));
    let absent = run(&["inspect", "--", "./no-such-program"]);
    assert_eq!(absent.code, Some(3));
    expect("inspect_absent.txt", &(timeless(&absent.stdout) + &absent.stderr));
    let demo = HttpDemo::start();
    let other = run(&["inspect", &demo.url.replace("/mcp", "/other")]);
    assert!(other.stdout.contains("handshake      FAILED"), "{}", other.stdout);
    let tls = run(&["inspect", &demo.url.replace("http:", "https:")]);
    assert_eq!(tls.code, Some(3));
    assert!(tls.stdout.contains("tls            FAILED"), "{}", tls.stdout);
}

#[test]
fn a_server_that_wants_a_credential_fails_at_authorization() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // The probe of the path opens a connection and sends nothing.
            let mut head = String::new();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
            let refusal = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\n\
                           Content-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.write_all(refusal.as_bytes());
        }
    });
    let refused = run(&["inspect", &url]);
    assert_eq!(refused.code, Some(4), "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stdout.contains("authorization  FAILED"), "{}", refused.stdout);
    assert!(refused.stderr.contains("hint: "), "{}", refused.stderr);
}

#[test]
fn json_has_everything() {
    let looked = with_demo(&["inspect", "--json"]);
    assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
    for part in [r#""ok": true"#, r#""revision": "2026-07-28""#, r#""tokens_estimated": "#] {
        assert!(looked.stdout.contains(part), "{}", looked.stdout);
    }
}

/// A home with the files of two hosts, and a project with one.
struct Configured {
    home: TempDir,
    project: TempDir,
}

impl Configured {
    fn new(http: &str) -> Self {
        let configured = Self { home: TempDir::new().unwrap(), project: TempDir::new().unwrap() };
        let program = env!("CARGO_BIN_EXE_bowline");
        // A shell, so that the demo of another test is not taken for a process of this server.
        let demo = format!(r#""command": "sh", "args": ["-c", "exec {program} demo --stdio"]"#);
        let cursor = format!(
            r#"{{ "mcpServers": {{
                "local": {{ {demo} }},
                "remote": {{ "url": "{http}" }},
                "broken": {{ "command": "./no-such-program" }},
                "off": {{ "command": "./no-such-program", "disabled": true }},
                "wrong": {{ "port": 1 }}
            }} }}"#
        );
        let write = |folder: &TempDir, name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(&configured.home, ".cursor/mcp.json", &cursor);
        let asking = r#"{ "servers": { "asking": { "command": "x", "args": ["${input:key}"] } },
            "inputs": [{ "id": "key", "type": "promptString", "description": "A key" }] }"#;
        write(&configured.home, ".config/Code/User/mcp.json", asking);
        let claude = format!(r#"{{ "mcpServers": {{ "again": {{ {demo} }} }} }}"#);
        write(&configured.home, ".claude.json", &claude);
        let script = format!("touch started; exec {program} demo --stdio");
        let stranger = format!(
            r#"{{ "mcpServers": {{ "stranger": {{ "command": "sh", "args": ["-c", "{script}"] }} }} }}"#
        );
        write(&configured.project, ".mcp.json", &stranger);
        configured
    }

    fn inspect(&self, arguments: &[&str]) -> Command {
        let mut command = bowline();
        command.arg("inspect").args(arguments).current_dir(self.project.path());
        command.env("HOME", self.home.path());
        command.env("XDG_CONFIG_HOME", self.home.path().join(".config"));
        command
    }

    fn has_started_stranger(&self) -> bool {
        self.project.path().join("started").exists()
    }

    /// The words of every line, without times.
    fn words(&self, text: &str) -> String {
        let line = |line: &str| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if let Some(at) = words.iter().position(|word| *word == "ms").filter(|at| *at > 0) {
                words[at - 1] = "N";
            }
            words.join(" ") + "\n"
        };
        let text = text.replace(self.home.path().to_str().unwrap(), "~");
        text.lines().map(line).collect()
    }
}

// spec: LOCAL-1, LOCAL-4
#[test]
fn without_a_target_every_configured_server_is_in_a_table() {
    let http = HttpDemo::start();
    let configured = Configured::new(&http.url);
    let looked: Run = configured.inspect(&[]).output().unwrap().into();
    assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
    expect("inspect_all.txt", &configured.words(&looked.stdout));
    assert!(!configured.has_started_stranger());

    let looked: Run = configured.inspect(&["--json"]).output().unwrap().into();
    assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""));
    for part in [
        r#""name": "remote""#,
        r#""era": "modern""#,
        r#""authorization": "not_needed""#,
        r#""tools": 15"#,
        r#""tokens_estimated": "#,
    ] {
        assert!(looked.stdout.contains(part), "{}", looked.stdout);
    }
    assert!(!configured.has_started_stranger());

    let looked: Run = configured.inspect(&["--yes"]).output().unwrap().into();
    assert!(configured.has_started_stranger());
    assert!(looked.stderr.contains("wants to run code on this machine"), "{}", looked.stderr);
    let shown = configured.words(&looked.stdout);
    assert!(shown.contains("stranger Claude Code 2026-07-28 – 15 "), "{shown}");
}

// spec: LOCAL-4
#[test]
fn a_terminal_shows_what_is_going_on_and_asks_before_anything_starts() {
    let http = HttpDemo::start();
    let configured = Configured::new(&http.url);
    let mut terminal = Terminal::start(configured.inspect(&[]));
    terminal.wait_for("wants to run code on this machine");
    terminal.answer("Run it?", "n");
    terminal.wait_for("0 of 4 servers");
    terminal.wait_for("local");
    let (code, stdout, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.contains("  not started: you said no\n"), "{stdout}");
    assert!(stdout.contains("3 of 7 servers answered"), "{stdout}");
    assert!(!configured.has_started_stranger());
    let mut terminal = Terminal::start(configured.inspect(&["--json"]));
    terminal.answer("Run it?", "y");
    let (code, stdout, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(configured.has_started_stranger());
    assert!(stdout.starts_with('{') && stdout.ends_with("}\n"), "{stdout}");
}

#[test]
fn processes_of_a_configured_server_are_counted() {
    let home = TempDir::new().unwrap();
    // No other process has this argument.
    let seconds = format!("86400.{}", std::process::id());
    let entry = format!(r#"{{ "command": "sleep", "args": ["{seconds}"], "disabled": true }}"#);
    let text = format!(r#"{{ "mcpServers": {{ "twice": {entry} }} }}"#);
    fs::write(home.path().join(".claude.json"), text).unwrap();
    let mut running: Vec<Child> =
        (0..2).map(|_| Command::new("sleep").arg(&seconds).spawn().unwrap()).collect();
    let mut command = bowline();
    let looked = command.arg("inspect").env("HOME", home.path()).current_dir(home.path()).output();
    for child in &mut running {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let looked: Run = looked.unwrap().into();
    assert!(looked.stdout.contains("  2 processes of it run already\n"), "{}", looked.stdout);
    assert!(looked.stdout.contains("  switched off in its file\n"), "{}", looked.stdout);
}

#[test]
fn without_configured_servers_it_says_what_to_do() {
    let home = TempDir::new().unwrap();
    let mut command = bowline();
    command.arg("inspect").env("HOME", home.path()).current_dir(home.path());
    let looked: Run = command.output().unwrap().into();
    assert_eq!(looked.code, Some(0));
    expect("inspect_none.txt", &looked.stdout);
}

/// Each server notes its start and its end, and starts no sooner than as many as may start at once.
#[test]
fn as_many_processes_start_at_once_as_there_are_processors_but_two_to_six() {
    let processors = std::thread::available_parallelism().unwrap().get();
    let at_once = processors.clamp(2, 6);
    let home = TempDir::new().unwrap();
    let log = home.path().join("log");
    let script = format!(
        "echo start >> log; until [ $(grep -c start log) -ge {at_once} ]; do sleep 0.02; done; \
         {} demo --stdio; echo end >> log",
        bowline_path()
    );
    let entry = serde_json::json!({ "command": "sh", "args": ["-c", script], "cwd": home.path() });
    let servers: serde_json::Map<_, _> =
        (0..8).map(|number| (format!("server{number}"), entry.clone())).collect();
    let text = serde_json::json!({ "mcpServers": servers }).to_string();
    fs::write(home.path().join("servers.json"), text).unwrap();
    let mut command = bowline();
    command.args(["inspect", "--config", "servers.json"]).current_dir(home.path());
    let looked: Run = command.output().unwrap().into();
    assert!(looked.stdout.contains("8 of 8 servers answered"), "{looked:?}");
    let log = fs::read_to_string(log).unwrap();
    let running = log.lines().scan(0_usize, |running, line| {
        *running = if line == "start" { *running + 1 } else { *running - 1 };
        Some(*running)
    });
    assert_eq!(running.max(), Some(at_once), "{log}");
}

#[test]
fn a_mistyped_rule_in_the_file_of_a_gateway_is_noted() {
    let folder = TempDir::new().unwrap();
    let demo = serde_json::json!({
        "command": bowline_path(),
        "args": ["demo", "--stdio"],
        "tools": { "hide": ["asleep"] },
    });
    let text = serde_json::json!({
        "mcpServers": { "demo": demo },
        "gateway": { "name": "work", "http": "127.0.0.1:8809", "idleMinutes": 30 },
    });
    let file = folder.path().join("bowline.json");
    fs::write(&file, text.to_string()).unwrap();
    let looked = run(&["inspect", "--config", file.to_str().unwrap()]);
    assert_eq!(looked.code, Some(0), "{looked:?}");
    let words: Vec<&str> = looked.stdout.split_whitespace().collect();
    let note = "`tools.hide` names `asleep`, which the server does not list, so it hides nothing; \
                did you mean `sleep`?";
    assert!(words.join(" ").contains(note), "{looked:?}");
    assert!(!looked.stdout.contains("problem"), "{looked:?}");
}
