//! The client of rmcp, with connections kept: `rmcp-client http URL REVISION IN_FLIGHT CALLS`, or
//! `rmcp-client stdio PROGRAM REVISION IN_FLIGHT CALLS`.

use std::sync::Arc;

use bench_measure::{Failure, MESSAGE, Plan, Target};
use rmcp::model::{CallToolRequestParams, ClientConfig, ContentBlock, ProtocolVersion};
use rmcp::service::RunningService;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient};
use serde_json::json;
use tokio::process::Command;

type Client = RunningService<RoleClient, ClientConfig>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let plan = Plan::from_arguments()?;
    let client = Arc::new(connect(&plan).await?);
    let arguments = json!({ "message": MESSAGE }).as_object().cloned().unwrap_or_default();
    let params = CallToolRequestParams::new("echo").with_arguments(arguments);
    let caller = Arc::clone(&client);
    plan.run(move || {
        let (client, params) = (Arc::clone(&caller), params.clone());
        async move {
            let result = client.call_tool(params).await?;
            let text = result.content.first().and_then(ContentBlock::as_text);
            Ok(text.is_some_and(|it| it.text == MESSAGE))
        }
    })
    .await?;
    if let Ok(client) = Arc::try_unwrap(client) {
        client.cancel().await?;
    }
    Ok(())
}

/// With the lifecycle of the revision, without a probe: the README of its repository, "Client
/// lifecycle modes".
async fn connect(plan: &Plan) -> Result<Client, Failure> {
    let (version, lifecycle) = match plan.revision.as_str() {
        "2025-11-25" => (ProtocolVersion::V_2025_11_25, ClientLifecycleMode::Initialize),
        "2026-07-28" => {
            let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
            (ProtocolVersion::V_2026_07_28, ClientLifecycleMode::Discover { preferred_versions })
        }
        other => return Err(format!("`{other}` is no revision that is measured").into()),
    };
    let mut configuration = ClientConfig::default();
    configuration.protocol_version = version;
    Ok(match &plan.target {
        Target::Http(url) => {
            configuration.serve_with_lifecycle(at(url, plan.in_flight), lifecycle).await?
        }
        Target::Stdio(program) => {
            let mut command = Command::new(program);
            command.arg("stdio");
            let child = TokioChildProcess::new(command)?;
            configuration.serve_with_lifecycle(child, lifecycle).await?
        }
    })
}

/// rmcp's own HTTP client keeps no connections (`pool_max_idle_per_host(0)` in its
/// `from_uri`); `with_client` takes one that does. It may post as many requests at once as are to
/// be in flight: `StreamableHttpClientTransportConfig::max_concurrent_requests`.
fn at(url: &str, in_flight: usize) -> StreamableHttpClientTransport<reqwest::Client> {
    let configuration = StreamableHttpClientTransportConfig::with_uri(url)
        .max_concurrent_requests(in_flight.max(16));
    StreamableHttpClientTransport::with_client(reqwest::Client::new(), configuration)
}
