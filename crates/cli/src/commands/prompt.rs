//! `bowline prompt`: fills in a prompt of a server.

use bowline::types::content::Content;
use bowline::types::prompt::GetPromptResult;

use crate::arguments::pair;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::{self, content, json};
use crate::target::{TargetArgs, client};

/// Fills in a prompt and prints its messages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline prompt [OPTIONS] TARGET NAME [KEY=VALUE…]
       bowline prompt [OPTIONS] NAME [KEY=VALUE…] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the prompt, and its arguments
    #[arg(value_name = "TARGET] NAME [KEY=VALUE")]
    words: Vec<String>,
    /// Prints the whole result as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: TargetArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline prompt https://mcp.example.com/mcp review language=Rust
  bowline prompt summarize --json -- ./notes-server
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?;
        let Some((name, words)) = self.words.split_first() else {
            return Err(Failure::usage("no prompt is named")
                .hint("`bowline list TARGET prompts` shows the prompts"));
        };
        let arguments = words.iter().map(|word| pair(word)).collect::<Result<Vec<_>, _>>()?;
        let client = interruptible(target.connect(client())).await?;
        let prompt = async { Ok(client.prompt(name).arguments(arguments).await?) };
        let prompt = interruptible(prompt).await;
        client.close().await;
        let prompt = prompt?;
        match self.json {
            true => json::print(&prompt),
            false => show(&prompt),
        }
        Ok(Exit::Done)
    }
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
