//! `bowline prompt`: fills in a prompt of a server.

use bowline::Client;
use bowline_types::content::Content;
use bowline_types::prompt::GetPromptResult;

use crate::arguments::pair;
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::print::{self, content, json};
use crate::request::{RequestArgs, with_client};

/// Fills in a prompt and prints its messages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline prompt [OPTIONS] TARGET NAME [KEY=VALUE…]
       bowline prompt [OPTIONS] NAME [KEY=VALUE…] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the prompt, and its arguments
    #[arg(value_name = "TARGET] NAME [KEY=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline prompt review language=Rust -- bowline demo --stdio
  bowline prompt https://mcp.example.com/mcp review language=Rust
  bowline prompt summarize --json -- ./notes-server
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let Some((name, words)) = self.words.split_first() else {
            return Err(Failure::usage("no prompt is named")
                .hint("`bowline list TARGET prompts` shows the prompts"));
        };
        let arguments = words.iter().map(|word| pair(word)).collect::<Result<Vec<_>, _>>()?;
        let fill_in = async |client: &Client| match client.prompt(name).arguments(arguments).await {
            Err(error) if error.is_refused() => Err(explain(client, name, error.into()).await),
            prompt => Ok(prompt?),
        };
        let prompt =
            with_client(target, self.request.client(Questions::at_terminal()), fill_in).await?;
        match self.request.json {
            true => json::print(&prompt),
            false => show(&prompt),
        }
        Ok(Exit::Done)
    }
}

/// Adds what the user could have meant, if the server has no prompt of this name.
pub(super) async fn explain(client: &Client, name: &str, failure: Failure) -> Failure {
    let prompts = client.prompts().all().await.unwrap_or_default();
    let names: Vec<&str> = prompts.iter().map(|it| it.name.as_str()).collect();
    failure.suggesting(name, &names)
}

fn show(prompt: &GetPromptResult) {
    for message in &prompt.messages {
        let text = match &message.content {
            Content::Text(text) => text.text.clone(),
            other => content::described(other),
        };
        print::served(&format!("{}: {text}", message.role));
    }
}
