//! `bowline list`.

use super::*;

#[test]
fn everything_is_listed_over_each_transport_in_both_eras() {
    let http = HttpExhibit::start();
    for revision in BOTH {
        let listed = with_exhibit(&["list", "--revision", revision]);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        expect("list.txt", &listed.stdout);
        let listed = run(&["list", &http.url, "--revision", revision]);
        assert_eq!((listed.code, listed.stderr.as_str()), (Some(0), ""));
        expect("list.txt", &listed.stdout);
    }
}

#[test]
fn kinds_can_be_chosen_and_json_is_for_programs() {
    let listed = with_exhibit(&["list", "prompts", "templates", "--json"]);
    assert_eq!(listed.code, Some(0));
    expect("list.json", &listed.stdout);
    let wrong = with_exhibit(&["list", "tolls"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.starts_with("error: `tolls` is not one of `tools`"), "{}", wrong.stderr);
}
