//! Every value, projected to a revision, fits the official schema of that revision and has no
//! member that the schema does not name.
//!
//! The schemas are in `target/schemas/<revision>.json`, or in the directory that the environment
//! variable `BOWLINE_SCHEMAS` names.

#![allow(
    clippy::disallowed_methods,
    reason = "the machine does no I/O, but its tests read schemas"
)]

use std::path::PathBuf;

use bowline_proto::project::Project;
use bowline_types::capability::{ClientCapabilities, ServerCapabilities};
use bowline_types::completion::{CompleteParams, CompleteResult};
use bowline_types::deprecated::roots::ListRootsResult;
use bowline_types::deprecated::sampling::{CreateMessageParams, CreateMessageResult};
use bowline_types::discover::DiscoverResult;
use bowline_types::elicitation::ElicitParams;
use bowline_types::implementation::Implementation;
use bowline_types::legacy::initialize::{InitializeParams, InitializeResult};
use bowline_types::progress::ProgressParams;
use bowline_types::prompt::{GetPromptResult, ListPromptsResult};
use bowline_types::resource::{
    ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult,
};
use bowline_types::revision::Revision::{self, *};
use bowline_types::tool::{CallToolParams, CallToolResult, ListToolsResult, ToolDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The official schema of a revision, with one definition at its root. Objects are closed, so that
/// members which the revision does not know are found.
fn schema(revision: Revision, definition: &str) -> Value {
    let directory = std::env::var_os("BOWLINE_SCHEMAS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/schemas"),
        PathBuf::from,
    );
    let path = directory.join(format!("{revision}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!(
            "{}: {error}; run tests/peers/install.sh to fetch the official schemas, \
             or name their directory in BOWLINE_SCHEMAS",
            path.display()
        )
    });
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let definitions = definitions(&schema);
    assert!(schema[definitions].get(definition).is_some(), "{revision} defines no {definition}");
    for (name, definition) in schema[definitions].as_object_mut().unwrap() {
        // `_meta` may have any member.
        if !name.ends_with("MetaObject") {
            close(definition);
        }
    }
    schema["$ref"] = format!("#/{definitions}/{definition}").into();
    schema.as_object_mut().unwrap().remove("anyOf");
    schema
}

fn definitions(schema: &Value) -> &'static str {
    if schema.get("$defs").is_some() { "$defs" } else { "definitions" }
}

/// Forbids members that are not named, except in schemas of tools, which are written by users.
fn close(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        if let Some(items) = schema.as_array_mut() {
            items.iter_mut().for_each(close);
        }
        return;
    };
    let is_object = object.get("type") == Some(&json!("object"));
    if is_object
        && object.contains_key("properties")
        && !object.contains_key("additionalProperties")
    {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    for (name, inner) in object.iter_mut() {
        if !matches!(name.as_str(), "inputSchema" | "outputSchema") {
            close(inner);
        }
    }
}

/// Reads a value as handlers would make it, and projects it.
fn projected<T: DeserializeOwned + Project>(value: &Value, revision: Revision) -> T {
    let mut value: T = serde_json::from_str(&value.to_string()).unwrap();
    value.project(revision);
    value
}

