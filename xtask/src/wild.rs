//! `cargo xtask wild`: the command against servers of npm and PyPI, beside clients of others.
//!
//! Each server is installed in its pinned version below `target/wild`, with dummy keys where it wants
//! some. Then the command lists, inspects, checks and calls it, directly, through `connect` into the
//! other era, and through `serve`; Inspector and mcporter list it too. What they list and we do not is
//! an error, and so are other lists behind a bridge. The results are written to `docs/wild.md`.

mod install;
mod listing;
mod server;
mod table;
mod trial;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail, ensure};

use self::install::Workshop;
use self::server::Server;
use self::trial::Trial;
use crate::command::{cargo, run as start};
use crate::tree::root;

const HELP: &str = "\
cargo xtask wild: the command against servers of npm and PyPI, beside Inspector and mcporter.

  --only NAME     only this server; can be repeated. docs/wild.md stays as it is
  --binary PATH   this command instead of a release build of the repository
  --list          only print the servers
";

/// The number of servers that are tried at the same time.
const AT_ONCE: usize = 2;

#[derive(Default)]
struct Options {
    only: Vec<String>,
    binary: Option<PathBuf>,
}

/// Runs `cargo xtask wild`.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    let servers = server::all()?;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().with_context(|| format!("{argument} needs a value"));
        match *argument {
            "--help" => return print(HELP),
            "--list" => return print(&server::names(&servers)),
            "--only" => options.only.push((*value()?).to_owned()),
            "--binary" => options.binary = Some(PathBuf::from(value()?)),
            other => bail!("unexpected argument `{other}`; see `cargo xtask wild --help`"),
        }
    }
    let chosen = chosen(servers, &options.only)?;
    let workshop = Workshop::open(binary(&options)?)?;
    let trials = try_all(&workshop, &chosen);
    let faults: Vec<String> = trials.iter().flat_map(Trial::faults).collect();
    if options.only.is_empty() {
        let page = root().join("docs/wild.md");
        let text = std::fs::read_to_string(&page).context("docs/wild.md cannot be read")?;
        std::fs::write(&page, table::replaced(&text, &trials)?)?;
        judges_work(&trials)?;
    } else {
        print(&table::rows(&trials))?;
    }
    ensure!(faults.is_empty(), "the command lists something else:\n{}", faults.join("\n"));
    Ok(())
}

/// A comparison with clients that list hardly anything would prove nothing.
fn judges_work(trials: &[Trial]) -> Result<()> {
    let count = |lists: fn(&Trial) -> bool| trials.iter().filter(|it| lists(it)).count();
    let judges = [
        ("Inspector", count(|it| it.inspector.is_ok())),
        ("mcporter", count(|it| it.mcporter.is_ok())),
    ];
    for (judge, listed) in judges {
        ensure!(listed * 2 > trials.len(), "{judge} lists {listed} of {} servers", trials.len());
    }
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "it ends a command")]
fn print(text: &str) -> Result<()> {
    print!("{text}");
    Ok(())
}

fn chosen(servers: Vec<Server>, only: &[String]) -> Result<Vec<Server>> {
    if let Some(name) = only.iter().find(|name| !servers.iter().any(|it| it.name == **name)) {
        bail!("`{name}` is no server of the list; see `cargo xtask wild --list`");
    }
    Ok(servers.into_iter().filter(|it| only.is_empty() || only.contains(&it.name)).collect())
}

/// The command to try, built if none is named.
fn binary(options: &Options) -> Result<PathBuf> {
    let binary = match &options.binary {
        Some(path) => path.clone(),
        None => {
            start(cargo().args(["build", "--release", "--package", "bowline-cli"]))?;
            root().join("target/release/bowline")
        }
    };
    let found = Path::new(&binary).canonicalize();
    found.with_context(|| format!("there is no command at {}", binary.display()))
}

/// Installs and tries all servers, [`AT_ONCE`] at the same time; the results are in their order.
fn try_all(workshop: &Workshop, servers: &[Server]) -> Vec<Trial> {
    let next = Mutex::new(servers.iter().enumerate());
    let trials = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((index, server)) = { next.lock().expect("no thread panics").next() }
                {
                    println!("{} …", server.name);
                    let trial = trial::run(workshop, server);
                    trials.lock().expect("no thread panics").push((index, trial));
                }
            });
        }
    });
    let mut trials = trials.into_inner().expect("no thread panics");
    trials.sort_by_key(|(index, _)| *index);
    trials.into_iter().map(|(_, trial)| trial).collect()
}
