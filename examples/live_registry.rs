//! Tools that come and go while the server runs; every client hears of it.

use bowline::{Args, Error, Server, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Lesson {
    /// The word to learn
    word: String,
}

#[tokio::main]
async fn main() -> bowline::Result {
    let server = Server::new("parrot", "1.0.0");
    let registry = server.registry();
    let learn = move |Args(lesson): Args<Lesson>| {
        let registry = registry.clone();
        async move {
            let word = lesson.word.clone();
            let say = move || std::future::ready(word.clone());
            registry.insert(Tool::new(lesson.word.clone(), say).describe("Say it"))?;
            Ok::<_, Error>(format!("learned `{}`", lesson.word))
        }
    };
    server
        .tool(Tool::new("learn", learn).describe("Learn a word, as a tool of that name"))
        .run()
        .await
}
