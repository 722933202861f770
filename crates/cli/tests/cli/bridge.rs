//! `bowline connect`, `serve` and `gateway`: clients of both eras through them.

use super::serving::Serving;
use super::*;

#[test]
fn connect_brings_a_server_over_http_to_a_client_over_stdio_in_both_eras() {
    let http = HttpExhibit::start();
    for revision in BOTH {
        for upstream in BOTH {
            let bridge = [bowline_path(), "connect", &http.url, "--revision", upstream];
            let words = ["call", "add", "a=40", "b=2", "--revision", revision, "--"];
            let called = run(&[&words[..], &bridge[..]].concat());
            assert_eq!(
                (called.code, called.stdout.as_str()),
                (Some(0), "{\n  \"sum\": 42\n}\n"),
                "{called:?}"
            );
        }
    }
}

#[test]
fn a_bridge_looks_like_its_server() {
    let program = exhibit();
    let program = program.to_str().unwrap();
    let direct = run(&["list", "--json", "--", program]);
    for revision in BOTH {
        let bridge = [bowline_path(), "connect", "--revision", revision, "--", program];
        let bridged = run(&[&["list", "--json", "--"][..], &bridge[..]].concat());
        assert_eq!(
            (bridged.code, bridged.stdout),
            (Some(0), direct.stdout.clone()),
            "{}",
            bridged.stderr
        );
    }
}

#[test]
fn serve_brings_a_command_to_clients_over_http_in_both_eras() {
    let program = exhibit();
    let program = program.to_str().unwrap();
    for upstream in BOTH {
        let words =
            ["serve", "--json", "--http", "127.0.0.1:0", "--revision", upstream, "--", program];
        let serving = Serving::start(bowline().args(words));
        for revision in BOTH {
            let called = run(&["call", &serving.url, "echo", "message=hi", "--revision", revision]);
            assert_eq!(
                (called.code, called.stdout.as_str()),
                (Some(0), "hi\n"),
                "{}",
                called.stderr
            );
        }
        serving.stop();
    }
}

#[test]
fn a_server_that_cannot_be_reached_ends_the_bridge_with_3() {
    for command in ["connect", "serve"] {
        let absent = run(&[command, "--", "./no-such-program"]);
        assert_eq!(absent.code, Some(3), "{}", absent.stderr);
        let closed = run(&[command, "http://127.0.0.1:1/mcp"]);
        assert_eq!(closed.code, Some(3), "{}", closed.stderr);
    }
    let taken = HttpExhibit::start();
    let address = taken.url.trim_start_matches("http://").trim_end_matches("/mcp");
    let program = exhibit();
    let refused = run(&["serve", "--http", address, "--", program.to_str().unwrap()]);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let network = run(&["serve", "--http", "0.0.0.0:0", "--", program.to_str().unwrap()]);
    assert_eq!(network.code, Some(2), "{}", network.stderr);
}

/// Ends the server's output instead of a certain answer.
const DYING: &str = r#""$0" demo --stdio | { sed -u '/"text":"die"/Q'; kill $$; }"#;

