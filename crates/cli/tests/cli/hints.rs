//! Errors tell the user what to do next.

use std::net::TcpListener;

use super::http_script::HttpScript;
use super::{BOTH, Run, bowline, demo, run};

#[track_caller]
fn has_hint(run: &Run, hint: &str) {
    assert!(run.stderr.contains(&format!("hint: {hint}")), "{run:?}");
}

/// An address of this machine at which nothing listens.
const CLOSED: &str = "http://127.0.0.1:1/mcp";

/// Commands that connect, with what they need after the server.
const CONNECTING: [&[&str]; 6] =
    [&["list"], &["call", "echo"], &["bench"], &["connect"], &["check"], &["inspect"]];

fn at(command: &[&str], url: &str) -> Run {
    let [name, rest @ ..] = command else { panic!("a command has a name") };
    run(&[&[*name, url], rest].concat())
}

#[test]
fn a_port_without_a_server_is_named_with_what_to_check() {
    for command in CONNECTING {
        let refused = at(command, CLOSED);
        assert_eq!(refused.code, Some(3), "{refused:?}");
        has_hint(&refused, "is the server started, and is this its port?");
    }
}

#[test]
fn a_host_without_an_address_is_named_with_what_to_check() {
    for command in [&["list"][..], &["check"], &["inspect"]] {
        let unknown = at(command, "http://no-such-host.invalid/mcp");
        assert_eq!(unknown.code, Some(3), "{unknown:?}");
        has_hint(&unknown, "check the spelling of the host name, and the network");
    }
}

#[test]
fn https_at_a_port_that_speaks_http_leads_to_http() {
    let server = HttpScript::always("400 Bad Request", "text/plain", "this is HTTP");
    let secure = server.url.replace("http://", "https://");
    for command in CONNECTING {
        let refused = at(command, &secure);
        assert_eq!(refused.code, Some(3), "{refused:?}");
        has_hint(&refused, "the server does not speak TLS: try `http://`");
    }
}

#[test]
fn what_looks_like_an_address_is_not_started_as_a_program() {
    let words =
        ["localhost:8808/mcp", "127.0.0.1:8808/mcp", "example.com/mcp", "ftp://example.com/mcp"];
    for word in words {
        let refused = run(&["list", word]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        has_hint(&refused, "a URL begins with `http://` or `https://`");
    }
    let loud = run(&["list", "HTTP://127.0.0.1:1/mcp"]);
    has_hint(&loud, "is the server started, and is this its port?");
}

#[test]
fn a_program_in_a_folder_is_still_started() {
    let absent = run(&["list", "./no-such/program"]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
    assert!(absent.stderr.contains("cannot start"), "{absent:?}");
}

#[test]
fn the_tool_before_the_server_is_noticed() {
    let swapped = run(&["call", "talk", CLOSED]);
    assert_eq!(swapped.code, Some(3), "{swapped:?}");
    has_hint(&swapped, &format!("the server comes first: `{CLOSED} talk`"));
}

#[test]
fn wrong_usage_of_prompts_has_an_example() {
    let missing = demo::with_demo(&["complete", "review"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    has_hint(&missing, "");
    let no_pair = demo::with_demo(&["complete", "review", "language"]);
    assert_eq!(no_pair.code, Some(2), "{no_pair:?}");
    has_hint(&no_pair, "");
    let no_pair = demo::with_demo(&["prompt", "review", "language"]);
    assert_eq!(no_pair.code, Some(2), "{no_pair:?}");
    has_hint(&no_pair, "");
}

#[test]
fn a_misspelt_prompt_is_corrected_when_values_are_suggested() {
    let misspelt = demo::with_demo(&["complete", "reviews", "language=R"]);
    assert_eq!(misspelt.code, Some(1), "{misspelt:?}");
    has_hint(&misspelt, "did you mean `review`?");
}

#[test]
fn a_tool_that_asks_a_model_leads_to_the_option_for_it() {
    for revision in BOTH {
        let refused = demo::with_demo(&["call", "--revision", revision, "rhyme", "word=sea"]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        has_hint(&refused, "`--sampling COMMAND` answers requests to a model");
    }
}

#[test]
fn a_variable_without_a_value_is_named_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = r#"{"mcpServers":{"work":{"url":"http://127.0.0.1:1/${BOWLINE_ABSENT}"}}}"#;
    std::fs::write(folder.path().join(".mcp.json"), file).unwrap();
    let mut list = bowline();
    let listed = list.current_dir(folder.path()).args(["list", "--yes", "work"]).output().unwrap();
    let listed = Run::from(listed);
    assert_eq!(listed.code, Some(3), "{listed:?}");
    assert_eq!(listed.stderr.matches("set it").count(), 1, "{listed:?}");
}

#[test]
fn a_gateway_whose_file_is_wrong_says_what_such_a_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.json");
    let absent = run(&["gateway", path.to_str().unwrap()]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
    has_hint(&absent, "");
    std::fs::write(&path, "{").unwrap();
    let broken = run(&["gateway", path.to_str().unwrap()]);
    assert_eq!(broken.code, Some(3), "{broken:?}");
    has_hint(&broken, "");
}

#[test]
fn a_command_without_a_server_names_the_built_in_one() {
    for command in ["list", "bench", "call", "check"] {
        let nothing = run(&[command]);
        assert_eq!(nothing.code, Some(2), "{nothing:?}");
        assert!(nothing.stderr.contains("-- bowline demo --stdio"), "{nothing:?}");
    }
}

#[test]
fn help_is_a_command_too() {
    let helped = run(&["help", "list"]);
    assert_eq!((helped.code, helped.stderr.as_str()), (Some(0), ""));
    assert_eq!(helped.stdout, run(&["list", "--help"]).stdout);
}

/// A port that accepts connections and never answers.
#[test]
fn a_server_that_accepts_and_never_answers_ends_with_5() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", silent.local_addr().unwrap());
    let checked = run(&["check", "--timeout", "1", "--revision", "2025-11-25", &url]);
    assert_eq!(checked.code, Some(5), "{checked:?}");
    has_hint(&checked, "`--timeout SECONDS` waits longer");
}
