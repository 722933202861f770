//! Files as people have them, of each host.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use super::*;

fn parse(text: &str, path: &str, dialect: Dialect) -> ConfigFile {
    let file = ConfigFile::parse(text, path, dialect).unwrap();
    assert_eq!(file.faults, []);
    file
}

fn variables() -> ConfigVariables {
    ConfigVariables::none()
        .with_environment([("HOME", "/srv/ada"), ("API_KEY", "k-1"), ("TOKEN", "t-1")])
        .with_workspace("/srv/ada/notes")
        .with_input("perplexity-key", "p-1")
}

fn command(file: &ConfigFile, name: &str) -> CommandLaunch {
    match file.entry(name).unwrap().resolve(&variables()).unwrap() {
        Launch::Command(command) => command,
        Launch::Http(_) => panic!("{name} is at a URL"),
    }
}

fn http(file: &ConfigFile, name: &str) -> HttpLaunch {
    match file.entry(name).unwrap().resolve(&variables()).unwrap() {
        Launch::Http(http) => http,
        Launch::Command(_) => panic!("{name} is a command"),
    }
}

fn header<'h>(launch: &'h HttpLaunch, name: &str) -> &'h str {
    let mut headers = launch.headers.iter();
    headers.find_map(|(it, value)| (it == name).then_some(value.as_str())).unwrap()
}

fn utf8(value: &OsStr) -> &str {
    value.to_str().unwrap()
}

#[test]
fn claude_code_has_servers_of_a_project_and_of_its_user() {
    let text = r#"{
      "numStartups": 12,
      "mcpServers": {
        "github": {
          "type": "http",
          "url": "${API_BASE:-https://api.githubcopilot.com}/mcp/",
          "headers": { "Authorization": "Bearer ${TOKEN}" }
        }
      },
      "projects": {
        "/srv/ada/notes": {
          "allowedTools": [],
          "mcpServers": {
            "db": { "type": "stdio", "command": "npx", "args": ["-y", "dbhub"], "env": { "DSN": "${API_KEY}" } },
            "old": { "command": "old" }
          },
          "disabledMcpServers": ["old"]
        }
      }
    }"#;
    let file = parse(text, "/srv/ada/.claude.json", Dialect::ClaudeCode);
    let github = http(&file, "github");
    assert_eq!(github.url, "https://api.githubcopilot.com/mcp/");
    assert_eq!(header(&github, "Authorization"), "Bearer t-1");
    let db = command(&file, "db");
    assert_eq!(
        (db.program.to_str(), db.args.as_slice()),
        (Some("npx"), &["-y", "dbhub"].map(OsString::from)[..])
    );
    assert_eq!(db.env["DSN"], "k-1");
    let db = file.entry("db").unwrap();
    assert_eq!(db.project.as_deref(), Some(Path::new("/srv/ada/notes")));
    assert_eq!(db.at, r#"$.projects["/srv/ada/notes"].mcpServers.db"#);
    assert_eq!(db.variables(), ["API_KEY"]);
    assert!(file.entry("old").unwrap().disabled);
}

#[test]
fn claude_desktop_expands_nothing() {
    let text = r#"{ "mcpServers": { "files": {
        "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}"] } } }"#;
    let file = parse(text, "claude_desktop_config.json", Dialect::ClaudeDesktop);
    assert_eq!(command(&file, "files").args[2], "${HOME}");
}

#[test]
fn cursor_has_env_files_and_folders() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".env"), "# secrets\nA=from-file\nB='x y'\n").unwrap();
    let text = r#"{
      // Added by hand
      "mcpServers": {
        "tool": {
          "type": "stdio", "command": "python", "args": ["${workspaceFolder}/tool.py", 8080],
          "env": { "A": "${env:API_KEY}" }, "envFile": ".env", "cwd": "sub",
        },
        "linear": { "url": "https://mcp.linear.app/sse", "headers": {} },
      },
    }"#;
    let file = parse(text, folder.path().join("mcp.json").to_str().unwrap(), Dialect::Cursor);
    let tool = command(&file, "tool");
    assert_eq!(tool.args, ["/srv/ada/notes/tool.py", "8080"]);
    assert_eq!((utf8(&tool.env["A"]), utf8(&tool.env["B"])), ("k-1", "x y"));
    assert_eq!(tool.cwd, Some(folder.path().join("sub")));
    assert_eq!(http(&file, "linear").url, "https://mcp.linear.app/sse");
}

