//! `bowline read`, `bowline prompt` and `bowline complete`.

use std::time::{Duration, Instant};

use super::*;

#[test]
fn a_resource_is_read_as_it_is() {
    for revision in BOTH {
        let read = with_exhibit(&["read", "exhibit://clock", "--revision", revision]);
        assert_eq!((read.code, read.stdout.as_str()), (Some(0), "12:00"), "{}", read.stderr);
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
fn a_wrong_name_brings_the_nearest() {
    for revision in BOTH {
        let read = with_exhibit(&["read", "exhibit://clok", "--revision", revision]);
        assert_eq!((read.code, read.stdout.as_str()), (Some(1), ""));
        assert!(read.stderr.ends_with("\nhint: did you mean `exhibit://clock`?\n"), "{read:?}");
        let got = with_exhibit(&["prompt", "reviews", "--revision", revision]);
        assert_eq!((got.code, got.stdout.as_str()), (Some(1), ""));
        assert!(got.stderr.ends_with("\nhint: did you mean `review`?\n"), "{got:?}");
    }
}

#[test]
fn every_command_can_wait_shorter() {
    let sleeper = ["--timeout", "0.05", "--", "sleep", "600"];
    for words in [&["list"][..], &["read", "a://b"], &["prompt", "a"], &["complete", "a", "b=c"]] {
        let begun = Instant::now();
        let late = run(&[words, &sleeper].concat());
        // The question for the era and the handshake have this time each.
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        assert_eq!((late.code, late.stdout.as_str()), (Some(5), ""), "{late:?}");
        assert!(late.stderr.ends_with("hint: `--timeout SECONDS` waits longer\n"), "{late:?}");
    }
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
