//! Tasks of this repository: `cargo xtask help`.
//!
//! In reading order: [`mod@test`] runs everything that must pass, [`quick`] the part of it that a
//! change needs; [`tidy`] checks what the compiler cannot, [`size`] counts what it checks; [`ledger`] counts which requirements of
//! the specification have a test; [`api`] shows what the facade promises; [`budget`] counts instructions, [`mod@bench`] measures times;
//! [`chaos`] kills replicas and breaks their store;
//! [`wild`] tries servers of npm and PyPI;
//! [`demo`] shows the command at work, [`replicas`] a server on several machines, [`picture`] draws
//! the binary at work; [`release`] checks what a release needs. [`kernel`] finds what the kernel of
//! this machine can do; [`tree`], [`tokens`] and [`markdown`] read the repository for the checks.

// This is a program: its output is what the user asked for.
#![allow(clippy::print_stdout)]

mod api;
mod bench;
mod budget;
mod chaos;
mod command;
mod demo;
mod finding;
mod kernel;
mod ledger;
mod markdown;
mod picture;
mod quick;
mod release;
mod replicas;
mod size;
mod test;
mod tidy;
mod tokens;
mod tree;
mod wild;

use std::process::ExitCode;

use anyhow::{Result, bail};

const HELP: &str = "\
Tasks of this repository.

  cargo xtask test            install what tests need and run everything that must pass
  cargo xtask quick           format, tidy, and the tests of the crates that changed since `main`
  cargo xtask tidy            check sizes, layers and habits that the compiler does not know
      --circles               list the files that import each other in circles
      --RULE                  list the findings of one rule, even below its ceiling
  cargo xtask size            how large the code is: lines, functions, files, knots of modules, documentation
  cargo xtask ledger          count which requirements of the specification have a test
      --check                 fail when a figure is below docs/spec/floor.md
      --raise                 write today's figures to docs/spec/floor.md, never lower ones
      --open AREA             list the requirements of an area that nothing covers yet
      --thin                  list the MUST requirements that a single test cites
      --id ID                 show one requirement and the tests that cite it
  cargo xtask api             compare what `bowline` exports with docs/api.txt, and check all documentation
      --write                 write what it exports today
  cargo xtask budget          count the instructions of the hot paths; fail when docs/performance/budget.md
                              is exceeded by more than 10 %
      --write                 write today's figures there
  cargo xtask bench           measure Bowline beside rmcp and beside a minimal server
      --quick                 one short round, to see that it works
      --help                  list all options: cases, rounds, peers, scaling
  cargo xtask beside          measure the binary beside the programs that people use for its jobs
  cargo xtask chaos           kill and restart replicas and break their store, under clients that check
                              what they get; see docs/testing.md
      --only kill|rolling     only kills, or only restarts
      --help                  list all options: minutes, seed, clients
  cargo xtask wild            try the command against servers of npm and PyPI, beside Inspector and mcporter;
                              writes docs/wild.md
      --help                  list all options
  cargo xtask demo            build the command and let it call its built-in server
  cargo xtask replicas        start three replicas of a server behind nginx, with one Redis
      --port N                where nginx listens; 0 is a free port, 8080 is the usual one
  cargo xtask picture         draw the README's picture of a terminal anew (docs/picture.svg)
  cargo xtask release-check   licences, advisories and semantic versioning, before a release
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[&str]) -> Result<()> {
    match arguments {
        [] | ["help" | "--help" | "-h"] => print!("{HELP}"),
        ["test"] => test::run()?,
        ["quick"] => quick::run()?,
        ["size"] => size::run()?,
        ["tidy", options @ ..] => tidy::run(options)?,
        ["ledger", options @ ..] => ledger::run(options)?,
        ["api", options @ ..] => api::run(options)?,
        ["budget", options @ ..] => budget::run(options)?,
        ["bench", options @ ..] => bench::run(options)?,
        ["beside", options @ ..] => bench::beside(options)?,
        ["chaos", options @ ..] => chaos::run(options)?,
        ["wild", options @ ..] => wild::run(options)?,
        ["demo"] => demo::run()?,
        ["replicas", options @ ..] => replicas::run(options)?,
        ["picture"] => picture::run()?,
        ["release-check"] => release::run()?,
        _ => bail!("`{}` is no task; see `cargo xtask help`", arguments.join(" ")),
    }
    Ok(())
}
