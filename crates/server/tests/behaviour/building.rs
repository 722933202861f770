//! Mistakes that `build` reports before the server serves.

use bowline_server::{Args, BuildError, Server, State, Tool};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::Peer;

#[derive(Clone)]
struct Db;

async fn search(State(Db): State<Db>) -> &'static str {
    "found"
}

fn problem(server: &Server) -> BuildError {
    server.build().unwrap_err()
}

fn problem_of(tool: Tool) -> String {
    problem(&Server::new("broken", "1").tool(tool)).to_string()
}

#[test]
fn missing_state_is_named_with_who_needs_it() {
    let server = Server::new("api", "1").tool(Tool::new("search", search));
    let error = problem(&server);
    assert!(error.is_missing_state());
    let name = std::any::type_name::<Db>();
    let expected =
        format!("tool `search` needs `State<{name}>`, but `.state::<{name}>(..)` was never called");
    assert_eq!(error.to_string(), expected);
    assert!(server.state(Db).build().is_ok());
}

// spec: TOOL-23
#[test]
fn two_tools_of_one_name_are_refused() {
    let tool = || Tool::new("same", || async {});
    let error = problem(&Server::new("twins", "1").tools([tool(), tool()]));
    assert!(error.is_duplicate());
    assert_eq!(error.to_string(), "two tools are named `same`");
}

// spec: TOOL-19, TOOL-21, TOOL-22
#[test]
fn bad_names_are_refused() {
    for name in ["", "get user", "a,b", &"x".repeat(129)] {
        let error = problem_of(Tool::new(name, || async {}));
        assert!(error.starts_with("tool name"), "{error}");
    }
}

// spec: TOOL-13, TOOL-14
#[test]
fn bad_schemas_are_refused() {
    let error = problem_of(Tool::new("list", |Args(_): Args<Vec<u8>>| async {}));
    assert!(error.starts_with("tool `list` takes `Args<"), "{error}");
    let error = problem_of(Tool::new("hand", || async {}).input_schema(json!({ "type": "int" })));
    assert!(error.contains("tool `hand` has a schema that cannot be used"), "{error}");
    let error = problem_of(Tool::new("hand", || async {}).output_schema(json!(null)));
    assert!(error.contains("bad output schema"), "{error}");
}

// spec: XMH-3, XMH-4, XMH-5, XMH-6, XMH-9, XMH-10
#[test]
fn arguments_that_are_marked_wrongly_are_refused() {
    let marked = |name: &str| json!({ "type": "string", "x-mcp-header": name });
    let with = |properties: Value| json!({ "type": "object", "properties": properties });
    let list = json!({ "type": "array", "items": with(json!({ "a": marked("A") })) });
    for (properties, reason) in [
        (json!({ "a": marked("") }), "its name is empty"),
        (json!({ "a": marked("a b") }), "which no header name may hold"),
        (json!({ "a": marked("a\r\nb") }), "which no header name may hold"),
        (json!({ "a": marked("Zone"), "b": marked("ZONE") }), "is used twice"),
        (json!({ "list": list }), "only a chain of `properties`"),
    ] {
        let schema = with(properties);
        let error = problem_of(Tool::new("hand", || async {}).input_schema(schema));
        assert!(error.contains("tool `hand` has an invalid header mark on an argument"), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn two_sets_of_arguments_are_refused() {
    #[derive(Deserialize, JsonSchema)]
    struct Empty {}
    let twice = |Args(Empty {}): Args<Empty>, Args(Empty {}): Args<Empty>| async {};
    let error = problem_of(Tool::new("twice", twice));
    assert_eq!(error, "tool `twice` takes `Args` twice; put all arguments into one struct");
}

#[test]
fn no_keys_are_refused() {
    let error = problem(&Server::new("keys", "1").state_keys(Vec::<[u8; 32]>::new()));
    assert!(error.to_string().contains("no keys"), "{error}");
}

async fn names(server: &Server) -> String {
    let peer = Peer::new(server, Revision::LATEST);
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    let names = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    names.collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_changed_clone_is_another_server() {
    let tool = |name: &str| Tool::new(name, || async {});
    let base = Server::new("base", "1").tool(tool("common"));
    let one = base.clone().tool(tool("one"));
    let two = base.clone().tool(tool("two"));
    assert_eq!(names(&base).await, "common");
    assert_eq!(names(&one).await, "common one");
    assert_eq!(names(&two).await, "common two");
}

#[tokio::test]
async fn an_unchanged_clone_is_the_same_server() {
    let server = Server::new("same", "1").tools([]);
    server.clone().registry().insert(Tool::new("late", || async {})).unwrap();
    assert_eq!(names(&server).await, "late");
}

#[tokio::test]
async fn a_registry_taken_early_is_that_of_the_finished_server() {
    let server = Server::new("early", "1").tool(Tool::new("one", || async {}));
    let registry = server.registry();
    let server = server.tool(Tool::new("two", || async {}));
    registry.insert(Tool::new("three", || async {})).unwrap();
    assert_eq!(names(&server).await, "one two three");
}

#[tokio::test]
async fn a_server_that_serves_is_left_alone_by_changes() {
    let server = Server::new("serving", "1").tool(Tool::new("one", || async {}));
    let peer = Peer::new(&server, Revision::LATEST);
    let changed = server.tool(Tool::new("two", || async {}));
    assert_eq!(names(&changed).await, "one two");
    let list = peer.ask(Method::ToolsList, json!({})).await.unwrap();
    assert_eq!(list["tools"].as_array().unwrap().len(), 1);
}
