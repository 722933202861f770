//! Tables fit the terminal.

use crate::screen::{Screen, WIDTHS, expect};

#[test]
fn lists_fit_the_width_of_the_terminal() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline list -- bowline demo --stdio");
        assert_eq!(screen.code(), 0);
        assert_eq!(screen.broken(), Vec::<String>::new());
        expect(&format!("list_{width}.txt"), &screen.shown());
    }
}

#[test]
fn an_inspection_is_broken_between_words() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline inspect -- bowline demo --stdio");
        assert_eq!(screen.code(), 0, "{}", screen.shown());
        assert_eq!(screen.broken(), Vec::<String>::new());
    }
}

#[test]
fn errors_and_hints_are_shown_whole() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline call add a=1 b=x -- bowline demo --stdio");
        assert_eq!(screen.code(), 2);
        expect(&format!("error_{width}.txt"), &screen.shown());
    }
}
