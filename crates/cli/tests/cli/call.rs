//! `bowline call`.

use serde_json::{Value, json};

use super::listing_server::start;
use super::*;

#[test]
fn a_tool_is_called_over_each_transport_in_both_eras() {
    let http = HttpExhibit::start();
    for revision in BOTH {
        let called = with_exhibit(&["call", "echo", "message=40", "--revision", revision]);
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "40\n"), "{}", called.stderr);
        let called = run(&["call", &http.url, "add", "a=40", "b=2", "--revision", revision]);
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "{\n  \"sum\": 42\n}\n"));
    }
}

#[test]
fn a_quoted_command_is_a_target() {
    let program = exhibit();
    let called = run(&["call", program.to_str().unwrap(), "echo", "message=hi"]);
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hi\n"), "{}", called.stderr);
}

#[test]
fn arguments_come_from_json_and_from_standard_input() {
    let called = with_exhibit(&["call", "add", "--args", r#"{"a":1,"b":2}"#]);
    assert_eq!(called.stdout, "{\n  \"sum\": 3\n}\n");
    let program = exhibit();
    let words = ["call", "add", "-", "b=2", "--", program.to_str().unwrap()];
    assert_eq!(run_with(&words, r#"{"a": 40}"#).stdout, "{\n  \"sum\": 42\n}\n");
    let joined = with_exhibit(&["call", "join", "words=a", "words=b", "separator=-"]);
    assert_eq!(joined.stdout, "a-b\n");
}

#[test]
fn json_is_the_whole_result() {
    let called = with_exhibit(&["call", "add", "a=1", "b=2", "--json"]);
    expect("call.json", &called.stdout);
}

#[test]
fn json_in_a_pipe_keeps_every_character() {
    let called = with_exhibit(&["call", "echo", "message=a\u{7f}b\u{9b}2Jc", "--json"]);
    assert!(called.stdout.contains("\"a\u{7f}b\u{9b}2Jc\""), "{called:?}");
}

#[test]
fn a_tool_that_fails_ends_with_1() {
    let called = with_exhibit(&["call", "fail"]);
    assert_eq!((called.code, called.stdout.as_str()), (Some(1), "no disk\u{1b}[2J\n"), "a pipe");
}

#[test]
fn mistakes_have_hints() {
    let wrong = with_exhibit(&["call", "add", "a=one", "b=2"]);
    assert_eq!(wrong.code, Some(2));
    expect("call_type.txt", &wrong.stderr);
    let missing = with_exhibit(&["call", "add", "a=1"]);
    assert_eq!(missing.code, Some(2));
    expect("call_missing.txt", &missing.stderr);
    let unknown = with_exhibit(&["call", "subtract"]);
    assert_eq!(unknown.code, Some(1));
    expect("call_unknown.txt", &unknown.stderr);
}

#[test]
fn a_wrong_name_of_a_tool_brings_the_nearest() {
    for arguments in [&["message=hi"][..], &["--args", "{}"]] {
        for revision in BOTH {
            let options = ["call", "ehco", "--revision", revision];
            let unknown = with_exhibit(&[&options[..], arguments].concat());
            assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""));
            expect("call_nearest.txt", &unknown.stderr);
        }
    }
    // A tool that is there, and refuses its arguments, keeps the words of the server.
    let refused = with_exhibit(&["call", "add", "--args", r#"{"a": "one", "b": 2}"#]);
    assert!(!refused.stderr.contains("has no tool"), "{}", refused.stderr);
}

#[test]
fn a_task_is_waited_for_in_both_eras() {
    for revision in BOTH {
        let options = ["call", "count", "to=2", "--revision", revision];
        let counted = demo::with_demo(&options);
        assert_eq!((counted.code, counted.stderr.as_str()), (Some(0), ""));
        assert_eq!(counted.stdout, "counted to 2\n");
    }
}

#[test]
fn a_tool_that_takes_too_long_ends_with_5() {
    let called = with_exhibit(&["call", "sleep", "seconds=600", "--timeout", "0.05"]);
    assert_eq!((called.code, called.stdout.as_str()), (Some(5), ""));
    expect("call_timeout.txt", &called.stderr);
}

#[test]
fn log_messages_of_a_call_are_printed_to_standard_error() {
    for revision in BOTH {
        let words = ["call", "talk", "--log", "error", "--revision", revision];
        let called = super::demo::with_demo(&words);
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "wrote 8 log messages\n"));
        expect("call_log.txt", &called.stderr);
    }
}

/// Calls a tool that returns this text and this structured output.
fn call_returning(text: &'static str, structured: Value, options: &[&str]) -> String {
    let server = start(move |method, _| {
        let content = json!([{"type": "text", "text": text}]);
        let result = json!({"content": content, "structuredContent": structured});
        (method == "tools/call").then_some(Ok(result))
    });
    let called = run(&[&["call", &server.url, "dig"], options].concat());
    assert_eq!((called.code, called.stderr.as_str()), (Some(0), ""), "{called:?}");
    called.stdout
}

#[test]
fn structured_output_that_only_wraps_the_text_is_shown_as_text() {
    assert_eq!(call_returning("a\nb", json!({"content": "a\nb"}), &[]), "a\nb\n");
    let other = call_returning("a", json!({"content": "b"}), &[]);
    assert_eq!(other, "{\n  \"content\": \"b\"\n}\n");
    let two = call_returning("a", json!({"content": "a", "more": 1}), &[]);
    assert!(two.starts_with('{'), "{two}");
}

#[test]
fn the_text_of_a_result_can_be_chosen() {
    let warm = call_returning("It is warm.", json!({"degrees": 21}), &["--text"]);
    assert_eq!(warm, "It is warm.\n");
}

#[test]
fn a_value_that_is_none_of_an_enum_is_found_before_anything_is_sent() {
    let server = start(|method, _| {
        let size = json!({"anyOf": [{"$ref": "#/$defs/Size"}, {"type": "null"}]});
        let defs = json!({"Size": {"type": "string", "enum": ["small", "large"]}});
        let schema = json!({"type": "object", "properties": {"size": size}, "$defs": defs});
        let tools = json!({"tools": [{"name": "dig", "inputSchema": schema}]});
        (method == "tools/list").then_some(Ok(tools))
    });
    let wrong = run(&["call", &server.url, "dig", "size=medium"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let expected = "error: `size`: expected one of small, large, null, found `medium`\n";
    assert!(wrong.stderr.starts_with(expected), "{wrong:?}");
    for right in ["size=large", "size=null", "size:=\"medium\""] {
        assert_eq!(run(&["call", &server.url, "dig", right]).code, Some(0), "{right}");
    }
}
