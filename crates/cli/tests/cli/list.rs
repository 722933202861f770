//! `bowline list`.

use std::sync::Barrier;

use serde_json::{Value, json};

use super::demo::with_demo;
use super::http_script::HttpScript;
use super::listing_server::{refusing, start};
use super::*;

#[test]
fn everything_is_listed_over_each_transport_in_both_eras() {
    let http = HttpExhibit::start();
    for revision in BOTH {
        let listed = with_exhibit(&["list", "--revision", revision]);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        expect("list.txt", &listed.stdout);
        let listed = run(&["list", &http.url, "--revision", revision]);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        expect("list.txt", &listed.stdout);
    }
}

#[test]
fn kinds_can_be_chosen_and_json_is_for_programs() {
    let listed = with_exhibit(&["list", "prompts", "templates", "--json"]);
    assert_eq!(listed.code, Some(0));
    expect("list.json", &listed.stdout);
    let wrong = with_exhibit(&["list", "tolls"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.starts_with("error: `tolls` is not one of `tools`"), "{}", wrong.stderr);
}

#[test]
fn a_list_that_the_server_declares_and_refuses_hides_no_other() {
    let server = refusing("resources/");
    let listed = run(&["list", &server.url]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.contains("1 tool\n  dig()"), "{listed:?}");
    assert!(listed.stdout.contains("1 prompt\n  ask()"), "{listed:?}");
    let note = "note: resources cannot be listed: calling `resources/list`: ";
    assert!(listed.stderr.contains(note), "{listed:?}");
    assert!(listed.stderr.contains("note: templates cannot be listed: "), "{listed:?}");
    assert_eq!(listed.stderr.lines().count(), 2, "{listed:?}");
}

#[test]
fn json_has_a_reason_for_each_list_that_is_missing() {
    let server = refusing("resources/list");
    let listed = run(&["list", &server.url, "--json"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let lists: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(lists["tools"][0]["name"], "dig");
    assert!(lists.get("resources").is_none(), "{lists}");
    let reason = lists["errors"]["resources"].as_str().unwrap();
    assert!(reason.starts_with("calling `resources/list`: "), "{reason}");
    let whole = start(|_, _| None);
    let listed = run(&["list", &whole.url, "--json"]);
    assert!(!listed.stdout.contains("errors"), "{listed:?}");
}

/// A gateway that left a server out of two lists.
fn incomplete() -> HttpScript {
    start(|method, _| {
        let meta = json!({"io.github.bowline-mcp/leftOut": [
            {"server": "far\u{1b}[2J", "cause": "did not answer in time"}
        ]});
        match method {
            "tools/list" => Some(Ok(json!({"tools": [], "_meta": meta}))),
            "prompts/list" => Some(Ok(json!({"prompts": [{"name": "ask"}], "_meta": meta}))),
            _ => None,
        }
    })
}

#[test]
fn lists_that_lack_a_server_are_printed_with_one_note_that_names_it() {
    let server = incomplete();
    let listed = run(&["list", &server.url]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    assert!(listed.stdout.contains("1 prompt\n  ask()"), "{listed:?}");
    let note = "note: tools, prompts lack the server `far\\u{1b}[2J`: did not answer in time\n";
    assert_eq!(listed.stderr, note, "{listed:?}");
    let listed = run(&["list", &server.url, "--json"]);
    let lists: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(lists["prompts"][0]["name"], "ask", "{lists}");
    let reason = lists["errors"]["tools"].as_str().unwrap();
    assert!(reason.ends_with("did not answer in time"), "{lists}");
    let looked = run(&["inspect", &server.url]);
    assert!(looked.stdout.contains("did not answer in time"), "{looked:?}");
    let looked = run(&["inspect", &server.url, "--json"]);
    let report: Value = serde_json::from_str(&looked.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|it| it["subject"] == "tools, prompts"), "{report}");
}

#[test]
fn a_list_that_the_user_names_and_that_fails_ends_with_1_after_the_others() {
    let server = refusing("resources/list");
    let listed = run(&["list", &server.url, "tools", "resources"]);
    assert_eq!(listed.code, Some(1), "{listed:?}");
    assert!(listed.stdout.contains("dig()"), "{listed:?}");
    assert!(listed.stderr.contains("note: resources cannot be listed"), "{listed:?}");
}

#[test]
fn a_server_of_which_no_list_comes_is_an_error() {
    let server = refusing("");
    let listed = run(&["list", &server.url]);
    assert_eq!((listed.code, listed.stdout.as_str()), (Some(1), ""), "{listed:?}");
    assert!(listed.stderr.contains("error: calling `tools/list`: "), "{listed:?}");
}

/// Each list is answered once all four were requested.
#[test]
fn all_lists_are_requested_side_by_side_so_one_silent_list_costs_its_timeout_once() {
    for command in ["list", "inspect"] {
        let four = Barrier::new(4);
        let server = start(move |method, _| {
            if method.ends_with("/list") {
                four.wait();
            }
            None
        });
        let listed = run(&[command, &server.url, "--timeout", "20"]);
        assert_eq!(listed.code, Some(0), "{listed:?}");
    }
}

#[test]
fn an_inspection_goes_on_after_a_list_that_fails() {
    let server = refusing("tools/");
    let looked = run(&["inspect", &server.url]);
    assert_eq!((looked.code, looked.stderr.as_str()), (Some(0), ""), "{looked:?}");
    assert!(looked.stdout.contains("tools          FAILED"), "{looked:?}");
    assert!(looked.stdout.contains("prompts        ok"), "{looked:?}");
    let looked = run(&["inspect", &server.url, "--json"]);
    let report: Value = serde_json::from_str(&looked.stdout).unwrap();
    assert_eq!(report["ok"], json!(true));
    let step = report["steps"].as_array().unwrap().iter().find(|it| it["name"] == "tools");
    assert_eq!(step.unwrap()["ok"], json!(false));
    let useless = run(&["inspect", &refusing("").url]);
    assert_eq!(useless.code, Some(1), "{useless:?}");
}

#[test]
fn a_filter_keeps_what_has_each_text_in_its_name_or_description() {
    let listed = with_demo(&["list", "--filter", "NOTE", "--filter", "remove"]);
    assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
    let expected = "1 tool with note and remove\n  remove_note(name: string)  Remove a note\n";
    assert!(listed.stdout.starts_with(expected), "{listed:?}");
    let listed = with_demo(&["list", "tools", "--filter", "note", "--json"]);
    let lists: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(lists["tools"].as_array().unwrap().len(), 2, "{lists}");
}

#[test]
fn one_tool_is_shown_with_its_values_nested_fields_and_annotations() {
    let server = start(|method, _| {
        (method == "tools/list").then(|| {
            Ok(json!({"tools": [{
                "name": "brew",
                "title": "Brew",
                "description": "Brews tea.\n\nTakes a while.",
                "inputSchema": {
                    "type": "object",
                    "required": ["size"],
                    "properties": {
                        "size": {"$ref": "#/$defs/Size"},
                        "with": {"type": "object", "properties": {
                            "milk": {"type": "boolean", "description": "Cold \u{1b}[2Jmilk"},
                            "sugar": {"type": "integer", "minimum": 0, "maximum": 4},
                        }},
                    },
                    "$defs": {"Size": {"enum": ["small", "large"]}},
                },
                "annotations": {"readOnlyHint": true},
            }]}))
        })
    });
    let shown = run(&["list", &server.url, "tools", "brew"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{shown:?}");
    expect("list_tool.txt", &shown.stdout);
    let shown = run(&["list", &server.url, "tools", "brew", "--json"]);
    let tool: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(tool["inputSchema"]["properties"]["with"]["properties"]["sugar"]["maximum"], 4);
    let unknown = run(&["list", &server.url, "tools", "brow"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `brew`?"), "{unknown:?}");
}

#[test]
fn a_resource_and_a_prompt_are_shown_by_their_uri_and_name() {
    let about = with_demo(&["list", "resources", "demo://about"]);
    assert_eq!(about.code, Some(0), "{about:?}");
    assert!(about.stdout.starts_with("demo://about\n"), "{about:?}");
    let review = with_demo(&["list", "prompts", "review"]);
    assert!(review.stdout.contains("\narguments\n  language\n  focus?\n"), "{review:?}");
}
