//! The smallest server: one tool over stdio.

use bowline::{Server, tool, tools};

/// Add two numbers
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), bowline::ServeError> {
    Server::new("calc", "1.0.0").tools(tools![add]).run().await
}
