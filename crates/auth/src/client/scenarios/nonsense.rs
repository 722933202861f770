//! Servers that answer anything at all: a login ends, and no secret leaves for another server.

use proptest::prelude::*;

use crate::client::plan::{Browser, Machine, Plan};
use crate::client::world::*;
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

fn answer() -> impl Strategy<Value = crate::fetch::Fetched> {
    let status = prop::sample::select(vec![200_u16, 200, 200, 201, 302, 400, 401, 404, 500]);
    (status, prop::sample::select(bodies()), any::<bool>()).prop_map(|(status, body, has_nonce)| {
        let answer = json(status, &body);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    // spec: AUTH-7
    #[test]
    fn a_login_ends_and_keeps_its_secrets(
        nonsense in prop::collection::vec(answer(), 0..16),
        returns in prop::collection::vec(query(), 0..40),
        kind in 0_u8..3,
    ) {
        let plan: Plan = match kind {
            0 => Browser::new("app").into(),
            1 => Browser::new("app").client_with_secret(AS, "pre", "s3cret").dpop().into(),
            _ => Machine::secret(AS, "pre", "s3cret").into(),
        };
        let mut world = World::new();
        (world.nonsense, world.returns) = (nonsense, returns);
        let played = world.play(plan);
        prop_assert!(played.requests.len() <= 12);
        for request in &played.requests {
            let has_secret = !request.body.expose().is_empty() || request.headers.contains_key("authorization");
            prop_assert!(!has_secret || request.url.is_confidential());
        }
        // The metadata of the issuer decide where a request goes, and nothing else does.
        if let Some(record) = &played.record {
            let token = record.server.metadata().token_endpoint.clone();
            let last = played.requests.last().map(|request| request.url.clone());
            let is_registration = record.tokens.is_none();
            prop_assert!(is_registration || last == token, "{last:?} {token:?}");
        }
        for visit in played.lines("VISIT") {
            let page = Url::parse(visit.split(' ').next().unwrap()).unwrap();
            prop_assert!(page.is_confidential());
        }
    }
}
