//! `bowline check` at servers that cannot be checked.

use super::http_script::HttpScript;
use super::run;

#[test]
fn a_server_that_demands_a_login_ends_the_check_with_4_and_names_the_login() {
    let server = HttpScript::always("401 Unauthorized", "text/plain", "who are you?");
    let checked = run(&["check", &server.url]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(4), ""), "{checked:?}");
    assert!(checked.stderr.contains("401 Unauthorized: who are you?"), "{checked:?}");
    assert!(checked.stderr.contains(&format!("hint: bowline login {}", server.url)), "{checked:?}");
}

#[test]
fn a_page_that_is_not_there_ends_the_check_with_3_and_is_named() {
    let page = "<html><h1>Nothing here</h1></html>";
    let server = HttpScript::always("404 Not Found", "text/html", page);
    let checked = run(&["check", &server.url]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(3), ""), "{checked:?}");
    let url = &server.url;
    let error =
        format!("error: the server speaks none of the revisions: {url}: 404 Not Found: {page}");
    assert!(checked.stderr.contains(&error), "{checked:?}");
    assert!(checked.stderr.contains("hint: check the path of the address"), "{checked:?}");
}

#[test]
fn a_server_that_knows_no_post_ends_the_check_with_3() {
    let server = HttpScript::always("501 Unsupported method ('POST')", "text/html", "no POST");
    let checked = run(&["check", &server.url]);
    assert_eq!(checked.code, Some(3), "{checked:?}");
    assert!(checked.stderr.contains("501 Not Implemented: no POST"), "{checked:?}");
    assert!(checked.stderr.contains("\nhint: "), "{checked:?}");
}

#[test]
fn a_port_without_a_server_is_named_once_with_the_reason() {
    // Port 1 of this machine is not listened on.
    let checked = run(&["check", "http://127.0.0.1:1/mcp"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(3), ""), "{checked:?}");
    assert_eq!(checked.stderr.matches("cannot connect").count(), 1, "{checked:?}");
    assert!(checked.stderr.contains("http://127.0.0.1:1/mcp: "), "{checked:?}");
    assert!(checked.stderr.to_lowercase().contains("refused"), "{checked:?}");
    assert!(checked.stderr.contains("\nhint: is the server started"), "{checked:?}");
}

#[test]
fn a_server_that_writes_only_garbage_breaks_the_rule_of_standard_output() {
    let garbage = "echo 'listening on port 3000'; while read -r line; do :; done";
    let options = ["check", "--timeout", "1", "--revision", "2025-11-25", "--", "sh", "-c"];
    let checked = run(&[&options[..], &[garbage]].concat());
    assert_eq!(checked.code, Some(6), "{checked:?}");
    assert!(checked.stdout.contains("STDIO-4"), "{checked:?}");
    assert!(checked.stdout.contains("listening on port 3000"), "{checked:?}");
    assert!(checked.stdout.contains("when the check opens a session\n"), "{checked:?}");
    assert!(checked.stdout.starts_with("speaks none of the revisions\n"), "{checked:?}");
}

#[test]
fn an_answer_that_is_no_message_breaks_the_protocol() {
    let server = HttpScript::always("200 OK", "application/json", "{}");
    let checked = run(&["check", "--revision", "2025-11-25", &server.url]);
    assert_eq!(checked.code, Some(6), "{checked:?}");
    assert!(checked.stdout.contains("200 OK: {}"), "{checked:?}");
}

#[test]
fn a_server_that_never_answers_ends_the_check_with_5() {
    let silent = "while read -r line; do :; done";
    let options = ["check", "--timeout", "1", "--revision", "2025-11-25", "--", "sh", "-c"];
    let checked = run(&[&options[..], &[silent]].concat());
    assert_eq!(checked.code, Some(5), "{checked:?}");
    assert!(checked.stderr.contains("\nhint: `--timeout SECONDS` waits longer"), "{checked:?}");
}

#[test]
fn a_check_whose_time_is_over_before_any_answer_does_not_end_with_0() {
    let silent = "while read -r line; do :; done";
    let options = ["check", "--timeout", "1", "--deadline", "1", "--", "sh", "-c"];
    let checked = run(&[&options[..], &[silent]].concat());
    assert_eq!(checked.code, Some(5), "{checked:?}");
}