/// An entry whose file of variables is the file `.env` beside this file of Cursor.
fn with_env_file(folder: &Path) -> ServerEntry {
    let text = r#"{ "mcpServers": { "tool": {
        "command": "python", "env": { "A": "own" }, "envFile": ".env" } } }"#;
    parse(text, folder.join("mcp.json").to_str().unwrap(), Dialect::Cursor).entries.remove(0)
}

#[test]
fn a_file_of_variables_is_read_only_when_its_entry_is_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let entry = with_env_file(folder.path());
    let Launch::Command(unread) = entry.resolve_unread(&variables()).unwrap() else {
        panic!("it is a command")
    };
    assert_eq!(unread.env_file, Some(folder.path().join(".env")));
    assert_eq!(unread.env.keys().collect::<Vec<_>>(), ["A"]);
    let absent = entry.resolve(&variables()).unwrap_err();
    assert_eq!(absent.at(), "$.mcpServers.tool.envFile");
    // With a byte order mark, as editors on Windows write it.
    std::fs::write(folder.path().join(".env"), "\u{feff}B=file\nA=file\n").unwrap();
    let Launch::Command(read) = entry.resolve(&variables()).unwrap() else { unreachable!() };
    assert_eq!((utf8(&read.env["A"]), utf8(&read.env["B"])), ("own", "file"));
}

#[test]
fn a_file_of_variables_is_a_regular_file_of_a_mebibyte_at_most() {
    let folder = tempfile::tempdir().unwrap();
    let (entry, path) = (with_env_file(folder.path()), folder.path().join(".env"));
    std::fs::write(&path, "A=b\n".repeat(1 << 18)).unwrap();
    assert!(entry.resolve(&variables()).is_ok());
    std::fs::write(&path, "A=b\n".repeat((1 << 18) + 1)).unwrap();
    let long = entry.resolve(&variables()).unwrap_err();
    assert!(long.problem().ends_with("more than 1048576 bytes"), "{long}");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    let folder = entry.resolve(&variables()).unwrap_err();
    assert!(folder.problem().ends_with("no regular file"), "{folder}");
}

#[cfg(unix)]
#[test]
fn a_device_is_no_file_of_variables() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join(".env")).unwrap();
    let device = with_env_file(folder.path()).resolve(&variables()).unwrap_err();
    assert!(device.problem().ends_with("no regular file"), "{device}");
}

#[test]
fn vs_code_has_servers_and_inputs() {
    let text = r#"{
      "inputs": [
        { "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true },
        { "type": "pickString", "id": "size", "options": ["s", { "label": "Large", "value": "l" }], "default": "s" },
      ],
      "servers": {
        "Perplexity": {
          "type": "stdio", "command": "npx", "args": ["-y", "server-perplexity-ask"],
          "env": { "PERPLEXITY_API_KEY": "${input:perplexity-key}", "KEEP": "${NOT_EXPANDED}" }
        },
        "fetch": { "type": "sse", "url": "http://localhost:9000/sse" }
      }
    }"#;
    let file = parse(text, ".vscode/mcp.json", Dialect::VsCode);
    let env = command(&file, "Perplexity").env;
    assert_eq!(env["PERPLEXITY_API_KEY"], "p-1");
    assert_eq!(env["KEEP"], "${NOT_EXPANDED}");
    assert!(http(&file, "fetch").sse);
    assert!(file.inputs[0].password);
    assert_eq!(file.inputs[1].options, ["s", "l"]);
    let missing = file.entry("Perplexity").unwrap().resolve(&ConfigVariables::none()).unwrap_err();
    assert_eq!(
        missing.to_string(),
        ".vscode/mcp.json: $.servers.Perplexity.env.PERPLEXITY_API_KEY: the variable \
         `input:perplexity-key` has no value; `--input perplexity-key=VALUE` gives it one"
    );
    let settings =
        r#"{ "editor.fontSize": 12, "mcp": { "servers": { "a": { "command": "b" } } } }"#;
    assert_eq!(command(&parse(settings, "settings.json", Dialect::VsCode), "a").program, "b");
}

