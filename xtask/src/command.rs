//! Starting other programs in the root of the repository.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::tree::root;

/// The cargo that started this program, so that one toolchain does everything.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    in_root(Command::new(program))
}

/// Another program.
pub(crate) fn program(name: &str) -> Command {
    in_root(Command::new(name))
}

/// Runs a command to its end and shows its output.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = line(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// The command as a user would type it.
fn line(command: &Command) -> String {
    let name = std::path::Path::new(command.get_program()).file_name();
    let words = name.into_iter().chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn in_root(mut command: Command) -> Command {
    command.current_dir(root());
    command
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn a_failure_names_the_command_as_typed() {
        let mut git = program("git");
        let error = run(git.args(["no-such", "thing"]).stderr(Stdio::null())).unwrap_err();
        assert!(error.to_string().starts_with("`git no-such thing` failed"));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run(&mut program("no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "cannot start `no-such-program`");
    }
}
