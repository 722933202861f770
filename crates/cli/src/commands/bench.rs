//! `bowline bench`: how many requests a server answers, and how fast.

mod figures;
mod load;

use std::time::Duration;

use bowline::Client;
use bowline_gateway::config::Launch;
use bowline_types::host::is_this_machine;
use http::Uri;

use self::figures::{Figures, Subject};
use self::load::{Load, Work};
use crate::arguments::{Words, standard_input};
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::{self, json, text};
use crate::request::{RequestArgs, seconds, with_client};
use crate::target::Target;
use crate::tools;

/// Measures the requests per second and the latency of a server
///
/// Calls TOOL with the arguments, which are written as for `bowline call`. Without TOOL it sends
/// `ping`, or `server/discover` since 2026-07-28, which have no effect at the server. The first
/// request is not counted. The measurement ends after `--count` requests or `--duration` seconds;
/// requests without an answer by then are reported as unfinished.
///
/// The server must be on this machine, unless `--remote` is given.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline bench [OPTIONS] TARGET [TOOL [KEY=VALUE…]]
       bowline bench [OPTIONS] [TOOL [KEY=VALUE…]] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the tool, and its arguments; `-` reads them as JSON from standard input
    #[arg(value_name = "TARGET] [TOOL] [KEY=VALUE")]
    words: Vec<String>,
    /// The arguments as a JSON object
    #[arg(long = "args", value_name = "JSON")]
    arguments: Option<String>,
    /// Number of requests after which it ends
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 10_000)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=MOST_REQUESTS))]
    count: u64,
    /// Number of seconds after which it ends
    #[arg(short, long, value_name = "SECONDS", default_value = "10", value_parser = duration)]
    duration: Duration,
    /// Number of concurrent requests
    #[arg(short, long, value_name = "NUMBER", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=MOST_OPEN))]
    concurrency: u64,
    /// Allows a server on another machine: make sure that its operator agrees
    #[arg(long)]
    remote: bool,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline bench -- bowline demo --stdio
  bowline bench http://127.0.0.1:3000/mcp
  bowline bench echo message=hi -n 50000 -c 16 -- ./server
  bowline bench http://127.0.0.1:3000/mcp add a=1 b=2 --revision 2025-11-25
  bowline bench --json -- ./server | jq .latency_microseconds.p99
";

const MOST_REQUESTS: u64 = 100_000_000;
const MOST_OPEN: u64 = 1024;
const LONGEST: Duration = Duration::from_secs(3600);

fn duration(text: &str) -> Result<Duration, String> {
    let duration = seconds(text)?;
    match duration <= LONGEST {
        true => Ok(duration),
        false => Err(format!("expected at most {}", LONGEST.as_secs())),
    }
}

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        if !self.remote {
            demand_loopback(&target)?;
        }
        let is_http = matches!(target.launch, Launch::Http(_));
        let label = target.label.clone();
        let input = interruptible(standard_input(&self.words)).await?;
        let measured = async |client: &Client| self.measure(client, input.as_deref()).await;
        let (load, revision) =
            with_client(target, self.request.client(Questions::Declined), measured).await?;
        let subject = Subject {
            target: label,
            revision,
            transport: if is_http { "http" } else { "stdio" },
            request: load.work.to_string(),
            concurrency: self.concurrency,
        };
        let figures = Figures::of(subject, &load);
        match self.request.json {
            true => json::print(&figures),
            false => print::text(figures.shown()),
        }
        Ok(figures.exit())
    }

    async fn measure(
        &self,
        client: &Client,
        input: Option<&str>,
    ) -> Result<(Load, String), Failure> {
        let work = self.work(client, input).await?;
        // Shows whether there is anything to measure.
        work.once(client).await?;
        let load = Load::new(work, self.count, self.duration);
        let load = load.run(client, self.concurrency).await;
        Ok((load, client.revision().to_string()))
    }

    /// What to send. A tool is called only if the user names it.
    async fn work(&self, client: &Client, input: Option<&str>) -> Result<Work, Failure> {
        let Some((tool, words)) = self.words.split_first() else {
            return match self.arguments {
                Some(_) => Err(Failure::usage("`--args` is for a tool, and none is named")),
                None => Ok(Work::ping(client.revision())),
            };
        };
        let words = Words { words, json: self.arguments.as_deref(), input };
        let arguments = tools::checked_arguments(client, tool, &words).await?;
        Ok(Work::Tool { name: tool.clone(), arguments })
    }
}

/// Refuses a server on another machine, so that a wrong word puts no load on one.
fn demand_loopback(target: &Target) -> Result<(), Failure> {
    let Launch::Http(launch) = &target.launch else { return Ok(()) };
    let uri: Option<Uri> = launch.url.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or(&launch.url);
    match is_this_machine(host) {
        true => Ok(()),
        false => Err(Failure::usage(text!("`{host}` is not this machine"))
            .hint("`--remote` puts the load on another one; make sure that its operator agrees")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TargetArgs;

    #[test]
    fn a_load_for_another_machine_needs_a_flag() {
        let check = |url: &str| {
            demand_loopback(&TargetArgs::default().take(&mut vec![url.to_owned()]).unwrap())
        };
        for own in ["http://127.0.0.1:1/mcp", "http://LOCALHOST/", "https://[::1]:9/mcp?a"] {
            check(own).unwrap();
        }
        for other in [
            "http://192.0.2.1/mcp",
            "https://127.0.0.1@example.com/",
            "http://localhost.example.com/",
        ] {
            assert!(check(other).unwrap_err().to_string().ends_with("is not this machine"));
        }
    }
}
