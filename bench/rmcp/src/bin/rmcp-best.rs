//! Our `examples/echo.rs` with rmcp at its best: `rmcp-best stdio`, or `rmcp-best http
//! 127.0.0.1:3000`.
//!
//! The same four tools, so that sizes and builds can be compared too. One does less: on 2026-07-28
//! `greet` fails, because rmcp supports questions in the middle of a handler only in sessions
//! (`Peer::elicit`).

use std::time::Duration;

use bench_rmcp::Failure;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use rmcp::{
    ErrorData, Json, RoleServer, ServerHandler, elicit_safe, tool, tool_handler, tool_router,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Echo {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    #[schemars(range(min = 0.0, max = 3600.0))]
    seconds: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

elicit_safe!(Name);

struct Server {
    /// Built once. By default `#[tool_handler]` builds one for each call; its docs name the
    /// attribute `router` for servers that keep it.
    tools: ToolRouter<Self>,
}

#[tool_router]
impl Server {
    #[tool(description = "Give a message back", annotations(read_only_hint = true))]
    async fn echo(&self, Parameters(Echo { message }): Parameters<Echo>) -> String {
        message
    }

    #[tool(description = "Add two integers", annotations(read_only_hint = true))]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Result<Json<Sum>, String> {
        let sum = a.checked_add(b).ok_or("the sum is too large")?;
        Ok(Json(Sum { sum }))
    }

    #[tool(
        description = "Sleep, and report progress every 100 ms",
        annotations(read_only_hint = true)
    )]
    async fn sleep(
        &self,
        Parameters(Sleep { seconds }): Parameters<Sleep>,
        context: RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let step = Duration::from_millis(100);
        let total = Duration::try_from_secs_f64(seconds).map_err(|error| failed(&error))?;
        let mut slept = Duration::ZERO;
        while slept < total {
            tokio::time::sleep(step.min(total - slept)).await;
            slept = total.min(slept + step);
            if let Some(token) = context.meta.get_progress_token() {
                let progress = ProgressNotificationParam::new(token, slept.as_secs_f64())
                    .with_total(seconds)
                    .with_message("sleeping");
                context.peer.notify_progress(progress).await.map_err(|error| failed(&error))?;
            }
        }
        Ok(format!("slept {seconds} s"))
    }

    #[tool(description = "Greet the user by name")]
    async fn greet(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let name = context.peer.elicit::<Name>("What is your name?").await;
        let name = name.map_err(|error| failed(&error))?;
        let Name { name } = name.ok_or_else(|| failed(&"no name"))?;
        Ok(format!("Hello, {name}!"))
    }
}

fn failed(error: &dyn std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tool_handler(router = self.tools, name = "echo", version = "1.0.0")]
impl ServerHandler for Server {}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    bench_rmcp::serve(Server { tools: Server::tool_router() }).await
}
