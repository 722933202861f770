//! How many processes of a command run, as far as the operating system tells.

use std::path::Path;

use bowline_gateway::config::CommandLaunch;

/// The command lines of all processes, as they were at one time. `None` where there is no `/proc`.
#[derive(Debug)]
pub struct Processes(Option<Vec<Vec<String>>>);

/// Programs that start the program of a package, by the name of the package.
const LAUNCHERS: &[&str] = &["npx", "uvx", "bunx", "pnpx"];

impl Processes {
    /// The processes of this machine, without the own one.
    pub fn now() -> Self {
        Self::listed_in(Path::new("/proc"))
    }

    fn listed_in(folder: &Path) -> Self {
        let Ok(entries) = std::fs::read_dir(folder) else { return Self(None) };
        let own = std::process::id().to_string();
        let is_other = |name: &str| name.bytes().all(|it| it.is_ascii_digit()) && name != own;
        let entries = entries.flatten();
        let entries = entries.filter(|entry| is_other(&entry.file_name().to_string_lossy()));
        let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        Self(Some(lines.map(|line| words(&line)).collect()))
    }

    /// The processes of this command, where the operating system tells them.
    pub fn count(&self, launch: &CommandLaunch) -> Option<usize> {
        let wanted = Wanted::of(launch);
        Some(self.0.as_ref()?.iter().filter(|line| wanted.is(line)).count())
    }
}

/// The words of a command line, which has a zero byte after each.
fn words(line: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(line);
    text.trim_end_matches('\0').split('\0').map(ToOwned::to_owned).collect()
}

/// How the command line of a server looks.
struct Wanted {
    /// The name of its program, or the end of that name if a launcher starts it.
    program: String,
    is_package: bool,
    args: Vec<String>,
}

impl Wanted {
    fn of(launch: &CommandLaunch) -> Self {
        let program = launch.program.to_string_lossy();
        let program = file_name(&program);
        let args = launch.args.iter().map(|it| it.to_string_lossy().into_owned());
        if LAUNCHERS.contains(&program)
            && let Some(package) = args.clone().find(|it| !it.starts_with('-'))
        {
            let program = package_name(&package).to_owned();
            let args = args.skip_while(|it| it.starts_with('-')).skip(1).collect();
            return Self { program, is_package: true, args };
        }
        Self { program: program.to_owned(), is_package: false, args: args.collect() }
    }

    /// Whether a command line is of this server. An interpreter may stand before the program.
    fn is(&self, line: &[String]) -> bool {
        let Some(before) = line.len().checked_sub(self.args.len()).filter(|it| *it > 0) else {
            return false;
        };
        let (before, after) = line.split_at(before);
        let is_program = |word: &String| match self.is_package {
            // A launcher may show the package in its own name: `npm exec PACKAGE`.
            true => !word.contains(' ') && file_name(word).ends_with(&self.program),
            false => file_name(word) == self.program,
        };
        after == self.args && before.len() <= 2 && before.last().is_some_and(is_program)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The name in `@scope/name@1.2`.
fn package_name(package: &str) -> &str {
    let name = file_name(package);
    name.split(['@', '=']).next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn without_a_list_of_processes_none_is_counted() {
        assert!(Processes::listed_in(Path::new("/no/such/folder")).0.is_none());
    }

    #[test]
    fn a_command_line_is_known_by_its_words() {
        let lines = [
            words(b"/usr/bin/python3\0/home/ann/bin/server\0--port\x001\0"),
            words(b"server\0--port\x001\0"),
            words(b""),
        ];
        let count = |program: &str, args: &[&str]| {
            let wanted =
                Wanted { program: program.to_owned(), is_package: false, args: line(args) };
            lines.iter().filter(|line| wanted.is(line)).count()
        };
        assert_eq!(count("server", &["--port", "1"]), 2);
        assert_eq!(count("server", &["--port"]), 0);
        assert_eq!(count("server", &[]), 0);
        assert_eq!(count("other", &["--port", "1"]), 0);
    }

    #[test]
    fn a_package_is_known_by_the_program_that_its_launcher_starts() {
        let package = package_name("@modelcontextprotocol/server-files@1.2");
        assert_eq!(package, "server-files");
        assert_eq!(package_name("mcp-server-git==1.0"), "mcp-server-git");
        let wanted =
            Wanted { program: package.to_owned(), is_package: true, args: line(&["/tmp"]) };
        assert!(wanted.is(&line(&["node", "/x/.bin/mcp-server-files", "/tmp"])));
        assert!(!wanted.is(&line(&["npm exec @modelcontextprotocol/server-files", "/tmp"])));
        assert!(!wanted.is(&line(&["npx", "-y", "@modelcontextprotocol/server-files", "/tmp"])));
        assert!(!wanted.is(&line(&["node", "/x/.bin/mcp-server-files", "/home"])));
    }
}
