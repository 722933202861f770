//! `bowline call`: calls a tool.

use std::time::Duration;

use bowline::Client;
use bowline::client::{Limits, ToolOutcome};

use crate::arguments::Words;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print;
use crate::print::json;
use crate::schema::Parameters;
use crate::target::{TargetArgs, client};

/// Calls a tool
///
/// Values of `key=value` have the type that the tool's schema names. `key:=json` sends JSON as it
/// is. A key of an array can be repeated.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline call [OPTIONS] TARGET TOOL [KEY=VALUE…]
       bowline call [OPTIONS] TOOL [KEY=VALUE…] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the tool, and its arguments; `-` reads them as JSON from standard input
    #[arg(value_name = "TARGET] TOOL [KEY=VALUE")]
    words: Vec<String>,
    /// The arguments as a JSON object
    #[arg(long = "args", value_name = "JSON")]
    arguments: Option<String>,
    /// Seconds to wait without an answer or progress
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = seconds)]
    timeout: Duration,
    /// Prints the whole result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: TargetArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline call https://mcp.example.com/mcp search query='black tea' limit=5
  bowline call add a=40 b=2 -- ./calc
  bowline call 'uvx mcp-server-git' git_status repo_path=.
  echo '{\"a\": 40, \"b\": 2}' | bowline call add - --json -- ./calc
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?;
        if self.words.is_empty() {
            return Err(Failure::usage("no tool is named").hint("`bowline list` shows the tools"));
        }
        let tool = self.words.remove(0);
        let mut limits = Limits::default();
        limits.request_timeout = self.timeout;
        let client = interruptible(target.connect(client().limits(limits))).await?;
        let outcome = interruptible(self.call(&client, &tool)).await;
        client.close().await;
        Ok(self.print(outcome?))
    }

    async fn call(&self, client: &Client, tool: &str) -> Result<ToolOutcome, Failure> {
        let words = Words { words: &self.words, json: self.arguments.as_deref() };
        let mut parameters = Parameters::default();
        if words.need_schema() {
            let tools = client.tools().all().await?;
            match tools.iter().find(|it| it.name == tool) {
                Some(tool) => parameters = Parameters::of(&tool.input_schema),
                None => return Err(unknown(tool, tools.iter().map(|it| it.name.as_str()))),
            }
        }
        let arguments = words.read(&parameters)?;
        Ok(client.call(tool, arguments).timeout(self.timeout).await?)
    }

    fn print(&self, outcome: ToolOutcome) -> Exit {
        let exit = if outcome.is_error() { Exit::Refused } else { Exit::Done };
        if self.json {
            json::print(&outcome.into_message());
        } else if let Some(structured) = outcome.structured() {
            print::text(&json::indented(structured.as_str()));
        } else {
            print::served(&outcome.text());
        }
        exit
    }
}

fn unknown<'a>(tool: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let names: Vec<&str> = names.collect();
    let hint = match names.is_empty() {
        true => "it has no tools".to_owned(),
        false => format!("it has {}", names.join(", ")),
    };
    Failure::new(Exit::Refused, format!("the server has no tool `{tool}`")).hint(hint)
}

/// A number of seconds, also a fraction.
fn seconds(text: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    let duration = Duration::try_from_secs_f64(number);
    duration.ok().filter(|it| !it.is_zero()).ok_or_else(|| "expected more than 0".to_owned())
}
