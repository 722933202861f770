//! Proofs of possession: each is for one request, one token, one key, and counts once.

use std::sync::Arc;

use bowline_auth::jose::jws::Algorithm;
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_auth::resource::nonce::Nonces;
use bowline_auth::resource::proof::MOST_PROOF;
use bowline_auth::resource::replay::{
    MOST_PROOFS, MOST_PROOFS_OF_CALLER, MemoryReplayTable, ReplayTable, ReplayVerdict, UsedProof,
};
use bowline_auth::resource::{Admission, Jwt, Presented};
use bowline_proto::request::Owner;
use http::request::Parts;
use serde_json::{Value, json};

use super::authority::{
    DOCUMENT, ISSUER, Network, RESOURCE, at, bearer, change, head, jwk, key, outcome, sign, with,
};

/// A client with a key, and a token that is bound to it.
struct Caller {
    key: SigningKey,
    token: String,
}

impl Caller {
    fn new() -> Self {
        let key = SigningKey::generate().unwrap().0;
        let token = bound_to(&key);
        Self { key, token }
    }

    fn claims(&self, id: &str) -> Value {
        let ath = base64_of(&Presented::new(self.token.clone()).digest());
        json!({"jti": id, "htm": "POST", "htu": RESOURCE, "iat": 1_700_000_000, "ath": ath})
    }

    /// A proof with these claims changed; `null` removes one.
    fn proof(&self, id: &str, changes: Value) -> String {
        let mut claims = self.claims(id);
        change(&mut claims, changes);
        self.key.sign("dpop+jwt", EmbeddedKey::Present, &claims).unwrap().expose().clone()
    }

    fn head(&self, proof: &str) -> Parts {
        let authorization = format!("DPoP {}", self.token);
        head("/mcp", &[("authorization", authorization.as_bytes()), ("dpop", proof.as_bytes())])
    }
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes)
}

fn bound_to(holder: &SigningKey) -> String {
    let confirmation = json!({"cnf": {"jkt": holder.public().thumbprint()}});
    sign(&key(Algorithm::EdDsa), &with(confirmation))
}

fn admission(settings: fn(Jwt) -> Jwt) -> Admission {
    let network = Network::with_keys(&[jwk(&key(Algorithm::EdDsa), json!({"kid": "EdDSA"}))]);
    let jwt = settings(Jwt::issuer(ISSUER).audience(RESOURCE));
    Admission::new(RESOURCE, jwt, network).unwrap()
}

fn refusal(error: &str, text: &str) -> (u16, String) {
    let algorithms = "algs=\"ES256 EdDSA PS256 RS256\"";
    let challenge = format!(
        "DPoP {algorithms}, error=\"{error}\", error_description=\"{text}\", resource_metadata=\"{DOCUMENT}\""
    );
    (401, challenge)
}

#[tokio::test]
async fn dpop_replay_of_a_proof_is_refused() {
    let (caller, admission) = (Caller::new(), admission(|jwt| jwt));
    let proof = caller.proof("1", json!({}));
    assert_eq!(outcome(&admission.admit(&caller.head(&proof), at(0)).await).0, 200);
    let again = outcome(&admission.admit(&caller.head(&proof), at(60)).await);
    assert_eq!(again, refusal("invalid_dpop_proof", "the proof was used before"));
    // Another proof with the same id is a replay too; the same id of another key is not.
    let same_id = caller.proof("1", json!({"iat": 1_700_000_001}));
    assert_eq!(outcome(&admission.admit(&caller.head(&same_id), at(1)).await).0, 401);
    let other = Caller::new();
    let proof = other.proof("1", json!({}));
    assert_eq!(outcome(&admission.admit(&other.head(&proof), at(1)).await).0, 200);
    // A replay after the table has forgotten it is too old.
    let late =
        outcome(&admission.admit(&caller.head(&caller.proof("1", json!({}))), at(121)).await);
    assert_eq!(late, refusal("invalid_dpop_proof", "the time of the proof is wrong"));
}

