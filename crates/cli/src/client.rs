//! The client of this program: what it declares to servers, the same for every command, so that
//! `list` shows the tools that `call` can call.

use std::fs::canonicalize;
use std::time::Duration;

use bowline::Client;
use bowline::client::ClientBuilder;
use bowline_types::deprecated::roots::Root;

use crate::print::bar::Bar;
use crate::{questions, sampling};

/// The options that decide what a client declares.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct ClientArgs {
    /// Declares a root: a folder or file in which the server may work; can be repeated
    #[arg(long = "root", value_name = "PATH", value_parser = root)]
    roots: Vec<Root>,
    /// Answers requests to a model with this command: JSON on its input, text on its output
    #[arg(long, value_name = "COMMAND", value_parser = command)]
    sampling: Option<CommandWords>,
}

/// What happens to the questions of a server.
#[derive(Clone, Debug)]
pub(crate) enum Questions {
    /// The user answers them at the terminal; the progress bar is hidden meanwhile.
    Asked(Bar),
    /// They are declined.
    Declined,
}

impl Questions {
    /// The user answers them, and no progress is shown.
    pub(crate) fn at_terminal() -> Self {
        Self::Asked(Bar::hidden())
    }
}

impl ClientArgs {
    /// The configuration of a client. The command that answers for a model has this much time.
    pub(crate) fn builder(&self, questions: Questions, timeout: Duration) -> ClientBuilder {
        let builder = client().allow_urls();
        let builder = match questions {
            Questions::Asked(bar) => {
                builder.on_ask(move |question| questions::answer(question, bar.clone()))
            }
            Questions::Declined => builder.on_ask(|question| async move { question.decline() }),
        };
        // Declared only with roots: some servers work nowhere else once a client declares them.
        let builder = match self.roots.is_empty() {
            true => builder,
            false => builder.roots(self.roots.clone()),
        };
        match self.sampling.clone() {
            Some(CommandWords(words)) => {
                builder.on_sample(move |request| sampling::answer(request, words.clone(), timeout))
            }
            None => builder,
        }
    }

    /// Whether a command answers requests to a model.
    pub(crate) fn has_model(&self) -> bool {
        self.sampling.is_some()
    }
}

/// A client of this program that declares nothing but tasks.
pub(crate) fn client() -> ClientBuilder {
    Client::builder("bowline", env!("CARGO_PKG_VERSION")).tasks()
}

fn root(path: &str) -> Result<Root, String> {
    let path = canonicalize(path).map_err(|error| error.to_string())?;
    Root::from_path(path).map_err(|error| error.to_string())
}

/// A quoted command as words.
#[derive(Clone, Debug)]
struct CommandWords(Vec<String>);

fn command(text: &str) -> Result<CommandWords, String> {
    shell_words::split(text).map(CommandWords).map_err(|error| error.to_string())
}
