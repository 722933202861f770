//! `#[tool]` and `tools!`: what clients see of a function, and what reaches it.

use bowline::extract::FromCall;
use bowline::{
    Args, Call, Claims, Context, Elicited, Json, Progress, Server, State, TaskSupport, Tool,
    ToolFn, tool, tools,
};
use bowline_proto::upstream::Upstream as _;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::call;

/// The text that a tool answers with.
async fn text<const N: usize>(tools: [Tool; N], name: &str, arguments: Value) -> String {
    let server = Server::new("test", "1").state(Shelf("books")).tools(tools);
    let answer = call(server, name, arguments).await;
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

fn definition<T: ToolFn>() -> Value {
    serde_json::to_value(T::tool().definition()).unwrap()
}

fn properties<T: ToolFn>() -> Value {
    definition::<T>()["inputSchema"]["properties"].take()
}

#[derive(Clone)]
struct Shelf(&'static str);

#[derive(Default, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    #[default]
    Metric,
    Imperial,
}

/// Add two numbers,
/// the usual way.
///
/// Never fails.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tool(name = "search.archive", title = "Search", read_only, idempotent, closed_world)]
async fn search(
    /// Words that must
    /// all occur
    query: String,
    #[arg(default = 20, range = 1..=100)] limit: u32,
    #[arg(default)] unit: Unit,
    #[arg(default = "unknown", rename = "written-by", describe = concat!("Who ", "wrote it"))]
    author: String,
    #[arg(range = 0.0..1.0)] share: Option<f64>,
) -> String {
    let unit = serde_json::to_string(&unit).unwrap();
    format!("{query} {limit} {unit} {author} {share:?}")
}

#[tool(task)]
async fn index() -> &'static str {
    "indexed"
}

#[tool(task = "required")]
async fn export() -> &'static str {
    "exported"
}

// spec: TASK-9, TASK-10
#[test]
fn a_word_says_whether_calls_run_as_tasks() {
    let support: Vec<_> =
        tools![add, index, export].iter().map(|tool| tool.definition().task_support()).collect();
    let expected = [TaskSupport::Forbidden, TaskSupport::Optional, TaskSupport::Required];
    assert_eq!(support, expected);
}

#[tokio::test]
async fn the_function_stays_a_function() {
    assert_eq!(add(1, 2).await, 3);
}

#[tokio::test]
async fn a_call_reaches_the_function() {
    assert_eq!(text(tools![add], "add", json!({ "a": 1, "b": 2 })).await, "3");
}

#[test]
fn the_comment_of_a_function_describes_its_tool() {
    let text = "Add two numbers, the usual way.\n\nNever fails.";
    assert_eq!(definition::<add>()["description"], text);
}

#[test]
fn a_description_can_be_given_instead_of_the_comment() {
    /// For readers of the code.
    #[tool(describe = concat!("For ", "models"))]
    fn documented() {}

    assert_eq!(definition::<documented>()["description"], "For models");
}

#[test]
fn without_a_comment_there_is_no_description() {
    assert_eq!(definition::<search>()["description"], Value::Null);
}

#[test]
fn words_say_more_about_a_tool() {
    let definition = definition::<search>();
    assert_eq!(definition["name"], "search.archive");
    assert_eq!(definition["title"], "Search");
    let hints = json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false });
    assert_eq!(definition["annotations"], hints);
}

#[test]
fn words_say_how_much_a_tool_changes() {
    #[tool(destructive)]
    fn purge() {}
    #[tool(additive)]
    fn append() {}

    assert_eq!(definition::<purge>()["annotations"], json!({ "destructiveHint": true }));
    assert_eq!(definition::<append>()["annotations"], json!({ "destructiveHint": false }));
}

#[test]
fn arguments_are_described_to_the_model() {
    let properties = properties::<search>();
    assert_eq!(properties["query"]["description"], "Words that must all occur");
    assert_eq!(properties["written-by"]["description"], "Who wrote it");
}

#[test]
fn arguments_that_may_be_left_out_are_not_required() {
    assert_eq!(definition::<search>()["inputSchema"]["required"], json!(["query"]));
}

#[test]
fn defaults_and_ranges_are_part_of_the_schema() {
    let properties = properties::<search>();
    let limit = json!({ "type": "integer", "default": 20, "minimum": 1, "maximum": 100 });
    assert_eq!(properties["limit"], limit);
    let unit = json!({ "type": "string", "enum": ["metric", "imperial"], "default": "metric" });
    assert_eq!(properties["unit"], unit);
    assert_eq!(properties["written-by"]["default"], "unknown");
    let share = json!({ "type": "number", "minimum": 0.0, "exclusiveMaximum": 1.0 });
    assert_eq!(properties["share"], share);
}

