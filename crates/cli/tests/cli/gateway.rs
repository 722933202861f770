//! `bowline gateway`: what an operator reads, and what a changed file may start.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::serving::Serving;
use super::*;

/// A gateway in a folder, and its file.
struct Served {
    folder: TempDir,
    file: PathBuf,
    serving: Serving,
}

fn demo() -> Value {
    json!({ "command": bowline_path(), "args": ["demo", "--stdio"] })
}

impl Served {
    /// Serves a file of this place in a folder with these options.
    fn start(place: &str, config: &Value, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        write(&file, config);
        let mut command = bowline();
        user::at_home(&mut command, folder.path());
        command.args(["gateway", file.to_str().unwrap(), "--json"]).args(options);
        let serving = Serving::start(command.current_dir(folder.path()));
        Self { folder, file, serving }
    }

    /// Whether a list has a tool of this name.
    fn lists(&self, tool: &str) -> bool {
        let listed = run(&["list", &self.serving.url, "tools", "--json"]);
        let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
        listed["tools"].as_array().unwrap().iter().any(|it| it["name"] == tool)
    }

    /// Waits until the file of [`with_a_command`] was loaded: changes are noticed within a second.
    #[track_caller]
    fn wait_for_change(&self) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while self.lists("near__sleep") {
            assert!(Instant::now() < deadline, "the changed file was never loaded");
            thread::park_timeout(Duration::from_millis(50));
        }
    }

    /// A page of the admin listener.
    fn page(&self, path: &str) -> String {
        let address = self.serving.admin.trim_start_matches("http://");
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }
}

/// Replaces a file in one step, as editors do, so that no half of it is read.
fn write(file: &Path, config: &Value) {
    let new = file.with_extension("new");
    fs::write(&new, config.to_string()).unwrap();
    set_mode(&new, 0o644);
    fs::rename(new, file).unwrap();
}

#[cfg(unix)]
fn set_mode(file: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(file, fs::Permissions::from_mode(mode)).unwrap();
}

#[cfg(not(unix))]
fn set_mode(_: &Path, _: u32) {}

const HTTP: [&str; 2] = ["--http", "127.0.0.1:0"];

/// A file with a command that leaves a mark, and without a tool, which tells that it was loaded.
fn with_a_command(folder: &Path) -> Value {
    let script = format!("touch {}/PWNED", folder.display());
    let mut demo = demo();
    demo["tools"] = json!({ "hide": ["sleep"] });
    json!({ "mcpServers": { "near": demo, "evil": { "command": "sh", "args": ["-c", script] } } })
}

#[test]
fn a_command_that_a_changed_file_of_a_project_brings_does_not_run_without_consent() {
    let config = json!({ "mcpServers": { "near": demo() } });
    let served = Served::start("project/.mcp.json", &config, &HTTP);
    assert!(served.lists("near__echo"));
    write(&served.file, &with_a_command(served.folder.path()));
    served.wait_for_change();
    let folder = served.folder;
    let notes = served.serving.stop();
    assert!(!folder.path().join("PWNED").exists(), "the command ran: {notes}");
    let note = "$.mcpServers.evil: the entry is new or changed, and would run a command; restart the \
                gateway to use it";
    assert!(notes.contains("left out: ") && notes.contains(note), "{notes}");
}

#[test]
fn a_command_that_a_changed_file_brings_runs_with_yes_or_from_the_folder_of_the_user() {
    let config = json!({ "mcpServers": { "near": demo() } });
    for (place, options) in [
        ("project/.mcp.json", &["--http", "127.0.0.1:0", "--yes"][..]),
        ("config/bowline/gateway.json", &HTTP[..]),
    ] {
        let served = Served::start(place, &config, options);
        write(&served.file, &with_a_command(served.folder.path()));
        served.wait_for_change();
        // The list has started it.
        assert!(served.folder.path().join("PWNED").exists(), "{place}");
    }
}

#[cfg(unix)]
#[test]
fn a_changed_file_that_all_users_can_write_is_not_read() {
    let config = json!({ "mcpServers": { "near": demo() } });
    let mut served = Served::start("config/bowline/gateway.json", &config, &HTTP);
    set_mode(&served.file, 0o666);
    fs::write(&served.file, with_a_command(served.folder.path()).to_string()).unwrap();
    let stderr = served.serving.child.stderr.as_mut().unwrap();
    let mut note = String::new();
    BufReader::new(stderr).read_line(&mut note).unwrap();
    assert!(note.starts_with("the old configuration stays: "), "{note}");
    assert!(note.contains("all users can write the file"), "{note}");
    assert!(served.lists("near__echo"));
    assert!(!served.folder.path().join("PWNED").exists(), "the command ran");
}

