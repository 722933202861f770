//! Exit codes: the table of `docs/commands/README.md` is the contract.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::http_script::HttpScript;
use super::{bowline, demo, run};

/// The codes of the table, in its order.
fn documented() -> Vec<i32> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands/README.md");
    let page = std::fs::read_to_string(page).unwrap();
    let table = page.split("\n## Exit codes\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    rows.filter_map(|code| code.parse().ok()).collect()
}

#[test]
fn the_page_names_every_exit_code() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/exit/code.rs");
    let source = std::fs::read_to_string(source).unwrap();
    let body = source.split("enum Exit {").nth(1).unwrap().split("\n}").next().unwrap();
    let codes = body.lines().filter_map(|line| line.trim().strip_suffix(',')?.split(" = ").nth(1));
    let codes: Vec<i32> = codes.map(|code| code.parse().unwrap()).collect();
    assert_eq!(documented(), codes);
}

#[test]
fn an_address_without_a_server_ends_with_3_whatever_its_404_says() {
    let json = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"nothing here"}}"#;
    for (media_type, body) in [("text/html", "<h1>no</h1>"), ("application/json", json)] {
        let server = HttpScript::always("404 Not Found", media_type, body);
        let listed = run(&["list", &server.url]);
        assert_eq!(listed.code, Some(3), "{listed:?}");
        assert!(listed.stderr.contains("404 Not Found"), "{listed:?}");
    }
}

#[test]
fn an_error_that_the_server_answers_with_ends_with_1() {
    let refused = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"broken"}}"#;
    let server = HttpScript::always("500 Internal Server Error", "application/json", refused);
    let listed = run(&["list", &server.url]);
    assert_eq!(listed.code, Some(1), "{listed:?}");
}

#[test]
fn a_server_that_writes_only_garbage_ends_with_6() {
    let garbage = run(&["list", "--timeout", "5", "--", "yes"]);
    assert_eq!(garbage.code, Some(6), "{garbage:?}");
}

#[test]
fn an_answer_that_is_no_message_ends_with_6() {
    let server = HttpScript::always("200 OK", "application/json", "{}");
    let listed = run(&["list", &server.url]);
    assert_eq!(listed.code, Some(6), "{listed:?}");
}

#[test]
fn a_header_that_http_does_not_have_is_wrong_usage() {
    for header in ["X Y: 1", ": 1", "X: a\nb"] {
        let listed = run(&["list", "-H", header, "http://127.0.0.1:1/mcp"]);
        assert_eq!(listed.code, Some(2), "{listed:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let draw = || demo::with_demo(&["call", "picture", "--save", folder]);
    let first = draw();
    assert_eq!(first.code, Some(0), "{first:?}");
    let second = draw();
    assert_eq!(second.code, Some(1), "{second:?}");
    assert!(second.stderr.contains("exists"), "{second:?}");
}

#[test]
fn an_output_whose_reader_has_gone_ends_with_141() {
    let demo = ["--", super::bowline_path(), "demo", "--stdio"];
    let lists = [&["list"][..], &demo].concat();
    let lists_as_json = [&["list", "--json"][..], &demo].concat();
    for words in [&["completions", "bash"][..], &lists, &lists_as_json] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = bowline().args(words).stdout(writer).output().unwrap();
        let stderr = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), stderr.as_str()), (Some(141), ""), "{words:?}");
    }
}

#[test]
fn a_folder_for_pages_that_cannot_be_written_ends_with_1() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let written = run(&["man", "--write", file.path().to_str().unwrap()]);
    assert_eq!(written.code, Some(1), "{written:?}");
    assert!(written.stderr.contains("cannot write pages to "), "{written:?}");
}

#[test]
fn a_demo_over_stdio_that_is_asked_to_stop_ends_with_0() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let mut command = bowline();
        command.args(["demo", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Its input stays open: only the signal ends it. Once it answers, it serves.
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n").unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert!(answer.contains("\"id\":1"), "{answer}");
        kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}
