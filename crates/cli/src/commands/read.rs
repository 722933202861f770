//! `bowline read`: reads a resource.

use bowline::Client;
use bowline::client::Contents;
use bowline_types::resource::ResourceBody;

use crate::client::Questions;
use crate::exit::{Exit, Failure};
use crate::print::{self, json, text};
use crate::request::{RequestArgs, with_client};

/// Reads a resource
///
/// Text and bytes go to standard output as they are, so that they can be written to a file. In JSON
/// bytes are base64.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline read [OPTIONS] TARGET URI
       bowline read [OPTIONS] URI -- COMMAND…")]
pub(crate) struct Args {
    /// The server, and the URI of the resource
    #[arg(value_name = "TARGET] [URI")]
    words: Vec<String>,
    #[command(flatten)]
    request: RequestArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline read demo://clock -- bowline demo --stdio
  bowline read https://mcp.example.com/mcp docs://handbook
  bowline read docs://logo.png -- ./docs-server > logo.png
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.request.take_target(&mut self.words)?;
        let [uri] = &self.words[..] else {
            return Err(Failure::usage("expected one URI")
                .hint("`bowline list TARGET resources` shows the resources"));
        };
        let read = async |client: &Client| match client.read(uri).await {
            Err(error) if error.is_not_found() => Err(explain(client, uri, error.into()).await),
            contents => Ok(contents?),
        };
        let contents =
            with_client(target, self.request.client(Questions::at_terminal()), read).await?;
        self.print(contents)?;
        Ok(Exit::Done)
    }

    fn print(&self, contents: Contents) -> Result<(), Failure> {
        if self.request.json {
            json::print(&contents.into_message());
            return Ok(());
        }
        for part in &contents {
            match &part.body {
                ResourceBody::Text(text) => print::file(text),
                _ => {
                    let bytes = part.to_bytes().map_err(|error| {
                        Failure::new(Exit::Violation, text!("`{}`: {error}", part.uri))
                    })?;
                    if print::is_terminal() {
                        let (size, kind) = (bytes.len(), part.mime_type.as_deref());
                        let kind = kind.unwrap_or("bytes");
                        print::note(text!(
                            "{size} bytes ({kind}); write them to a file with `> FILE`"
                        ));
                    } else {
                        print::bytes(&bytes);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Adds what the user could have meant.
async fn explain(client: &Client, uri: &str, failure: Failure) -> Failure {
    let resources = client.resources().all().await.unwrap_or_default();
    let uris: Vec<&str> = resources.iter().map(|it| it.uri.as_str()).collect();
    failure.suggesting(uri, &uris)
}