fn written<T: Serialize>(value: &T) -> Value {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

/// Checks that a value fits a definition in each of these revisions.
fn fits<T>(definition: &str, revisions: &[Revision], value: &Value)
where
    T: DeserializeOwned + Project + Serialize,
{
    for revision in revisions {
        let projected = written(&projected::<T>(value, *revision));
        validate(definition, *revision, &projected);
    }
}

/// Checks that params fit the message of a definition in each of these revisions.
fn fits_message<T>(definition: &str, method: &str, revisions: &[Revision], params: &Value)
where
    T: DeserializeOwned + Project + Serialize,
{
    for revision in revisions {
        let params = written(&projected::<T>(params, *revision));
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        // Before 2025-11-25, and inside of results, messages are defined without `jsonrpc` and
        // `id`.
        let schema = schema(*revision, definition);
        let known = &schema[definitions(&schema)][definition]["properties"];
        let message: Map<_, _> = message
            .as_object()
            .unwrap()
            .iter()
            .filter(|(name, _)| known.get(name.as_str()).is_some())
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        validate(definition, *revision, &Value::Object(message));
    }
}

fn validate(definition: &str, revision: Revision, value: &Value) {
    let schema = schema(revision, definition);
    let mut value = value.clone();
    // The members that a server adds to results of 2026-07-28.
    let required = &schema[definitions(&schema)][definition]["required"];
    let stamps =
        [("resultType", json!("complete")), ("ttlMs", json!(0)), ("cacheScope", json!("private"))];
    for (name, stamp) in stamps {
        if required.as_array().is_some_and(|required| required.contains(&json!(name))) {
            value[name] = stamp;
        }
    }
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{definition} of {revision}\n{value:#}\n{}", errors.join("\n"));
}

const LEGACY: [Revision; 4] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25];

fn annotations() -> Value {
    json!({ "audience": ["user", "system"], "priority": 0.5, "lastModified": "2026-07-28T12:00:00Z" })
}

fn icons() -> Value {
    json!([{ "src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark" }])
}

fn meta() -> Value {
    json!({ "com.example/a": 1 })
}

/// One block of each type that tools and prompts may use, and one of an unknown type.
fn blocks() -> Vec<Value> {
    vec![
        json!({ "type": "text", "text": "hi", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "audio", "data": "AAEC", "mimeType": "audio/wav", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "resource_link", "uri": "a://b", "name": "b", "title": "B", "description": "d", "size": 3,
            "mimeType": "text/plain", "icons": icons(), "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "resource", "resource": { "uri": "a://b", "mimeType": "text/plain", "text": "hi", "_meta": meta() },
            "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "resource", "resource": { "uri": "a://b", "blob": "AAEC", "_meta": meta() } }),
    ]
}

/// The same blocks, and those that are allowed only elsewhere.
fn all_blocks() -> Vec<Value> {
    let mut blocks = blocks();
    blocks.push(json!({ "type": "hologram", "depth": 3 }));
    blocks.push(json!({ "type": "tool_use", "id": "1", "name": "add", "input": {} }));
    blocks
}

fn tool() -> Value {
    json!({
        "name": "add",
        "title": "Adder",
        "description": "Adds",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": { "a": true, "b": { "type": "number" }, "c": false },
            "required": ["a"],
            "additionalProperties": false,
            "x-vendor": 1,
        },
        "outputSchema": { "type": "array", "items": { "type": "number" } },
        "annotations": { "title": "A", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false },
        "execution": { "taskSupport": "optional" },
        "icons": icons(),
        "_meta": meta(),
    })
}

// spec: TOOL-13, TOOL-14, TOOL-16
#[test]
fn tools_fit_every_revision() {
    let page = json!({ "tools": [tool()], "nextCursor": "2", "_meta": meta() });
    fits::<ListToolsResult>("ListToolsResult", &Revision::ALL, &page);
}

// spec: TOOL-16, TOOL-32, CONT-1, CONT-2, CONT-4
#[test]
fn tool_results_fit_every_revision() {
    let result = |structured: Value| json!({ "content": all_blocks(), "structuredContent": structured, "isError": true, "_meta": meta() });
    for structured in [json!({ "a": 1 }), json!([1]), json!(1), json!("a"), json!(null)] {
        fits::<CallToolResult>("CallToolResult", &LEGACY, &result(structured.clone()));
        let modern =
            json!({ "content": blocks(), "structuredContent": structured, "_meta": meta() });
        let modern = modern_audience(&modern);
        fits::<CallToolResult>("CallToolResult", &[V2026_07_28], &modern);
    }
}

/// Nothing is projected to the newest revision, so its samples must be valid from the start.
fn modern_audience(value: &Value) -> Value {
    serde_json::from_str(&value.to_string().replace(r#","system""#, "")).unwrap()
}

// spec: TOOL-34
#[test]
fn tool_calls_fit_every_legacy_revision() {
    let params = json!({ "name": "add", "arguments": { "a": 1 }, "task": { "ttl": 1 } });
    fits_message::<CallToolParams>("CallToolRequest", "tools/call", &LEGACY, &params);
}

// spec: RSRC-10, RSRC-11
#[test]
fn resources_fit_every_revision() {
    let resource = json!({ "uri": "a://b", "name": "b", "title": "B", "description": "d", "mimeType": "text/plain",
        "annotations": annotations(), "size": 3, "icons": icons(), "_meta": meta() });
    let page = json!({ "resources": [resource], "nextCursor": "2", "_meta": meta() });
    fits::<ListResourcesResult>("ListResourcesResult", &LEGACY, &page);
    fits::<ListResourcesResult>("ListResourcesResult", &[V2026_07_28], &modern_audience(&page));
    let template = json!({ "uriTemplate": "a://{b}", "name": "b", "title": "B", "description": "d", "mimeType": "text/plain",
        "annotations": annotations(), "icons": icons(), "_meta": meta() });
    let page = json!({ "resourceTemplates": [template], "nextCursor": "2", "_meta": meta() });
    let name = "ListResourceTemplatesResult";
    fits::<ListResourceTemplatesResult>(name, &LEGACY, &page);
    fits::<ListResourceTemplatesResult>(name, &[V2026_07_28], &modern_audience(&page));
    let contents = json!({ "contents": [
        { "uri": "a://b", "mimeType": "text/plain", "text": "hi", "_meta": meta() },
        { "uri": "a://c", "blob": "AAEC", "_meta": meta() },
    ], "_meta": meta() });
    fits::<ReadResourceResult>("ReadResourceResult", &Revision::ALL, &contents);
}

// spec: PRMT-8
#[test]
fn prompts_fit_every_revision() {
    let prompt = json!({ "name": "review", "title": "Review", "description": "d", "icons": icons(), "_meta": meta(),
        "arguments": [{ "name": "code", "title": "Code", "description": "d", "required": true }] });
    let page = json!({ "prompts": [prompt], "nextCursor": "2", "_meta": meta() });
    fits::<ListPromptsResult>("ListPromptsResult", &Revision::ALL, &page);
    let say = |block| json!({ "role": "user", "content": block });
    let messages = |blocks: Vec<Value>| -> Vec<_> { blocks.into_iter().map(say).collect() };
    let result = json!({ "description": "d", "messages": messages(all_blocks()), "_meta": meta() });
    fits::<GetPromptResult>("GetPromptResult", &LEGACY, &result);
    let result = json!({ "description": "d", "messages": messages(blocks()), "_meta": meta() });
    fits::<GetPromptResult>("GetPromptResult", &[V2026_07_28], &modern_audience(&result));
}

// spec: COMP-2, COMP-3, COMP-4
#[test]
fn completion_fits_every_revision() {
    let result =
        json!({ "completion": { "values": ["a"], "total": 2, "hasMore": true }, "_meta": meta() });
    fits::<CompleteResult>("CompleteResult", &Revision::ALL, &result);
    for reference in [
        json!({ "type": "ref/prompt", "name": "p", "title": "P" }),
        json!({ "type": "ref/resource", "uri": "a://{b}" }),
    ] {
        let params = json!({ "ref": reference, "argument": { "name": "a", "value": "" },
            "context": { "arguments": { "b": "1" } } });
        let definition = "CompleteRequest";
        fits_message::<CompleteParams>(definition, "completion/complete", &LEGACY, &params);
    }
}

fn implementation() -> Value {
    json!({ "name": "n", "title": "N", "version": "1", "description": "d", "websiteUrl": "https://example.com", "icons": icons() })
}

fn server_capabilities() -> Value {
    json!({ "experimental": { "x": {} }, "logging": {}, "completions": {}, "prompts": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true }, "tools": { "listChanged": true },
        "tasks": { "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } },
        "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn client_capabilities() -> Value {
    json!({ "experimental": { "x": {} }, "roots": { "listChanged": true }, "sampling": { "context": {}, "tools": {} },
        "elicitation": { "form": {}, "url": {} },
        "tasks": { "list": {}, "cancel": {}, "requests": { "sampling": { "createMessage": {} }, "elicitation": { "create": {} } } },
        "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

#[test]
fn identities_and_capabilities_fit_every_revision() {
    fits::<Implementation>("Implementation", &Revision::ALL, &implementation());
    fits::<ServerCapabilities>("ServerCapabilities", &Revision::ALL, &server_capabilities());
    fits::<ClientCapabilities>("ClientCapabilities", &Revision::ALL, &client_capabilities());
    let discovered = json!({ "supportedVersions": ["2026-07-28"], "capabilities": server_capabilities(), "instructions": "i" });
    fits::<DiscoverResult>("DiscoverResult", &[V2026_07_28], &discovered);
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": client_capabilities(), "clientInfo": implementation() });
    fits_message::<InitializeParams>("InitializeRequest", "initialize", &LEGACY, &hello);
    let welcome = json!({ "protocolVersion": "2025-11-25", "capabilities": server_capabilities(),
        "serverInfo": implementation(), "instructions": "i", "_meta": meta() });
    fits::<InitializeResult>("InitializeResult", &LEGACY, &welcome);
}

// spec: EXT-6, XTASK-50
#[test]
fn extensions_are_declared_in_every_revision_except_tasks() {
    let extensions = json!({ "com.example/x": {}, "io.modelcontextprotocol/tasks": {} });
    let value = json!({ "extensions": extensions });
    for revision in LEGACY {
        let expected = json!({ "extensions": { "com.example/x": {} } });
        assert_eq!(written(&projected::<ServerCapabilities>(&value, revision)), expected);
        assert_eq!(written(&projected::<ClientCapabilities>(&value, revision)), expected);
    }
    assert_eq!(written(&projected::<ServerCapabilities>(&value, V2026_07_28)), value);
    assert_eq!(written(&projected::<ClientCapabilities>(&value, V2026_07_28)), value);
}

#[test]
fn progress_fits_every_revision() {
    let params = json!({ "progressToken": "t", "progress": 0.5, "total": 1, "message": "half" });
    let method = "notifications/progress";
    fits_message::<ProgressParams>("ProgressNotification", method, &Revision::ALL, &params);
}

fn form() -> Value {
    json!({ "message": "Who?", "task": { "ttl": 1 }, "requestedSchema": { "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string", "title": "Name", "description": "d", "minLength": 1, "maxLength": 9, "format": "email", "default": "a@b.c" },
        "age": { "type": "integer", "minimum": 0, "maximum": 150, "default": 30 },
        "height": { "type": "number", "default": 2 },
        "agrees": { "type": "boolean", "default": true },
        "plain": { "type": "string", "enum": ["a", "b"], "default": "a" },
        "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }], "default": "a" },
        "old": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] },
        "several": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] }, "minItems": 1, "maxItems": 2, "default": ["a"] },
        "titles": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } },
    } } })
}

