//! `#[tool] impl`: the methods of a type as tools.

use std::sync::atomic::{AtomicI64, Ordering};

use bowline::{Json, Server, State, tool};
use serde_json::{Value, json};

use crate::support::call;

#[derive(Default)]
struct Counter {
    count: AtomicI64,
}

#[tool]
impl Counter {
    /// Where every counter begins.
    const START: i64 = 0;

    fn new() -> Self {
        Self { count: AtomicI64::new(Self::START) }
    }

    /// Count up
    #[tool(title = "Count", additive)]
    async fn count(
        &self,
        /// By how much
        #[arg(default = 1, range = 1..=9)]
        step: i64,
        State(unit): State<&'static str>,
    ) -> String {
        format!("{} {unit}", self.add(step))
    }

    #[tool(name = "count.now", read_only)]
    fn now(&self) -> Json<i64> {
        Json(self.add(0))
    }

    #[bowline::tool]
    #[cfg(any())]
    fn never(&self, nonsense: Nonsense) {}

    /// Say where it begins
    #[tool]
    pub(crate) async fn start() -> bowline::Result<i64> {
        Ok(Self::START)
    }

    fn add(&self, step: i64) -> i64 {
        self.count.fetch_add(step, Ordering::Relaxed) + step
    }
}

fn server() -> Server {
    Server::new("test", "1").state("sheep").tools(Counter::new().tools())
}

async fn text(server: &Server, name: &str, arguments: Value) -> String {
    let answer = call(server.clone(), name, arguments).await;
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn calls_share_one_value() {
    let server = server();
    assert_eq!(text(&server, "count", json!({})).await, "1 sheep");
    assert_eq!(text(&server, "count", json!({ "step": 3 })).await, "4 sheep");
    assert_eq!(text(&server, "count.now", json!({})).await, "4");
}

#[tokio::test]
async fn a_function_without_self_is_a_tool_too() {
    assert_eq!(text(&server(), "start", json!({})).await, "0");
    assert_eq!(Counter::start().await.unwrap(), 0);
}

#[test]
fn only_what_is_marked_is_a_tool() {
    let tools = Counter::new().tools();
    let names: Vec<&str> = tools.iter().map(bowline::Tool::name).collect();
    assert_eq!(names, ["count", "count.now", "start"]);
}

#[test]
fn methods_are_described_like_functions() {
    let definition = serde_json::to_value(Counter::new().tools()[0].definition()).unwrap();
    assert_eq!(definition["title"], "Count");
    assert_eq!(definition["description"], "Count up");
    assert_eq!(definition["annotations"], json!({ "destructiveHint": false }));
    let step = json!({
        "type": "integer", "description": "By how much", "default": 1, "minimum": 1, "maximum": 9,
    });
    assert_eq!(definition["inputSchema"]["properties"], json!({ "step": step }));
}

#[tokio::test]
async fn a_generic_type_has_the_tools_of_each_of_its_kinds() {
    trait Animal: Send + Sync + 'static {
        type Food: serde::de::DeserializeOwned + schemars::JsonSchema + Send + ToString + 'static;
    }

    struct Cow;

    impl Animal for Cow {
        type Food = String;
    }

    struct Stable<A>(A);

    #[tool]
    impl<A> Stable<A>
    where
        A: Animal,
    {
        #[tool]
        async fn feed(&self, food: A::Food) -> String {
            let Self(_) = self;
            food.to_string()
        }
    }

    let server = Server::new("farm", "1").tools(Stable(Cow).tools());
    assert_eq!(text(&server, "feed", json!({ "food": "hay" })).await, "hay");
}
