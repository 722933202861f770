//! Questions of a server, answered at the terminal.

use crate::screen::{Screen, WIDTHS, expect};

#[test]
fn a_form_is_answered_field_by_field() {
    for width in WIDTHS {
        let screen = Screen::open(width);
        screen.run("bowline call book -- bowline demo --stdio");
        screen.wait_for("Cancel");
        screen.answer("Enter");
        answer(&screen, "? city", "Oslo");
        answer(&screen, "? days", "400");
        screen.wait_for("more than 365");
        answer(&screen, "? days", "14");
        screen.wait_for("business");
        expect(&format!("form_choice_{width}.txt"), &screen.shown());
        screen.answer("Down");
        screen.wait_for("❯ business");
        screen.answer("Enter");
        answer(&screen, "? luggage", "12.5");
        screen.wait_for("bicycle");
        screen.answer("Space");
        screen.wait_for("✔ window");
        screen.answer("Enter");
        screen.wait_for("? meal");
        screen.answer("Enter");
        answer(&screen, "? email", "ada@example.com");
        screen.wait_for("Change");
        screen.answer("Enter");
        screen.wait_for("book it?");
        expect(&format!("form_question_{width}.txt"), &screen.shown());
        screen.answer("Enter");
        screen.wait_for("❯ yes");
        screen.answer("Enter");
        screen.wait_for("Change");
        screen.answer("Enter");
        screen.wait_for("12.5 kg, window");
    }
}

fn answer(screen: &Screen, field: &str, text: &str) {
    screen.wait_for(field);
    screen.wait_for_reader();
    screen.type_text(text);
    screen.wait_for(text);
    screen.answer("Enter");
}