#[test]
fn questions_to_the_user_fit_every_revision_that_has_them() {
    let (definition, method) = ("ElicitRequest", "elicitation/create");
    let revisions = [V2025_06_18, V2025_11_25, V2026_07_28];
    fits_message::<ElicitParams>(definition, method, &revisions, &form());
    let url = json!({ "mode": "url", "message": "Sign in", "url": "https://example.com", "elicitationId": "1", "task": {} });
    fits_message::<ElicitParams>(definition, method, &[V2025_11_25, V2026_07_28], &url);
}

fn conversation(blocks: &[Value]) -> Value {
    json!({
        "messages": [
            { "role": "user", "content": { "type": "text", "text": "hi" }, "_meta": meta() },
            { "role": "assistant", "content": blocks, "_meta": meta() },
        ],
        "modelPreferences": { "hints": [{ "name": "m" }], "costPriority": 0.1, "speedPriority": 0.2, "intelligencePriority": 1 },
        "systemPrompt": "s", "includeContext": "none", "temperature": 0.5, "maxTokens": 9,
        "stopSequences": ["."], "metadata": {}, "tools": [tool()], "toolChoice": { "mode": "auto" }, "task": { "ttl": 1 },
    })
}

/// One block of each type that a sampling conversation may hold.
fn turn() -> Vec<Value> {
    vec![
        json!({ "type": "text", "text": "hi", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "image", "data": "AAEC", "mimeType": "image/png", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "audio", "data": "AAEC", "mimeType": "audio/wav", "annotations": annotations(), "_meta": meta() }),
        json!({ "type": "tool_use", "id": "1", "name": "add", "input": { "a": 1 }, "_meta": meta() }),
        json!({ "type": "tool_result", "toolUseId": "1", "content": blocks(), "structuredContent": [1], "isError": true, "_meta": meta() }),
    ]
}

