//! `bowline call`: calls a tool.

use std::path::PathBuf;
use std::time::Duration;

use bowline::Client;
use bowline::client::{ClientBuilder, Limits, ToolOutcome};
use bowline::types::progress::ProgressParams;
use indicatif::{ProgressBar, ProgressStyle};

use crate::arguments::Words;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::{self, content, json};
use crate::schema::Parameters;
use crate::target::{TargetArgs, client};
use crate::{questions, sampling, save};

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
    /// Writes images, audio and other bytes to new files in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Answers requests to a model with this command: JSON on its input, text on its output
    #[arg(long, value_name = "COMMAND", value_parser = command)]
    sampling: Option<CommandWords>,
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
  bowline call draw --save pictures -- ./painter
  echo '{\"a\": 40, \"b\": 2}' | bowline call add - --json -- ./calc
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?;
        if self.words.is_empty() {
            return Err(Failure::usage("no tool is named").hint("`bowline list` shows the tools"));
        }
        let tool = self.words.remove(0);
        let bar = ProgressBar::no_length().with_style(style("{spinner} {msg}"));
        let client = interruptible(target.connect(self.client(&bar))).await?;
        let outcome = interruptible(self.call(&client, &tool, &bar)).await;
        bar.finish_and_clear();
        client.close().await;
        self.print(&tool, outcome?)
    }

    /// A client that asks the user, and the command of `--sampling`.
    fn client(&self, bar: &ProgressBar) -> ClientBuilder {
        let mut limits = Limits::default();
        limits.request_timeout = self.timeout;
        let bar = bar.clone();
        let builder = client()
            .limits(limits)
            .tasks()
            .on_ask(move |question| questions::answer(question, bar.clone()))
            .allow_urls();
        match self.sampling.clone() {
            Some(CommandWords(words)) => {
                builder.on_sample(move |request| sampling::answer(request, words.clone()))
            }
            None => builder,
        }
    }

    async fn call(
        &self,
        client: &Client,
        tool: &str,
        bar: &ProgressBar,
    ) -> Result<ToolOutcome, Failure> {
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
        let call = client.call(tool, arguments).progress(|progress| show(bar, &progress));
        Ok(call.timeout(self.timeout).await?)
    }

    fn print(&self, tool: &str, outcome: ToolOutcome) -> Result<Exit, Failure> {
        let exit = if outcome.is_error() { Exit::Refused } else { Exit::Done };
        let shown = self.shown(tool, &outcome)?;
        if self.json {
            json::print(&outcome.into_message());
        } else if let Some(structured) = outcome.structured() {
            print::text(&json::indented(structured.as_str()));
        } else if !shown.is_empty() {
            print::served(&shown.join("\n"));
        }
        Ok(exit)
    }

    /// The blocks of a result as text; bytes are written to files with `--save`.
    fn shown(&self, tool: &str, outcome: &ToolOutcome) -> Result<Vec<String>, Failure> {
        let mut shown = Vec::new();
        let mut files = 0;
        for block in outcome.content() {
            let bytes = self.save.as_ref().and_then(|it| Some((it, save::bytes_of(block)?)));
            let Some((folder, bytes)) = bytes else {
                shown.push(content::described(block));
                continue;
            };
            files += 1;
            let path = save::save(folder, (tool, files), bytes)?;
            let path = path.display();
            match self.json || outcome.structured().is_some() {
                true => print::note(&format!("saved {path}")),
                false => shown.push(format!("saved {path}")),
            }
        }
        Ok(shown)
    }
}

/// Shows progress, if standard error is a terminal.
fn show(bar: &ProgressBar, progress: &ProgressParams) {
    if let Some(total) = progress.total.filter(|total| *total > 0.0) {
        bar.set_style(style("{bar:30} {percent}% {msg}"));
        // In thousandths, because progress may count in fractions.
        bar.set_length(1000);
        bar.set_position((progress.progress / total * 1000.0) as u64);
    }
    let message = progress.message.as_deref().unwrap_or_default();
    bar.set_message(print::clean(message).replace('\n', " "));
    bar.tick();
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
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

/// A quoted command as words.
#[derive(Clone, Debug)]
struct CommandWords(Vec<String>);

fn command(text: &str) -> Result<CommandWords, String> {
    shell_words::split(text).map(CommandWords).map_err(|error| error.to_string())
}
