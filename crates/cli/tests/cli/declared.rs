//! What the commands declare to a server: the same, so that they see the same tools.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::demo::with_demo;
use super::listing_server::start;
use super::*;

/// Runs commands against one server, and returns what each declared.
fn declared_by(commands: &[&[&str]], options: &[&str]) -> Vec<Value> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    let server = start(move |method, params| {
        if method == "initialize" {
            noted.lock().unwrap().push(params["capabilities"].clone());
        }
        None
    });
    for command in commands {
        let [name, rest @ ..] = command else { panic!("a command has a name") };
        let words = [&[*name, &server.url], rest, options].concat();
        run(&[&words[..], &["--revision", "2025-11-25"]].concat());
    }
    seen.lock().unwrap().clone()
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
    let declared = declared_by(&COMMANDS, &[]);
    assert_eq!(declared.len(), COMMANDS.len(), "{declared:?}");
    assert!(declared[0]["elicitation"]["url"].is_object(), "{}", declared[0]);
    assert!(declared[0].get("roots").is_none(), "{}", declared[0]);
    for (command, one) in COMMANDS.iter().zip(&declared) {
        assert_eq!(one, &declared[0], "{command:?}");
    }
}

#[test]
fn roots_and_a_model_are_declared_by_each_command_that_gets_them() {
    let declared = declared_by(&COMMANDS, &["--root", ".", "--sampling", "cat"]);
    assert_eq!(declared.len(), COMMANDS.len(), "{declared:?}");
    assert!(declared[0]["roots"].is_object() && declared[0]["sampling"].is_object());
    for (command, one) in COMMANDS.iter().zip(&declared) {
        assert_eq!(one, &declared[0], "{command:?}");
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
