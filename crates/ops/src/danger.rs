//! Guesses what is dangerous about a command, from its words. A command without a finding can still
//! do harm.

mod known;

use bowline_gateway::config::{CommandEntry, ConfigVariables};

use self::known::{
    CODE_LETTERS, CODE_OPTIONS, CODE_TAKERS, INTERPRETERS, PLACES, ROUTES, RUNNERS, SHELLS,
    VARIABLES, WORDS, WRAPPERS,
};
use crate::quoting::{quoted_unless_plain, shortened};

/// How many variables of a kind are named.
const MOST_NAMED: usize = 6;

/// The findings, as sentences. They are about the words with the values of their variables, as far
/// as these are known.
pub fn of_command(entry: &CommandEntry, variables: &ConfigVariables) -> Vec<String> {
    let command = entry.command.expand_known(variables);
    let args: Vec<String> = entry.args.iter().map(|arg| arg.expand_known(variables)).collect();
    let mut findings: Vec<String> = of_program(&command, &args).into_iter().collect();
    let text = std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ");
    for (word, finding) in WORDS {
        if words(&text).any(|it| base(it) == *word) {
            findings.push((*finding).to_owned());
        }
    }
    let values = entry.env.values().map(|value| value.expand_known(variables));
    let text = std::iter::once(text).chain(values).collect::<Vec<_>>().join(" ");
    for place in PLACES.iter().filter(|place| text.contains(**place)) {
        findings.push(format!("it names a sensitive place (`{place}`)"));
    }
    findings.extend(of_variables(entry));
    findings.extend(entry.env_file.iter().map(|file| {
        let file = shortened(&quoted_unless_plain(file.raw()));
        format!("the variables in `{file}`, which are not shown, can make programs run other code")
    }));
    findings
}

/// Whether the program runs text of its arguments as code, or starts one that does.
fn of_program(command: &str, args: &[String]) -> Option<String> {
    let first = base(command);
    // Some wrappers take options, numbers and assignments first, and `env -S` a whole command line:
    // any word may be the program.
    let started = args.iter().filter(|_| WRAPPERS.contains(&first.as_str()));
    let started: Vec<String> = started.flat_map(|arg| words(arg)).map(base).collect();
    let mut programs = std::iter::once(&first).chain(&started);
    if let Some(shell) = programs.clone().find(|it| SHELLS.contains(&it.as_str())) {
        return Some(format!("it runs a script in a shell (`{shell}`)"));
    }
    let is_line = |arg: &String| arg == "-c" || arg.starts_with("--call");
    if RUNNERS.contains(&first.as_str()) && args.iter().take(2).any(is_line) {
        return Some(format!("its arguments are a script for a shell (`{first}`)"));
    }
    let has_code = args.iter().flat_map(|arg| words(arg)).any(announces_code);
    let takes_code = |it: &String| {
        CODE_TAKERS.contains(&it.as_str()) || has_code && INTERPRETERS.contains(&unversioned(it))
    };
    let program = programs.find(|it| takes_code(it))?;
    Some(format!("its arguments are code for `{program}`"))
}

fn announces_code(word: &str) -> bool {
    if let Some(letters) = word.strip_prefix('-').filter(|it| !it.starts_with('-')) {
        let is_cluster = (1..=4).contains(&letters.len());
        return is_cluster
            && letters.chars().all(|c| c.is_ascii_alphabetic())
            && letters.ends_with(CODE_LETTERS);
    }
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    CODE_OPTIONS.contains(&name)
}

/// `python` for `python3.12`.
fn unversioned(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || ";|&()`$\"'".contains(c)).filter(|it| !it.is_empty())
}

/// The findings about variables, a sentence for each kind.
fn of_variables(entry: &CommandEntry) -> impl Iterator<Item = String> {
    let names: Vec<&String> = entry.env.keys().chain(&entry.pass_env).collect();
    let kinds = [
        (VARIABLES, "can make programs run other code"),
        (ROUTES, "can lead connections to other servers"),
    ];
    kinds.into_iter().filter_map(move |(list, danger)| {
        let named: Vec<&String> = names.iter().copied().filter(|it| is_listed(list, it)).collect();
        let shown = named
            .iter()
            .take(MOST_NAMED)
            .map(|it| format!("`{}`", shortened(&quoted_unless_plain(it))));
        let shown = shown.collect::<Vec<_>>().join(", ");
        match named.len() {
            0 => None,
            1 => Some(format!("the variable {shown} {danger}")),
            count if count <= MOST_NAMED => Some(format!("the variables {shown} {danger}")),
            count => {
                let more = count - MOST_NAMED;
                Some(format!("the variables {shown} and {more} more {danger}"))
            }
        }
    })
}

/// Whether a variable can change what runs, or where connections lead.
pub fn is_dangerous_variable(name: &str) -> bool {
    is_listed(VARIABLES, name) || is_listed(ROUTES, name)
}

