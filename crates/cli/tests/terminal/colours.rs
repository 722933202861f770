//! Colours, and when there are none.

use crate::screen::Screen;

/// What begins a colour or another style.
const STYLE: &str = "\u{1b}[";

fn coloured(command: &str, code: i32) -> String {
    let screen = Screen::open(80);
    screen.run(command);
    assert_eq!(screen.code(), code, "{}", screen.shown());
    screen.coloured()
}

#[test]
fn a_terminal_shows_colours() {
    let list = coloured("bowline list tools -- bowline demo --stdio", 0);
    assert!(list.contains(STYLE), "{list}");
    let error = coloured("bowline call no-such-tool a=1 -- bowline demo --stdio", 1);
    assert!(error.contains("\u{1b}[1m\u{1b}[31merror:"), "{error:?}");
}

#[test]
fn a_pipe_or_no_color_has_none() {
    for command in [
        "bowline list tools -- bowline demo --stdio | cat",
        "NO_COLOR=1 bowline list tools -- bowline demo --stdio",
    ] {
        let list = coloured(command, 0);
        assert!(list.contains("echo(message: string)") && !list.contains(STYLE), "{list:?}");
    }
    let error = coloured("NO_COLOR=1 bowline call no-such-tool a=1 -- bowline demo --stdio", 1);
    assert!(error.contains("error:") && !error.contains(STYLE), "{error:?}");
}
