//! The progress bar of `call`.

use crate::screen::{Screen, WIDTHS, expect};

#[test]
fn progress_is_a_bar_of_one_line_that_makes_way_for_the_result() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline call sleep seconds=1.5 -- bowline demo --stdio");
        let shown = screen.wait_for("% sle");
        let bars: Vec<&str> = shown.lines().filter(|line| line.contains('█')).collect();
        assert_eq!(bars.len(), 1, "{shown}");
        assert_eq!(screen.code(), 0);
        assert_eq!(screen.broken(), Vec::<String>::new());
        expect(&format!("progress_{width}.txt"), &screen.shown());
    }
}

#[test]
fn the_bar_of_a_measurement_has_one_line() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline bench -d 2 -- bowline demo --stdio");
        let shown = screen.wait_for("/10000");
        let lines = shown.lines().filter(|line| line.contains("/10000") || line.contains(" of "));
        assert_eq!(lines.count(), 1, "{shown}");
        assert!(shown.lines().any(|line| line.contains('░') || line.contains('█')), "{shown}");
    }
}
