//! `bowline demo`: serves the built-in server.

use std::net::SocketAddr;

use bowline::Server;
use bowline_types::text::with_causes;
use serde::Serialize;

use crate::demo;
use crate::exit::{Exit, Failure};
use crate::print::{self, json, lines, text};
use crate::serving::over_stdio;

/// Serves a built-in server with one of everything, to try
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where to serve HTTP; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8808")]
    http: SocketAddr,
    /// Serves standard input and output instead, as hosts start servers
    #[arg(long, conflicts_with = "http")]
    stdio: bool,
    /// Prints the address as JSON
    #[arg(long, conflicts_with = "stdio")]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bowline demo                                serves http://127.0.0.1:8808/mcp
  bowline demo --http 127.0.0.1:0             the same on a free port
  bowline call greet -- bowline demo --stdio  a tool that asks for your name
";

impl Args {
    pub(crate) async fn run(self) -> Result<Exit, Failure> {
        if !self.http.ip().is_loopback() {
            let refusal = text!("the demo serves this machine only, not {}", self.http);
            return Err(Failure::usage(refusal).hint("`--http 127.0.0.1:0` takes a free port"));
        }
        let server = demo::server();
        let ticking = server.clone();
        tokio::spawn(async move { demo::tick(&ticking).await });
        match self.stdio {
            true => over_stdio(&server).await?,
            false => self.serve_http(&server).await?,
        }
        Ok(Exit::Done)
    }

    async fn serve_http(&self, server: &Server) -> Result<(), Failure> {
        let bound = server.http().listen(self.http).await;
        let bound =
            bound.map_err(|error| failed(&error).hint("`--http 127.0.0.1:0` takes a free port"))?;
        let address = bound.address().unwrap_or(self.http);
        let url = format!("http://{address}/mcp");
        match self.json {
            true => json::print(&Started { url: &url }),
            false => print::text(lines(next_steps(&url))),
        }
        bound.serve().await;
        Ok(())
    }
}

fn failed<E: std::error::Error + 'static>(error: &E) -> Failure {
    Failure::new(Exit::Unreachable, lines(with_causes(error)))
}

/// What `--json` prints.
#[derive(Serialize)]
struct Started<'a> {
    url: &'a str,
}

fn next_steps(url: &str) -> String {
    format!(
        "\
Serving {url} until Ctrl-C. Try in another terminal:

  bowline call {url} echo message=ahoy
  bowline call {url} greet
  bowline list {url}

Without bowline:

  curl {url} -H 'Content-Type: application/json' \\
    -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' \\
    -H 'Mcp-Method: tools/call' -H 'Mcp-Name: echo' \\
    -d '{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",
         \"arguments\":{{\"message\":\"ahoy\"}},\"_meta\":{{
         \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",
         \"io.modelcontextprotocol/clientCapabilities\":{{}}}}}}}}'

Or open {url} in a browser.
"
    )
}
