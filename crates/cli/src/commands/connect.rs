//! `bowline connect`: stdio for a host, HTTP to the server.

use std::time::Duration;

use crate::exit::{Exit, Failure};
use crate::interrupt::{closing, interruptible};
use crate::print::text;
use crate::request::seconds;
use crate::serving::{BridgeOptions, Callers, bridge_to, over_stdio};
use crate::target::TargetArgs;
use crate::wire::TraceArgs;

/// Connects a host that speaks stdio to any server
///
/// Host and server may speak different revisions of the protocol.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline connect [OPTIONS] TARGET
       bowline connect [OPTIONS] -- COMMAND…")]
pub(crate) struct Args {
    /// The server: a URL, a name or a quoted command
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// Timeout of the first answer of the server in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    server: TargetArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline connect https://mcp.example.com/mcp
  bowline connect -H 'Authorization: Bearer …' https://mcp.example.com/mcp

In the configuration of a host:
  { \"mcpServers\": { \"example\": { \"command\": \"bowline\",
      \"args\": [\"connect\", \"https://mcp.example.com/mcp\"] } } }
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?.traced(self.trace.open()?);
        if let Some(word) = self.words.first() {
            return Err(Failure::usage(text!("unexpected argument `{word}`: give one server")));
        }
        let timeout = self.timeout;
        let options = BridgeOptions { callers: Callers::One, timeout, layer: None, keys: None };
        let bridge = interruptible(bridge_to(target, options)).await?;
        let outcome = over_stdio(&self.server.message.over_stdio(bridge.server())).await;
        closing(bridge.close()).await;
        outcome.map(|()| Exit::Done)
    }
}
