//! Servers that answer anything at all: a login ends, and no secret leaves for another server.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::client::plan::{Browser, Machine, Plan};
use crate::client::world::*;
use crate::damage::{cases, damaged, damages};
use crate::fetch::Fetched;
use crate::url::Url;

const EVIL: &str = "https://evil.example";

/// Documents of every kind, in the wrong place as often as in the right one.
fn bodies() -> Vec<String> {
    vec![
        document(MCP, AS, ""),
        document(MCP, EVIL, ""),
        document("https://evil.example/mcp", AS, ""),
        metadata(AS, ""),
        metadata(EVIL, ""),
        metadata(AS, "").replace("https://as.example/token", "https://evil.example/token"),
        metadata(AS, "").replace("https://as.example/token", "http://as.example/token"),
        r#"{"client_id":"dyn","client_secret":"s"}"#.into(),
        TOKENS.into(),
        r#"{"error":"invalid_redirect_uri"}"#.into(),
        r#"{"error":"use_dpop_nonce"}"#.into(),
        "{}".into(),
        "[".into(),
        "\u{0}".into(),
    ]
}

/// A document, whole or damaged, with any status.
fn answer() -> impl Strategy<Value = Fetched> {
    let status = prop::sample::select(vec![200_u16, 200, 200, 201, 302, 400, 401, 404, 500]);
    let damages = prop_oneof![Just(Vec::new()), damages(b"\"\\,:{}[]0e-/\0\xff")];
    let body = (prop::sample::select(bodies()), damages);
    (status, body, any::<bool>()).prop_map(|(status, (body, damages), has_nonce)| {
        let mut answer = json(status, "");
        answer.body = damaged(&body, &damages).into();
        if has_nonce { with_header(answer, "dpop-nonce", "n") } else { answer }
    })
}

fn query() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "code=c",
        "code=",
        "state=STATE",
        "state=x",
        "iss=https://as.example",
        "iss=https://evil.example",
        "error=e",
        "error_description=d",
        "%ff",
        "=",
    ]);
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.join("&"))
}

/// Plays a login, and says whether it succeeds.
fn check(plan: Plan, nonsense: Vec<Fetched>, returns: Vec<String>) -> bool {
    let mut world = World::new();
    (world.nonsense, world.returns) = (nonsense, returns);
    let played = world.play(plan);
    assert!(played.requests.len() <= 12);
    for request in &played.requests {
        let has_secret =
            !request.body.expose().is_empty() || request.headers.contains_key("authorization");
        assert!(!has_secret || request.url.is_confidential(), "{request:?}");
    }
    // The metadata of the issuer decide where a request goes, and nothing else does.
    if let Some(record) = &played.record {
        let token = record.server.metadata().token_endpoint.clone();
        let last = played.requests.last().map(|request| request.url.clone());
        let is_registration = record.tokens.is_none();
        assert!(is_registration || last == token, "{last:?} {token:?}");
    }
    for visit in played.lines("VISIT") {
        let page = Url::parse(visit.split(' ').next().unwrap()).unwrap();
        assert!(page.is_confidential());
    }
    played.end.is_ok()
}

// spec: AUTH-7
#[test]
fn a_login_ends_and_keeps_its_secrets() {
    let succeeded = Cell::new(0);
    let config = cases(4000);
    let total = config.cases;
    let good = Just(format!("code=c&state=STATE&iss={AS}"));
    let returns = prop::collection::vec(prop_oneof![query(), good], 0..40);
    let input = (prop::collection::vec(answer(), 0..16), returns, 0..3);
    let checked = TestRunner::new(config).run(&input, |(nonsense, returns, kind)| {
        let plan: Plan = match kind {
            0 => Browser::new("app").into(),
            1 => Browser::new("app").client_with_secret(AS, "pre", "s3cret").dpop().into(),
            _ => Machine::secret(AS, "pre", "s3cret").into(),
        };
        succeeded.set(succeeded.get() + u32::from(check(plan, nonsense, returns)));
        Ok(())
    });
    checked.unwrap();
    let share = succeeded.get() * 100 / total;
    assert!((2..60).contains(&share), "{share} % of the logins succeed");
}
