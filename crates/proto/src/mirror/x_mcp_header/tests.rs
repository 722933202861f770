//! Marks that obey the rules, and all the ways to break them.

use bowline_types::json::RawJson;
use serde_json::json;

use super::*;

fn schema(value: &Value) -> Schema {
    Schema::new(RawJson::from_value(value).unwrap()).unwrap()
}

fn marks(value: &Value) -> Result<Vec<String>, String> {
    let mirrored = mirrored(&schema(value)).map_err(|error| error.to_string())?;
    Ok(mirrored.iter().map(|it| format!("{}={}", it.path.join("."), it.name)).collect())
}

/// A schema with one property that has this mark.
fn named(name: &Value) -> Value {
    json!({ "type": "object", "properties": { "a": { "type": "string", "x-mcp-header": name } } })
}

#[track_caller]
fn is_invalid(value: &Value, reason: &str) {
    let error = marks(value).unwrap_err();
    assert!(error.contains(reason), "{error}");
}

// spec: XMH-1, XMH-7, XMH-9
#[test]
fn marks_are_found_through_properties_alone() {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": { "type": "string", "x-mcp-header": "Region" },
            "dry": { "type": "boolean", "x-mcp-header": "dry-run" },
            "page": {
                "type": "object",
                "properties": { "size": { "type": "integer", "x-mcp-header": "Size" } },
            },
            "plain": { "type": "number" },
        },
    });
    let expected = ["dry=dry-run", "page.size=Size", "region=Region"];
    assert_eq!(marks(&schema).unwrap(), expected);
    assert_eq!(marks(&json!({ "type": "object" })).unwrap(), [""; 0]);
}

#[test]
fn a_mark_is_found_however_it_is_spelled() {
    let text = r#"{"type":"object","properties":{"a":{"type":"string","x-mcp\u002dheader":"A"}}}"#;
    let schema = Schema::new(RawJson::from_text(text).unwrap()).unwrap();
    assert_eq!(mirrored(&schema).unwrap(), [MirroredParam::new(["a"], "A")]);
}

#[test]
fn data_and_properties_of_that_name_are_no_marks() {
    let schema = json!({
        "type": "object",
        "default": { "x-mcp-header": "" },
        "properties": {
            "x-mcp-header": { "type": "number" },
            "a": { "enum": [{ "x-mcp-header": "" }], "examples": [{ "x-mcp-header": "" }] },
        },
    });
    assert_eq!(marks(&schema).unwrap(), [""; 0]);
}

// spec: XMH-3, XMH-4, XMH-5
#[test]
fn a_name_is_a_token() {
    assert_eq!(marks(&named(&json!("A-1!#$%&'*+.^_`|~"))).unwrap(), ["a=A-1!#$%&'*+.^_`|~"]);
    is_invalid(&named(&json!("")), "its name is empty");
    for bad in ["a b", "a:b", "a\rb", "a\nb", "é", "a/b", "a\0", "(a)"] {
        is_invalid(&named(&json!(bad)), "which no header name may hold");
    }
    for bad in [json!(1), json!(null), json!(["a"])] {
        is_invalid(&named(&bad), "its value is not a text");
    }
}

// spec: XMH-6
#[test]
fn a_name_is_used_once_whatever_its_case() {
    let marked = |name: &str| json!({ "type": "string", "x-mcp-header": name });
    let schema = json!({ "properties": {
        "a": marked("Region"),
        "b": { "type": "object", "properties": { "c": marked("REGION") } },
    } });
    is_invalid(&schema, "`inputSchema` `b.c`: the name `REGION` is used twice");
}

// spec: XMH-7
#[test]
fn only_text_whole_numbers_and_booleans_are_marked() {
    for kind in ["number", "object", "array", "null"] {
        let schema = json!({ "properties": { "a": { "type": kind, "x-mcp-header": "A" } } });
        is_invalid(&schema, &format!("the property is a {kind}"));
    }
    for keywords in [
        json!({ "x-mcp-header": "A" }),
        json!({ "type": ["string", "integer"], "x-mcp-header": "A" }),
        json!({ "$ref": "#/$defs/a", "x-mcp-header": "A" }),
    ] {
        is_invalid(&json!({ "properties": { "a": keywords } }), "has no single `type`");
    }
}

// spec: XMH-9, XMH-10
#[test]
fn a_mark_that_is_reached_in_any_other_way_is_invalid() {
    let marked = json!({ "type": "string", "x-mcp-header": "A" });
    let object = json!({ "type": "object", "properties": { "a": marked } });
    is_invalid(&json!({ "type": "string", "x-mcp-header": "A" }), "it stands at the root");
    for keyword in SCHEMAS {
        for value in [object.clone(), json!([object])] {
            let reason = format!("`{keyword}.a`: only a chain of `properties`");
            is_invalid(&json!({ "type": "object", *keyword: value }), &reason);
        }
    }
    for keyword in NAMED_SCHEMAS {
        let reason = format!("`{keyword}.x`: only a chain of `properties`");
        is_invalid(&json!({ "type": "object", *keyword: { "x": marked } }), &reason);
    }
    let below = json!({ "properties": { "list": { "type": "array", "items": object } } });
    is_invalid(&below, "`list.items.a`: only a chain of `properties`");
}

// spec: XMH-11, XMH-12
#[test]
fn a_tool_with_an_invalid_mark_is_left_out_with_a_warning() {
    let tool = |name: &str, mark: &str| ToolDefinition::new(name, schema(&named(&json!(mark))));
    let mut tools = vec![tool("good", "A"), tool("bad", "A B"), tool("other", "B")];
    let mut warnings = Vec::new();
    retain_valid(&mut tools, |warning| warnings.push(warning.to_owned()));
    let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["good", "other"]);
    let expected = "the tool `bad` is left out: `x-mcp-header` at `inputSchema` `a`: \
                    its name holds ' ', which no header name may hold";
    assert_eq!(warnings, [expected]);
}