#[tokio::test]
async fn arguments_that_are_left_out_have_their_default() {
    let few = json!({ "query": "tea" });
    let answer = text(tools![search], "search.archive", few).await;
    assert_eq!(answer, r#"tea 20 "metric" unknown None"#);
    let all = json!({
        "query": "tea", "limit": 1, "unit": "imperial", "written-by": "Ada", "share": 0.5,
    });
    let answer = text(tools![search], "search.archive", all).await;
    assert_eq!(answer, r#"tea 1 "imperial" Ada Some(0.5)"#);
}

// spec: TOOL-36
#[tokio::test]
async fn an_argument_out_of_its_range_is_refused() {
    let server = Server::new("test", "1").tools(tools![search]);
    let arguments = json!({ "query": "tea", "limit": 101 });
    let result = call(server, "search.archive", arguments).await["result"].take();
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("`arguments.limit`"), "{text}");
}

// spec: TOOL-15
#[test]
fn a_function_without_parameters_takes_no_arguments() {
    #[tool]
    fn nothing() {}

    let schema = json!({ "type": "object", "additionalProperties": false });
    assert_eq!(definition::<nothing>()["inputSchema"], schema);
}

#[tokio::test]
async fn extractors_stand_anywhere_among_the_arguments() {
    #[tool]
    async fn shelve(
        title: String,
        State(shelf): State<Shelf>,
        copies: u8,
        context: Context,
        _: Progress,
    ) -> String {
        format!("{}: {copies} of {title} on {}", context.name(), shelf.0)
    }

    let answer = text(tools![shelve], "shelve", json!({ "title": "Emma", "copies": 2 })).await;
    assert_eq!(answer, "shelve: 2 of Emma on books");
    assert_eq!(properties::<shelve>().as_object().unwrap().len(), 2);
}

#[test]
fn what_the_user_is_asked_is_no_argument() {
    /// Where do you want to go?
    #[derive(Deserialize, JsonSchema)]
    struct Trip {
        city: String,
    }

    #[tool]
    async fn book(Elicited(trip): Elicited<Trip>, persons: u8) -> String {
        format!("{} for {persons}", trip.city)
    }

    assert_eq!(
        properties::<book>(),
        json!({ "persons": { "type": "integer", "minimum": 0, "maximum": 255 } })
    );
}

#[tokio::test]
async fn an_extractor_of_ones_own_is_marked() {
    struct Tool(String);

    impl FromCall for Tool {
        async fn from_call(call: &Call) -> bowline::Result<Self> {
            Ok(Self(call.name().to_owned()))
        }
    }

    #[tool]
    async fn own(#[ctx] Tool(name): Tool, more: String) -> String {
        name + &more
    }

    assert_eq!(text(tools![own], "own", json!({ "more": "!" })).await, "own!");
}

#[tokio::test]
async fn an_argument_may_have_the_name_of_an_extractor() {
    #[derive(Deserialize, JsonSchema)]
    struct Context(String);

    #[derive(Deserialize, JsonSchema)]
    struct State(String);

    #[tool]
    fn named(#[arg] context: Context, state: State) -> String {
        context.0 + &state.0
    }

    let answer = text(tools![named], "named", json!({ "context": "a", "state": "b" })).await;
    assert_eq!(answer, "ab");
}

#[tokio::test]
async fn args_take_all_arguments_in_one() {
    #[derive(Deserialize, JsonSchema)]
    struct Pair {
        /// The first
        left: i64,
        right: i64,
    }

    #[tool]
    async fn multiply(Args(Pair { left, right }): Args<Pair>, State(_): State<Shelf>) -> i64 {
        left * right
    }

    let answer = text(tools![multiply], "multiply", json!({ "left": 6, "right": 7 })).await;
    assert_eq!(answer, "42");
    assert_eq!(properties::<multiply>()["left"]["description"], "The first");
}

#[tokio::test]
async fn results_may_be_of_any_kind() {
    #[tool]
    fn hidden(a: i64) -> impl bowline::respond::IntoToolResult + use<> {
        a
    }
    #[tool]
    async fn failing(a: i64) -> bowline::Result<Json<Vec<i64>>> {
        Err(format!("{a} is too much"))?
    }

    assert_eq!(text(tools![hidden], "hidden", json!({ "a": 1 })).await, "1");
    assert_eq!(text(tools![failing], "failing", json!({ "a": 1 })).await, "1 is too much");
    assert_eq!(definition::<failing>()["outputSchema"]["type"], "array");
}

#[tokio::test]
async fn a_panic_of_a_function_that_is_not_async_is_answered() {
    #[tool]
    fn divide(a: i64, b: i64) -> i64 {
        a / b
    }

    let server = Server::new("test", "1").tools(tools![divide]);
    let answer = call(server, "divide", json!({ "a": 1, "b": 0 })).await;
    assert_eq!(answer["error"]["code"], -32603, "{answer}");
}

#[tool(require_scope = "admin", step_up_scope = "purge export")]
async fn purge(caller: Claims, also: Option<Claims>) -> String {
    format!("{} {}", caller.subject, also.is_some())
}

#[test]
fn scopes_and_claims_of_a_tool() {
    assert_eq!(properties::<purge>(), Value::Null);
    let (plain, scoped) = (Server::new("test", "1"), Server::new("test", "1").tools(tools![purge]));
    let needs = |server: Server| server.build().unwrap().needs_authorization();
    assert_eq!(needs(plain), None);
    assert_eq!(needs(scoped).unwrap(), "tool `purge` needs scopes");
}
