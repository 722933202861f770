//! `bowline inspect`: looks at a server step by step, or at all configured ones.

use std::time::Duration;

use crate::client::{ClientArgs, Questions};
use crate::exit::{Exit, Failure};
use crate::inspect::Inspection;
use crate::inspect::all::Overview;
use crate::interrupt::interruptible;
use crate::print::{self, json, table, text};
use crate::request::{awaited, seconds};
use crate::target::TargetArgs;
use crate::wire::TraceArgs;

/// Diagnoses a server step by step, or all configured servers
///
/// Takes and times every step from the name of the host to the lists, and names the first that fails.
/// Checks the lists for problems that hosts and models have with them, and estimates the tokens that
/// the list of tools costs a model.
///
/// Without TARGET, prints a table of every server that the configuration files of hosts name. A
/// server that a file of this project names is started only after you agree, or with `--yes`.
///
/// The exit code tells whether a server can be used: it answered, and at least one of its lists came.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline inspect [OPTIONS] TARGET
       bowline inspect [OPTIONS] -- COMMAND…
       bowline inspect [OPTIONS]")]
pub(crate) struct Args {
    /// The server: a URL, a name or a quoted command
    #[arg(value_name = "TARGET")]
    target: Option<String>,
    /// Timeout of each step in seconds
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = seconds)]
    timeout: Duration,
    /// Prints everything as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    client: ClientArgs,
    #[command(flatten)]
    server: TargetArgs,
    #[command(flatten)]
    trace: TraceArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline inspect                              every configured server
  bowline inspect --config gateway.json        every server of a file
  bowline inspect -- bowline demo --stdio
  bowline inspect https://mcp.example.com/mcp
  bowline inspect -- npx -y @modelcontextprotocol/server-everything
  bowline inspect 'uvx mcp-server-git' --json | jq .findings
";

impl Args {
    pub(crate) async fn run(self) -> Result<Exit, Failure> {
        if self.target.is_none() && !self.server.has_command() {
            return self.run_all().await;
        }
        let mut words: Vec<String> = self.target.iter().cloned().collect();
        let target = self.server.take(&mut words)?.traced(self.trace.open()?);
        let waiting = text!("looking at {}", target.label);
        let builder = self.client.builder(Questions::Declined, self.timeout);
        let looked = awaited(waiting, Box::pin(Inspection::of(target, builder, self.timeout)));
        let mut inspection = interruptible(async { Ok(looked.await) }).await?;
        match self.json {
            true => json::print(&inspection.report()),
            false => print::text(inspection.shown(table::width())),
        }
        match inspection.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(Exit::Done),
        }
    }

    async fn run_all(&self) -> Result<Exit, Failure> {
        if self.trace.is_wanted() {
            return Err(Failure::usage("`--trace` shows the messages of one server")
                .hint("name it: `bowline inspect NAME --trace`"));
        }
        let discovery = self.server.discovery()?;
        let builder = self.client.builder(Questions::Declined, self.timeout);
        let looked = Overview::of(&discovery, &self.server, (builder, self.timeout));
        let overview = interruptible(looked).await?;
        match self.json {
            true => json::print(&overview),
            false => print::text(overview.shown(table::width())),
        }
        Ok(Exit::Done)
    }
}
