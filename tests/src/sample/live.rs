//! Servers whose lists change while they run.

use bowline::{Args, BuildError, Error, Feature, Notify, Prompt, Registry, Resource, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Word {
    word: String,
}

/// Tools that add and remove other tools.
pub(super) fn tools(server: Server) -> Server {
    let registry = server.registry();
    let learn = move |Args(Word { word }): Args<Word>| {
        let said = word.clone();
        let say = move || std::future::ready(said.clone());
        let learned = registry.insert(Tool::new(word.clone(), say));
        async move { learned.map(|()| format!("learned `{word}`")).map_err(Error::from) }
    };
    let registry = server.registry();
    let forget = move |Args(Word { word }): Args<Word>| {
        let forgot = registry.remove_tool(&word);
        async move { if forgot { format!("forgot `{word}`") } else { format!("never knew `{word}`") } }
    };
    server.tool(Tool::new("learn", learn)).tool(Tool::new("forget", forget))
}

#[derive(Deserialize, JsonSchema)]
struct Changed {
    what: String,
}

/// A tool that changes the list `what`, or else the resource with that URI.
pub(super) fn everything(server: Server) -> Server {
    let (registry, notify) = (server.registry(), server.notify());
    let change = move |Args(Changed { what }): Args<Changed>| {
        let changed = change(&what, &registry, &notify);
        async move { changed.map(|()| format!("changed {what}")).map_err(Error::from) }
    };
    let hour = |day: String, hour: u8| async move { format!("{day}, {hour}") };
    let secret = Resource::new("plan://secret", || async { "for some" })
        .visible(|caller| caller.client.capabilities.roots.is_some());
    server
        .tool(Tool::new("change", change))
        .prompt(Prompt::new("hello", || async { "Say hello" }))
        .resource(Resource::new("notes://today", || async { "Buy tea" }))
        .resource(Resource::template("notes://{day}/{hour}", hour))
        .resource(secret)
}

/// Adds a feature `extra` to a list, or removes it.
fn change(what: &str, registry: &Registry, notify: &Notify) -> Result<(), BuildError> {
    let (is_gone, extra): (bool, Feature) = match what {
        "tools" => (registry.remove_tool("extra"), Tool::new("extra", text).into()),
        "prompts" => (registry.remove_prompt("extra"), Prompt::new("extra", text).into()),
        "resources" => {
            let uri = "notes://extra";
            (registry.remove_resource(uri), Resource::new(uri, text).into())
        }
        uri => {
            notify.resource_updated(uri);
            return Ok(());
        }
    };
    if is_gone { Ok(()) } else { registry.insert(extra) }
}

async fn text() -> &'static str {
    "one more"
}
