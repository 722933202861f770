//! `bowline man`: pages for `man`, made from the descriptions of the commands.

use std::io;
use std::path::{Path, PathBuf};

use clap_mangen::Man;

use crate::exit::{Exit, Failure};
use crate::print::{self, text};

/// Prints a page for `man`, or writes the pages of all commands
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command whose page is printed; the page of `bowline` itself unless given
    command: Option<String>,
    /// Writes a page for `bowline` and one for each command to this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    write: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  bowline man --write ~/.local/share/man/man1  for `man bowline-call`
  bowline man call | man -l -                  reads a page at once
";

impl Args {
    /// Prints or writes pages of the command line that this describes.
    ///
    /// # Errors
    ///
    /// If there is no such command, or the folder cannot be written to.
    pub(crate) fn run(&self, mut description: clap::Command) -> Result<Exit, Failure> {
        description.build();
        if let Some(folder) = &self.write {
            return self.write(folder, &description).map(|()| Exit::Done).map_err(|error| {
                let text = text!("cannot write pages to {}: {error}", folder.display());
                Failure::new(Exit::Refused, text).hint("`--write FOLDER` names another folder")
            });
        }
        let page = match &self.command {
            None => &description,
            Some(name) => {
                description.find_subcommand(name).ok_or_else(|| unknown(name, &description))?
            }
        };
        print::bytes(page_of(page).as_bytes());
        Ok(Exit::Done)
    }

    fn write(&self, folder: &Path, description: &clap::Command) -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let commands = std::iter::once(description).chain(description.get_subcommands());
        for command in commands {
            let path = folder.join(format!("{}.1", full_name(command)));
            std::fs::write(&path, page_of(command))?;
            print::note(text!("wrote {}", path.display()));
        }
        Ok(())
    }
}

fn unknown(name: &str, description: &clap::Command) -> Failure {
    let names: Vec<&str> = description.get_subcommands().map(clap::Command::get_name).collect();
    Failure::usage(text!("there is no command `{name}`")).suggesting(name, &names)
}

/// The name of a page: `bowline-call`.
fn full_name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// A page. The examples are a section of their own, in which lines stay lines.
fn page_of(command: &clap::Command) -> String {
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let page = Man::new(command.clone()).source(format!("bowline {version}")).manual("Bowline");
    let mut bytes = Vec::new();
    let rendered = [
        Man::render_title,
        Man::render_name_section,
        Man::render_synopsis_section,
        Man::render_description_section,
        Man::render_options_section,
    ]
    .into_iter()
    .try_for_each(|render| render(&page, &mut bytes));
    let rendered = rendered.and_then(|()| match command.has_subcommands() {
        true => page.render_subcommands_section(&mut bytes),
        false => Ok(()),
    });
    rendered.expect("memory can be written to");
    let page = String::from_utf8(bytes).expect("pages are made from text");
    page + &examples_section(&examples)
}

fn examples_section(examples: &str) -> String {
    let lines = examples.lines().filter(|line| *line != "Examples:").map(verbatim);
    format!(".SH EXAMPLES\n.nf\n{}.fi\n", lines.collect::<String>())
}

/// A line that is shown as it is.
fn verbatim(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    match line.starts_with('.') {
        true => format!("\\&{line}\n"),
        false => format!("{line}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_examples_are_no_requests_to_the_formatter() {
        assert_eq!(verbatim(".so '/etc/passwd' \\n"), "\\&.so \\(aq/etc/passwd\\(aq \\en\n");
        assert_eq!(verbatim("  call -- x"), "  call \\-\\- x\n");
    }
}
