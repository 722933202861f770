//! Shared state, errors that the model can read, and tower layers around the server and one tool.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bowline::layer::{self, Next, Request, Response};
use bowline::{Json, Server, State, Tool, tool, tools};
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

type Towns = Arc<BTreeMap<&'static str, u32>>;

/// Find towns by the start of their name
#[tool(read_only)]
async fn search(
    State(towns): State<Towns>,
    query: String,
    limit: Option<usize>,
) -> Json<Vec<String>> {
    let found = towns.keys().filter(|name| name.starts_with(&query)).take(limit.unwrap_or(20));
    Json(found.map(ToString::to_string).collect())
}

/// Say how many people live in a town
async fn people(
    State(towns): State<Towns>,
    bowline::Args(town): bowline::Args<Town>,
) -> bowline::Result<u32> {
    let unknown = || format!("there is no town `{}`; search for one first", town.name);
    Ok(*towns.get(town.name.as_str()).ok_or_else(unknown)?)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Town {
    name: String,
}

async fn audit(request: Request, next: Next) -> Response {
    let method = request.parts.method;
    let response = next.run(request).await;
    eprintln!("{method}: {}", if response.is_ok() { "answered" } else { "refused" });
    response
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    let towns: Towns = Arc::new(BTreeMap::from([("Bergen", 291_940), ("Oslo", 717_710)]));
    Server::new("towns", "1.0.0")
        .state(towns)
        .layer(layer::from_fn(audit))
        .layer(TimeoutLayer::new(Duration::from_secs(30)))
        .tool(Tool::new("people", people).layer(ConcurrencyLimitLayer::new(4)))
        .tools(tools![search])
        .run()
        .await
}
