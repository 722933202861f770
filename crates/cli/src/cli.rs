//! The command line, and the list of commands.

use clap::{CommandFactory as _, Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
use crate::commands::sandbox;
use crate::commands::{
    bench, call, check, complete, completions, connect, demo, gateway, inspect, list, login,
    logout, man, prompt, read, request, serve, status, watch,
};
use crate::exit::{Exit, Failure};
use crate::print::{self, TerminalText, text};

/// Connects any MCP client to any MCP server
///
/// TARGET names a server: a URL, a name from a configuration file, or a quoted command. Without
/// TARGET, write the command that starts the server last, after `--`. `-- bowline demo --stdio` is a
/// built-in server to try.
#[derive(Debug, Parser)]
#[command(name = "bowline", version, propagate_version = false, max_term_width = 80)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  bowline demo                                 a built-in server to try
  bowline inspect                              every configured server
  bowline inspect https://mcp.example.com/mcp  each step, and what is wrong
  bowline list https://mcp.example.com/mcp     what a server offers
  bowline list 'uvx mcp-server-git'            the same of a command
  bowline call add a=40 b=2 -- ./calc          calls a tool of a command
  bowline check -- ./calc                      which rules it breaks
  bowline bench -- ./calc                      how fast it answers
  bowline connect https://mcp.example.com/mcp  the server, over stdio
  bowline serve -- npx -y some-server          a command, over HTTP
  bowline gateway bowline.json                 many servers as one
  bowline login https://mcp.example.com/mcp    once, for all of these
";

/// What `bowline` alone prints: little more than the commands.
const OVERVIEW: &str = "\
{about}

Usage: bowline COMMAND [OPTIONS] TARGET

{subcommands}

`bowline COMMAND -h` explains a command, `bowline -h` shows examples.
";

/// The commands, in the order of `--help`.
#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Inspect(inspect::Args),
    List(list::Args),
    Call(call::Args),
    Read(read::Args),
    Prompt(prompt::Args),
    Complete(complete::Args),
    Request(request::Args),
    Watch(watch::Args),
    Check(check::Args),
    Bench(bench::Args),
    Connect(connect::Args),
    Serve(serve::Args),
    Gateway(gateway::Args),
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    Sandbox(sandbox::Args),
    Login(login::Args),
    Logout(logout::Args),
    Status(status::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    async fn run(self) -> Result<Exit, Failure> {
        match self {
            Self::Demo(args) => args.run().await,
            Self::Inspect(args) => args.run().await,
            Self::List(args) => args.run().await,
            Self::Call(args) => args.run().await,
            Self::Read(args) => args.run().await,
            Self::Prompt(args) => args.run().await,
            Self::Complete(args) => args.run().await,
            Self::Request(args) => args.run().await,
            Self::Watch(args) => args.run().await,
            Self::Check(args) => args.run().await,
            Self::Bench(args) => args.run().await,
            Self::Connect(args) => args.run().await,
            Self::Serve(args) => args.run().await,
            Self::Gateway(args) => args.run().await,
            #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
            Self::Sandbox(args) => args.run(),
            Self::Login(args) => args.run().await,
            Self::Logout(args) => args.run().await,
            Self::Status(args) => args.run().await,
            Self::Completions(args) => Ok(args.run(Cli::command())),
            Self::Man(args) => args.run(Cli::command()),
        }
    }

    /// One thread is enough for a command that waits for one server, and starts faster.
    fn runtime() -> Result<Runtime, Failure> {
        Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(Exit::Unreachable, text!("cannot start the runtime: {error}"))
        })
    }
}

/// Reads the command line and runs the command.
///
/// # Errors
///
/// If the command fails. Wrong usage ends the process here, with clap's message.
pub(crate) fn run() -> Result<Exit, Failure> {
    let Some(command) = Cli::parse().command else {
        print::text(TerminalText::help::<Cli>(OVERVIEW));
        return Ok(Exit::Done);
    };
    let runtime = Command::runtime()?;
    let outcome = runtime.block_on(Box::pin(command.run()));
    // A prompt may still wait for a key on a thread of the runtime.
    runtime.shutdown_background();
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_help_text_fits_80_columns() {
        let mut description = Cli::command();
        description.build();
        let own = description.clone();
        for mut command in std::iter::once(own).chain(description.get_subcommands().cloned()) {
            let name = command.get_name().to_owned();
            for help in [command.render_help(), command.render_long_help()] {
                for line in help.to_string().lines() {
                    assert!(line.chars().count() <= 80, "{name}: {line}");
                }
            }
        }
    }

    #[test]
    fn every_example_in_the_help_is_a_command_line() {
        let mut description = Cli::command();
        description.build();
        let commands = description.get_subcommands().filter(|it| it.get_name() != "help");
        for command in std::iter::once(&description).chain(commands) {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> = help.lines().filter_map(example).collect();
            assert!(!examples.is_empty(), "{} has no examples", command.get_name());
            for example in examples {
                let words = shell_words::split(example).unwrap();
                let parsed = Cli::try_parse_from(&words);
                assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
            }
        }
    }

    /// The command of a line of examples, without what another program does, and without the remark
    /// to its right.
    fn example(line: &str) -> Option<&str> {
        let line = line.strip_prefix("  ")?;
        let line = line.split_once("  ").map_or(line, |(command, _)| command);
        let line =
            line.rsplit_once("<(").map_or(line, |(_, command)| command.trim_end_matches(')'));
        let mut commands = line.split(" | ").filter(|command| command.starts_with("bowline "));
        commands.next().map(|command| command.split(" > ").next().unwrap_or(command))
    }
}
