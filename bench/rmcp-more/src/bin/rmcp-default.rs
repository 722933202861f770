//! An echo server as the README of the repository of rmcp shows it: `rmcp-default stdio`, or
//! `rmcp-default http 127.0.0.1:3000`.
//!
//! After its sections "Tools" and "Transports" and the example `counter_streamhttp.rs`, without the
//! subscriber for logs, which would only add cost.

use std::env;

use bench_rmcp::Failure;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::transport::stdio;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServiceExt, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::net::TcpListener;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

struct Server;

#[tool_router(server_handler)]
impl Server {
    #[tool(description = "Give a message back")]
    async fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("stdio"), _) => {
            Server.serve(stdio()).await?.waiting().await?;
        }
        (Some("http"), Some(address)) => {
            let service = StreamableHttpService::new(
                || Ok(Server),
                LocalSessionManager::default().into(),
                StreamableHttpServerConfig::default(),
            );
            let router = axum::Router::new().nest_service("/mcp", service);
            axum::serve(TcpListener::bind(address).await?, router).await?;
        }
        _ => Err("say how to serve: `stdio` or `http 127.0.0.1:3000`")?,
    }
    Ok(())
}
