//! What the commands declare to a server: the same, so that they see the same tools.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::demo::with_demo;
use super::listing_server::{modern, start};
use super::*;

/// Runs commands against one server, and returns what each declared: in the handshake, or in every
/// request.
fn declared_by(commands: &[&[&str]], options: &[&str], revision: &'static str) -> Vec<Value> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let server = start(move |method, params| {
        let declared = match (revision, method) {
            ("2026-07-28", _) => params["_meta"].get("io.modelcontextprotocol/clientCapabilities"),
            (_, "initialize") => params.get("capabilities"),
            _ => return None,
        };
        noted.lock().unwrap().push(declared.cloned());
        (revision == "2026-07-28").then(|| modern(method))
    });
    let run_one = |command: &&[&str]| {
        let [name, rest @ ..] = command else { panic!("a command has a name") };
        let words = [&[*name, &server.url], rest, options].concat();
        let run = run(&[&words[..], &["--revision", revision]].concat());
        let mut declared = std::mem::take(&mut *seen.lock().unwrap());
        declared.dedup();
        assert_eq!(declared.len(), 1, "{command:?} {run:?} {declared:?}");
        declared.remove(0).unwrap_or_else(|| panic!("{command:?} declares nothing"))
    };
    commands.iter().map(run_one).collect()
}

const COMMANDS: [&[&str]; 9] = [
    &["list"],
    &["inspect"],
    &["call", "dig"],
    &["read", "x://a"],
    &["prompt", "ask"],
    &["complete", "ask", "a=b"],
    &["watch", "--count", "0"],
    &["bench", "-n", "1"],
    &["request", "tools/list"],
];

#[test]
fn every_command_declares_the_same_so_list_shows_the_tools_that_call_can_call() {
    for revision in BOTH {
        let declared = declared_by(&COMMANDS, &[], revision);
        assert!(declared[0]["elicitation"]["url"].is_object(), "{}", declared[0]);
        assert!(declared[0].get("roots").is_none(), "{}", declared[0]);
        for (command, one) in COMMANDS.iter().zip(&declared) {
            assert_eq!(one, &declared[0], "{revision} {command:?}");
        }
    }
}

#[test]
fn roots_and_a_model_are_declared_by_each_command_that_gets_them() {
    for revision in BOTH {
        let declared = declared_by(&COMMANDS, &["--root", ".", "--sampling", "cat"], revision);
        assert!(declared[0]["roots"].is_object() && declared[0]["sampling"].is_object());
        for (command, one) in COMMANDS.iter().zip(&declared) {
            assert_eq!(one, &declared[0], "{revision} {command:?}");
        }
    }
}

#[test]
fn a_server_gets_the_roots_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for revision in BOTH {
        let words = ["call", "folders", "--root", root.to_str().unwrap(), "--revision", revision];
        let called = with_demo(&words);
        assert_eq!(called.code, Some(0), "{called:?}");
        assert!(called.stdout.contains(&format!("file://{}", root.display())), "{called:?}");
    }
    let without = with_demo(&["call", "folders"]);
    assert_eq!(without.code, Some(1), "{without:?}");
    assert!(without.stderr.contains("hint: `--root FOLDER` names a folder"), "{without:?}");
    let absent = with_demo(&["call", "folders", "--root", "no/such/folder"]);
    assert_eq!(absent.code, Some(2), "{absent:?}");
}

#[test]
fn one_request_of_any_method_is_sent_and_its_result_printed_as_it_came() {
    for revision in BOTH {
        let params = r#"{"name":"haiku"}"#;
        let asked = with_demo(&["request", "prompts/get", params, "--revision", revision]);
        assert_eq!((asked.code, asked.stderr.as_str()), (Some(0), ""), "{asked:?}");
        let result: Value = serde_json::from_str(&asked.stdout).unwrap();
        assert_eq!(result["messages"][0]["role"], json!("user"), "{result}");
    }
    let unknown = with_demo(&["request", "no/such-method"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    let wrong = with_demo(&["request", "prompts/get", "[]"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let notification = with_demo(&["request", "notifications/cancelled"]);
    assert_eq!(notification.code, Some(1), "{notification:?}");
}

#[test]
fn the_params_of_a_request_are_read_from_standard_input_if_a_dash_stands_for_them() {
    for revision in BOTH {
        let words = ["request", "prompts/get", "-", "--revision", revision, "--"];
        let words = [&words[..], &[bowline_path(), "demo", "--stdio"]].concat();
        let asked = run_with(&words, r#"{"name":"haiku"}"#);
        assert_eq!((asked.code, asked.stderr.as_str()), (Some(0), ""), "{asked:?}");
        let result: Value = serde_json::from_str(&asked.stdout).unwrap();
        assert_eq!(result["messages"][0]["role"], json!("user"), "{result}");
        let wrong = run_with(&words, "[]");
        assert_eq!(wrong.code, Some(2), "{wrong:?}");
    }
}
