//! `bowline complete`: suggestions for an argument of a prompt or a variable of a template.

use bowline::Client;
use bowline_types::completion::Reference;

use super::prompt;
use crate::arguments::pair;
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::print::{self, json};
use crate::request::{RequestArgs, with_client};

/// Suggests values for arguments of prompts and resource templates
///
/// The last KEY=VALUE is completed; those before it are what the user chose already.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline complete [OPTIONS] TARGET PROMPT|TEMPLATE KEY=VALUE…
       bowline complete [OPTIONS] PROMPT|TEMPLATE KEY=VALUE… -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the prompt or template, and what was typed so far
    #[arg(value_name = "TARGET] PROMPT|TEMPLATE [KEY=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline complete review language=R -- bowline demo --stdio
  bowline complete https://mcp.example.com/mcp review language=Ru
  bowline complete 'users://{country}/{city}' country=France city=Pa -- ./users
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let [subject, chosen @ .., typed] = &self.words[..] else {
            return Err(Failure::usage("expected a prompt or a template, and `key=value`")
                .hint("`bowline list TARGET prompts templates` shows them"));
        };
        let reference = match is_template(subject) {
            true => Reference::resource(subject),
            false => Reference::prompt(subject),
        };
        let (name, value) = pair(typed)?;
        let chosen = chosen.iter().map(|word| pair(word)).collect::<Result<Vec<_>, _>>()?;
        let complete = async |client: &Client| {
            let call = client.complete(reference).argument(name, value);
            let call =
                chosen.into_iter().fold(call, |call, (name, value)| call.context(name, value));
            match call.await {
                Err(error) if error.is_refused() => {
                    Err(explain(client, subject, error.into()).await)
                }
                completion => Ok(completion?),
            }
        };
        let completion =
            with_client(target, self.request.client(Questions::at_terminal()), complete).await?;
        if self.request.json {
            json::print(&completion);
        } else if !completion.values().is_empty() {
            print::served(&completion.values().join("\n"));
        }
        Ok(Exit::Done)
    }
}

fn is_template(subject: &str) -> bool {
    subject.contains("://")
}

/// Adds what the user could have meant, if the server has no such prompt or template.
async fn explain(client: &Client, subject: &str, failure: Failure) -> Failure {
    if !is_template(subject) {
        return prompt::explain(client, subject, failure).await;
    }
    let templates = client.resource_templates().all().await.unwrap_or_default();
    let names: Vec<&str> = templates.iter().map(|it| it.uri_template.as_str()).collect();
    failure.suggesting(subject, &names)
}
