//! Many tools with rmcp, served as `rmcp-best` is: `rmcp-catalogue http 127.0.0.1:3000 1000`.

use std::env;
use std::sync::{Mutex, PoisonError};

use bench_rmcp::Failure;
use futures::future::join_all;
use rmcp::handler::server::router::tool::{ToolRoute, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{
    Implementation, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, Peer, RequestContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

/// The arguments of each tool of the catalogue.
#[derive(Deserialize, JsonSchema)]
struct Said {
    #[schemars(description = "What to give back")]
    message: String,
    // Only part of the schema.
    #[expect(dead_code)]
    #[schemars(description = "How often it was said before")]
    times: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

struct Server {
    tools: ToolRouter<Self>,
    /// The peers of all sessions: rmcp cannot notify all sessions at once.
    peers: Mutex<Vec<Peer<RoleServer>>>,
}

#[tool_router]
impl Server {
    fn with_tools(count: usize) -> Self {
        let mut tools = Self::tool_router();
        // One schema for all tools.
        let schema = Tool::new("", "", serde_json::Map::new()).with_input_schema::<Said>();
        for number in 0..count {
            let description = format!("Give a message back, as tool number {number}");
            let tool =
                Tool::new(format!("tool_{number}"), description, schema.input_schema.clone());
            let give_back = |Parameters(Said { message, .. }): Parameters<Said>| message;
            tools.add_route(ToolRoute::new(tool, give_back));
        }
        Self { tools, peers: Mutex::default() }
    }

    #[tool(description = "Give a message back")]
    async fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }

    #[tool(description = "Report progress, step by step, at once")]
    async fn progress(
        &self,
        Parameters(Steps { steps }): Parameters<Steps>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        if let Some(token) = context.meta.get_progress_token() {
            for step in 1..=steps {
                let progress = ProgressNotificationParam::new(token.clone(), f64::from(step))
                    .with_total(f64::from(steps))
                    .with_message("working");
                let told = context.peer.notify_progress(progress).await;
                told.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            }
        }
        Ok(format!("did {steps} steps"))
    }

    #[tool(description = "Tell every client that the list of tools has changed")]
    async fn touch(&self) -> String {
        let peers = {
            let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
            peers.retain(|peer| !peer.is_transport_closed());
            peers.clone()
        };
        // All at once, which is faster than one after another. Errors mean that a session has
        // ended.
        join_all(peers.iter().map(Peer::notify_tool_list_changed)).await;
        "told".to_owned()
    }
}

#[tool_handler(router = self.tools)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("catalogue", "1.0.0"))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner).push(context.peer);
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let count = env::args().nth(3).map_or(Ok(0), |count| count.parse())?;
    bench_rmcp::serve(Server::with_tools(count)).await
}