#[test]
fn questions_to_the_model_fit_every_revision() {
    let (definition, method) = ("CreateMessageRequest", "sampling/createMessage");
    let everything: Vec<_> = turn().into_iter().chain(all_blocks()).collect();
    fits_message::<CreateMessageParams>(definition, method, &LEGACY, &conversation(&everything));
    let modern = modern_audience(&conversation(&turn()));
    fits_message::<CreateMessageParams>(definition, method, &[V2026_07_28], &modern);
}

#[test]
fn answers_of_the_model_fit_every_legacy_revision() {
    let answer = |content: Value| json!({ "role": "assistant", "model": "m", "stopReason": "toolUse", "content": content, "_meta": meta() });
    let everything: Vec<_> = turn().into_iter().chain(all_blocks()).collect();
    for block in &everything {
        fits::<CreateMessageResult>("CreateMessageResult", &LEGACY, &answer(block.clone()));
    }
    fits::<CreateMessageResult>("CreateMessageResult", &LEGACY, &answer(json!(everything)));
    fits::<CreateMessageResult>("CreateMessageResult", &LEGACY, &answer(json!([])));
}

#[test]
fn roots_fit_every_legacy_revision() {
    let roots =
        json!({ "roots": [{ "uri": "file:///a", "name": "A", "_meta": meta() }], "_meta": meta() });
    fits::<ListRootsResult>("ListRootsResult", &LEGACY, &roots);
}

