//! `bowline serve`: a server that is a command, over HTTP.

use std::time::Duration;

use crate::exit::{Exit, Failure};
use crate::interrupt::{closing, interruptible};
use crate::observe::ObserveArgs;
use crate::print::text;
use crate::request::seconds;
use crate::serving::{ADDRESS, BridgeOptions, Callers, HttpArgs, bridge_to};
use crate::shared_state::SharedStateArgs;
use crate::target::TargetArgs;
use crate::wire::TraceArgs;

/// Serves a stdio server over HTTP
///
/// Clients may speak any revision of the protocol.
/// The command is started once, for all clients. It is stopped after ten minutes without calls, and
/// started again by the next one.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline serve [OPTIONS] -- COMMAND…
       bowline serve [OPTIONS] TARGET")]
pub(crate) struct Args {
    /// The server: a quoted command, a name or a URL
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// The address to serve at
    #[arg(long, value_name = "ADDRESS", default_value = ADDRESS)]
    http: String,
    /// Timeout of the first answer of the server in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    listen: HttpArgs,
    #[command(flatten)]
    shared: SharedStateArgs,
    #[command(flatten)]
    observe: ObserveArgs,
    #[command(flatten)]
    server: TargetArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline serve -- npx -y @modelcontextprotocol/server-everything
  bowline serve --http 127.0.0.1:9000 'uvx mcp-server-git'
  bowline serve https://mcp.example.com/mcp    for clients of another revision
  bowline serve --store redis://localhost -- npx -y some-server
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?.traced(self.trace.open()?);
        if let Some(word) = self.words.first() {
            return Err(Failure::usage(text!("unexpected argument `{word}`: give one server")));
        }
        let shared = self.shared.open().await?;
        let observation = self.observe.begin().await?;
        let options = BridgeOptions {
            callers: Callers::Many,
            timeout: self.timeout,
            layer: observation.client(),
            keys: shared.keys().cloned(),
        };
        let bridge = interruptible(bridge_to(target, options)).await?;
        let server = shared.server(observation.server(bridge.server()));
        let message = self.server.message;
        let http = message.bodies(shared.http(&message.over_http(server), &observation));
        let outcome = self.listen.serve(http, &self.http, &observation).await;
        closing(bridge.close()).await;
        closing(observation.end()).await;
        outcome.map(|()| Exit::Done)
    }
}
