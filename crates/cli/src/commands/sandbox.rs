//! `bowline sandbox`: runs a command that the kernel keeps away from files, network and processes.
//!
//! The process restricts itself and then becomes the command, so the restrictions hold for the
//! command and all processes that it starts, and cannot be taken back. Landlock restricts files,
//! TCP and signals; `calls` refuses the system calls that Landlock does not restrict, such as those
//! that make other sockets; `privileges` leaves the command no privileges and no open files. What the
//! kernel does not enforce is refused, or printed if the user asks for a best effort.
//!
//! docs/commands/sandbox.md lists what a command cannot do, and what it still can. Tests try each of
//! these things.

mod calls;
mod privileges;

use std::ffi::OsString;
use std::fmt::Display;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset, RulesetAttr as _,
    RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use self::calls::Allowed;
use crate::exit::{Exit, Failure};
use crate::print::{self, text};

/// Runs a command with only the files and network you allow (Linux)
///
/// Write it before the command of a server, here or in the configuration of a host. The server and
/// all processes that it starts can read the folders of the system, such as /usr and /etc, and no
/// other files. They cannot use the network, connect to socket files, or signal other processes. The
/// kernel enforces it (Landlock and seccomp, since Linux 6.12), without root. The page of this
/// command lists all that it prevents, and what it does not.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Allows reading this file or folder, and running programs in it; can be repeated
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// Allows reading and changing this file or folder; can be repeated
    #[arg(long, value_name = "PATH")]
    write: Vec<PathBuf>,
    /// Allows the network: TCP, UDP and the names of hosts
    #[arg(long)]
    network: bool,
    /// Allows UNIX sockets. Through the socket of a user's bus or of a container daemon the command
    /// can then start programs outside the sandbox
    #[arg(long)]
    unix_sockets: bool,
    /// Allows changing the mode, owner, times and attributes of files: of all files that you own, not
    /// only of those that the command can read or write
    #[arg(long)]
    metadata: bool,
    /// Allows watching files for changes: the command then learns the names of files in all folders
    /// that you can read
    #[arg(long)]
    watch: bool,
    /// Runs the command even if you are root. It can then read the files of root in the folders of
    /// the system, such as /etc/shadow
    #[arg(long)]
    as_root: bool,
    /// Runs the command even if the kernel cannot enforce all of this, and prints what it cannot
    /// (Linux 6.2 to 6.11)
    #[arg(long)]
    best_effort: bool,
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

const AS_ROOT: &str = "start it as another user, or allow root with `--as-root`";

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
const LEAST: ABI = ABI::V3;
/// The rights that this command promises to restrict. Newer ones are for UNIX sockets, which `calls`
/// refuses on every kernel.
const PROMISED: ABI = ABI::V6;

/// The promises that kernels keep since a version of Landlock, as what the command could do without.
const SINCE: [(ABI, &str); 2] = [
    (ABI::V5, "control the devices that it may open (since Linux 6.10)"),
    (PROMISED, "send signals to other processes, and so end them (since Linux 6.12)"),
];

impl Args {
    pub(crate) fn run(self) -> Result<Exit, Failure> {
        if privileges::is_root() && !self.as_root {
            return Err(Failure::usage("the command would run as root").hint(AS_ROOT));
        }
        let (program, arguments) = self.command.split_first().expect("clap demands a command");
        self.restrict(Path::new(program))?;
        let error = Command::new(program).args(arguments).exec();
        let text = text!("`{}` cannot be started: {error}", program.display());
        Err(Failure::new(Exit::Unreachable, text)
            .hint("`--read FOLDER` lets it run programs of a folder that is not the system's"))
    }

    fn restrict(&self, program: &Path) -> Result<(), Failure> {
        // A program without a folder is found by PATH: in the system, or in a folder that is
        // allowed.
        let own = program.components().nth(1).map(|_| program.to_owned());
        let read: Vec<PathBuf> = self.read.iter().cloned().chain(own).collect();
        for path in read.iter().chain(&self.write) {
            let wrong = |error| Failure::usage(text!("{}: {error}", path.display()));
            path.metadata().map_err(wrong)?;
        }
        let (reading, all) = (AccessFs::from_read(PROMISED), AccessFs::from_all(PROMISED));
        let enforced = self
            .handled()
            .and_then(|rules| rules.add_rules(path_beneath_rules(SYSTEM, reading)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(DEVICES, all)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(&read, reading)))
            .and_then(|rules| rules.add_rules(path_beneath_rules(&self.write, all)))
            .and_then(RulesetCreated::restrict_self);
        let status = enforced.map_err(unenforced)?;
        for missing in self.accept(&status.ruleset, status.landlock.into())? {
            print::note(text!("this kernel cannot enforce all: the command could {missing}"));
        }
        calls::refuse(self.allowed()).map_err(unenforced)?;
        privileges::drop_capabilities().map_err(unenforced)?;
        privileges::close_inherited().map_err(unenforced)
    }

