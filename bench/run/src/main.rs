//! Runs the benchmark: `cargo xtask bench`.
//!
//! In reading order: [`options`] reads the command line; [`programs`] builds the subjects; [`case`]
//! defines a measurement and [`cases`] lists all; [`rounds`] measures the subjects in turn;
//! [`bars`] holds the targets; [`report`] prints the figures. [`scaling`] measures how cost grows
//! and [`plot`] draws it. [`process`] starts and ends programs.

mod bars;
mod case;
mod cases;
mod options;
mod plot;
mod process;
mod programs;
mod report;
mod rounds;
mod scaling;

use std::process::ExitCode;

use anyhow::Result;

use crate::options::Options;
use crate::programs::Bench;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help") {
        println!("{}", options::HELP);
        return Ok(ExitCode::SUCCESS);
    }
    let options = Options::parse(&arguments)?;
    process::allow_many_files()?;
    let bench = Bench::build(options)?;
    if bench.options.scaling {
        return scaling::run(&bench).map(|()| ExitCode::SUCCESS);
    }
    let cases = cases::chosen(&bench);
    let measured = rounds::measure(&bench, &cases);
    let verdicts = bars::judge(&measured);
    println!("{}", report::table(&measured));
    println!("{}", report::verdicts(&verdicts));
    if let Some(path) = &bench.options.json {
        report::write_json(path, &bench, &measured, &verdicts)?;
    }
    let has_failures = measured.iter().any(|it| it.failures().next().is_some());
    Ok(if has_failures { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
