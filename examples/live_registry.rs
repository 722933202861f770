//! Tools that come and go while the server runs, and a resource that changes. Clients are notified.

use std::sync::{Arc, Mutex};

use bowline::{Notify, Registry, Resource, Result, ServeError, Server, State, Tool, tool, tools};

type Words = Arc<Mutex<String>>;

/// Learn a word, as a tool of that name
#[tool]
async fn learn(
    registry: Registry,
    notify: Notify,
    State(last): State<Words>,
    word: String,
) -> Result<String> {
    let say = word.clone();
    registry.insert(Tool::new(word.clone(), move || std::future::ready(say.clone())))?;
    last.lock().unwrap().clone_from(&word);
    notify.resource_updated("parrot://last");
    Ok(format!("learned `{word}`"))
}

/// Forget a word
#[tool]
async fn forget(registry: Registry, word: String) -> &'static str {
    if registry.remove_tool(&word) { "forgotten" } else { "never learned" }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let last = |State(last): State<Words>| async move { last.lock().unwrap().clone() };
    Server::new("parrot", "1.0.0")
        .state(Words::default())
        .resource(Resource::new("parrot://last", last))
        .tools(tools![learn, forget])
        .run()
        .await
}
