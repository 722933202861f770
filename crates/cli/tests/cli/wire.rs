//! What goes over the wire: text that is no message, and `--trace`.

use serde_json::Value;

use super::demo::{HttpDemo, with_demo};
use super::terminal::Terminal;
use super::*;

const BANNER: &str = "Listening on port 3000";

/// Runs a command with a server that writes a banner to standard output first.
fn noisy(arguments: &[&str], then: &str) -> Run {
    let script = format!("echo '{BANNER}'; {then}");
    run(&[arguments, &["--", "sh", "-c", &script]].concat())
}

fn demo() -> String {
    format!("exec {} demo --stdio", bowline_path())
}

#[test]
fn a_server_that_writes_a_banner_and_never_answers_fails_with_its_banner() {
    for command in ["list", "inspect", "call"] {
        let words = [&[command][..], if command == "call" { &["x"] } else { &[] }].concat();
        let failed = noisy(&[&words[..], &["--timeout", "2"]].concat(), "exec sleep 600");
        assert_eq!(failed.code, Some(5), "{failed:?}");
        assert!(failed.stderr.contains(&format!("standard output: `{BANNER}`")), "{failed:?}");
        assert!(failed.stderr.contains("hint: over stdio a server writes"), "{failed:?}");
    }
}

#[test]
fn a_server_that_writes_a_banner_and_ends_fails_with_its_banner() {
    for banner in [BANNER, "[INFO] listening on 3000", "[3000]", "{ level: info }"] {
        let failed = run(&["list", "--", "sh", "-c", &format!("echo '{banner}'; exit 0")]);
        assert_eq!(failed.code, Some(3), "{failed:?}");
        assert!(failed.stderr.contains(&format!("standard output: `{banner}`")), "{failed:?}");
    }
}

#[test]
fn a_noisy_server_that_works_gets_a_note() {
    let listed = noisy(&["list"], &demo());
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let note = "note: the server writes text that is no MCP message to standard output: ";
    assert_eq!(listed.stderr, format!("{note}`{BANNER}`\n"));
    let looked = noisy(&["inspect", "--json"], &demo());
    let report: Value = serde_json::from_str(&looked.stdout).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(finding["subject"], "standard output", "{report}");
    assert!(finding["text"].as_str().unwrap().contains(BANNER), "{report}");
    let verbose = noisy(&["call", "echo", "message=hi", "-v"], &demo());
    assert_eq!(verbose.stdout, "hi\n");
    assert!(verbose.stderr.contains(&format!("standard output: {BANNER}\n")), "{verbose:?}");
}

#[test]
fn a_trace_shows_every_message_in_both_directions() {
    for revision in BOTH {
        let traced = with_demo(&["call", "echo", "message=hi", "--trace", "--revision", revision]);
        assert_eq!((traced.code, traced.stdout.as_str()), (Some(0), "hi\n"), "{traced:?}");
        let message = |mark: &str, part: &str| {
            let lines = traced.stderr.lines().filter_map(|line| line.split_once(mark));
            lines
                .filter_map(|(_, json)| serde_json::from_str::<Value>(json).ok())
                .any(|it| it.to_string().contains(part))
        };
        assert!(message(" > ", r#""method":"tools/call""#), "{traced:?}");
        assert!(message(" < ", r#""text":"hi""#), "{traced:?}");
    }
}

#[test]
fn a_trace_goes_to_a_file_that_only_its_user_reads_and_holds_no_credential() {
    use std::os::unix::fs::PermissionsExt as _;

    let demo = HttpDemo::start();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.txt");
    let option = format!("--trace={}", file.display());
    for revision in BOTH {
        let header = "Authorization: Bearer s3cr3t";
        let words = ["list", &demo.url, "tools", "-H", header, &option, "--revision", revision];
        let listed = run(&words);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""), "{listed:?}");
    }
    let trace = fs::read_to_string(&file).unwrap();
    assert_eq!(trace.matches(r#""method":"tools/list""#).count(), 2, "{trace}");
    assert!(!trace.contains("s3cr3t"), "{trace}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let unwritable = with_demo(&["list", "--trace=/no/such/folder/trace"]);
    assert_eq!(unwritable.code, Some(1), "{unwritable:?}");
}

#[test]
fn a_traced_bridge_keeps_its_standard_output_for_messages() {
    let mut command = bowline();
    command.args(["connect", "--trace", "--", bowline_path(), "demo", "--stdio"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";
    child.stdin.take().unwrap().write_all(ping).unwrap();
    let ended = Run::from(child.wait_with_output().unwrap());
    assert!(ended.stdout.lines().all(|line| line.starts_with('{')), "{ended:?}");
    assert!(ended.stderr.contains(" > {"), "{ended:?}");
}

#[test]
fn a_terminal_shows_what_a_slow_command_waits_for() {
    for (command, text) in [("list", "connecting to sh"), ("inspect", "looking at sh")] {
        let mut slow = bowline();
        slow.args([command, "--timeout", "2", "--", "sh", "-c", "exec sleep 600"]);
        let mut terminal = Terminal::start(slow);
        terminal.wait_for(text);
        let (code, _, shown) = terminal.end();
        assert_eq!(code, Some(5), "{shown}");
    }
}

#[test]
fn a_revision_that_leaves_out_those_of_the_server_is_named_with_its_option() {
    let server = super::listing_server::start(|method, _| {
        let error = serde_json::json!({"code": -32601, "message": "Method not found"});
        (method == "server/discover").then_some(Err(error))
    });
    for command in ["connect", "list"] {
        let refused = run(&[command, &server.url, "--revision", "2026-07-28"]);
        let hint = "hint: `--revision 2026-07-28` leaves out the revisions of this server";
        assert!(refused.stderr.contains(hint), "{refused:?}");
    }
}

/// A server of both eras that repeats its variable `KEY` in each refusal, as PHP writes it.
const REPEATING: &str = r#"
escaped=$(printf %s "$KEY" | sed 's|/|\\/|g')
answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
offers='"capabilities":{"tools":{}}'
while read -r line; do
    id=${line#*'"id":'}; id=${id%%,*}
    case "$line" in
        *'"initialize"'*) answer "\"result\":{\"protocolVersion\":\"2025-11-25\",$offers,\"serverInfo\":{\"name\":\"r\",\"version\":\"1\"}}";;
        *server/discover*) answer "\"result\":{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],$offers}";;
        *'"id"'*) answer "\"error\":{\"code\":-32603,\"message\":\"bad key $escaped\",\"data\":{\"key\":\"$escaped\"}}";;
    esac
done"#;

#[test]
fn a_variable_that_a_server_repeats_in_an_error_is_shown_to_no_caller() {
    let given = ["-e", "KEY=canary/4711/key", "--"];
    let server = ["sh", "-c", REPEATING];
    let connect = [&["--", bowline_path(), "connect"][..], &given, &server].concat();
    let direct = [&given[..], &server].concat();
    let commands = [&["call", "x", "--json"][..], &["list"], &["inspect", "--json"]];
    // `inspect` shows the command of its server, which here has the value.
    for (target, commands) in [(&direct, &commands[..]), (&connect, &commands[..2])] {
        for revision in BOTH {
            for command in commands {
                let run = run(&[*command, &["--revision", revision], target].concat());
                let shown = format!("{}{}", run.stdout, run.stderr);
                assert!(shown.contains("bad key [redacted]"), "{command:?} {run:?}");
                assert!(!shown.contains("4711"), "{command:?} {run:?}");
            }
        }
    }
}
