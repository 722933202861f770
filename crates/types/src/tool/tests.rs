//! Tools and their results on the wire, and the defaults for what they leave out.

use super::*;
use crate::id::Cursor;
use crate::page::PagedResult;
use crate::round_trip::round_trip;

const TOOL: &str = r#"{"name":"add","title":"Adder","description":"Add","inputSchema":{"type":"object","x-vendor":1.0},"outputSchema":{"type":"object"},"annotations":{"title":"A","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false},"execution":{"taskSupport":"optional"},"icons":[{"src":"https://example.com/i.png"}],"_meta":{"a":1}}"#;

fn tool() -> ToolDefinition {
    ToolDefinition::new("add", Schema::default())
}

fn result(text: &str) -> CallToolResult {
    serde_json::from_str(text).unwrap()
}

// spec: TOOL-13, TOOL-18
#[test]
fn a_tool_is_written_as_it_was_read() {
    round_trip::<ToolDefinition>(TOOL);
}

// spec: TOOL-13, TOOL-14
#[test]
fn a_tool_without_a_schema_is_refused() {
    for (text, expected) in [
        (r#"{"name":"add"}"#, "missing field `inputSchema`"),
        (r#"{"inputSchema":{}}"#, "missing field `name`"),
        (r#"{"name":"add","inputSchema":null}"#, "expected an object, found `null`"),
    ] {
        let error = serde_json::from_str::<ToolDefinition>(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn unknown_members_are_ignored_and_null_is_absent() {
    let text = r#"{"name":"add","inputSchema":{},"new":1,"title":null,"outputSchema":null,"annotations":null,"execution":null,"icons":null,"_meta":null}"#;
    assert_eq!(serde_json::from_str::<ToolDefinition>(text).unwrap(), tool());
}

// spec: TOOL-26
#[test]
fn a_tool_is_shown_by_its_title_or_annotated_title_or_name() {
    let titled = ToolAnnotations { title: Some("Annotated".to_owned()), ..ToolAnnotations::new() };
    assert_eq!(tool().display_name(), "add");
    assert_eq!(tool().with_annotations(titled.clone()).display_name(), "Annotated");
    assert_eq!(tool().with_annotations(titled).with_title("Titled").display_name(), "Titled");
}

// spec: TOOL-28
#[test]
fn a_tool_without_hints_is_assumed_to_be_the_worst() {
    let tool = tool();
    let hints = tool.hints();
    assert!(!hints.is_read_only() && hints.is_destructive());
    assert!(!hints.is_idempotent() && hints.is_open_world());
}

// spec: TOOL-28
#[test]
fn a_read_only_tool_is_never_destructive() {
    let hints = ToolAnnotations::new().with_read_only(true);
    let hints = hints.with_destructive(true).with_idempotent(false);
    assert!(!hints.is_destructive() && hints.is_idempotent());
}

// spec: TOOL-28
#[test]
fn hints_override_the_defaults() {
    let hints = ToolAnnotations::new().with_destructive(false).with_idempotent(true);
    let hints = hints.with_open_world(false);
    assert!(!hints.is_destructive() && hints.is_idempotent() && !hints.is_open_world());
}

#[test]
fn a_tool_that_says_nothing_of_tasks_forbids_them() {
    assert_eq!(tool().task_support(), TaskSupport::Forbidden);
    let tool = tool().with_task_support(TaskSupport::Required);
    assert_eq!(tool.task_support(), TaskSupport::Required);
    let unknown = r#"{"name":"a","inputSchema":{},"execution":{"taskSupport":"sometimes"}}"#;
    let tool: ToolDefinition = serde_json::from_str(unknown).unwrap();
    assert_eq!(tool.task_support().as_str(), "sometimes");
}

// spec: TOOL-19, TOOL-20, TOOL-21, TOOL-22
#[test]
fn tool_names_are_short_and_plain() {
    for good in ["a", "getUser", "DATA_EXPORT_v2", "admin.tools.list", "a-b", &"x".repeat(128)] {
        assert_eq!(check_name(good), Ok(()), "{good}");
    }
    for bad in ["", "a b", "a,b", "a/b", "é", "a\n", &"x".repeat(129)] {
        assert!(check_name(bad).is_err(), "{bad}");
    }
    let error = check_name("get user").unwrap_err().to_string();
    assert_eq!(error, "tool name `get user`: ' ' is not one of `A-Z a-z 0-9 _ - .`");
}

// spec: PAGE-4, PAGE-8
#[test]
fn an_empty_cursor_is_not_the_end_of_the_list() {
    let page: ListToolsResult = serde_json::from_str(r#"{"tools":[],"nextCursor":""}"#).unwrap();
    assert_eq!(page.into_parts().1, Some(Cursor::new("")));
    let last: ListToolsResult = serde_json::from_str(r#"{"tools":[]}"#).unwrap();
    assert_eq!(last.into_parts().1, None);
}

// spec: TOOL-34
#[test]
fn a_call_has_a_name_and_its_arguments_are_an_object() {
    let read = serde_json::from_str::<CallToolParams>;
    assert!(read(r#"{"name":"add"}"#).unwrap().arguments.is_none());
    let error = read(r#"{"name":"add","arguments":[1]}"#).unwrap_err().to_string();
    assert!(error.contains("expected an object, found `[1]`"), "{error}");
    let error = read(r#"{"arguments":{}}"#).unwrap_err().to_string();
    assert!(error.contains("missing field `name`"), "{error}");
}

// spec: TOOL-32
#[test]
fn the_content_is_always_written_and_failure_only_if_it_is_one() {
    assert_eq!(serde_json::to_string(&CallToolResult::default()).unwrap(), r#"{"content":[]}"#);
    let text = r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#;
    assert_eq!(serde_json::to_string(&CallToolResult::error("no")).unwrap(), text);
    assert!(!result(r#"{"content":[]}"#).is_error);
    assert!(!result(r#"{"content":[],"isError":null}"#).is_error);
}

#[test]
fn a_result_without_content_is_accepted() {
    assert_eq!(result(r#"{"structuredContent":{"a":1}}"#).content, []);
}

// spec: TOOL-17
#[test]
fn a_structured_null_is_a_value() {
    let text = r#"{"content":[],"structuredContent":null}"#;
    assert_eq!(result(text).structured_content, Some(RawJson::default()));
    assert_eq!(serde_json::to_string(&result(text)).unwrap(), text);
}

// spec: TOOL-31
#[test]
fn a_structured_result_says_the_same_as_text() {
    let result = CallToolResult::structured(&[1, 2]).unwrap();
    assert_eq!(result.text(), "[1,2]");
    assert_eq!(result.structured_content.unwrap().as_str(), "[1,2]");
}

#[test]
fn a_result_is_parsed_from_its_structure_or_else_its_text() {
    let structured = result(r#"{"content":[],"structuredContent":[1]}"#);
    assert_eq!(structured.parse::<Vec<u8>>().unwrap(), [1]);
    assert_eq!(CallToolResult::from_text("[2]").parse::<Vec<u8>>().unwrap(), [2]);
}

#[test]
fn the_text_of_a_result_is_its_text_blocks_line_by_line() {
    let content = vec!["a".into(), Content::image(&[], "image/png"), "b".into()];
    assert_eq!(CallToolResult::new(content).text(), "a\nb");
}