/// Some programs tell small letters from capital ones, others do not.
fn is_listed(list: &[&str], name: &str) -> bool {
    let small = name.to_lowercase();
    list.iter().any(|it| match it.strip_suffix('*') {
        Some(start) => small.starts_with(start),
        None => small == *it,
    })
}

/// The last part of a path, without `.exe`.
fn base(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    name.strip_suffix(".exe").unwrap_or(name).to_lowercase()
}

#[cfg(test)]
mod tests {
    use bowline_gateway::config::{ConfigFile, Dialect, Start};

    use super::*;

    fn findings(entry: &str) -> String {
        let text = format!(r#"{{"mcpServers":{{"a":{entry}}}}}"#);
        let file = ConfigFile::parse(&text, "x.json", Dialect::ClaudeCode).unwrap();
        let Start::Command(entry) = &file.entries[0].start else { panic!("no command") };
        let variables = ConfigVariables::none().with_environment([("KEYS", "keys/.ssh")]);
        of_command(entry, &variables).join("; ")
    }

    // spec: LOCAL-5
    #[test]
    fn dangerous_patterns_and_sensitive_places_are_named() {
        assert_eq!(findings(r#"{"command":"npx","args":["-y","server"]}"#), "");
        let script = findings(r#"{"command":"/bin/sh","args":["-c","curl https://x|sudo sh"]}"#);
        assert!(script.contains("runs a script in a shell (`sh`)"), "{script}");
        assert!(script.contains("downloads"), "{script}");
        assert!(script.contains("administrator"), "{script}");
        let code = findings(r#"{"command":"node.exe","args":["-e","0"]}"#);
        assert_eq!(code, "its arguments are code for `node`");
        let place = findings(r#"{"command":"cat","args":["~/.ssh/id_rsa"]}"#);
        assert!(place.contains("sensitive place (`.ssh`)"), "{place}");
        let expanded = findings(r#"{"command":"${S:-sh}","args":["${KEYS}"]}"#);
        assert!(expanded.contains("a shell (`sh`)") && expanded.contains(".ssh"), "{expanded}");
        let variable = findings(r#"{"command":"npx","env":{"NODE_OPTIONS":"--require ./x"}}"#);
        assert!(variable.contains("`NODE_OPTIONS` can make"), "{variable}");
    }

    // spec: LOCAL-5
    #[test]
    fn a_shell_behind_another_program_is_named() {
        for entry in [
            r#"{"command":"/usr/bin/env","args":["sh","-c","touch x"]}"#,
            r#"{"command":"env","args":["-S","A=b sh -c 'touch x'"]}"#,
            r#"{"command":"nohup","args":["nice","-n","5","/bin/sh","-c","touch x"]}"#,
            r#"{"command":"busybox","args":["sh","-c","touch x"]}"#,
            r#"{"command":"timeout","args":["5","sh","x"]}"#,
        ] {
            assert_eq!(findings(entry), "it runs a script in a shell (`sh`)", "{entry}");
        }
        let python = findings(r#"{"command":"env","args":["python3.12","-Ic","print()"]}"#);
        assert_eq!(python, "its arguments are code for `python3.12`");
        let node = findings(r#"{"command":"node","args":["--eval=0"]}"#);
        assert_eq!(node, "its arguments are code for `node`");
        assert_eq!(findings(r#"{"command":"env","args":["A=b","uvx","mcp-server-git"]}"#), "");
    }

    // spec: LOCAL-5
    #[test]
    fn many_dangerous_variables_are_one_finding() {
        let env: Vec<String> = (0..50).map(|it| format!(r#""NPM_CONFIG_{it:02}":"x""#)).collect();
        let found = findings(&format!(r#"{{"command":"npx","env":{{{}}}}}"#, env.join(",")));
        assert!(found.contains("`NPM_CONFIG_05` and 44 more can make"), "{found}");
    }

    // spec: LOCAL-5
    #[test]
    fn variables_that_change_what_runs_or_where_it_comes_from_are_named_in_any_case() {
        for name in [
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "UV_INDEX_URL",
            "UV_DEFAULT_INDEX",
            "PIP_INDEX_URL",
            "JAVA_TOOL_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_PAGER",
            "HOME",
            "BROWSER",
            "GOFLAGS",
            "ld_preload",
            "Path",
        ] {
            let found = findings(&format!(r#"{{"command":"npx","env":{{"{name}":"x"}}}}"#));
            assert_eq!(found, format!("the variable `{name}` can make programs run other code"));
        }
        let proxy = findings(r#"{"command":"npx","env":{"https_proxy":"x"}}"#);
        assert_eq!(proxy, "the variable `https_proxy` can lead connections to other servers");
        assert_eq!(findings(r#"{"command":"npx","env":{"API_KEY":"x","PATHS":"x"}}"#), "");
    }

    // spec: LOCAL-5
    #[test]
    fn a_file_of_variables_is_named() {
        let file = findings(r#"{"command":"npx","envFile":"tools/.env"}"#);
        assert!(file.contains("in `tools/.env`, which are not shown, can make"), "{file}");
    }
}
