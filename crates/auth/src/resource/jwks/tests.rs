//! Tests of what the key cache does at each time, without fetching.

use std::time::UNIX_EPOCH;

use super::*;

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds)
}

/// A set of keys with these ids.
fn keys(ids: &[&str]) -> JwkSet {
    let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let key = |id: &&str| format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{x}","kid":"{id}"}}"#);
    let keys: Vec<String> = ids.iter().map(key).collect();
    JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, keys.join(","))).unwrap()
}

/// A state with keys that were fetched at a time, fresh for five minutes.
fn fetched(ids: &[&str], second: u64) -> State {
    let mut state = State::default();
    state.store(Ok((keys(ids), SHORTEST_AGE)), None, at(second)).unwrap();
    state
}

fn step(state: &State, id: &str, second: u64) -> &'static str {
    match state.step(Some(id), at(second)) {
        Step::Use(_) => "use",
        Step::FetchAhead(_) => "ahead",
        Step::Refresh(_) => "refresh",
        Step::Fetch => "fetch",
        Step::Fail => "fail",
    }
}

const FRESH: u64 = 300;
const DAY: u64 = 24 * 60 * 60;

#[test]
fn keys_are_used_refreshed_and_given_up_at_their_times() {
    let mut state = fetched(&["a"], 0);
    for (second, expected) in [
        (0, "use"),
        (FRESH - 31, "use"),
        (FRESH - 30, "ahead"),
        (FRESH - 1, "ahead"),
        (FRESH, "refresh"),
        (FRESH + DAY - 1, "refresh"),
        (FRESH + DAY, "fetch"),
    ] {
        assert_eq!(step(&state, "a", second), expected, "{second}");
    }
    // A failure does not make old keys unusable before their time.
    let survives = |state: &mut State, second| {
        state.store(Err(Error::fetch("unreachable")), Some("a"), at(second)).is_ok()
    };
    assert!(survives(&mut state, FRESH + DAY - 1));
    assert_eq!(step(&state, "a", FRESH + DAY - 1), "use");
    assert_eq!(step(&state, "a", FRESH + DAY), "fail");
    assert!(!survives(&mut state, FRESH + DAY));
    assert_eq!(step(&state, "a", FRESH + DAY + 29), "fail");
    assert_eq!(step(&state, "a", FRESH + DAY + 30), "fetch");
}

#[test]
fn a_clock_that_was_set_back_does_not_stop_fetching() {
    let state = fetched(&["a"], 1000);
    for (second, expected) in
        [(0, "fetch"), (970, "fetch"), (971, "use"), (1029, "use"), (1030, "fetch")]
    {
        assert_eq!(step(&state, "x", second), expected, "{second}");
    }
}

#[test]
fn the_same_keys_have_the_same_version() {
    let mut state = State::default();
    let mut version = |ids: &[&str], second| {
        state.store(Ok((keys(ids), SHORTEST_AGE)), None, at(second)).unwrap().version
    };
    assert_eq!([version(&["a"], 0), version(&["a"], 30), version(&["b"], 60)], [1, 1, 2]);
}

#[test]
fn only_ids_that_a_fetch_did_not_find_are_remembered_and_not_for_long() {
    let mut state = State::default();
    let mut unknown = |id: &str, second| {
        state.store(Ok((keys(&["a"]), SHORTEST_AGE)), Some(id), at(second)).unwrap();
        state.unknown.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(unknown("a", 0), [""; 0]);
    assert_eq!(unknown("x", 10), ["x"]);
    assert_eq!(unknown("y", 69), ["x", "y"]);
    assert_eq!(unknown("z", 70), ["y", "z"]);
}

#[test]
fn an_id_that_is_too_long_to_be_remembered_is_not_looked_for() {
    let state = fetched(&["a"], 0);
    assert_eq!(step(&state, &"x".repeat(MOST_KEY_ID), 30), "fetch");
    assert_eq!(step(&state, &"x".repeat(MOST_KEY_ID + 1), 30), "use");
}