#[test]
fn an_operator_reads_which_server_fails_and_why() {
    let config = json!({ "mcpServers": {
        "near": demo(),
        "missing": { "command": "/no/such/program" },
        "broken": { "command": "sh", "args": ["-c", "echo cannot open the door >&2; exit 1"] },
    } });
    let options = ["--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
    let served = Served::start("bowline.json", &config, &options);
    assert_eq!(served.page("/readyz"), "ok\n");
    assert!(served.lists("near__echo"));
    let ready = served.page("/readyz");
    assert!(ready.starts_with("ok\n"), "{ready}");
    let line = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.contains(name) && line.contains("fails: "));
        line.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    assert!(line(&ready, "missing").contains("/no/such/program"), "{ready}");
    assert!(line(&ready, "broken").contains("cannot open the door"), "{ready}");
    let metrics = served.page("/metrics");
    for name in ["missing", "broken"] {
        let is_row = |row: &str| {
            row.starts_with("bowline_upstream_failing{")
                && row.contains(&format!("bowline_upstream=\"{name}\""))
        };
        assert!(metrics.lines().any(is_row), "{metrics}");
    }
    let is_labelled = |row: &str| {
        row.starts_with("mcp_client_operation_duration_seconds_count{")
            && row.contains("bowline_upstream=\"near\"")
    };
    assert!(metrics.lines().any(is_labelled), "{metrics}");
    let notes = served.serving.stop();
    assert!(line(&notes, "`missing`").contains("/no/such/program"), "{notes}");
    assert!(line(&notes, "`broken`").contains("cannot open the door"), "{notes}");
}

#[test]
fn a_call_to_a_server_that_fails_tells_that_and_not_that_there_is_no_such_tool() {
    let config = json!({ "mcpServers": { "near": demo(), "missing": { "command": "/no/such" } } });
    let served = Served::start("bowline.json", &config, &HTTP);
    for arguments in [&["x=1"][..], &[]] {
        let words = [&["call", &served.serving.url, "missing__tool"], arguments].concat();
        let called = run(&words);
        let expected = "the server `missing` is not running: it could not be started";
        assert!(called.stderr.contains(expected), "{}", called.stderr);
        let called = run(&["call", &served.serving.url, "near__ech", "message=hi"]);
        assert!(called.stderr.contains("the server has no tool `near__ech`"), "{}", called.stderr);
        assert!(called.stderr.contains("did you mean `near__echo`"), "{}", called.stderr);
    }
}

#[test]
fn a_failure_is_a_line_of_the_log_too() {
    let missing = json!({ "command": "/no/such" });
    let config = json!({ "mcpServers": { "near": demo(), "missing": missing } });
    let options = ["--http", "127.0.0.1:0", "--log", "json"];
    let served = Served::start("bowline.json", &config, &options);
    assert!(!served.lists("missing__tool"));
    let log = served.serving.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.into_iter().find(|it| it["event"] == "upstream_failing").expect(&log);
    assert_eq!(line["upstream"], "missing", "{line}");
    assert!(line["cause"].as_str().unwrap().contains("/no/such"), "{line}");
}

#[test]
fn the_verbose_gateway_shows_which_servers_start_and_what_they_write() {
    let script = format!("echo hello from the server >&2; exec {} demo --stdio", bowline_path());
    let config = json!({ "mcpServers": { "near": { "command": "sh", "args": ["-c", script] } } });
    for (options, expected) in [(&HTTP[..], false), (&["--http", "127.0.0.1:0", "-v"][..], true)] {
        let served = Served::start("bowline.json", &config, options);
        assert!(served.lists("near__echo"));
        let notes = served.serving.stop();
        for text in ["starting `near`", "`near` answered after ", "hello from the server"] {
            assert_eq!(notes.contains(text), expected, "{text}: {notes}");
        }
    }
}

#[test]
fn the_address_of_the_file_counts_unless_the_command_line_names_one() {
    let with = |http| json!({ "mcpServers": {}, "gateway": { "http": http } });
    for (http, options) in [
        ("127.0.0.1:0", &["--http"][..]),
        ("127.0.0.1:0", &[][..]),
        ("127.0.0.1:8809", &["--http", "127.0.0.1:0"][..]),
    ] {
        let served = Served::start("bowline.json", &with(http), options);
        assert!(!served.serving.url.contains(":8809/"), "{options:?}: {}", served.serving.url);
    }
}

#[test]
fn an_address_that_cannot_be_used_is_explained_with_an_option_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bowline.json");
    write(&file, &json!({ "mcpServers": {} }));
    let file = file.to_str().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = run(&["gateway", file, "--http", &address]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    assert!(refused.stderr.contains("Address already in use"), "{}", refused.stderr);
    let command = [bowline_path(), "demo", "--stdio"];
    for words in
        [&["gateway", file, "--http", "0.0.0.0:0"][..], &["serve", "--http", "0.0.0.0:0", "--"]]
    {
        let command = if words[0] == "serve" { &command[..] } else { &[] };
        let refused = run(&[words, command].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains("0.0.0.0:0 can be reached from the network"));
        assert!(refused.stderr.contains("`--allow-network`"), "{}", refused.stderr);
        assert!(!refused.stderr.contains("()"), "{}", refused.stderr);
    }
}
