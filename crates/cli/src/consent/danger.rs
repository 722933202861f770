//! Guesses what is dangerous about a command, from its words. A command without a finding can still
//! do harm.

use bowline_gateway::config::{CommandEntry, ConfigVariables};

/// Programs that run the text of their arguments.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash", "fish", "cmd", "powershell", "pwsh"];
const INTERPRETERS: &[&str] =
    &["node", "deno", "bun", "python", "python3", "perl", "ruby", "php", "osascript"];
const CODE_OPTIONS: &[&str] = &["-c", "-e", "-r", "-p", "--eval", "--print", "eval"];

/// Words, and what they do.
const WORDS: &[(&str, &str)] = &[
    ("sudo", "it asks for the rights of the administrator (`sudo`)"),
    ("doas", "it asks for the rights of the administrator (`doas`)"),
    ("rm", "it deletes files (`rm`)"),
    ("dd", "it may overwrite disks (`dd`)"),
    ("mkfs", "it formats disks (`mkfs`)"),
    ("curl", "it downloads something (`curl`)"),
    ("wget", "it downloads something (`wget`)"),
    ("nc", "it opens connections of its own (`nc`)"),
    ("eval", "it runs text as code (`eval`)"),
    ("base64", "it may hide what it does (`base64`)"),
    ("--privileged", "the container has all rights of this machine (`--privileged`)"),
    ("--allow-all", "it switches the sandbox of its runtime off (`--allow-all`)"),
];

/// Places that hold secrets or settings of the system.
const PLACES: &[&str] = &[
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".config/gcloud",
    ".netrc",
    ".npmrc",
    ".docker/config.json",
    "/etc/",
    "/var/run/docker.sock",
    "id_rsa",
    "id_ed25519",
    ".bashrc",
    ".zshrc",
    "Keychains",
];

/// Variables that make other programs run code, in small letters. A `*` stands for any end.
const VARIABLES: &[&str] = &[
    "path",
    // Libraries.
    "ld_preload",
    "ld_library_path",
    "ld_audit",
    "dyld_*",
    // Interpreters and shells.
    "node_options",
    "node_path",
    "pythonstartup",
    "pythonpath",
    "pythonhome",
    "perl5opt",
    "perl5lib",
    "rubyopt",
    "rubylib",
    "bash_env",
    "zdotdir",
    "java_tool_options",
    "jdk_java_options",
    "_java_options",
    "dotnet_startup_hooks",
    // Programs that Git starts, and the settings that name such programs.
    "git_ssh*",
    "git_exec_path",
    "git_proxy_command",
    "git_config*",
    // Where packages come from, and scripts that installers run.
    "npm_config_*",
    "yarn_*",
    "pip_*",
    "uv_*",
    "bundle_*",
    "cargo_*",
    "goproxy",
];

/// Variables that lead connections to other servers, or make those of others look right.
const ROUTES: &[&str] = &[
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "ssl_cert_file",
    "ssl_cert_dir",
    "node_extra_ca_certs",
    "node_tls_reject_unauthorized",
    "requests_ca_bundle",
    "curl_ca_bundle",
];

/// The findings, as sentences. They are about the words with the values of their variables, as far
/// as these are known.
pub(super) fn of_command(entry: &CommandEntry, variables: &ConfigVariables) -> Vec<String> {
    let mut findings = Vec::new();
    let command = entry.command.expand_known(variables);
    let args: Vec<String> = entry.args.iter().map(|arg| arg.expand_known(variables)).collect();
    let program = base(&command);
    let has_code = args.iter().any(|it| CODE_OPTIONS.contains(&it.as_str()) || it == "/c");
    if SHELLS.contains(&program.as_str()) {
        findings.push(format!("it runs a script in a shell (`{program}`)"));
    } else if INTERPRETERS.contains(&program.as_str()) && has_code {
        findings.push(format!("its arguments are code for `{program}`"));
    }
    let text = std::iter::once(command).chain(args).collect::<Vec<_>>().join(" ");
    for (word, finding) in WORDS {
        if text
            .split(|c: char| c.is_whitespace() || ";|&()`$\"'".contains(c))
            .any(|it| base(it) == *word)
        {
            findings.push((*finding).to_owned());
        }
    }
    for place in PLACES.iter().filter(|place| text.contains(**place)) {
        findings.push(format!("it names a sensitive place (`{place}`)"));
    }
    findings.extend(entry.env.keys().chain(&entry.pass_env).filter_map(|name| of_variable(name)));
    findings.extend(entry.env_file.iter().map(|file| {
        let file = file.raw();
        format!("the variables in `{file}`, which are not shown, can make programs run other code")
    }));
    findings
}

/// The finding about a variable. Some programs tell small letters from capital ones, others do not.
fn of_variable(name: &str) -> Option<String> {
    let small = name.to_lowercase();
    let is_listed = |list: &[&str]| {
        list.iter().any(|it| match it.strip_suffix('*') {
            Some(start) => small.starts_with(start),
            None => small == *it,
        })
    };
    if is_listed(VARIABLES) {
        return Some(format!("the variable `{name}` can make programs run other code"));
    }
    let finding = || format!("the variable `{name}` can lead connections to other servers");
    is_listed(ROUTES).then(finding)
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
    fn variables_that_change_what_runs_or_where_it_comes_from_are_named_in_any_case() {
        for name in [
            "npm_config_registry",
            "NPM_CONFIG_REGISTRY",
            "UV_INDEX_URL",
            "UV_DEFAULT_INDEX",
            "PIP_INDEX_URL",
            "JAVA_TOOL_OPTIONS",
            "GIT_SSH_COMMAND",
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
