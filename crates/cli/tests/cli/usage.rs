//! Help, and what happens without a server.

use super::*;

#[test]
fn without_a_command_it_prints_what_it_can_do() {
    let shown = run(&[]);
    assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""));
    // A screen of 24 lines, or a little more.
    assert!(shown.stdout.lines().count() <= 27, "{}", shown.stdout);
    expect("help.txt", &shown.stdout);
    expect("short.txt", &run(&["-h"]).stdout);
}

/// The commands, in the order of the help.
const COMMANDS: &[&str] = &[
    "demo",
    "inspect",
    "list",
    "call",
    "read",
    "prompt",
    "complete",
    "request",
    "watch",
    "check",
    "bench",
    "connect",
    "serve",
    "gateway",
    "sandbox",
    "login",
    "logout",
    "status",
    "completions",
    "man",
];

#[test]
fn every_command_teaches_by_example() {
    let listed = run(&[]).stdout;
    for command in COMMANDS {
        assert!(listed.contains(&format!("\n  {command} ")), "{listed}");
        for (option, name) in [("--help", "help"), ("-h", "short")] {
            let shown = run(&[command, option]);
            assert_eq!(shown.code, Some(0));
            assert!(shown.stdout.contains("\nExamples:\n  "), "{}", shown.stdout);
            expect(&format!("{name}_{command}.txt"), &shown.stdout);
        }
    }
}

#[test]
fn a_server_that_is_not_there_ends_with_3() {
    let unknown = run(&["list", "calc"]);
    assert_eq!(unknown.code, Some(3));
    expect("no_name.txt", &unknown.stderr);
    let absent = run(&["list", "--", "./no-such-program"]);
    assert_eq!(absent.code, Some(3));
    expect("no_program.txt", &absent.stderr);
    // Port 1 of this machine is not listened on.
    let closed = run(&["list", "http://127.0.0.1:1/mcp"]);
    assert_eq!(closed.code, Some(3), "{}", closed.stderr);
}

#[test]
fn wrong_usage_ends_with_2() {
    assert_eq!(run(&["lst"]).code, Some(2));
    let nothing = run(&["list"]);
    assert_eq!(nothing.code, Some(2));
    expect("no_target.txt", &nothing.stderr);
}
