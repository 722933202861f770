//! Ctrl-C: the exit code, and the state of the terminal afterwards.

use crate::screen::Screen;

/// Presses Ctrl-C once a text is shown; the terminal must be as it was before.
fn interrupt(command: &str, text: &str) {
    let screen = Screen::open(80);
    screen.type_text("stty -g >before; clear");
    screen.press("Enter");
    screen.run(command);
    screen.wait_for(text);
    screen.press("C-c");
    assert_eq!(screen.code(), 130, "{}", screen.shown());
    assert_eq!(screen.variable("#{cursor_flag}"), "1", "the cursor is shown");
    screen.type_text("clear; stty -g | cmp - before && echo restored");
    screen.press("Enter");
    screen.wait_for("restored\n$");
}

#[test]
fn ctrl_c_ends_a_call_with_130_and_restores_the_terminal() {
    interrupt("bowline call sleep seconds=600 -- bowline demo --stdio", "% sleeping");
}

#[test]
fn ctrl_c_in_a_choice_ends_with_130_and_restores_the_terminal() {
    interrupt("bowline call book -- bowline demo --stdio", "Cancel");
}

#[test]
fn ctrl_c_in_a_field_ends_with_130_and_restores_the_terminal() {
    let screen = Screen::open(80);
    screen.run("bowline call greet -- bowline demo --stdio");
    screen.wait_for("Cancel");
    screen.press("Enter");
    screen.wait_for("name");
    screen.press("C-c");
    assert_eq!(screen.code(), 130, "{}", screen.shown());
    assert_eq!(screen.variable("#{cursor_flag}"), "1", "the cursor is shown");
}

#[test]
fn ctrl_c_ends_a_watch_with_130() {
    interrupt("bowline watch --uri demo://clock -- bowline demo --stdio", "demo://clock changed");
}

#[test]
fn ctrl_c_ends_the_reading_of_arguments_with_130() {
    for command in ["call echo -", "bench echo -"] {
        let command = format!("bowline {command} -- bowline demo --stdio");
        interrupt(&command, "reading arguments from standard input");
    }
}
