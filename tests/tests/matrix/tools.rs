//! Tools: their results, their failures, and their descriptions.

use bowline::{Content, Error, Json, Server, tool, tools};
use bowline_testing::Harness;
use bowline_types::error::code;
use bowline_types::resource::ResourceContents;
use serde_json::{Value, json};

/// Show one of each
#[tool]
fn gallery() -> Vec<Content> {
    vec![
        Content::text("a text"),
        Content::image(b"png", "image/png"),
        Content::audio(b"wav", "audio/wav"),
        Content::resource_link("notes://a", "a"),
        Content::resource(ResourceContents::text("notes://b", "hello")),
    ]
}

// spec: TOOL-32, TOOL-39, TOOL-40
#[bowline::test(every_revision, stateless)]
async fn content_that_the_revision_lacks_arrives_as_text(t: Harness) {
    let client = t.connect(Server::new("gallery", "1.0.0").tools(tools![gallery])).await;
    let mut expected = gallery();
    if !t.revision().has_audio() {
        let text = "[audio of type audio/wav left out: revision 2024-11-05 cannot carry it]";
        expected[2] = Content::text(text);
    }
    if !t.revision().has_resource_links() {
        expected[3] = Content::text("a: notes://a");
    }
    assert_eq!(client.call("gallery", ()).await.unwrap().content(), expected);
}

/// Give back what was given, for programs
#[tool]
fn echo(value: Value) -> Json<Value> {
    Json(value)
}

// spec: TOOL-31
#[bowline::test(every_revision, stateless)]
async fn structured_output_may_be_any_json(t: Harness) {
    let client = t.connect(Server::new("echo", "1.0.0").tools(tools![echo])).await;
    for value in [json!({ "a": 1 }), json!([2, 3, 5]), json!("text"), json!(7.5), json!(false)] {
        let outcome = client.call("echo", json!({ "value": value })).await.unwrap();
        assert_eq!(outcome.text(), value.to_string());
        let structured = outcome.structured().map(|json| json.parse::<Value>().unwrap());
        let expected = match &value {
            _ if !t.revision().has_structured_output() => None,
            Value::Object(_) => Some(value),
            _ if t.revision().has_structured_output_of_any_type() => Some(value),
            _ => Some(json!({ "result": value })),
        };
        assert_eq!(structured, expected);
    }
}

/// List the first primes
#[tool(read_only, title = "Primes")]
fn primes() -> Json<Vec<u32>> {
    Json(vec![2, 3, 5])
}

#[bowline::test(every_revision, stateless)]
async fn the_client_reads_structured_output_into_its_type(t: Harness) {
    let client = t.connect(Server::new("numbers", "1.0.0").tools(tools![primes])).await;
    let outcome = client.call("primes", ()).await.unwrap();
    assert_eq!(outcome.parse::<Vec<u32>>().unwrap(), [2, 3, 5]);
}

// spec: TOOL-26
#[bowline::test(every_revision, stateless)]
async fn the_list_of_tools_has_the_members_of_the_revision(t: Harness) {
    let client = t.connect(Server::new("numbers", "1.0.0").tools(tools![primes])).await;
    let listed = client.tools().all().await.unwrap().remove(0);
    assert_eq!(listed.name, "primes");
    assert_eq!(listed.description.as_deref(), Some("List the first primes"));
    assert_eq!(listed.title.is_some(), t.revision().has_titles());
    assert_eq!(listed.annotations.is_some(), t.revision().has_tool_annotations());
    let shown = if t.revision().has_tool_annotations() { "Primes" } else { "primes" };
    assert_eq!(listed.display_name(), shown);
    let output = listed.output_schema.map(|schema| schema.parse::<Value>().unwrap());
    let kind = match output {
        None => "nothing",
        Some(schema) if schema["type"] == "array" => "array",
        Some(schema) => {
            assert_eq!(schema["properties"]["result"]["type"], "array");
            "object"
        }
    };
    let expected = match t.revision() {
        revision if revision.has_structured_output_of_any_type() => "array",
        revision if revision.has_structured_output() => "object",
        _ => "nothing",
    };
    assert_eq!(kind, expected);
}

/// Open a door
#[tool]
fn open(door: String) -> bowline::Result<String> {
    match door.as_str() {
        "cellar" => Err("the cellar is locked; ask for the key".into()),
        "vault" => Err(Error::rpc(-32050, "the vault stays shut").with_data(&json!({ "wait": 8 }))),
        "trap" => panic!("the floor gives way"),
        _ => Ok(format!("the {door} is open")),
    }
}

fn house() -> Server {
    Server::new("house", "1.0.0").tools(tools![open])
}

// spec: TOOL-35, TOOL-37
#[bowline::test(every_revision, stateless)]
async fn a_failure_of_a_tool_is_a_result_with_an_error(t: Harness) {
    let client = t.connect(house()).await;
    let outcome = client.call("open", json!({ "door": "cellar" })).await.unwrap();
    assert!(outcome.is_error());
    assert_eq!(outcome.text(), "the cellar is locked; ask for the key");
    assert!(outcome.into_result().unwrap_err().is_tool_failure());
}

#[bowline::test(every_revision, stateless)]
async fn a_protocol_error_of_a_tool_is_an_error_of_the_call(t: Harness) {
    let client = t.connect(house()).await;
    let error = client.call("open", json!({ "door": "vault" })).await.unwrap_err();
    let error = error.rpc().unwrap();
    assert_eq!((error.code, error.message.as_str()), (-32050, "the vault stays shut"));
    assert_eq!(error.parse_data::<Value>(), Some(json!({ "wait": 8 })));
}

// spec: TOOL-36, TOOL-42
#[bowline::test(every_revision, stateless)]
async fn invalid_arguments_are_a_result_with_an_error(t: Harness) {
    let client = t.connect(house()).await;
    let outcome = client.call("open", json!({ "door": 7 })).await.unwrap();
    assert!(outcome.is_error());
    assert!(outcome.text().contains("door"), "{}", outcome.text());
}

// spec: TOOL-33
#[bowline::test(every_revision, stateless)]
async fn the_server_refuses_an_unknown_tool(t: Harness) {
    let client = t.connect(house()).await;
    let error = client.call("close", ()).await.unwrap_err();
    let error = error.rpc().unwrap();
    assert_eq!(error.code, code::INVALID_PARAMS);
    assert!(error.message.contains("`close`"), "{}", error.message);
}

#[bowline::test(every_revision, stateless)]
async fn a_panic_fails_only_its_own_call(t: Harness) {
    let client = t.connect(house()).await;
    let error = client.call("open", json!({ "door": "trap" })).await.unwrap_err();
    assert_eq!(error.rpc().unwrap().code, code::INTERNAL_ERROR);
    let outcome = client.call("open", json!({ "door": "attic" })).await.unwrap();
    assert_eq!(outcome.text(), "the attic is open");
}
