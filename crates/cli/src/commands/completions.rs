//! `bowline completions`: completions for shells.

use clap_complete::{Shell, generate};

use crate::exit::Exit;
use crate::print;

/// Prints completions of commands and options for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

const EXAMPLES: &str = "\
Examples:
  bowline completions bash > ~/.local/share/bash-completion/completions/bowline
  bowline completions zsh > ~/.zfunc/_bowline  after `fpath+=~/.zfunc`
  bowline completions fish > ~/.config/fish/completions/bowline.fish
  source <(bowline completions bash)           for this shell only
";

impl Args {
    /// Prints the script for the command line that this describes.
    pub(crate) fn run(&self, mut description: clap::Command) -> Exit {
        let mut script = Vec::new();
        generate(self.shell, &mut description, "bowline", &mut script);
        print::bytes(&script);
        Exit::Done
    }
}