#[tokio::test]
async fn a_proof_is_for_one_request_one_token_and_one_key() {
    let (caller, admission) = (Caller::new(), admission(|jwt| jwt));
    const MALFORMED: &str = "the proof is malformed";
    const OTHER_URL: &str = "the proof is for another URL";
    const OTHER_TOKEN: &str = "the proof is for another access token";
    for (index, (changes, reason)) in [
        (json!({}), ""),
        (json!({"htu": format!("{RESOURCE}?a=b#c")}), ""),
        (json!({"htu": "HTTPS://MCP.example.com:443/mcp"}), ""),
        (json!({"iat": 1_699_999_940}), ""),
        (json!({"iat": 1_700_000_060}), ""),
        (json!({"extra": [1]}), ""),
        (json!({"htm": "GET"}), "the proof is for another method"),
        (json!({"htm": "post"}), "the proof is for another method"),
        (json!({"htm": null}), MALFORMED),
        (json!({"htu": "https://evil.example/mcp"}), OTHER_URL),
        (json!({"htu": "http://mcp.example.com/mcp"}), OTHER_URL),
        (json!({"htu": format!("{RESOURCE}/")}), OTHER_URL),
        (json!({"htu": "/mcp"}), OTHER_URL),
        (json!({"htu": ""}), OTHER_URL),
        (json!({"htu": null}), MALFORMED),
        (json!({"iat": 1_699_999_939}), "the time of the proof is wrong"),
        (json!({"iat": 1_700_000_061}), "the time of the proof is wrong"),
        (json!({"iat": "1700000000"}), MALFORMED),
        (json!({"iat": null}), MALFORMED),
        (json!({"ath": null}), OTHER_TOKEN),
        (json!({"ath": ""}), OTHER_TOKEN),
        (json!({"ath": base64_of(&[0; 32])}), OTHER_TOKEN),
        (json!({"jti": ""}), MALFORMED),
        (json!({"jti": null}), MALFORMED),
        (json!({"jti": "x".repeat(513)}), MALFORMED),
    ]
    .into_iter()
    .enumerate()
    {
        let proof = caller.proof(&index.to_string(), changes.clone());
        let found = outcome(&admission.admit(&caller.head(&proof), at(0)).await);
        let expected = if reason.is_empty() {
            (200, String::new())
        } else {
            refusal("invalid_dpop_proof", reason)
        };
        assert_eq!(found, expected, "{changes}");
    }
}