fn texts(result: &CallToolResult) -> Vec<&str> {
    result.content.iter().filter_map(|block| block.as_text()).collect()
}

// spec: CONT-1
#[test]
fn audio_becomes_text_where_the_revision_has_no_audio() {
    let result = json!({ "content": [{ "type": "audio", "data": "AAEC", "mimeType": "audio/wav", "annotations": { "priority": 1 } }] });
    let old: CallToolResult = projected(&result, V2024_11_05);
    let note = "[audio of type audio/wav left out: revision 2024-11-05 cannot carry it]";
    assert_eq!(texts(&old), [note]);
    assert_eq!(old.content[0].annotations().unwrap().priority, Some(1.0));
    let newer: CallToolResult = projected(&result, V2025_03_26);
    assert!(texts(&newer).is_empty());
}

// spec: CONT-1, TOOL-39
#[test]
fn a_link_becomes_text_where_the_revision_has_no_links() {
    let result = json!({ "content": [
        { "type": "resource_link", "uri": "a://b", "name": "b" },
        { "type": "resource_link", "uri": "a://c", "name": "c", "title": "C", "description": "about c" },
    ] });
    let old: CallToolResult = projected(&result, V2025_03_26);
    assert_eq!(texts(&old), ["b: a://b", "C: a://c (about c)"]);
    let newer: CallToolResult = projected(&result, V2025_06_18);
    assert!(texts(&newer).is_empty());
}

// spec: TOOL-31
#[test]
fn structured_output_becomes_text_where_the_revision_has_none() {
    let result = json!({ "content": [{ "type": "image", "data": "", "mimeType": "image/png" }], "structuredContent": [1] });
    assert_eq!(texts(&projected(&result, V2025_03_26)), ["[1]"]);
    let result =
        json!({ "content": [{ "type": "text", "text": "[ 1 ]" }], "structuredContent": [1] });
    let old: CallToolResult = projected(&result, V2025_03_26);
    assert_eq!(texts(&old), ["[ 1 ]"]);
    assert_eq!(old.structured_content, None);
}

/// The output schema of a tool, and a result of that tool, both projected.
fn output(schema: &Value, value: &Value, revision: Revision) -> (Value, Value) {
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "outputSchema": schema });
    let tool: ToolDefinition = projected(&tool, revision);
    let result: CallToolResult = projected(&json!({ "structuredContent": value }), revision);
    (written(&tool.output_schema), written(&result.structured_content))
}