#[test]
fn codex_has_toml() {
    let text = r#"
model = "gpt-5"

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-mcp"]
env_vars = ["API_KEY", "NOT_SET"]
startup_timeout_sec = 20
disabled_tools = ["delete"]

[mcp_servers.docs.env]
MODE = "${HOME}"

[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "TOKEN"
http_headers = { "X-Region" = "us" }
env_http_headers = { "X-Key" = "API_KEY" }
enabled = false
"#;
    let file = parse(text, "config.toml", Dialect::Codex);
    let docs = command(&file, "docs");
    assert_eq!(docs.env.len(), 2);
    assert_eq!((utf8(&docs.env["API_KEY"]), utf8(&docs.env["MODE"])), ("k-1", "${HOME}"));
    assert_eq!(file.entry("docs").unwrap().tools.offered("delete"), None);
    let figma = http(&file, "figma");
    assert_eq!(header(&figma, "Authorization"), "Bearer t-1");
    assert_eq!((header(&figma, "X-Region"), header(&figma, "X-Key")), ("us", "k-1"));
    assert!(file.entry("figma").unwrap().disabled);
}

#[test]
fn windsurf_gemini_and_zed_have_words_of_their_own() {
    let text = r#"{ "mcpServers": { "remote": { "serverUrl": "https://example.com/mcp",
        "headers": { "KEY": "${env:API_KEY}" }, "disabledTools": ["rm"] } } }"#;
    let file = parse(text, "mcp_config.json", Dialect::Windsurf);
    assert_eq!(header(&http(&file, "remote"), "KEY"), "k-1");
    assert_eq!(file.entries[0].tools.hide, ["rm"]);

    let text = r#"{ "theme": "dark", "mcpServers": {
        "a": { "httpUrl": "https://example.com/mcp", "includeTools": ["x"], "trust": true },
        "b": { "command": "b", "env": { "K": "$API_KEY" }, "cwd": "./work", "timeout": 5000 } } }"#;
    let file = parse(text, "/w/settings.json", Dialect::Gemini);
    assert_eq!(http(&file, "a").url, "https://example.com/mcp");
    assert_eq!(file.entries[0].tools.offered("y"), None);
    let b = command(&file, "b");
    assert_eq!((utf8(&b.env["K"]), b.cwd), ("k-1", Some(PathBuf::from("/w/./work"))));

    let text = r#"{ "context_servers": {
        "old": { "command": { "path": "node", "args": ["a.js"], "env": { "A": "1" } }, "settings": {} },
        "new": { "source": "custom", "command": "node", "args": ["b.js"] },
        "url": { "url": "https://example.com/mcp", "enabled": false },
        "extension": { "source": "extension", "settings": { "key": 1 } },
    } }"#;
    let file = ConfigFile::parse(text, "settings.json", Dialect::Zed).unwrap();
    assert_eq!(command(&file, "old").args, ["a.js"]);
    assert_eq!(command(&file, "old").env["A"], "1");
    assert_eq!(command(&file, "new").args, ["b.js"]);
    assert!(file.entry("url").unwrap().disabled);
    assert_eq!(file.entry("extension"), None);
    let faults: Vec<String> = file.faults.iter().map(ToString::to_string).collect();
    assert!(faults[0].contains("an extension of the editor starts this server"), "{faults:?}");
    assert_eq!(faults.len(), 1, "{faults:?}");
}

#[test]
fn our_own_settings_are_read_from_entries_and_the_gateway_section() {
    let text = r#"{
      "mcpServers": {
        "git": { "command": "git-mcp", "asks": true, "isolate": "caller", "share": "all", "namespace": "g",
          "instructions": false,
          "tools": { "show": ["a", "b"], "hide": ["b"], "rename": { "a": "log" } } },
        "plain": { "command": "x", "tools": ["*"] },
      },
      "gateway": { "name": "work", "http": "127.0.0.1:9000", "instructions": false, "idleMinutes": 3,
        "listSeconds": 20, "startSeconds": 180, "baggage": true },
    }"#;
    let file = parse(text, "bowline.json", Dialect::Bowline);
    let git = file.entry("git").unwrap();
    assert_eq!((git.asks, git.isolate, git.share), (Some(true), Isolation::Caller, Sharing::All));
    assert_eq!((git.namespace.as_deref(), git.instructions), (Some("g"), false));
    assert_eq!(git.tools.offered("a"), Some("log"));
    assert_eq!(git.tools.offered("b"), None);
    assert_eq!(git.tools.original("log"), Some("a"));
    assert_eq!(git.tools.original("a"), None);
    assert!(file.entry("plain").unwrap().tools.is_empty());
    assert_eq!(file.gateway.name.as_deref(), Some("work"));
    assert_eq!(file.gateway.idle_minutes, Some(3));
    let seconds = |count| Some(Duration::from_secs(count));
    assert_eq!((file.gateway.list, file.gateway.start), (seconds(20), seconds(180)));
    assert_eq!(file.gateway.baggage, Some(true));
}

