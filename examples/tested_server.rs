//! A server with its test: `cargo test --example tested_server` runs it in each revision, over each
//! transport.

use bowline::{Ask, Result, ServeError, Server, tool, tools};

/// Deploy the thing
#[tool]
async fn deploy(ask: Ask, env: String) -> Result<String> {
    if !ask.confirm(format!("Deploy to {env}?")).await? {
        return Ok("Not deployed".into());
    }
    Ok(format!("Deployed to {env}"))
}

fn server() -> Server {
    Server::new("deployer", "1.0.0").tools(tools![deploy])
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    server().run().await
}

#[cfg(test)]
mod tests {
    use bowline_testing::Harness;
    use serde_json::json;

    use super::*;

    #[bowline::test]
    async fn deploy_asks_first(t: Harness) {
        let client = t.connect(server()).answering(|question| question.accept(true)).await;
        let deployed = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
        assert_eq!(deployed.text(), "Deployed to prod");
        assert_eq!(t.questions(), ["Deploy to prod?"]);
    }
}
