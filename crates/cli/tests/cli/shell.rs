//! Completions for shells, and pages for `man`.

use super::*;

/// Runs a script of bash that has loaded the completions. `complete_line LINE` prints what the Tab
/// key would offer at the end of a line.
fn bash(script: &str) -> Run {
    let setup = r#"
        set -u
        source <(bowline completions bash)
        complete_line() {
            COMP_LINE=$1 COMP_POINT=${#1}
            read -ra COMP_WORDS <<< "$1"
            [[ $1 == *' ' ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            local name
            name=$(complete -p bowline | sed 's/.*-F \([^ ]*\).*/\1/')
            "$name" bowline "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[@]}"
        }
    "#;
    let program = Path::new(env!("CARGO_BIN_EXE_bowline")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("bash");
    command.args(["--norc", "-c", &format!("{setup}\n{script}")]).env("PATH", path);
    command.output().unwrap().into()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let script = "complete_line 'bowline ins'\ncomplete_line 'bowline call --arg'\n\
                  complete_line 'bowline check --format s'\ncomplete_line 'bowline completions f'\n";
    let completed = bash(script);
    assert_eq!((completed.code, completed.stderr.as_str()), (Some(0), ""));
    assert_eq!(completed.stdout, "inspect\n--args\nsarif\nfish\n");
    let all = bash("complete_line 'bowline '");
    for command in ["demo", "inspect", "call", "gateway", "man"] {
        assert!(all.stdout.split_whitespace().any(|word| word == command), "{}", all.stdout);
    }
}

#[test]
fn there_are_completions_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let printed = run(&["completions", shell]);
        assert_eq!((printed.code, printed.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(printed.stdout.contains("inherit-env"), "{shell}");
    }
    let wrong = run(&["completions", "tcsh"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
}

#[test]
fn pages_for_man_are_printed_and_written() {
    expect("man_call.txt", &run(&["man", "call"]).stdout);
    let whole = run(&["man"]);
    assert!(whole.stdout.contains(".TH bowline 1"), "{}", whole.stdout);
    let wrong = run(&["man", "cal"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(2), ""));
    assert_eq!(wrong.stderr, "error: there is no command `cal`\nhint: did you mean `call`?\n");
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("man1");
    let written = run(&["man", "--write", below.to_str().unwrap()]);
    assert_eq!((written.code, written.stdout.as_str()), (Some(0), ""));
    for name in ["bowline.1", "bowline-call.1", "bowline-man.1"] {
        let page = fs::read_to_string(below.join(name)).unwrap();
        assert!(page.contains(".SH EXAMPLES"), "{page}");
    }
}
