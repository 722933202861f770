//! Measures `bowline` beside the programs that people use for the same jobs: `cargo xtask beside`.
//!
//! All of them work on one server, our `echo`, which starts within milliseconds, so the figures are
//! those of the programs. In reading order: [`install`] builds and installs everything;
//! [`programs`] lists the programs and their command lines; [`once`] measures commands that end by
//! themselves; [`bridge`] measures programs that stand between a client and a server, and
//! [`instructions`] counts what a call costs ours; [`memory`] reads the memory of processes;
//! [`table`] prints.

mod bridge;
mod install;
mod instructions;
mod memory;
mod once;
mod programs;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::install::Installed;
use crate::instructions::Counted;
use crate::programs::PROGRAMS;
use crate::table::Table;

const HELP: &str = "\
Measures `bowline` beside Inspector, mcporter, mcp-remote, supergateway and both programs that are
called mcp-proxy, in one run. The first run installs them below bench/beside.

  --built      measure `bowline` as it was last built
  --rounds N   how often each command runs, in turn (9)
  --calls N    how many calls go through each bridge (500)";

/// The options of one run.
struct Options {
    built: bool,
    rounds: usize,
    calls: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, command @ ..] = &arguments[..]
        && word == once::WORD
    {
        return once::run_command(command);
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{HELP}");
        return Ok(());
    }
    let options = Options::parse(arguments)?;
    let installed = Installed::prepare(options.built)?;
    println!("{}", starts(&installed, &options)?);
    println!("{}", lists(&installed, &options)?);
    println!("{}", bridges(&installed, &options)?);
    println!("{}", instructions(&installed)?);
    println!("bowline is one file of {:.1} MB.", installed.size_of_bowline()? / 1e6);
    Ok(())
}

fn starts(installed: &Installed, options: &Options) -> Result<Table> {
    let commands = PROGRAMS.iter().filter_map(|it| Some((it.name, installed.fill(it.version?))));
    let runs = once::measure(&commands.collect::<Vec<_>>(), options.rounds)?;
    let mut table = Table::new(["`--version`", "time", "memory"]);
    for (name, run) in runs {
        table.row([name.to_owned(), run.time(), run.memory()]);
    }
    Ok(table)
}

fn lists(installed: &Installed, options: &Options) -> Result<Table> {
    let commands = PROGRAMS.iter().filter_map(|it| Some((it.name, installed.fill(it.list?))));
    let runs = once::measure(&commands.collect::<Vec<_>>(), options.rounds)?;
    let mut table = Table::new(["`tools/list` of a stdio server", "time", "memory"]);
    for (name, run) in runs {
        table.row([name.to_owned(), run.time(), run.memory()]);
    }
    Ok(table)
}

fn bridges(installed: &Installed, options: &Options) -> Result<Table> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut table = Table::new(["bridge", "idle", "after the calls", "one call", "added"]);
    for way in bridge::WAYS {
        let direct = runtime.block_on(bridge::direct(installed, *way, options.calls))?;
        let none = String::new;
        table.row([format!("{way}: none"), none(), none(), bridge::micros(direct), none()]);
        for program in PROGRAMS {
            let Some(command) = way.command_of(program) else { continue };
            let measured = bridge::measure(installed, *way, command, options.calls);
            let cells = match runtime.block_on(measured) {
                Ok(it) => {
                    let (call, added) = (bridge::micros(it.call), it.call - direct);
                    [it.idle(), it.used(), call, bridge::micros(added)]
                }
                Err(error) => [format!("failed: {error:#}"), none(), none(), none()],
            };
            let [idle, used, call, added] = cells;
            table.row([format!("{way}: {}", program.name), idle, used, call, added]);
        }
    }
    Ok(table)
}

/// Only of our programs: valgrind does not run those that compile while they run.
fn instructions(installed: &Installed) -> Result<Table> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let count = |process| runtime.block_on(instructions::per_call(installed, process));
    let mut table = Table::new(["instructions of one call", "server", "`bowline` before it"]);
    for way in bridge::WAYS {
        let Some(command) = way.command_of(&PROGRAMS[0]) else { continue };
        let server = count(Counted::Server(*way))?;
        let bridge = count(Counted::Bridge(*way, command))?;
        table.row([way.to_string(), server.to_string(), bridge.to_string()]);
    }
    Ok(table)
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self { built: false, rounds: 9, calls: 500 };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value =
                || arguments.next().with_context(|| format!("{argument} needs a value"));
            match argument.as_str() {
                "--built" => options.built = true,
                "--rounds" => options.rounds = value()?.parse().context("--rounds")?,
                "--calls" => options.calls = value()?.parse().context("--calls")?,
                other => bail!("`{other}` is no option; see --help"),
            }
        }
        Ok(options)
    }
}
