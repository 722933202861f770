//! The command behind `cargo xtask chaos`.
#![allow(clippy::print_stdout)] // A program: its output is what the user asked for.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use bowline_chaos::cluster::ClusterOptions;
use bowline_chaos::faults::Plan;
use bowline_chaos::report::Report;
use bowline_chaos::round::Round;

const HELP: &str = "\
Kills, pauses and restarts replicas, and breaks their store, under clients that note what they see.

  cargo xtask chaos                 all faults, for ten minutes: 30 kills, 10 restarts and 5 pauses of
                                    replicas; of the store 5 kills, 5 failovers and 2 restarts with
                                    nothing; 45 times connections to it fail for ten seconds
      --minutes N                   for so long; all faults in proportion
      --only rolling                only restarts by SIGTERM: 3 replicas, 10 times each
      --only kill                   only SIGKILL: 30 times
      --seed S                      make the same choices as another run
      --clients N                   so many clients with a session, 200 unless given, and a quarter as
                                    many without; one in four of both follows changes
";

/// The violations that are printed; of more, the rest looks the same.
const SHOWN: usize = 100;

struct Options {
    seed: u64,
    only: Option<String>,
    minutes: u64,
    clients: u64,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let options = read(&words)?;
    let round = round(&options)?;
    println!("seed {}, {} clients and {} without session", round.seed, round.legacy, round.modern);
    let (ledger, violations) = round.run().await?;
    print!("{}", Report::of(&ledger));
    println!("{:<36}{:>10}", "violations", violations.len());
    for violation in violations.iter().take(SHOWN) {
        println!("{violation}");
    }
    Ok(if violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read(words: &[String]) -> Result<Options> {
    let seed = std::time::UNIX_EPOCH.elapsed()?.as_secs();
    let mut options = Options { seed, only: None, minutes: 10, clients: 200 };
    for pair in words.chunks(2) {
        let [name, value] = pair else { bail!("`{}` needs a value", pair[0]) };
        match name.as_str() {
            "--seed" => options.seed = value.parse().context("--seed")?,
            "--minutes" => options.minutes = value.parse().context("--minutes")?,
            "--clients" => options.clients = value.parse().context("--clients")?,
            "--only" => options.only = Some(value.clone()),
            _ => bail!("`{name}` is no option; see `cargo xtask chaos --help`"),
        }
    }
    Ok(options)
}

fn round(options: &Options) -> Result<Round> {
    let Options { seed, only, minutes, clients } = options;
    let plan = match only.as_deref() {
        Some("rolling") => Plan::rolling(10),
        Some("kill") => Plan::kill(*seed, 30),
        None => Plan::mixed(*seed, *minutes),
        Some(other) => bail!("`--only {other}` is not known; there are `rolling` and `kill`"),
    };
    Ok(Round {
        seed: *seed,
        cluster: ClusterOptions {
            program: replica()?,
            lame_duck: Duration::from_secs(2),
            keep_alive: Duration::from_secs(1),
        },
        plan,
        legacy: *clients,
        modern: clients / 4,
        most_events: 40,
        settle: Duration::from_secs(3),
    })
}

/// The program of the replicas, which cargo builds beside this one.
fn replica() -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name("chaos-replica");
    if !program.exists() {
        bail!("there is no `{}`; build it first", program.display());
    }
    Ok(program)
}
