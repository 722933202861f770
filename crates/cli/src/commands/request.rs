//! `bowline request`: sends one request of any method, and prints the answer.

use bowline::Client;
use bowline_types::json::{Object, RawJson};

use crate::arguments::standard_input;
use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::{json, text};
use crate::request::{RequestArgs, awaited, with_client};

/// Sends one request of any method and prints its result as JSON
///
/// The connection begins as usual, and the members of `_meta` that the protocol demands are added.
/// The params are sent as they are, so this shows what a server does with unusual ones. A method of
/// the protocol is sent only if the revision has it and the server declares what it needs.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline request [OPTIONS] TARGET METHOD [JSON]
       bowline request [OPTIONS] METHOD [JSON] -- COMMAND…")]
pub(crate) struct Args {
    /// The server, the method, and its params as a JSON object; `-` reads them from standard input
    #[arg(value_name = "TARGET] METHOD [JSON")]
    words: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline request tools/list -- bowline demo --stdio
  bowline request prompts/get '{\"name\": \"haiku\"}' -- bowline demo --stdio
  bowline request https://mcp.example.com/mcp tools/list '{\"cursor\": \"2\"}'
  bowline request --trace ping --revision 2025-11-25 -- ./my-server
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let (method, params) = match &self.words[..] {
            [method] => (method, Object::default()),
            [method, params] => {
                let input = interruptible(standard_input(&self.words)).await?;
                (method, object(input.as_deref().unwrap_or(params))?)
            }
            _ => {
                return Err(Failure::usage("expected a method, and a JSON object for its params")
                    .hint("`bowline request TARGET tools/list '{}'`"));
            }
        };
        let ask = async |client: &Client| {
            let call = client.raw_request(method, params);
            Ok(awaited(text!("waiting for the answer to {method}"), call.into_future()).await?)
        };
        let builder = self.request.client(Questions::at_terminal());
        let result = with_client(target, builder, ask).await?;
        json::print(&result);
        Ok(Exit::Done)
    }
}

fn object(json: &str) -> Result<Object, Failure> {
    let wrong = |reason: String| {
        Failure::usage(text!("the params: {reason}")).hint(r#"write a JSON object: `{"name": 1}`"#)
    };
    let json = RawJson::from_text(json.trim()).map_err(|error| wrong(error.to_string()))?;
    Object::new(json).map_err(|_| wrong("they are no JSON object".to_owned()))
}
