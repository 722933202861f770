//! An echo server with rmcp at its best: `rmcp-best stdio`, or `rmcp-best http 127.0.0.1:3000`.

use bench_rmcp::Failure;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

struct Server {
    /// Built once. By default `#[tool_handler]` builds one for each call; its docs name the
    /// attribute `router` for those who keep it.
    tools: ToolRouter<Self>,
}

#[tool_router]
impl Server {
    #[tool(description = "Give a message back")]
    async fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }
}

#[tool_handler(router = self.tools, name = "echo", version = "1.0.0")]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    bench_rmcp::serve(Server { tools: Server::tool_router() }).await
}
