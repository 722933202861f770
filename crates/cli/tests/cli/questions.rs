//! What happens in the middle of a call: questions, progress, Ctrl-C.

use std::io::Read as _;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::*;
use crate::terminal::Terminal;

fn start(arguments: &[&str]) -> Terminal {
    let mut command = bowline();
    command.args(arguments).arg("--").arg(exhibit());
    Terminal::start(command)
}

const DOWN: &str = "\u{1b}[B";

#[test]
fn a_form_is_answered_field_by_field_in_both_eras() {
    for revision in BOTH {
        let mut terminal = start(&["call", "order", "--revision", revision]);
        terminal.wait_for("What would you like?");
        terminal.answer("Cancel", "\r");
        terminal.answer("name", "A\r");
        terminal.answer("fewer than 2", "Ada\r");
        terminal.answer("How many", "12\r");
        terminal.answer("more than 9", "3\r");
        terminal.answer("Small", &format!("{DOWN}\r"));
        terminal.answer("leave out", "\r");
        terminal.answer("Change", "\r");
        let (code, stdout, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert_eq!(stdout, "3 large for Ada, milk: None\n");
    }
}

#[test]
fn a_form_is_declined() {
    let mut terminal = start(&["call", "order"]);
    terminal.answer("Cancel", &format!("{DOWN}\r"));
    let (code, stdout, _) = terminal.end();
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("declined"), "{stdout}");
}

#[test]
fn without_a_terminal_questions_are_declined_with_a_note() {
    for revision in BOTH {
        let called = with_exhibit(&["call", "order", "--revision", revision]);
        assert_eq!(called.code, Some(1));
        expect("declined.txt", &called.stderr);
    }
}

#[test]
fn a_page_is_shown_whole_and_not_opened_by_enter_alone() {
    let mut terminal = start(&["call", "pay"]);
    terminal.wait_for("https://pay.example.com/bill?id=42");
    // Enter alone, then the second choice.
    terminal.answer("Cancel", &format!("\r{DOWN}{DOWN}\r"));
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(0), "paid\n"), "{shown}");
}

#[test]
fn a_command_answers_for_the_model() {
    for revision in BOTH {
        let sampling = ["--sampling", "sh -c 'cat > request.json; echo 42'"];
        let words = ["call", "think", "about=life", "--revision", revision];
        let called = with_exhibit(&[&words[..], &sampling[..]].concat());
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "the model: 42\n"));
    }
    let refused = with_exhibit(&["call", "think", "about=life"]);
    assert_eq!(refused.code, Some(1));
}

#[test]
fn pictures_and_sounds_are_saved_and_nothing_is_replaced() {
    let shown = with_exhibit(&["call", "show"]);
    assert_eq!(shown.stdout, "a picture:\n[image, image/png]\n[audio, audio/wav]\n");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").display().to_string();
    let saved = with_exhibit(&["call", "show", "--save", &path]);
    assert_eq!(saved.code, Some(0), "{}", saved.stderr);
    let expected = format!("a picture:\nsaved {path}/show-1.png\nsaved {path}/show-2.wav\n");
    assert_eq!(saved.stdout, expected);
    assert_eq!(fs::read(folder.path().join("new/show-2.wav")).unwrap(), b"RIFF");
    let again = with_exhibit(&["call", "show", "--save", &path]);
    assert_eq!(again.code, Some(1));
}

#[test]
fn progress_is_shown_at_a_terminal_only() {
    let mut terminal = start(&["call", "sleep", "seconds=0.5"]);
    terminal.wait_for("% sleeping");
    let (code, stdout, _) = terminal.end();
    assert_eq!((code, stdout.as_str()), (Some(0), "slept 0.5 s\n"));
    let called = with_exhibit(&["call", "sleep", "seconds=0.1"]);
    assert_eq!((called.stdout.as_str(), called.stderr.as_str()), ("slept 0.1 s\n", ""));
}

#[test]
fn a_task_is_waited_for() {
    for revision in BOTH {
        let called = with_exhibit(&["call", "work", "--revision", revision]);
        assert_eq!((called.code, called.stdout.as_str()), (Some(0), "worked\n"));
    }
}

#[test]
fn ctrl_c_cancels_the_call_and_ends_with_130() {
    for revision in BOTH {
        let mut command = bowline();
        command.args(["call", "sleep", "seconds=600", "--verbose", "--revision", revision]);
        command.arg("--").arg(exhibit()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert_eq!(line, "exhibit: sleep begins\n");
        kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "exhibit: sleep was cancelled\nerror: interrupted\n");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

/// Sets the title of a terminal that obeys it.
const TITLE: &str = "\u{1b}]0;pwned\u{7}";

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Colour {
    #[schemars(extend("default" = "red\u{1b}]0;pwned\u{7}"))]
    colour: String,
}

async fn paint(ask: bowline::Ask) -> bowline::Result<String> {
    let Colour { colour } = ask.form("Which colour?").await?;
    Ok(format!("{colour:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_default_that_would_command_the_terminal_is_shown_cleaned_and_sent_as_it_is() {
    let server = bowline::Server::new("painter", "1.0.0").tool(bowline::Tool::new("paint", paint));
    let bound = server.http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));

    let mut command = bowline();
    command.args(["call", &url, "paint"]);
    let mut terminal = Terminal::start(command);
    terminal.answer("Cancel", "\r");
    terminal.wait_for("? colour");
    let received = terminal.received();
    assert!(received.contains("Enter alone answers: red\\u{1b}]0;pwned\\u{7}"), "{received:?}");
    assert!(!received.contains(TITLE), "{received:?}");
    terminal.answer("? colour", "\r");
    terminal.wait_for("Send");
    assert!(!terminal.received().contains(TITLE), "{:?}", terminal.received());
    terminal.answer("Send", "\r");
    let (code, stdout, shown) = terminal.end();
    assert_eq!((code, stdout), (Some(0), format!("{:?}\n", format!("red{TITLE}"))), "{shown}");
}