#[test]
fn faults_name_file_place_and_remedy() {
    for (text, expected) in [
        (
            "{ \"mcpServers\": { \"a\": { \"command\": 5 } } }",
            "c.json: $.mcpServers.a.command: expected a string, found a number",
        ),
        (
            "{ \"mcpServers\": { \"a b\": {} } }",
            "c.json: $.mcpServers[\"a b\"]: the entry has neither a command nor a URL; add `command` for a program, or `url` for a server over HTTP",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"args\": \"y\" } } }",
            "c.json: $.mcpServers.a.args: expected an array, found a string",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"command\": \" \" } } }",
            "c.json: $.mcpServers.a.command: the command is empty; name a program",
        ),
        (
            "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"isolate\": \"y\" } } }",
            "c.json: $.mcpServers.a.isolate: this word is unknown; write \"caller\", or leave it out",
        ),
        (
            "{ \"gateway\": { \"port\": 1 } }",
            "c.json: $.gateway.port: this setting is unknown; it may have name, http, instructions, idleMinutes, listSeconds, startSeconds, maxMessageMiB, baggage",
        ),
        (
            "{ \"gateway\": { \"listSeconds\": 0 } }",
            "c.json: $.gateway.listSeconds: this number is out of range; write a number of seconds from 1 to 3600",
        ),
        (
            "{ \"gateway\": { \"startSeconds\": 4000 } }",
            "c.json: $.gateway.startSeconds: this number is out of range; write a number of seconds from 1 to 3600",
        ),
        (
            "{ \"gateway\": { \"startSeconds\": 1e99 } }",
            "c.json: $.gateway.startSeconds: expected a whole number, found a number",
        ),
    ] {
        let file = ConfigFile::parse(text, "c.json", Dialect::Bowline).unwrap();
        assert_eq!(file.faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}

#[test]
fn a_bad_entry_leaves_the_others() {
    let text = r#"{ "mcpServers": { "bad": { "command": [] }, "good": { "command": "x" } } }"#;
    let file = ConfigFile::parse(text, "c.json", Dialect::Bowline).unwrap();
    assert_eq!((file.entries.len(), file.faults.len()), (1, 1));
}

#[test]
fn a_file_that_is_no_document_is_an_error_with_its_line() {
    let error = |text: &str, path: &str| {
        ConfigFile::parse(text, path, Dialect::Bowline).unwrap_err().to_string()
    };
    let json = error("{\n  \"mcpServers\": nope }", "c.json");
    assert!(json.starts_with("c.json: line 2 column 17: no JSON: "), "{json}");
    let toml = error("a = 1\nb = = 2\n", "c.toml");
    assert!(toml.starts_with("c.toml: line 2: no TOML: "), "{toml}");
    let twice = error(r#"{ "mcpServers": { "a": {}, "a": {} } }"#, "c.json");
    assert!(twice.starts_with("c.json: $.mcpServers.a: this name is there twice; "), "{twice}");
    let list = error("[]", "c.json");
    assert_eq!(list, "c.json: $: expected an object, found an array");
    let absent = ConfigFile::read("no/such/file.json", Dialect::Bowline).unwrap_err();
    assert!(absent.to_string().starts_with("no/such/file.json: "), "{absent}");
}

#[test]
fn an_empty_file_names_no_server() {
    assert_eq!(parse("", "c.json", Dialect::Bowline).entries, []);
    assert_eq!(parse("\u{feff}{}", "c.json", Dialect::Bowline).entries, []);
}

#[test]
fn debug_output_shows_no_secret() {
    let text = r#"{ "mcpServers": {
        "a": { "command": "x", "args": ["--key=SECRET"], "env": { "KEY": "SECRET" } },
        "b": { "url": "https://example.com/mcp?key=SECRET", "headers": { "Key": "SECRET" } } } }"#;
    let file = parse(text, "c.json", Dialect::Bowline);
    let launches: Vec<Launch> =
        file.entries.iter().map(|entry| entry.resolve(&variables()).unwrap()).collect();
    let output = format!("{file:?} {launches:?} {}", file.entries[1].address());
    assert!(!output.contains("SECRET"), "{output}");
}
