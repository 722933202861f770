//! `bowline bench`.

use super::demo::{HttpDemo, with_demo};
use super::terminal::Terminal;
use super::*;

/// The same text with `N` for every number and `T` for every unit of time.
fn timeless(text: &str) -> String {
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let line = |line: &str| match line.trim().rsplit_once("  ") {
        Some((name, value)) if line.starts_with("  ") && is_number(value.trim()) => {
            let unit = if value.ends_with('s') { " T" } else { "" };
            format!("  {} N{unit}\n", name.trim())
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn a_server_is_measured_over_both_transports_in_both_eras() {
    let http = HttpDemo::start();
    for revision in BOTH {
        let options = ["bench", "-n", "20", "-c", "4", "--revision", revision];
        let stdio = with_demo(&options);
        assert_eq!((stdio.code, stdio.stderr.as_str()), (Some(0), ""), "{}", stdio.stdout);
        let shown = timeless(&stdio.stdout).replace(env!("CARGO_BIN_EXE_bowline"), "bowline");
        expect(&format!("bench_{revision}.txt"), &shown);
        let measured = run(&[&options[..], &[&http.url, "echo", "message=hi", "--json"]].concat());
        assert_eq!((measured.code, measured.stderr.as_str()), (Some(0), ""), "{}", measured.stdout);
        for part in [
            r#""request": "tools/call echo""#,
            r#""transport": "http""#,
            r#""concurrency": 4"#,
            r#""requests": 20"#,
            r#""failed": 0"#,
            r#""p99.9": "#,
            &format!(r#""revision": "{revision}""#),
        ] {
            assert!(measured.stdout.contains(part), "{part}: {}", measured.stdout);
        }
    }
}

#[test]
fn arguments_have_the_types_of_the_schema_and_come_from_json_too() {
    for arguments in [&["a=40", "b=2"][..], &["--args", r#"{"a":40,"b":2}"#]] {
        let measured = with_demo(&[&["bench", "-n", "3", "add"], arguments].concat());
        assert_eq!(measured.code, Some(0), "{measured:?}");
    }
    let wrong = with_demo(&["bench", "-n", "3", "add", "a=x", "b=2"]);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    let unnamed = with_demo(&["bench", "-n", "3", "--args", "{}"]);
    assert_eq!(unnamed.code, Some(2), "{unnamed:?}");
}

#[test]
fn a_tool_that_fails_or_is_not_there_is_not_measured() {
    let failed = with_demo(&["bench", "fail"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(1), ""));
    assert_eq!(failed.stderr, "error: `fail` failed: this tool always fails\n");
    let unknown = with_demo(&["bench", "ecko", "message=hi"]);
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(1), ""));
    let expected = "error: the server has no tool `ecko`\nhint: did you mean `echo`?\n";
    assert_eq!(unknown.stderr, expected);
}

#[test]
fn it_ends_when_the_time_is_up() {
    let options = ["bench", "sleep", "seconds=0.1", "--duration", "0.25", "--json"];
    let measured = with_demo(&options);
    assert_eq!(measured.code, Some(0), "{measured:?}");
    assert!(measured.stdout.contains(r#""unfinished": 1"#), "{}", measured.stdout);
    let too_long = with_demo(&["bench", "--duration", "100000"]);
    assert_eq!(too_long.code, Some(2), "{too_long:?}");
    assert_eq!(with_demo(&["bench", "-c", "100000"]).code, Some(2));
}

#[test]
fn another_machine_gets_no_load_unless_that_is_allowed() {
    // An address for documentation, which no machine has.
    let refused = run(&["bench", "http://192.0.2.1/mcp"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""));
    expect("bench_remote.txt", &refused.stderr);
}

#[test]
fn a_terminal_shows_a_progress_bar() {
    let mut command = bowline();
    command.args(["bench", "sleep", "seconds=0.05", "-n", "10", "--"]);
    command.args([env!("CARGO_BIN_EXE_bowline"), "demo", "--stdio"]);
    let mut terminal = Terminal::start(command);
    terminal.wait_for("/10");
    let (code, stdout, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(stdout.contains("per second"), "{stdout}");
}
