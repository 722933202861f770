//! A server over HTTP: `http_server 127.0.0.1:3000` serves `http://127.0.0.1:3000/mcp` until it gets
//! SIGINT or SIGTERM.

use bowline::{ServeError, Server, tool, tools};

/// Add two numbers
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let address = std::env::args().nth(1).unwrap_or("127.0.0.1:3000".into());
    Server::new("calc", "1.0.0").tools(tools![add]).http().bind(address).await
}
