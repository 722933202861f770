//! `bowline read`, `bowline prompt` and `bowline complete`.

use super::*;

#[test]
fn a_resource_is_read_as_it_is() {
    for revision in BOTH {
        let read = with_exhibit(&["read", "exhibit://clock", "--revision", revision]);
        assert_eq!((read.code, read.stdout.as_str()), (Some(0), "12:00\n"), "{}", read.stderr);
    }
    let program = exhibit();
    let mut command = bowline();
    command.args(["read", "exhibit://bytes", "--", program.to_str().unwrap()]);
    assert_eq!(command.output().unwrap().stdout, [0, 255, 10]);
    let json = with_exhibit(&["read", "exhibit://users/ada", "--json"]);
    expect("read.json", &json.stdout);
}

#[test]
fn a_resource_that_is_not_there_ends_with_1() {
    let read = with_exhibit(&["read", "exhibit://nothing"]);
    assert_eq!((read.code, read.stdout.as_str()), (Some(1), ""));
    expect("read_unknown.txt", &read.stderr);
}

#[test]
fn a_prompt_is_filled_in() {
    for revision in BOTH {
        let words = ["prompt", "review", "language=Rust", "--revision", revision];
        let got = with_exhibit(&words);
        assert_eq!(got.code, Some(0), "{}", got.stderr);
        assert_eq!(got.stdout, "user: Review this Rust code for everything.\n");
    }
    let missing = with_exhibit(&["prompt", "review"]);
    assert_eq!(missing.code, Some(1));
    let wrong = with_exhibit(&["prompt", "review", "Rust"]);
    assert_eq!(wrong.code, Some(2));
    expect("prompt_wrong.txt", &wrong.stderr);
    expect("prompt.json", &with_exhibit(&["prompt", "review", "language=C", "--json"]).stdout);
}

#[test]
fn values_are_completed() {
    for revision in BOTH {
        let words = ["complete", "exhibit://users/{name}", "name=a", "--revision", revision];
        let completed = with_exhibit(&words);
        assert_eq!((completed.code, completed.stdout.as_str()), (Some(0), "ada\nalan\n"));
    }
    let wrong = with_exhibit(&["complete", "exhibit://users/{name}"]);
    assert_eq!(wrong.code, Some(2));
}
