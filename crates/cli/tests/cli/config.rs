//! Servers that configuration files name.

use std::net::TcpListener;

use tempfile::TempDir;

use super::*;
use crate::terminal::Terminal;

/// A home and a project.
struct Folders(TempDir);

impl Folders {
    fn new(files: &[(&str, String)]) -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir_all(root.path().join("home")).unwrap();
        fs::create_dir_all(root.path().join("project")).unwrap();
        for (name, text) in files {
            fs::write(root.path().join(name), text).unwrap();
        }
        Self(root)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = bowline();
        command.current_dir(self.0.path().join("project")).args(arguments);
        command.env("HOME", self.0.path().join("home")).env("XDG_CONFIG_HOME", "nowhere");
        command
    }

    fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// The command with a variable whose value must not be printed.
    fn with_secret(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command.env("SECRET", "s3cr3t");
        command
    }
}

/// A file that names the test's server `a b`, started by a script that leaves a mark first.
fn marking() -> String {
    let script = format!("touch started; exec {}", exhibit().display());
    format!(r#"{{"mcpServers":{{"ex":{{"command":"sh","args":["-c",{script:?},"a b"]}}}}}}"#)
}

const CALL: &[&str] = &["call", "ex", "echo", "message=hi"];

#[test]
fn a_server_of_the_user_is_called_by_its_name() {
    let folders = Folders::new(&[("home/.claude.json", marking())]);
    let called = folders.run(CALL);
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
    assert_eq!(called.stderr, "");
    let called = folders.run(&["call", "claude-code:ex", "echo", "message=hi"]);
    assert_eq!(called.stdout, "hi\n");
}

// spec: LOCAL-1, LOCAL-2, LOCAL-3, LOCAL-5
#[test]
fn a_server_of_the_project_is_not_started_without_consent() {
    let folders = Folders::new(&[("project/.mcp.json", marking())]);
    let called = folders.run(CALL);
    assert_eq!((called.code, called.stdout.as_str()), (Some(3), ""));
    assert!(!folders.0.path().join("project/started").exists());
    let exact = format!(r#"sh -c "touch started; exec {}" "a b""#, exhibit().display());
    assert!(called.stderr.contains(&exact), "{}", called.stderr);
    assert!(called.stderr.contains("wants to run code on this machine"), "{}", called.stderr);
    let shown = called.stderr.replace(exhibit().to_str().unwrap(), "EXHIBIT");
    expect("consent.txt", &shown.replace(folders.0.path().to_str().unwrap(), "ROOT"));

    let called = folders.run(&[CALL, &["--yes"]].concat());
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
    assert!(folders.0.path().join("project/started").exists());
}

// spec: LOCAL-4
#[test]
fn a_server_of_the_project_starts_when_the_user_says_yes_and_not_before() {
    let folders = Folders::new(&[("project/.mcp.json", marking())]);
    for refusal in ["n", "\u{1b}"] {
        let mut terminal = Terminal::start(folders.command(CALL));
        terminal.answer("Run it?", refusal);
        let (code, stdout, _) = terminal.end();
        assert_eq!((code, stdout.as_str()), (Some(3), ""));
        assert!(!folders.0.path().join("project/started").exists());
    }
    let mut terminal = Terminal::start(folders.command(CALL));
    // Enter alone is no answer.
    terminal.answer("Run it?", "\ry");
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(0), "hi\n"), "{shown}");
}

