//! `bowline read`: reads a resource.

use bowline::client::Contents;
use bowline::types::resource::ResourceBody;

use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::print::{self, json};
use crate::target::{TargetArgs, client};

/// Reads a resource
///
/// Text and bytes go to standard output as they are, so that they can be written to a file.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "bowline read [OPTIONS] TARGET URI
       bowline read [OPTIONS] URI -- COMMAND…")]
pub(crate) struct Args {
    /// The server, and the URI of the resource
    #[arg(value_name = "TARGET] [URI")]
    words: Vec<String>,
    /// Prints the whole result as JSON, with bytes as base64
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: TargetArgs,
}

const EXAMPLES: &str = "\
Examples:
  bowline read https://mcp.example.com/mcp docs://handbook
  bowline read docs://logo.png -- ./docs-server > logo.png
";

impl Args {
    pub(crate) async fn run(mut self) -> Result<Exit, Failure> {
        let target = self.server.take(&mut self.words)?;
        let [uri] = &self.words[..] else {
            return Err(Failure::usage("expected one URI")
                .hint("`bowline list TARGET resources` shows the resources"));
        };
        let client = interruptible(target.connect(client())).await?;
        let contents = interruptible(async { Ok(client.read(uri).await?) }).await;
        client.close().await;
        self.print(contents?)?;
        Ok(Exit::Done)
    }

    fn print(&self, contents: Contents) -> Result<(), Failure> {
        if self.json {
            json::print(&contents.into_message());
            return Ok(());
        }
        for part in &contents {
            match &part.body {
                ResourceBody::Text(text) => print::served(text),
                _ => {
                    let bytes = part.to_bytes().map_err(|error| {
                        Failure::new(Exit::Violation, format!("`{}`: {error}", part.uri))
                    })?;
                    if print::is_terminal() {
                        let (size, kind) = (bytes.len(), part.mime_type.as_deref());
                        let kind = kind.unwrap_or("bytes");
                        print::note(&format!(
                            "{size} bytes ({}); write them to a file with `> FILE`",
                            print::clean(kind)
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
