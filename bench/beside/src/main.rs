//! Measures `bowline` beside the programs that people use for the same jobs: `cargo xtask beside`.
//!
//! All of them work on one server, our `echo`, which starts within milliseconds, so the figures are
//! those of the programs. In reading order: [`install`] builds and installs everything;
//! [`programs`] lists the programs and their command lines; [`once`] measures commands that end by
//! themselves; [`bridge`] measures programs that stand between a client and a server; [`memory`]
//! reads the memory of processes; [`table`] prints.

mod bridge;
mod install;
mod memory;
mod once;
mod programs;
mod table;

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::install::Installed;
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
    let mut table = Table::new(["bridge", "idle memory", "one call", "added to a direct call"]);
    for way in bridge::WAYS {
        let direct = runtime.block_on(bridge::direct(installed, *way, options.calls))?;
        table.row([format!("{way}: none"), String::new(), bridge::micros(direct), String::new()]);
        for program in PROGRAMS {
            let Some(command) = way.command_of(program) else { continue };
            let measured = bridge::measure(installed, *way, command, options.calls);
            let cells = match runtime.block_on(measured) {
                Ok(it) => [it.memory(), bridge::micros(it.call), bridge::micros(it.call - direct)],
                Err(error) => [format!("failed: {error:#}"), String::new(), String::new()],
            };
            let [memory, call, added] = cells;
            table.row([format!("{way}: {}", program.name), memory, call, added]);
        }
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