#[tokio::test]
async fn a_proof_is_signed_with_the_key_that_it_brings() {
    let (caller, stranger, admission) = (Caller::new(), Caller::new(), admission(|jwt| jwt));
    let claims = caller.claims("1");
    let signed = |key: &SigningKey, media_type: &str, embedded| {
        key.sign(media_type, embedded, &claims).unwrap().expose().clone()
    };
    let good = signed(&caller.key, "dpop+jwt", EmbeddedKey::Present);
    let other_key = signed(&stranger.key, "dpop+jwt", EmbeddedKey::Present);
    let (rest, _) = good.rsplit_once('.').unwrap();
    let forged = format!("{rest}.{}", other_key.rsplit_once('.').unwrap().1);
    let (_, payload) = rest.split_once('.').unwrap();
    let private = base64_of(br#"{"alg":"EdDSA","typ":"dpop+jwt","jwk":{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}}"#);
    let long = "a".repeat(8 * 1024 + 1);
    for (proof, reason) in [
        (other_key, "the proof has another key than the access token"),
        (forged, "the proof is malformed"),
        (signed(&caller.key, "JWT", EmbeddedKey::Present), "the proof is malformed"),
        (signed(&caller.key, "dpop+jwt", EmbeddedKey::Absent), "the proof is malformed"),
        (format!("{private}.{payload}."), "the proof is malformed"),
        (caller.token.clone(), "the proof is malformed"),
        (String::new(), "the proof is malformed"),
        (long, "the proof is malformed"),
    ] {
        let found = outcome(&admission.admit(&caller.head(&proof), at(0)).await);
        assert_eq!(found, refusal("invalid_dpop_proof", reason), "{proof}");
    }
    let authorization = format!("DPoP {}", caller.token);
    let none = head("/mcp", &[("authorization", authorization.as_bytes())]);
    assert_eq!(
        outcome(&admission.admit(&none, at(0)).await),
        refusal("invalid_dpop_proof", "there is no proof")
    );
    let two = [
        ("authorization", authorization.as_bytes()),
        ("dpop", good.as_bytes()),
        ("dpop", good.as_bytes()),
    ];
    let two = outcome(&admission.admit(&head("/mcp", &two), at(0)).await);
    assert_eq!(two, refusal("invalid_dpop_proof", "there is more than one proof"));
    assert_eq!(outcome(&admission.admit(&caller.head(&good), at(0)).await).0, 200);
}

#[tokio::test]
async fn a_bound_token_does_not_pass_as_bearer_and_an_unbound_one_not_as_bound() {
    let caller = Caller::new();
    let unbound = sign(&key(Algorithm::EdDsa), &with(json!({})));
    let bound_text = "the access token is bound to a key; send it as DPoP, with a proof";
    let unbound_text = "the access token is not bound to a key";
    let optional = admission(|jwt| jwt);
    assert_eq!(outcome(&optional.admit(&bearer(&unbound), at(0)).await).0, 200);
    assert_eq!(
        outcome(&optional.admit(&bearer(&caller.token), at(0)).await),
        refusal("invalid_token", bound_text)
    );
    let required = admission(Jwt::dpop);
    assert_eq!(
        outcome(&required.admit(&bearer(&unbound), at(0)).await),
        refusal("invalid_token", unbound_text)
    );
    assert_eq!(
        outcome(&required.admit(&bearer(&caller.token), at(0)).await),
        refusal("invalid_token", bound_text)
    );
    let proof = caller.proof("1", json!({}));
    assert_eq!(outcome(&required.admit(&caller.head(&proof), at(0)).await).0, 200);
    let other = Caller { token: unbound, ..Caller::new() };
    let proof = other.proof("1", json!({}));
    assert_eq!(
        outcome(&required.admit(&other.head(&proof), at(0)).await),
        refusal("invalid_token", unbound_text)
    );
    let none = outcome(&required.admit(&head("/mcp", &[]), at(0)).await);
    let challenge =
        format!("DPoP algs=\"ES256 EdDSA PS256 RS256\", resource_metadata=\"{DOCUMENT}\"");
    assert_eq!(none, (401, challenge));
}

#[tokio::test]
async fn a_proof_without_a_recent_nonce_gets_one() {
    let (caller, admission) = (Caller::new(), admission(|jwt| jwt.dpop().dpop_nonces()));
    let admission = admission.nonces(Nonces::new([[7; 32]]));
    let ask = |id: &str, nonce: Value, second: u64| {
        let changes = json!({"nonce": nonce, "iat": 1_700_000_000 + second});
        let head = caller.head(&caller.proof(id, changes));
        let admission = &admission;
        async move { admission.admit(&head, at(second)).await }
    };
    let first = ask("1", Value::Null, 0).await;
    assert_eq!(outcome(&first), refusal("use_dpop_nonce", "the proof needs a nonce"));
    let nonce = first.unwrap_err().headers()["dpop-nonce"].to_str().unwrap().to_owned();
    // The refused proof was not used, so its id still is.
    assert_eq!(ask("1", json!(nonce), 1).await.unwrap().nonce, None);
    let ageing = ask("2", json!(nonce), 200).await.unwrap().nonce.unwrap();
    assert_ne!(ageing, nonce.as_str());
    let old = ask("3", json!(nonce), 300).await;
    assert_eq!(outcome(&old), refusal("use_dpop_nonce", "the proof needs a nonce"));
    assert_eq!(outcome(&ask("4", json!(ageing.to_str().unwrap()), 300).await).0, 200);
    assert_eq!(outcome(&ask("5", json!("forged"), 300).await).0, 401);
}

#[tokio::test]
async fn processes_that_share_a_key_accept_each_others_nonces() {
    let caller = Caller::new();
    let [first, second, stranger] = [[7; 32], [7; 32], [8; 32]]
        .map(|key| admission(Jwt::dpop_nonces).nonces(Nonces::new([key])));
    let wanted = first.admit(&caller.head(&caller.proof("1", json!({}))), at(0)).await.unwrap_err();
    let nonce = wanted.headers()["dpop-nonce"].to_str().unwrap().to_owned();
    let proof = caller.proof("1", json!({"nonce": nonce}));
    assert_eq!(outcome(&second.admit(&caller.head(&proof), at(0)).await).0, 200);
    assert_eq!(outcome(&stranger.admit(&caller.head(&proof), at(0)).await).0, 401);
    assert_eq!(format!("{:?}", Nonces::new([[7; 32]])), "Nonces");
}

#[tokio::test]
async fn a_proof_is_bounded() {
    let (caller, admission) = (Caller::new(), admission(|jwt| jwt));
    let sized =
        |id: usize, fill: usize| caller.proof(&id.to_string(), json!({"fill": "a".repeat(fill)}));
    // Base64 has texts of three lengths out of four, so the longest may be below the limit by one.
    let longest = (5000..6500).rfind(|fill| sized(10, *fill).len() <= MOST_PROOF).unwrap();
    assert!(sized(10, longest).len() >= MOST_PROOF - 1);
    for (id, fill, status) in [(10, longest, 200), (11, longest + 1, 401)] {
        let found = outcome(&admission.admit(&caller.head(&sized(id, fill)), at(0)).await).0;
        assert_eq!(found, status, "{fill}");
    }
}

#[tokio::test]
async fn a_full_replay_table_makes_the_resource_unavailable() {
    let table = Arc::new(MemoryReplayTable::default());
    // As many callers as it takes.
    let proof = |n: usize| {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_be_bytes());
        let owner = Owner::known(ISSUER, (n / MOST_PROOFS_OF_CALLER).to_string());
        UsedProof { digest, owner, until: at(100) }
    };
    for n in 0..MOST_PROOFS {
        assert_eq!(table.remember(proof(n), at(0)).await, ReplayVerdict::New);
    }
    assert_eq!(table.remember(proof(0), at(0)).await, ReplayVerdict::Seen);
    let (caller, admission) = (Caller::new(), admission(|jwt| jwt));
    let admission = admission.replay_table(Arc::clone(&table) as _);
    let proof = caller.proof("1", json!({}));
    let full = admission.admit(&caller.head(&proof), at(0)).await.unwrap_err();
    assert_eq!((full.status.as_u16(), full.headers()["retry-after"].to_str().unwrap()), (503, "5"));
    assert_eq!(
        outcome(
            &admission
                .admit(&caller.head(&caller.proof("1", json!({"iat": 1_700_000_100}))), at(100))
                .await
        )
        .0,
        200
    );
    assert_eq!(format!("{table:?}"), "MemoryReplayTable(1)");
}

