//! `bowline sandbox`: runs a command that the kernel keeps away from files and network.
//!
//! The process restricts itself (Landlock) and then becomes the command, so the restrictions hold
//! for the command and all processes that it starts, and cannot be taken back. What the kernel does
//! not enforce is refused, never left out.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

use crate::exit::{Exit, Failure};

/// Runs a command with only the files and network you allow (Linux)
///
/// Write it before the command of a server, here or in the configuration of a host. The server and
/// all processes that it starts can read the folders of the system, such as /usr and /etc, and
/// nothing else; they cannot use TCP. The kernel enforces it (Landlock, since Linux 6.7), without
/// root.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Allows reading this file or folder, and running programs in it; can be repeated
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// Allows reading and changing this file or folder; can be repeated
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Allows TCP
    #[arg(long)]
    network: bool,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

const EXAMPLES: &str = "\
Examples:
  bowline sandbox --read . -- ./server
  bowline serve -- bowline sandbox --write notes -- ./server
  bowline call echo message=hi -- bowline sandbox -- ./server
  bowline sandbox --network -- bowline connect https://mcp.example.com/mcp
";

/// What programs need to run: libraries, programs, and the settings of the system.
const SYSTEM: &[&str] = &[
    "/bin",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/sbin",
    "/usr",
    "/run/systemd/resolve",
];

/// Devices without data.
const DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The rights of files that a kernel must know. An older one could not keep a program from emptying
/// the files that it must not change.
const FILES: ABI = ABI::V3;
/// The newest rights that are used where the kernel knows them.
const NEWEST: ABI = ABI::V9;

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        let (program, arguments) = self.command.split_first().expect("clap demands a command");
        self.restrict(Path::new(program))?;
        let error = Command::new(program).args(arguments).exec();
        let text = format!("`{}` cannot be started: {error}", program.display());
        Err(Failure::new(Exit::Unreachable, text)
            .hint("`--read FOLDER` lets it run programs of a folder that is not the system's"))
    }

    fn restrict(&self, program: &Path) -> Result<(), Failure> {
        // A program without a folder is found by PATH: in the system, or in a folder that is
        // allowed.
        let own = program.components().nth(1).map(|_| program.to_owned());
        let read: Vec<PathBuf> = self.read.iter().cloned().chain(own).collect();
        for path in read.iter().chain(&self.write) {
            let wrong = |error| Failure::usage(format!("{}: {error}", path.display()));
            path.metadata().map_err(wrong)?;
        }
        let (reading, all) = (AccessFs::from_read(NEWEST), AccessFs::from_all(NEWEST));
        let enforced = self
            .handled()
            .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, reading)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, all)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(&read, reading)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(&self.write, all)))
            .and_then(RulesetCreated::restrict_self);
        enforced.map(drop).map_err(|error| unenforced(&error))
    }

    /// What is forbidden unless a rule allows it.
    fn handled(&self) -> Result<RulesetCreated, RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(FILES))?;
        if !self.network {
            rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        rules
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .scope(Scope::AbstractUnixSocket | Scope::Signal)?
            .create()
    }
}

fn unenforced(error: &RulesetError) -> Failure {
    let text = format!("this kernel cannot enforce the sandbox: {error}");
    Failure::new(Exit::Unreachable, text)
        .hint("it needs Linux 6.7 with Landlock, or 6.2 with `--network`")
}
