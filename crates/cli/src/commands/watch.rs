//! `bowline watch`: prints the notifications of a server as they come.

use std::pin::pin;
use std::time::Duration;

use bowline::Client;
use bowline::client::{Change, Changes, SubscriptionBuilder};
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use serde::Serialize;
use tokio::sync::mpsc;

use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::print::{self, json, log, text};
use crate::request::{RequestArgs, with_client};

/// Prints changes and log messages of a server as they happen
///
/// Since 2026-07-28 log messages belong to calls, so only servers with a handshake send any here;
/// `bowline call --log LEVEL` prints those of a call.
/// JSON is one line for each change.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline watch [OPTIONS] TARGET
       bowline watch [OPTIONS] -- COMMAND…")]
pub(crate) struct Args {
    /// The server
    #[arg(value_name = "TARGET")]
    words: Vec<String>,
    /// Watches a resource too; can be repeated
    #[arg(long = "uri", value_name = "URI")]
    uris: Vec<String>,
    /// Prints log messages of this level and more severe ones
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: LoggingLevel,
    /// Ends after this many lines
    #[arg(long, value_name = "NUMBER")]
    count: Option<usize>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline watch --uri demo://clock --count 3 -- bowline demo --stdio
  bowline watch https://mcp.example.com/mcp
  bowline watch https://mcp.example.com/mcp --uri docs://handbook --json
  bowline watch --log debug -- ./my-server
";

/// How often a server that reports no changes is asked whether it is still there.
const PULSE: Duration = Duration::from_secs(2);

/// A line of output.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
enum Line {
    Tools,
    Prompts,
    Resources,
    Resource { uri: String },
    Log { message: LogMessageParams },
}

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        if let Some(word) = self.words.first() {
            return Err(Failure::usage(text!("unexpected argument `{word}`: give one server"))
                .hint("`--uri URI` watches a resource"));
        }
        let (sender, mut logs) = mpsc::unbounded_channel();
        let builder = self.request.client(Questions::Declined).on_log(self.log, move |message| {
            let _ = sender.send(message);
        });
        let watch = async |client: &Client| self.watch(client, &mut logs).await;
        with_client(target, builder, watch).await?;
        Ok(Exit::Done)
    }

    async fn watch(
        &self,
        client: &Client,
        logs: &mut mpsc::UnboundedReceiver<LogMessageParams>,
    ) -> Result<(), Failure> {
        let mut changes = self.subscribe(client).await?;
        print::note("watching; Ctrl-C ends");
        // The end of a subscription tells the end of the connection; without one, only requests do.
        let mut ended = pin!(ended(client));
        let mut printed = 0;
        while self.count.is_none_or(|count| printed < count) {
            let line = tokio::select! {
                change = next(&mut changes) => line(change.ok_or_else(connection_ended)??),
                failure = &mut ended, if changes.is_none() => return Err(failure),
                Some(message) = logs.recv() => Some(Line::Log { message }),
            };
            if let Some(line) = line {
                self.print(&line);
                printed += 1;
            }
        }
        Ok(())
    }

    /// Subscribes to all lists that the server offers, and to the resources. `None` if the server
    /// reports no changes: it may still send log messages.
    async fn subscribe(&self, client: &Client) -> Result<Option<Changes>, Failure> {
        let offered = client.capabilities();
        let has_lists =
            offered.tools.is_some() || offered.prompts.is_some() || offered.resources.is_some();
        if !has_lists && self.uris.is_empty() {
            return Ok(None);
        }
        let add = |wanted: bool,
                   it: SubscriptionBuilder,
                   add: fn(SubscriptionBuilder) -> SubscriptionBuilder| {
            if wanted { add(it) } else { it }
        };
        let builder = client.subscribe();
        let builder = add(offered.tools.is_some(), builder, SubscriptionBuilder::tools);
        let builder = add(offered.prompts.is_some(), builder, SubscriptionBuilder::prompts);
        let builder = add(offered.resources.is_some(), builder, SubscriptionBuilder::resources);
        let builder = self.uris.iter().fold(builder, SubscriptionBuilder::resource);
        match builder.open().await {
            Ok(changes) => Ok(Some(changes)),
            Err(error) if error.is_not_offered() && self.uris.is_empty() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn print(&self, line: &Line) {
        if self.request.json {
            return json::print_line(line);
        }
        print::text(match line {
            Line::Tools => "the list of tools changed".into(),
            Line::Prompts => "the list of prompts changed".into(),
            Line::Resources => "the list of resources changed".into(),
            Line::Resource { uri } => text!("{uri} changed"),
            Line::Log { message } => log::line(message),
        });
    }
}

/// The next change; waits for ever without a subscription.
async fn next(changes: &mut Option<Changes>) -> Option<bowline::client::Result<Change>> {
    match changes {
        Some(changes) => changes.next().await,
        None => std::future::pending().await,
    }
}

/// Waits until the connection has ended.
async fn ended(client: &Client) -> Failure {
    loop {
        tokio::time::sleep(PULSE).await;
        match client.ping().await {
            Err(error) if error.is_closed() => return connection_ended(),
            // A server that refuses the request is there. One that is busy may be late.
            Err(error) if !error.is_refused() && !error.is_timeout() => return error.into(),
            _ => {}
        }
    }
}

fn connection_ended() -> Failure {
    Failure::new(Exit::Unreachable, "the server ended the connection")
}

fn line(change: Change) -> Option<Line> {
    Some(match change {
        Change::Tools => Line::Tools,
        Change::Prompts => Line::Prompts,
        Change::Resources => Line::Resources,
        Change::Resource(uri) => Line::Resource { uri },
        _ => return None,
    })
}
