//! The same without macros: a plain function; `Json<T>` gives structured output and its schema.

use bowline::{Args, Json, Server, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

async fn add(Args(add): Args<Add>) -> Json<Sum> {
    Json(Sum { sum: add.a + add.b })
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    Server::new("calc", "1.0.0")
        .tool(Tool::new("add", add).describe("Add two numbers").read_only())
        .run()
        .await
}