/// Callers of `serve` did not write its command line, in which secrets can stand.
#[test]
fn an_error_of_serve_does_not_show_the_command_line_of_its_server() {
    let command = ["/bin/sh", "-c", DYING, bowline_path(), "--token=s3cret"];
    let words = [&["serve", "--json", "--http", "127.0.0.1:0", "--"], &command[..]].concat();
    let serving = Serving::start(bowline().args(words));
    let failed = run(&["call", &serving.url, "echo", "message=die"]);
    assert!(failed.stderr.contains("ended before it answered"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("s3cret"), "{}", failed.stderr);
    serving.stop();
}

#[test]
fn an_error_of_serve_does_not_show_the_address_of_its_server() {
    let http = HttpExhibit::start();
    let address = http.url.clone();
    let serving =
        Serving::start(bowline().args(["serve", "--json", "--http", "127.0.0.1:0", &address]));
    drop(http);
    let failed = run(&["call", &serving.url, "echo", "message=hi"]);
    assert!(failed.stderr.contains("the server `"), "{}", failed.stderr);
    assert!(!failed.stderr.contains(&address), "{}", failed.stderr);
    serving.stop();
}

const GATEWAY: &[&str] = &["gateway", "bowline.json", "--json", "--http", "127.0.0.1:0"];

fn write_config(folder: &Path, servers: &str) {
    fs::write(folder.join("new.json"), format!("{{ \"mcpServers\": {{ {servers} }} }}")).unwrap();
    fs::rename(folder.join("new.json"), folder.join("bowline.json")).unwrap();
}

fn entry(name: &str, rest: &str) -> String {
    format!("{name:?}: {{ \"command\": {:?} {rest} }}", exhibit())
}

#[test]
fn a_gateway_serves_many_servers_as_one_in_both_eras() {
    let folder = tempfile::tempdir().unwrap();
    let rules = r#", "tools": { "hide": ["sleep"], "rename": { "add": "plus" } }"#;
    let servers = [
        entry("one", rules),
        entry("two", ""),
        r#""down": { "command": "./no-such-program" }, "off": { "command": "x", "disabled": true }"#
            .to_owned(),
    ];
    write_config(folder.path(), &servers.join(","));
    let serving = Serving::start_in(folder.path(), GATEWAY);
    for revision in BOTH {
        let listed = run(&["list", &serving.url, "tools", "--revision", revision, "--json"]).stdout;
        for name in ["one__echo", "one__plus", "two__add", "two__sleep"] {
            assert!(listed.contains(&format!("{name:?}")), "{name} in {listed}");
        }
        for name in ["one__add", "one__sleep", "down__", "off__"] {
            assert!(!listed.contains(name), "{name} in {listed}");
        }
        let words = ["call", &serving.url, "one__plus", "a=40", "b=2", "--revision", revision];
        let called = run(&words);
        assert_eq!(called.stdout, "{\n  \"sum\": 42\n}\n", "{}", called.stderr);
        let stdio = [bowline_path(), "gateway", "--stdio"];
        let path = folder.path().join("bowline.json");
        let words = ["call", "two__echo", "message=hi", "--revision", revision, "--"];
        let called = run(&[&words[..], &stdio[..], &[path.to_str().unwrap()]].concat());
        assert_eq!(called.stdout, "hi\n", "{}", called.stderr);
    }
    serving.stop();
}

#[test]
fn a_gateway_takes_over_changes_of_its_file_and_keeps_the_old_one_if_the_new_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    write_config(folder.path(), &entry("one", ""));
    let mut serving = Serving::start_in(folder.path(), &[GATEWAY, &["--yes"]].concat());
    let mut notes = BufReader::new(serving.child.stderr.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        notes.read_line(&mut line).unwrap();
        line
    };
    write_config(folder.path(), &[entry("one", ""), entry("other", "")].join(","));
    assert_eq!(next(), "the configuration changed: started other\n");
    let called = run(&["call", &serving.url, "other__echo", "message=hi"]);
    assert_eq!(called.stdout, "hi\n", "{}", called.stderr);
    write_config(folder.path(), r#""one": { "program": "x" }"#);
    let note = next();
    assert!(
        note.starts_with("the old configuration stays: bowline.json: $.mcpServers.one: "),
        "{note}"
    );
    let called = run(&["call", &serving.url, "one__echo", "message=hi"]);
    assert_eq!(called.stdout, "hi\n", "{}", called.stderr);
}

#[test]
fn a_gateway_without_a_usable_file_ends_with_3() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = |arguments: &[&str]| {
        let mut command = bowline();
        command.arg("gateway").args(arguments).current_dir(folder.path());
        Run::from(command.env("XDG_CONFIG_HOME", folder.path()).output().unwrap())
    };
    // Nothing runs only because a file of the working folder names it.
    write_config(folder.path(), &entry("one", ""));
    fs::copy(folder.path().join("bowline.json"), folder.path().join(".mcp.json")).unwrap();
    let none = gateway(&[]);
    assert_eq!(none.code, Some(3));
    expect("no_config.txt", &none.stderr);
    fs::write(folder.path().join("bowline.json"), "{ \"mcpServers\": { \"a\": { } } }").unwrap();
    let wrong = gateway(&["bowline.json"]);
    assert_eq!(wrong.code, Some(3));
    expect("wrong_config.txt", &wrong.stderr);
    fs::create_dir(folder.path().join("bowline")).unwrap();
    fs::rename(folder.path().join("bowline.json"), folder.path().join("bowline/gateway.json"))
        .unwrap();
    let usual = gateway(&[]);
    assert_eq!(usual.code, Some(3));
    assert!(usual.stderr.contains("gateway.json: $.mcpServers.a: "), "{}", usual.stderr);
}

#[test]
fn a_bridge_says_what_it_waits_for() {
    // Accepts connections, and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    for words in [&["connect", &url][..], &["serve", "--http", "127.0.0.1:0", &url]] {
        let mut command = bowline();
        let mut child = command.args(words).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(line, format!("{url} has not answered yet; Ctrl-C stops the waiting\n"));
    }
}

#[test]
fn a_bridge_waits_as_long_as_its_user_wants() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    for command in ["connect", "serve"] {
        let begun = std::time::Instant::now();
        let late = run(&[command, "--timeout", "0.1", &url]);
        assert_eq!(late.code, Some(5), "{late:?}");
        assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
    }
}

#[test]
fn a_gateway_takes_the_values_of_inputs_from_its_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("test \"$1\" = s3cr3t && exec {}", exhibit().display());
    let entry = format!(r#"{{"command":"sh","args":["-c",{script:?},"sh","${{input:tok}}"]}}"#);
    let text = format!(r#"{{"servers":{{"ex":{entry}}},"inputs":[{{"id":"tok"}}]}}"#);
    let file = folder.path().join("mcp.json");
    fs::write(&file, text).unwrap();
    let gateway = ["--", bowline_path(), "gateway", "--stdio", file.to_str().unwrap()];
    let call = ["call", "ex__echo", "message=hi"];
    let called = run(&[&call[..], &gateway, &["--input", "tok=s3cr3t"]].concat());
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{called:?}");
    let refused = run(&[&["call", "--verbose"][..], &call[1..], &gateway].concat());
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("`--input tok=VALUE`"), "{refused:?}");
}
