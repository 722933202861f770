//! `bowline call`: calls a tool.

use std::path::PathBuf;

use bowline::Client;
use bowline::client::{ClientBuilder, Error, ToolOutcome};
use bowline_ops::schema::JsonMembers;
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::{ErrorObject, MissingCapability};
use bowline_types::json::RawJson;
use bowline_types::progress::ProgressParams;

use crate::arguments::{Words, standard_input};
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::bar::Bar;
use crate::print::{self, content, json, log, paragraph, text};
use crate::request::{RequestArgs, with_client};
use crate::{save, tools};

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
    /// Writes images, audio and other bytes to new files in this folder
    #[arg(long, value_name = "FOLDER")]
    save: Option<PathBuf>,
    /// Prints the text of the result, also if it has structured output
    #[arg(long, conflicts_with = "json")]
    text: bool,
    /// Prints log messages of this level and more severe ones to standard error
    #[arg(long, value_name = "LEVEL")]
    log: Option<LoggingLevel>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline call echo message=ahoy -- bowline demo --stdio
  bowline call https://mcp.example.com/mcp search query='black tea' limit=5
  bowline call add a=40 b=2 -- ./calc
  bowline call 'uvx mcp-server-git' git_status repo_path=.
  bowline call talk --log info -- bowline demo --stdio
  bowline call draw --save pictures -- ./painter
  bowline call find --root . -- ./finder
  echo '{\"a\": 40, \"b\": 2}' | bowline call add - --json -- ./calc
";

/// What helps a tool that asks a model.
const MODEL: &str = "`--sampling COMMAND` answers requests to a model";
/// What helps a tool that asks for the folders in which it may work.
const ROOTS: &str = "`--root FOLDER` names a folder in which the server may work";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        if self.words.is_empty() {
            return Err(Failure::usage("no tool is named").hint("`bowline list` shows the tools"));
        }
        let tool = self.words.remove(0);
        let bar = Bar::new("{spinner} {msg}", None);
        let input = interruptible(standard_input(&self.words)).await?;
        let words =
            Words { words: &self.words, json: self.arguments.as_deref(), input: input.as_deref() };
        let call = async |client: &Client| call(client, &tool, &words, &bar).await;
        let outcome = with_client(target, self.client(&bar), call).await;
        bar.clear();
        self.print(&tool, outcome?)
    }

    /// A client that asks the user.
    fn client(&self, bar: &Bar) -> ClientBuilder {
        let (builder, bar) = (self.request.client(Questions::Asked(bar.clone())), bar.clone());
        match self.log {
            Some(level) => builder.on_log(level, move |message| {
                bar.suspend(|| print::note(log::line(&message)));
            }),
            None => builder,
        }
    }

    fn print(&self, tool: &str, outcome: ToolOutcome) -> Result<Exit, Failure> {
        let exit = if outcome.is_error() { Exit::Refused } else { Exit::Done };
        // Up to 2025-11-25 a tool that may not ask the model fails with a text.
        let lacks_model =
            !self.request.has_model() && outcome.is_error() && asks_model(&outcome.text());
        let shown = self.shown(tool, &outcome)?;
        if self.request.json {
            json::print(&outcome.into_message());
        } else if let Some(structured) =
            outcome.structured().filter(|it| !self.prefers_text(it, &outcome))
        {
            json::print_indented(structured.as_str());
        } else if !shown.is_empty() {
            print::served(&shown.join("\n"));
        }
        if lacks_model {
            print::hint(MODEL);
        }
        Ok(exit)
    }

    /// Whether the text is shown although there is structured output: the user wants it, or the
    /// structured output only wraps it, as in `{"result": "…"}`.
    fn prefers_text(&self, structured: &RawJson, outcome: &ToolOutcome) -> bool {
        let members: Option<JsonMembers> = structured.parse().ok();
        let only = members.filter(|it| it.0.len() == 1).and_then(|it| it.0[0].1.parse().ok());
        self.text || only.is_some_and(|only: String| only == outcome.text())
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
            match self.request.json || outcome.structured().is_some() && !self.text {
                true => print::note(text!("saved {path}")),
                false => shown.push(format!("saved {path}")),
            }
        }
        Ok(shown)
    }
}

async fn call(
    client: &Client,
    tool: &str,
    words: &Words<'_>,
    bar: &Bar,
) -> Result<ToolOutcome, Failure> {
    let arguments = tools::arguments(client, tool, words).await?;
    match client.call(tool, arguments).progress(|progress| show(bar, &progress)).await {
        Err(error) if lacks(&error, |it| it.roots.is_some()) => {
            Err(Failure::from(error).hint(ROOTS))
        }
        Err(error)
            if lacks(&error, |it| it.sampling.is_some())
                || error.rpc().is_some_and(|rpc| asks_model(&rpc.message)) =>
        {
            Err(Failure::from(error).hint(MODEL))
        }
        Err(error) if error.is_refused() => Err(tools::explain(client, tool, error).await),
        outcome => Ok(outcome?),
    }
}

/// Whether a server writes that it needs a model. Before 2026-07-28 no error code says so.
fn asks_model(text: &str) -> bool {
    text.to_ascii_lowercase().contains("sampling")
}

/// Whether a call failed because the client does not declare a capability.
fn lacks(error: &Error, capability: impl FnOnce(&ClientCapabilities) -> bool) -> bool {
    let missing: Option<MissingCapability> = error.rpc().and_then(ErrorObject::parse_data);
    missing.is_some_and(|missing| capability(&missing.required_capabilities))
}

/// Shows progress, if standard error is a terminal.
fn show(bar: &Bar, progress: &ProgressParams) {
    if let Some(total) = progress.total.filter(|total| *total > 0.0) {
        // In thousandths, because progress may count in fractions.
        let done = (progress.progress / total * 1000.0) as u64;
        bar.fill("{bar:30} {percent}% {msg}", done);
    }
    let message = progress.message.as_deref().unwrap_or_default();
    bar.message(paragraph(message));
    bar.draw();
}
