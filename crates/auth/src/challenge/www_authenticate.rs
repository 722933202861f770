//! `WWW-Authenticate` headers with random damage: whatever a server sends, what is read is bounded and
//! can be written and read back.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::*;
use crate::damage::{cases, damaged, damages};

const SEEDS: &[&str] = &[
    r#"Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource""#,
    r#"Bearer error="insufficient_scope", scope="mcp admin", error_description="a \"b\" c""#,
    r#"Basic realm="x", Bearer scope=mcp, DPoP algs="ES256 EdDSA", error="use_dpop_nonce""#,
    "Negotiate oYG/+==, Bearer",
    "",
];

/// Checks what is read, and says whether anything is.
fn check(bytes: &[u8]) -> bool {
    let Ok(value) = HeaderValue::from_bytes(bytes) else { return false };
    let read =
        |value: HeaderValue| Challenge::read(&[(WWW_AUTHENTICATE, value)].into_iter().collect());
    let challenges = read(value);
    assert!(challenges.len() <= MOST_CHALLENGES);
    for challenge in &challenges {
        assert!(!challenge.scheme.is_empty() && challenge.parameters.len() <= MOST_PARAMETERS);
        for (index, (name, _)) in challenge.parameters.iter().enumerate() {
            assert_eq!(*name, name.to_ascii_lowercase());
            assert!(challenge.parameters[..index].iter().all(|(earlier, _)| earlier != name));
        }
        let [again] = &read(challenge.to_header())[..] else { panic!("{challenge}") };
        assert_eq!(again.to_string(), challenge.to_string());
    }
    !challenges.is_empty()
}

#[test]
fn a_damaged_header_is_read_within_its_bounds() {
    let readable = Cell::new(0);
    let config = cases(4000);
    let total = config.cases;
    let seed = prop::sample::select(SEEDS);
    let input = (seed, damages(b"\"\\,= \t;abc-_~/+\xff\x80"));
    let checked = TestRunner::new(config).run(&input, |(seed, damages)| {
        readable.set(readable.get() + u32::from(check(&damaged(seed, &damages))));
        Ok(())
    });
    checked.unwrap();
    let share = readable.get() * 100 / total;
    assert!((30..95).contains(&share), "{share} % of the headers have a challenge");
}
