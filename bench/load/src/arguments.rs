//! The command line: words, and options with a value each.

use std::collections::HashMap;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::figures::Length;
use crate::message::{Call, Revision};

/// The words and options of a command line.
#[derive(Debug, Default)]
pub struct Arguments {
    /// The words that are no options, in order.
    pub words: Vec<String>,
    options: HashMap<String, String>,
}

/// Options of `load` itself; other words with dashes belong to the program it starts.
const OPTIONS: &[&str] = &[
    "revision",
    "connections",
    "window",
    "bytes",
    "seconds",
    "calls",
    "method",
    "tool",
    "count",
    "streams",
    "core",
];

impl Arguments {
    /// Separates words from options.
    ///
    /// # Errors
    ///
    /// If an option has no value.
    pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut parsed = Self::default();
        let mut arguments = arguments.into_iter().peekable();
        while let Some(word) = arguments.next() {
            let Some(name) = word.strip_prefix("--").filter(|name| OPTIONS.contains(name)) else {
                parsed.words.push(word);
                continue;
            };
            // `--streams` may stand without a number.
            let has_value = arguments.peek().is_some_and(|next| !next.starts_with("--"));
            let value = if has_value { arguments.next() } else { None };
            if value.is_none() && name != "streams" {
                bail!("--{name} needs a value");
            }
            parsed.options.insert(name.to_owned(), value.unwrap_or_default());
        }
        Ok(parsed)
    }

    /// Whether an option was given.
    pub fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    /// The value of an option.
    ///
    /// # Errors
    ///
    /// If it cannot be parsed.
    pub fn option<T: FromStr<Err: std::fmt::Display>>(&self, name: &str) -> Result<Option<T>> {
        let Some(value) = self.options.get(name) else { return Ok(None) };
        let parsed = value.parse().map_err(|error| anyhow!("--{name} {value}: {error}"))?;
        Ok(Some(parsed))
    }

    /// The revision to speak.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn revision(&self) -> Result<Revision> {
        self.option("revision")?.context("--revision is missing")
    }

    /// What to call.
    ///
    /// # Errors
    ///
    /// If `--method` is nothing that can be called.
    pub fn call(&self) -> Result<Call> {
        let method: Option<String> = self.option("method")?;
        Ok(match method.as_deref() {
            None | Some("echo") => Call::Echo {
                tool: self.option("tool")?.unwrap_or_else(|| "echo".to_owned()),
                bytes: self.option("bytes")?.unwrap_or(64),
            },
            Some("list") => Call::List,
            Some("progress") => Call::Progress,
            Some(other) => bail!("--method {other} is none of echo, list and progress"),
        })
    }

    /// How long to make calls, and for how long before the measurement starts.
    ///
    /// # Errors
    ///
    /// If neither time nor number is given.
    pub fn length(&self) -> Result<(Option<Length>, Length)> {
        if let Some(calls) = self.option("calls")? {
            return Ok((None, Length::Calls(calls)));
        }
        let seconds: f64 = self.option("seconds")?.context("say --seconds or --calls")?;
        let time = Duration::from_secs_f64(seconds);
        Ok((Some(Length::Time(time / 5)), Length::Time(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_program_stay_words() {
        let line = "stdio valgrind --tool=callgrind echo stdio --window 32 --streams";
        let arguments = Arguments::parse(line.split(' ').map(str::to_owned)).unwrap();
        assert_eq!(arguments.words, ["stdio", "valgrind", "--tool=callgrind", "echo", "stdio"]);
        assert_eq!(arguments.option("window").unwrap(), Some(32));
        assert!(arguments.has("streams"));
    }

    #[test]
    fn an_option_without_its_value_is_named() {
        let error = Arguments::parse(["--bytes".to_owned()]).unwrap_err();
        assert_eq!(error.to_string(), "--bytes needs a value");
    }
}