    /// What is forbidden unless a rule allows it.
    fn handled(&self) -> Result<RulesetCreated, RulesetError> {
        let mut rules = Ruleset::default()
            .set_compatibility(CompatLevel::HardRequirement)
            .handle_access(AccessFs::from_all(LEAST))?
            // What is missing of these is seen afterwards.
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(PROMISED))?
            .scope(Scope::Signal)?;
        // These restrict also sockets that the command did not make itself.
        if !self.network {
            rules = rules.handle_access(AccessNet::BindTcp | AccessNet::ConnectTcp)?;
        }
        if !self.unix_sockets {
            rules = rules.scope(Scope::AbstractUnixSocket)?;
        }
        rules.create()
    }

    /// Decides if the command may start, and returns what it could do although it should not.
    fn accept(&self, rules: &RulesetStatus, kernel: ABI) -> Result<Vec<&'static str>, Failure> {
        let missing = SINCE.iter().filter(|(since, _)| kernel < *since);
        let missing: Vec<&str> = missing.map(|(_, action)| *action).collect();
        match (rules, &missing[..]) {
            (RulesetStatus::FullyEnforced, []) => Ok(missing),
            (RulesetStatus::PartiallyEnforced, [_, ..]) if self.best_effort => Ok(missing),
            (_, [first, ..]) => Err(unenforced(format!("the command could {first}"))),
            (_, []) => Err(unenforced("the kernel does not apply all rules")),
        }
    }

    /// The calls that the options allow.
    fn allowed(&self) -> Allowed {
        Allowed {
            network: self.network,
            unix_sockets: self.unix_sockets,
            // What root may read are the files of the system.
            open_metadata: !self.write.is_empty() && !privileges::is_root(),
            metadata: self.metadata,
            watch: self.watch,
        }
    }
}

fn unenforced(why: impl Display) -> Failure {
    let text = text!("this kernel cannot enforce the sandbox: {why}");
    Failure::new(Exit::Unreachable, text)
        .hint("it needs Linux 6.12 with Landlock, or 6.2 with `--best-effort`")
}

#[cfg(test)]
mod tests {
    use landlock::RulesetStatus::{FullyEnforced, NotEnforced, PartiallyEnforced};

    use super::*;

    fn args(options: &[&str]) -> Args {
        let command = <Args as clap::Args>::augment_args(clap::Command::new("sandbox"));
        let words = [&["sandbox"], options, &["--", "server"]].concat();
        let matches = command.try_get_matches_from(words).unwrap();
        <Args as clap::FromArgMatches>::from_arg_matches(&matches).unwrap()
    }

    // spec: LOCAL-6
    #[test]
    fn a_kernel_that_keeps_all_promises_starts_the_command() {
        for kernel in [ABI::V6, ABI::V7, ABI::V9] {
            assert_eq!(args(&[]).accept(&FullyEnforced, kernel).unwrap(), [""; 0]);
        }
    }

    // spec: LOCAL-6
    #[test]
    fn a_kernel_that_cannot_restrict_signals_starts_nothing() {
        for kernel in [ABI::V3, ABI::V4, ABI::V5] {
            let refused = args(&[]).accept(&PartiallyEnforced, kernel).unwrap_err();
            assert_eq!(refused.exit(), Exit::Unreachable);
            let start = "this kernel cannot enforce the sandbox: the command could ";
            assert!(refused.to_string().starts_with(start), "{refused}");
            assert!(refused.advice().unwrap().as_str().contains("Linux 6.12"));
        }
        let refused = args(&[]).accept(&PartiallyEnforced, ABI::V5).unwrap_err();
        assert!(refused.to_string().contains("send signals"), "{refused}");
    }

    #[test]
    fn a_best_effort_lists_what_is_missing() {
        let missing = args(&["--best-effort"]).accept(&PartiallyEnforced, ABI::V4).unwrap();
        assert!(matches!(missing[..], [ioctl, signals]
            if ioctl.contains("devices") && signals.contains("signals")));
        let missing = args(&["--best-effort"]).accept(&PartiallyEnforced, ABI::V5).unwrap();
        assert!(matches!(missing[..], [signals] if signals.contains("signals")));
    }

    #[test]
    fn rules_that_do_not_apply_are_never_accepted() {
        for options in [&[][..], &["--best-effort"]] {
            for (rules, kernel) in [
                (NotEnforced, ABI::Unsupported),
                (NotEnforced, ABI::V6),
                (PartiallyEnforced, ABI::V6),
            ] {
                let refused = args(options).accept(&rules, kernel).unwrap_err();
                assert_eq!(refused.exit(), Exit::Unreachable);
            }
        }
    }
}