// spec: TOOL-16, TOOL-29
#[test]
fn structured_output_still_satisfies_its_schema() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/Node" } }, "additionalProperties": false });
    let tree = json!({ "type": "array", "items": { "$ref": "#" } });
    for (schema, value) in [
        (
            json!({ "type": "object", "properties": { "a": true }, "required": ["a"] }),
            json!({ "a": 1 }),
        ),
        (json!({ "type": "array", "items": { "type": "number" } }), json!([1])),
        (json!({ "type": ["string", "null"] }), json!(null)),
        (json!({ "type": ["object", "null"] }), json!(null)),
        (json!({ "type": ["object"] }), json!({})),
        (json!({ "$ref": "#/$defs/Node", "$defs": { "Node": node } }), json!({ "next": {} })),
        (
            json!({ "type": "array", "items": { "$ref": "#/$defs/Node" }, "$defs": { "Node": node } }),
            json!([{ "next": {} }]),
        ),
        (tree, json!([[], [[]]])),
        (
            json!({ "oneOf": [{ "type": "object", "required": ["a"] }, { "type": "object", "required": ["b"] }] }),
            json!({ "b": 1 }),
        ),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "number" }] }), json!("a")),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] }), json!("a")),
        (json!({ "anyOf": [{ "type": "string" }, { "type": "object" }] }), json!({ "a": 1 })),
        (json!({ "enum": [1, "a"] }), json!(1)),
        (json!({}), json!([])),
    ] {
        for revision in [V2025_06_18, V2025_11_25] {
            let (schema, value) = output(&schema, &value, revision);
            assert_eq!(schema["type"], "object", "{schema}");
            assert!(value.is_object(), "{value}");
            assert!(jsonschema::draft202012::is_valid(&schema, &value), "{schema}\n{value}");
        }
        let (kept, same) = output(&schema, &value, V2026_07_28);
        assert_eq!((kept, same), (schema, value));
    }
}

// spec: TOOL-16
#[test]
fn a_wrapped_schema_still_refuses_what_it_refused() {
    for (schema, value) in [
        (json!({ "type": "array", "items": { "type": "number" } }), json!(["a"])),
        (json!({ "type": "array", "items": { "$ref": "#" } }), json!([[1]])),
        (json!({ "oneOf": [{ "type": "object", "required": ["a"] }] }), json!({ "b": 1 })),
    ] {
        let (schema, value) = output(&schema, &value, V2025_06_18);
        assert!(!jsonschema::draft202012::is_valid(&schema, &value), "{schema}\n{value}");
    }
}

// spec: TOOL-26
#[test]
fn a_title_moves_to_where_2025_03_26_keeps_it() {
    let tool = json!({ "name": "t", "title": "T", "inputSchema": { "type": "object" } });
    let old: ToolDefinition = projected(&tool, V2025_03_26);
    assert_eq!((old.title.as_deref(), old.display_name()), (None, "T"));
    let oldest: ToolDefinition = projected(&tool, V2024_11_05);
    assert_eq!((oldest.display_name(), &oldest.annotations), ("t", &None));
}

#[test]
fn a_turn_of_several_blocks_becomes_several_turns() {
    let params = json!({ "maxTokens": 1, "messages": [{ "role": "user", "content": [
        { "type": "text", "text": "a" }, { "type": "text", "text": "b" },
    ] }] });
    let old: CreateMessageParams = projected(&params, V2025_06_18);
    assert_eq!(old.messages.len(), 2);
    let newer: CreateMessageParams = projected(&params, V2025_11_25);
    assert_eq!(newer.messages.len(), 1);
}

#[test]
fn elicitation_by_url_alone_is_not_declared_where_it_would_mean_forms() {
    let by_url = json!({ "elicitation": { "url": {} } });
    let old: ClientCapabilities = projected(&by_url, V2025_06_18);
    assert_eq!(written(&old), json!({}));
    let by_form = json!({ "elicitation": {} });
    let old: ClientCapabilities = projected(&by_form, V2025_06_18);
    assert_eq!(written(&old), by_form);
    let before: ClientCapabilities = projected(&by_form, V2025_03_26);
    assert_eq!(written(&before), json!({}));
}

#[test]
fn a_choice_of_several_becomes_a_text_field_where_forms_have_none() {
    let old: ElicitParams = projected(&form(), V2025_06_18);
    let field = &written(&old)["requestedSchema"]["properties"]["several"];
    let hint = "any of these, separated by commas: a, b";
    assert_eq!(field, &json!({ "type": "string", "description": hint }));
}

#[test]
fn options_keep_their_titles_in_the_words_of_2025_06_18() {
    let old: ElicitParams = projected(&form(), V2025_06_18);
    let field = &written(&old)["requestedSchema"]["properties"]["titled"];
    let expected = json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] });
    assert_eq!(field, &expected);
}

#[test]
fn results_for_the_newest_revision_are_left_alone() {
    let text = json!({ "content": all_blocks(), "structuredContent": null }).to_string();
    let result: CallToolResult = serde_json::from_str(&text).unwrap();
    let mut same = result.clone();
    same.project(V2026_07_28);
    assert_eq!(same, result);
}