#[test]
fn a_server_that_ends_at_once_ends_the_check_with_3_and_a_hint() {
    let checked = run(&["check", "--", "sh", "-c", "exit 1"]);
    assert_eq!(checked.code, Some(3), "{checked:?}");
    assert!(
        checked.stderr.contains("\nhint: `--verbose` shows what the server writes"),
        "{checked:?}"
    );
    let absent = run(&["check", "--", "./no-such-program"]);
    assert_eq!(absent.code, Some(3), "{absent:?}");
    assert_eq!(absent.stderr.matches("no-such-program").count(), 1, "{absent:?}");
}

#[test]
fn words_after_the_server_are_refused() {
    let checked = run(&["check", "http://127.0.0.1:1/mcp", "extra", "words"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(2), ""), "{checked:?}");
    assert!(checked.stderr.contains("unexpected argument `extra`"), "{checked:?}");
    assert!(checked.stderr.contains("\nhint: "), "{checked:?}");
}

/// Answers the handshake of 2025-11-25, reads the next message, and ends when it gets a request.
const DIES: &str = r#"read -r line; printf '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}\n'; read -r line; read -r line"#;

/// The report of a check in each format that has no words for people.
fn reports(options: &[&str], code: i32) -> (serde_json::Value, String, serde_json::Value) {
    let report = |format: &str| {
        let checked = run(&[&["check", "--format", format][..], options].concat());
        assert_eq!(checked.code, Some(code), "{checked:?}");
        checked.stdout
    };
    let json = |format: &str| serde_json::from_str(&report(format)).unwrap();
    (json("json"), report("junit"), json("sarif"))
}

#[test]
fn a_server_that_dies_at_a_step_ends_the_check_with_3_and_every_report_tells_it() {
    let target = ["--revision", "2025-11-25", "--", "sh", "-c", DIES];
    let checked = run(&[&["check"][..], &target].concat());
    assert_eq!(checked.code, Some(3), "{checked:?}");
    let early = "not complete: in 2025-11-25 the session ended early, when the check pings: ";
    assert!(checked.stdout.contains(early), "{checked:?}");
    assert!(checked.stderr.starts_with(&format!("error: {early}")), "{checked:?}");

    let (json, junit, sarif) = reports(&target, 3);
    assert_eq!(json["earlyEnds"][0]["step"], "pings", "{json:#}");
    assert_eq!(json["earlyEnds"][0]["revision"], "2025-11-25", "{json:#}");
    assert!(junit.contains("errors=\"1\"") && junit.contains("<error message=\"in 2025-11-25 "));
    let invocation = &sarif["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false, "{invocation:#}");
    let text = &invocation["toolExecutionNotifications"][0]["message"]["text"];
    assert!(text.as_str().unwrap().contains("when the check pings"), "{invocation:#}");
}

#[test]
fn a_check_that_the_deadline_cuts_short_ends_with_5_and_every_report_tells_it() {
    // In each of the five revisions the check listens for a third of a second, so that it never ends
    // within one.
    let target = ["--deadline", "1", "--", env!("CARGO_BIN_EXE_bowline"), "demo", "--stdio"];
    let (json, junit, sarif) = reports(&target, 5);
    assert_eq!((&json["cutShort"], &json["violations"]), (&true.into(), &0.into()), "{json:#}");
    assert!(junit.contains("errors=\"1\"") && junit.contains("<error message=\"the time was over"));
    assert_eq!(sarif["runs"][0]["invocations"][0]["executionSuccessful"], false, "{sarif:#}");
}

#[test]
fn reports_for_upload_name_no_secret_of_the_target() {
    let server = super::wrong_server::start();
    let url = format!("{}?key=s3cr3t", server.url);
    for format in ["junit", "sarif"] {
        let options = ["check", "--timeout", "2", "--revision", "2025-11-25", "--format", format];
        let checked = run(&[&options[..], &[&url]].concat());
        assert_eq!(checked.code, Some(6), "{checked:?}");
        assert!(checked.stdout.contains(&format!("{}?…", server.url)), "{checked:?}");
        assert!(!checked.stdout.contains("s3cr3t"), "{checked:?}");
    }
}