// spec: LOCAL-1
#[test]
fn a_url_of_the_project_gets_no_secret_without_consent() {
    let http = HttpExhibit::start();
    let entry = format!(r#"{{"url":{:?},"headers":{{"X-Key":"${{SECRET}}"}}}}"#, http.url);
    let text = format!(r#"{{"mcpServers":{{"ex":{entry}}}}}"#);
    let folders = Folders::new(&[("project/.mcp.json", text)]);
    let mut command = folders.command(CALL);
    let called: Run = command.env("SECRET", "s3cr3t").output().unwrap().into();
    assert_eq!((called.code, called.stdout.as_str()), (Some(3), ""));
    assert!(called.stderr.contains(&http.url) && called.stderr.contains("X-Key"));
    assert!(!called.stderr.contains("s3cr3t"), "{}", called.stderr);
}

/// A script that writes its last argument to a file, then runs the test's server.
fn keeping() -> String {
    format!("printf %s \"$1\" >got; exec {}", exhibit().display())
}

// spec: LOCAL-2
#[test]
fn consent_shows_variables_of_a_command_by_name_and_never_their_values() {
    let entry = format!(r#"{{"command":"sh","args":["-c",{:?},"sh","${{SECRET}}"]}}"#, keeping());
    let text = format!(r#"{{"mcpServers":{{"ex":{entry}}}}}"#);
    let folders = Folders::new(&[("project/.mcp.json", text)]);
    let called: Run = folders.with_secret(CALL).output().unwrap().into();
    assert_eq!(called.code, Some(3));
    assert!(!called.stderr.contains("s3cr3t"), "{}", called.stderr);
    let shown = called.stderr.replace(exhibit().to_str().unwrap(), "EXHIBIT");
    expect("consent_variable.txt", &shown.replace(folders.0.path().to_str().unwrap(), "ROOT"));

    let called: Run = folders.with_secret(&[CALL, &["--yes"]].concat()).output().unwrap().into();
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
    assert!(!called.stderr.contains("s3cr3t"), "{}", called.stderr);
    assert_eq!(fs::read_to_string(folders.0.path().join("project/got")).unwrap(), "s3cr3t");

    let mut terminal = Terminal::start(folders.with_secret(CALL));
    terminal.wait_for("with the value of SECRET");
    terminal.wait_for("Run it?");
    terminal.answer("Run it?", "y");
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(0), "hi\n"), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
}

// spec: LOCAL-2
#[test]
fn consent_shows_the_values_that_stand_in_the_file_and_shortens_long_ones() {
    let env = format!(
        r#"{{"A":"${{SECRET}} \n","NODE_OPTIONS":"--require ./x","Z":"{}"}}"#,
        "z".repeat(500)
    );
    let text = format!(r#"{{"mcpServers":{{"ex":{{"command":"x","env":{env},"cwd":"a b"}}}}}}"#);
    let folders = Folders::new(&[("project/.mcp.json", text)]);
    let called: Run = folders.with_secret(CALL).output().unwrap().into();
    expect(
        "consent_values.txt",
        &called.stderr.replace(folders.0.path().to_str().unwrap(), "ROOT"),
    );
}

#[test]
fn a_folder_whose_name_has_escape_codes_cannot_command_the_terminal() {
    let title = "\u{1b}]0;pwned\u{7}";
    let folders = Folders::new(&[]);
    let folder = folders.0.path().join(format!("project/{title}\u{202e}\u{2028}"));
    fs::create_dir(&folder).unwrap();
    for (text, shown) in [(marking(), "Run it?"), ("{".to_owned(), "left out:")] {
        fs::write(folder.join(".mcp.json"), text).unwrap();
        let mut command = folders.command(CALL);
        command.current_dir(&folder);
        let mut terminal = Terminal::start(command);
        terminal.wait_for(shown);
        let received = terminal.received();
        for raw in [title, "\u{202e}", "\u{2028}"] {
            assert!(!received.contains(raw), "{received:?}");
        }
        if shown == "Run it?" {
            terminal.answer(shown, "n");
        }
        terminal.end();
    }
}

// spec: LOCAL-2
#[test]
fn consent_shows_variables_of_a_url_by_name_and_never_their_values() {
    let http = HttpExhibit::start();
    let entry = format!(r#"{{"url":"{}?key=${{SECRET}}"}}"#, http.url);
    let text = format!(r#"{{"mcpServers":{{"ex":{entry}}}}}"#);
    let folders = Folders::new(&[("project/.mcp.json", text)]);
    for words in [CALL, &[CALL, &["--yes"]].concat()] {
        let called: Run = folders.with_secret(words).output().unwrap().into();
        assert!(called.stderr.contains(&format!("{}?key=${{SECRET}}\n", http.url)));
        assert!(called.stderr.contains("with the value of SECRET"), "{}", called.stderr);
        assert!(!called.stderr.contains("s3cr3t"), "{}", called.stderr);
    }
    let mut terminal = Terminal::start(folders.with_secret(CALL));
    terminal.wait_for("?key=${SECRET}");
    terminal.answer("Call it?", "n");
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(3), ""), "{shown}");
}

/// A file of VS Code in the project, whose server `ex` needs the input `tok`.
fn asking() -> Folders {
    asking_for(r#"{"id":"tok","type":"promptString","description":"Token","password":true}"#)
}

/// The same with this input.
fn asking_for(input: &str) -> Folders {
    let entry =
        format!(r#"{{"command":"sh","args":["-c",{:?},"sh","${{input:tok}}"]}}"#, keeping());
    let text = format!(r#"{{"servers":{{"ex":{entry}}},"inputs":[{input}]}}"#);
    let folders = Folders::new(&[]);
    fs::create_dir(folders.0.path().join("project/.vscode")).unwrap();
    fs::write(folders.0.path().join("project/.vscode/mcp.json"), text).unwrap();
    folders
}

#[test]
fn an_input_is_asked_for_after_consent_and_not_shown() {
    let folders = asking();
    let mut terminal = Terminal::start(folders.command(CALL));
    terminal.wait_for("with the value of the input tok");
    terminal.answer("Run it?", "y");
    let file = folders.0.path().join("project/.vscode/mcp.json");
    terminal.wait_for(&format!("{} asks for a value for `ex`:", file.display()));
    terminal.answer_hidden("Token", "s3cr3t\r");
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(0), "hi\n"), "{shown}");
    assert!(!shown.contains("s3cr3t"), "{shown}");
    assert_eq!(fs::read_to_string(folders.0.path().join("project/got")).unwrap(), "s3cr3t");

    let mut terminal = Terminal::start(folders.command(CALL));
    terminal.answer("Run it?", "n");
    let (code, _, shown) = terminal.end();
    assert_eq!(code, Some(3));
    assert!(!shown.contains("Token"), "{shown}");
}

#[test]
fn an_input_of_the_project_cannot_command_the_terminal() {
    let title = "\u{1b}]0;pwned\u{7}";
    let escaped = r"\u001b]0;pwned\u0007";
    let pick = r#""type":"pickString","options":["red@","blue@"],"default":"blue@""#;
    let prompt = r#""type":"promptString","default":"blue@""#;
    for kind in [pick, prompt] {
        let input = format!(r#"{{"id":"tok","description":"Colour@",{kind}}}"#);
        let folders = asking_for(&input.replace('@', escaped));
        let mut terminal = Terminal::start(folders.command(CALL));
        terminal.answer("Run it?", "y");
        terminal.wait_for("? Colour");
        terminal.wait_for("blue");
        let received = terminal.received();
        assert!(received.contains(r"Colour\u{1b}]0;pwned\u{7}"), "{received:?}");
        assert!(!received.contains(title), "{received:?}");
        terminal.answer("Colour", "\r");
        let (code, stdout, shown) = terminal.end();
        assert_eq!((code, stdout.as_str()), (Some(0), "hi\n"), "{shown}");
        let got = fs::read_to_string(folders.0.path().join("project/got")).unwrap();
        assert_eq!(got, format!("blue{title}"));
    }
}

#[test]
fn an_input_has_the_value_of_the_command_line() {
    let folders = asking();
    let called = folders.run(&[CALL, &["--yes"]].concat());
    assert_eq!(called.code, Some(3));
    assert!(called.stderr.contains("`--input tok=VALUE`"), "{}", called.stderr);
    let called = folders.run(&[CALL, &["--yes", "--input", "tok=s3cr3t"]].concat());
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
    assert!(!called.stderr.contains("s3cr3t"), "{}", called.stderr);
    assert_eq!(fs::read_to_string(folders.0.path().join("project/got")).unwrap(), "s3cr3t");
    let all = folders.run(&["inspect", "--yes", "--input", "tok=s3cr3t"]);
    assert!(all.stdout.contains("1 of 1 server answered"), "{}", all.stdout);
}

#[test]
fn a_server_for_one_project_hides_the_one_for_all_projects_of_the_same_host() {
    let folders = Folders::new(&[]);
    let project = folders.0.path().join("project");
    let ex = marking().replace(r#"{"mcpServers":"#, "");
    let text = format!(
        r#"{{"mcpServers":{{"ex":{{"command":"other"}}}},
            "projects":{{{:?}:{{"mcpServers":{ex}}}}}"#,
        project.to_str().unwrap()
    );
    fs::write(folders.0.path().join("home/.claude.json"), text).unwrap();
    for name in ["ex", "claude-code:ex"] {
        let called = folders.run(&["call", name, "echo", "message=hi"]);
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
    }
}

// spec: LOCAL-1
#[test]
fn a_file_at_the_root_of_the_repository_names_servers_for_its_folders_with_consent() {
    let folders = Folders::new(&[("project/.mcp.json", marking())]);
    fs::create_dir_all(folders.0.path().join("project/.git")).unwrap();
    let sub = folders.0.path().join("project/sub");
    fs::create_dir(&sub).unwrap();
    let home = folders.0.path();
    let at = |mut command: Command| -> Run {
        command.current_dir(&sub).env("HOME", home).output().unwrap().into()
    };
    let refused = at(folders.command(CALL));
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("needs consent"), "{}", refused.stderr);
    let agreed = [CALL, &["--yes"]].concat();
    let called = at(folders.command(&agreed));
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
}

#[test]
fn a_name_that_is_not_configured_brings_those_that_are() {
    let text = r#"{"mcpServers":{"git":{"command":"a"},"files":{"command":"b"},"c":{"port":1}}}"#;
    let folders = Folders::new(&[("home/.claude.json", text.to_owned())]);
    for name in ["file", "linear"] {
        let unknown = folders.run(&["list", name]);
        assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(3), ""));
        let shown = unknown.stderr.replace(folders.0.path().to_str().unwrap(), "ROOT");
        expect(&format!("no_name_{name}.txt"), &shown);
    }
}

// spec: LOCAL-1, LOCAL-4, LOCAL-8
#[test]
fn no_command_touches_a_server_of_the_project_without_consent() {
    let folders = Folders::new(&[("project/.mcp.json", marking())]);
    for command in ["inspect", "check", "bench", "connect", "serve", "list", "watch"] {
        let refused = folders.run(&[command, "ex"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{command}");
        assert!(refused.stderr.contains("needs consent"), "{command}: {}", refused.stderr);
        assert!(!folders.0.path().join("project/started").exists(), "{command}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let text = format!(r#"{{"mcpServers":{{"ex":{{"url":"{url}"}}}}}}"#);
    let folders = Folders::new(&[("project/.mcp.json", text)]);
    for command in ["inspect", "check", "bench", "connect", "serve", "list", "watch"] {
        let refused = folders.run(&[command, "ex"]);
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(3), ""), "{command}");
        assert!(listener.accept().is_err(), "{command} opened a connection");
    }
}

#[test]
fn a_name_that_means_several_servers_must_be_chosen() {
    let other = r#"{"mcpServers":{"ex":{"command":"other"}}}"#.to_owned();
    let folders = Folders::new(&[("home/.claude.json", marking())]);
    fs::create_dir(folders.0.path().join("home/.cursor")).unwrap();
    fs::write(folders.0.path().join("home/.cursor/mcp.json"), other).unwrap();
    let called = folders.run(CALL);
    assert_eq!(called.code, Some(2));
    expect("several.txt", &called.stderr);
}

#[test]
fn a_variable_without_a_value_is_named() {
    let text = r#"{"mcpServers":{"ex":{"command":"run","args":["${NO_SUCH_VARIABLE}"]}}}"#;
    let folders = Folders::new(&[("home/.claude.json", text.to_owned())]);
    let called = folders.run(CALL);
    assert_eq!(called.code, Some(3));
    assert!(called.stderr.contains("`NO_SUCH_VARIABLE` has no value"), "{}", called.stderr);
}

#[test]
fn a_file_of_the_command_line_replaces_the_files_of_hosts() {
    let folders =
        Folders::new(&[("home/.claude.json", marking()), ("project/servers.json", marking())]);
    let here = folders.run(&["list", "--config", "servers.json", "ex", "prompts"]);
    assert_eq!((here.code, here.stderr.as_str()), (Some(0), ""), "{here:?}");
    let absent = folders.run(&["list", "--config", "no.json", "ex"]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
    let other = folders.run(&["list", "--config", "servers.json", "other"]);
    assert!(other.stderr.contains("did you mean") || other.stderr.contains("configured are ex"));
    let table = folders.run(&["inspect", "--config", "servers.json"]);
    assert_eq!(table.code, Some(0), "{table:?}");
    assert!(table.stdout.contains("1 of 1 server answered"), "{table:?}");
}

#[test]
fn a_file_of_the_project_that_hosts_read_still_needs_consent_when_it_is_named() {
    let folders = Folders::new(&[("project/.mcp.json", marking())]);
    let refused = folders.run(&["list", "--config", ".mcp.json", "ex"]);
    assert_ne!(refused.code, Some(0), "{refused:?}");
    assert!(!folders.0.path().join("project/started").exists());
}

#[test]
fn a_command_starts_in_the_folder_of_the_command_line() {
    let folders = Folders::new(&[]);
    let script = format!("touch here; exec {}", exhibit().display());
    let listed = folders.run(&["list", "--cwd", "../home", "--", "sh", "-c", &script]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(folders.0.path().join("home/here").exists());
    let wrong = folders.run(&["list", "--cwd", "nowhere", "--", "sh", "-c", &script]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

#[test]
fn a_server_that_an_extension_of_zed_starts_is_named_as_a_problem() {
    let folders = Folders::new(&[]);
    let settings = folders.0.path().join("home/.config/zed");
    fs::create_dir_all(&settings).unwrap();
    let text = r#"{"context_servers": {"pg": {"source": "extension", "settings": {}}}}"#;
    fs::write(settings.join("settings.json"), text).unwrap();
    let mut command = folders.command(&["inspect"]);
    command.env("XDG_CONFIG_HOME", folders.0.path().join("home/.config"));
    let looked = Run::from(command.output().unwrap());
    let words: Vec<&str> = looked.stdout.split_whitespace().collect();
    let words = words.join(" ");
    assert!(words.contains("problem:"), "{looked:?}");
    assert!(words.contains("an extension of the editor starts this server"), "{looked:?}");
}
