//! The options of the command line.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Shown by `cargo xtask bench --help`.
pub(crate) const HELP: &str = "\
Measures our echo server, rmcp and the ceiling side by side.

  --quick             few rounds: whether it works, not how fast it is
  --built             measure the programs as they were last built
  --case NAME         only cases whose name contains this; may be given again
  --rounds N          how often each subject is measured (25)
  --seconds S         how long each round of calls lasts (0.2)
  --json FILE         write all figures there, too
  --scaling           measure how cost grows and draw it to docs/performance/*.svg instead
  --peer NAME=COMMAND another server for the HTTP cases; {addr} stands for HOST:PORT, and it must
                      serve http://{addr}/mcp; may be given again";

/// The options of one run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) quick: bool,
    pub(crate) built: bool,
    pub(crate) cases: Vec<String>,
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
    pub(crate) json: Option<PathBuf>,
    pub(crate) scaling: bool,
    pub(crate) peers: Vec<Peer>,
}

/// A foreign server to measure beside the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Peer {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
}

impl Options {
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let quick = arguments.iter().any(|argument| argument == "--quick");
        // Many short rounds: if the speed of the machine changes from one second to the next, two
        // subjects in a row still get about the same.
        let rounds = if quick { 3 } else { 25 };
        let seconds = 0.2;
        let (cases, json, peers) = (Vec::new(), None, Vec::new());
        let (built, scaling) = (false, false);
        let mut options = Self { quick, built, cases, rounds, seconds, json, scaling, peers };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--quick" => {}
                "--built" => options.built = true,
                "--scaling" => options.scaling = true,
                "--case" => options.cases.push(value()?.clone()),
                "--rounds" => options.rounds = value()?.parse().context("--rounds")?,
                "--seconds" => options.seconds = value()?.parse().context("--seconds")?,
                "--json" => options.json = Some(value()?.into()),
                "--peer" => options.peers.push(Peer::parse(value()?)?),
                other => bail!("`{other}` is no option; see --help"),
            }
        }
        Ok(options)
    }

    /// The longest that one round of calls may take.
    pub(crate) fn patience(&self) -> Duration {
        Duration::from_secs_f64(self.seconds * 3.0 + 60.0)
    }
}

impl Peer {
    fn parse(text: &str) -> Result<Self> {
        let (name, command) = text.split_once('=').context("--peer wants NAME=COMMAND")?;
        let command = command.split_whitespace().map(str::to_owned).collect();
        Ok(Self { name: name.to_owned(), command })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let line = ["--quick", "--case", "http", "--rounds", "7", "--peer", "ts=node a.js {addr}"];
        let options = Options::parse(&line.map(str::to_owned)).unwrap();
        assert!(options.quick);
        assert_eq!((options.cases, options.rounds), (vec!["http".to_owned()], 7));
        assert_eq!(options.peers[0].command, ["node", "a.js", "{addr}"]);
    }

    #[test]
    fn an_unknown_option_is_named() {
        let error = Options::parse(&["--fast".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "`--fast` is no option; see --help");
    }
}