#[tokio::test]
async fn a_caller_with_many_proofs_shuts_out_only_itself() {
    let table = Arc::new(MemoryReplayTable::default());
    let admission = admission(|jwt| jwt).replay_table(Arc::clone(&table) as _);
    for n in 0..MOST_PROOFS_OF_CALLER {
        let mut digest = [0; 32];
        digest[..8].copy_from_slice(&n.to_be_bytes());
        let proof = UsedProof { digest, owner: Owner::known(ISSUER, "ann"), until: at(100) };
        assert_eq!(table.remember(proof, at(0)).await, ReplayVerdict::New);
    }
    // The tokens are for `ann`, whatever their keys, unless they say something else.
    let (ann, mut bob) = (Caller::new(), Caller::new());
    let bound = json!({"sub": "bob", "cnf": {"jkt": bob.key.public().thumbprint()}});
    bob.token = sign(&key(Algorithm::EdDsa), &with(bound));
    for (caller, status) in [(ann, 503), (bob, 200)] {
        let proof = caller.proof("1", json!({}));
        assert_eq!(outcome(&admission.admit(&caller.head(&proof), at(0)).await).0, status);
    }
}

#[tokio::test]
async fn a_table_may_be_shared() {
    let table: Arc<dyn ReplayTable> = Arc::new(MemoryReplayTable::default());
    let [first, second] = [admission(|jwt| jwt), admission(|jwt| jwt)]
        .map(|one| one.replay_table(Arc::clone(&table)));
    let caller = Caller::new();
    let proof = caller.proof("1", json!({}));
    assert_eq!(outcome(&first.admit(&caller.head(&proof), at(0)).await).0, 200);
    assert_eq!(outcome(&second.admit(&caller.head(&proof), at(0)).await).0, 401);
}
