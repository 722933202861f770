//! Tokens that are wrong in one way each, with the exact status and challenge that they get.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_auth::jose::jws::{Algorithm, MOST_TOKEN};
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_auth::resource::{Admission, Jwt};
use http::request::Parts;
use serde_json::{Value, json};

use super::authority::{
    DOCUMENT, ISSUER, Network, RESOURCE, at, bearer, claims, head, jwk, key, outcome, sign, with,
};

/// What a request gets.
#[derive(Clone, Copy, Debug)]
enum Outcome {
    Pass,
    /// 401 without an error: there is no token.
    NoToken,
    /// 401 `invalid_token`, with this description.
    Invalid(&'static str),
    /// 401 that asks for a proof of possession.
    Bound(&'static str),
    /// 400 `invalid_request`.
    Request(&'static str),
    /// 403 `insufficient_scope`.
    Scope,
}

use Outcome::{Bound, Invalid, NoToken, Pass, Scope};

const UNVERIFIABLE: Outcome = Invalid("the access token cannot be verified");
const MALFORMED: Outcome = Invalid("the access token is malformed");
const ISSUER_DIFFERS: Outcome = Invalid("the access token is from another issuer");
const AUDIENCE: Outcome = Invalid("the access token is for another resource");
const EXPIRED: Outcome = Invalid("the access token has expired");
const EARLY: Outcome = Invalid("the access token is not valid yet");
const HEADER: Outcome = Outcome::Request("the Authorization header is malformed");

impl Outcome {
    fn expected(self) -> (u16, String) {
        let metadata = format!("resource_metadata=\"{DOCUMENT}\"");
        let error = |error: &str, text: &str| {
            format!("error=\"{error}\", error_description=\"{text}\", {metadata}")
        };
        match self {
            Pass => (200, String::new()),
            NoToken => (401, format!("Bearer {metadata}, scope=\"mcp\"")),
            Invalid(text) => {
                (401, format!("Bearer {}, scope=\"mcp\"", error("invalid_token", text)))
            }
            Bound(text) => {
                let error = error("invalid_token", text);
                (401, format!("DPoP algs=\"ES256 EdDSA PS256 RS256\", {error}, scope=\"mcp\""))
            }
            Self::Request(text) => (400, format!("Bearer {}", error("invalid_request", text))),
            Scope => {
                let text = "the access token has too few scopes";
                (403, format!("Bearer {}, scope=\"mcp\"", error("insufficient_scope", text)))
            }
        }
    }
}

pub(crate) fn admission() -> Admission {
    let [rsa, p256, ed25519] = [Algorithm::Rs256, Algorithm::Es256, Algorithm::EdDsa].map(key);
    let keys = [
        jwk(&rsa, json!({"kid": "RS256", "use": "sig", "alg": "RS256"})),
        jwk(&p256, json!({"kid": "ES256"})),
        jwk(&ed25519, json!({"kid": "EdDSA"})),
        jwk(&rsa, json!({"kid": "encryption", "use": "enc"})),
        json!({"kid": "symmetric", "kty": "oct", "k": "AAAA"}),
    ];
    let jwt = Jwt::issuer(ISSUER)
        .audience(RESOURCE)
        .require_scope("mcp")
        .scope_includes("admin", ["mcp"]);
    Admission::new(RESOURCE, jwt, Network::with_keys(&keys)).unwrap()
}

/// A token with these parts, not signed at all.
fn forged(header: &str, payload: &str, signature: &[u8]) -> String {
    let encode = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    format!("{}.{}.{}", encode(header.as_bytes()), encode(payload.as_bytes()), encode(signature))
}

/// A token with any header, really signed with ES256.
pub(crate) fn es256(header: &str, payload: &str) -> String {
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
    use rustls_pki_types::PrivatePkcs8KeyDer;
    use rustls_pki_types::pem::PemObject as _;
    let pem =
        PrivatePkcs8KeyDer::from_pem_slice(super::authority::pem(Algorithm::Es256).as_bytes())
            .unwrap();
    let random = ring::rand::SystemRandom::new();
    let pair =
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pem.secret_pkcs8_der(), &random);
    let unsigned = forged(header, payload, &[]);
    let signed = unsigned.trim_end_matches('.');
    let signature = pair.unwrap().sign(&random, signed.as_bytes()).unwrap();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()))
}

/// A good payload under another header.
fn under(header: &str) -> String {
    es256(header, &claims().to_string())
}

/// A good header over another payload.
fn over(payload: &str) -> String {
    es256(r#"{"alg":"ES256","kid":"ES256"}"#, payload)
}

/// A good token but for these claims.
fn but(changes: Value) -> String {
    sign(&key(Algorithm::Es256), &with(changes))
}

/// A test: its name, the token or request, and what it gets.
type Case<T> = (&'static str, T, Outcome);

/// A good payload with an HMAC under a public key of the server.
fn hmac(header: &str) -> String {
    use ring::hmac::{HMAC_SHA256, Key, sign};
    let unsigned = forged(header, &claims().to_string(), &[]);
    let signed = unsigned.trim_end_matches('.');
    let public = Key::new(HMAC_SHA256, include_bytes!("../keys/rsa.pub.pem"));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(sign(&public, signed.as_bytes()).as_ref()))
}

/// Tokens with right and wrong algorithms and types.
fn tokens_by_algorithm() -> Vec<Case<String>> {
    let good = sign(&key(Algorithm::Es256), &claims());
    let payload = claims().to_string();
    vec![
        ("a good token", good, Pass),
        ("RS256", sign(&key(Algorithm::Rs256), &claims()), Pass),
        ("EdDSA", sign(&key(Algorithm::EdDsa), &claims()), Pass),
        ("no key id", under(r#"{"alg":"ES256"}"#), Pass),
        ("typ JWT", under(r#"{"alg":"ES256","typ":"JWT"}"#), Pass),
        ("typ application/at+jwt", under(r#"{"alg":"ES256","typ":"application/AT+JWT"}"#), Pass),
        (
            "PS256 with a key for RS256",
            sign(&key(Algorithm::Ps256).with_id("RS256"), &claims()),
            UNVERIFIABLE,
        ),
        ("alg none", forged(r#"{"alg":"none"}"#, &payload, &[]), UNVERIFIABLE),
        ("alg none with a good signature", under(r#"{"alg":"none"}"#), UNVERIFIABLE),
        (
            "alg HS256 keyed with the public key",
            hmac(r#"{"alg":"HS256","kid":"RS256"}"#),
            UNVERIFIABLE,
        ),
        ("alg RS256 with an HMAC", hmac(r#"{"alg":"RS256","kid":"RS256"}"#), UNVERIFIABLE),
        ("alg in lower case", under(r#"{"alg":"es256"}"#), UNVERIFIABLE),
        ("alg twice", under(r#"{"alg":"ES256","alg":"none"}"#), UNVERIFIABLE),
        ("no alg", under("{}"), UNVERIFIABLE),
        ("crit", under(r#"{"alg":"ES256","crit":["exp"]}"#), UNVERIFIABLE),
        ("typ dpop+jwt", under(r#"{"alg":"ES256","typ":"dpop+jwt"}"#), UNVERIFIABLE),
        ("typ logout+jwt", under(r#"{"alg":"ES256","typ":"logout+jwt"}"#), UNVERIFIABLE),
    ]
}

/// Tokens that name or bring a key that is not theirs.
fn tokens_by_key() -> Vec<Case<String>> {
    let stranger = SigningKey::generate().unwrap().0;
    let own = stranger.sign("at+jwt", EmbeddedKey::Present, &claims()).unwrap().expose().clone();
    let known_id = sign(&stranger.with_id("ES256"), &claims());
    vec![
        (
            "a key id with a path",
            under(r#"{"alg":"ES256","kid":"../../etc/passwd"}"#),
            UNVERIFIABLE,
        ),
        (
            "a key id that is a URL",
            under(r#"{"alg":"ES256","kid":"https://evil.example/k"}"#),
            UNVERIFIABLE,
        ),
        (
            "the id of a key for encryption",
            sign(&key(Algorithm::Rs256).with_id("encryption"), &claims()),
            UNVERIFIABLE,
        ),
        ("the id of a symmetric key", under(r#"{"alg":"ES256","kid":"symmetric"}"#), UNVERIFIABLE),
        (
            "the id of a key of another kind",
            under(r#"{"alg":"ES256","kid":"RS256"}"#),
            UNVERIFIABLE,
        ),
        ("jku", under(r#"{"alg":"ES256","kid":"x","jku":"https://evil.example/k"}"#), UNVERIFIABLE),
        ("a key of its own", own, UNVERIFIABLE),
        ("a stranger's key under a known id", known_id, UNVERIFIABLE),
    ]
}

/// Tokens that lack a part, or have one too many.
fn tokens_by_form() -> Vec<Case<String>> {
    let good = sign(&key(Algorithm::Es256), &claims());
    let parts = good.split('.').collect::<Vec<_>>();
    vec![
        ("no signature", format!("{}.{}.", parts[0], parts[1]), UNVERIFIABLE),
        ("two parts", format!("{}.{}", parts[0], parts[1]), UNVERIFIABLE),
        ("four parts", format!("{good}.{}", parts[2]), UNVERIFIABLE),
        ("padding", format!("{good}="), UNVERIFIABLE),
        ("an opaque token", "abc".to_owned(), UNVERIFIABLE),
        (
            "another payload",
            format!("{}.{}.{}", parts[0], URL_SAFE_NO_PAD.encode(b"{}"), parts[2]),
            UNVERIFIABLE,
        ),
    ]
}

/// Tokens for another resource, or of another issuer.
fn tokens_by_party() -> Vec<Case<String>> {
    vec![
        ("another issuer", but(json!({"iss": "https://evil.example"})), ISSUER_DIFFERS),
        ("the issuer with a slash", but(json!({"iss": "https://as.example/"})), ISSUER_DIFFERS),
        ("the issuer in upper case", but(json!({"iss": "https://AS.example"})), ISSUER_DIFFERS),
        ("no issuer", but(json!({"iss": null})), ISSUER_DIFFERS),
        ("a list as audience", but(json!({"aud": ["https://other.example", RESOURCE]})), Pass),
        (
            "the audience in another spelling",
            but(json!({"aud": "HTTPS://MCP.Example.com:443/mcp"})),
            Pass,
        ),
        ("another audience", but(json!({"aud": "https://other.example/mcp"})), AUDIENCE),
        ("the origin as audience", but(json!({"aud": "https://mcp.example.com"})), AUDIENCE),
        ("a longer path as audience", but(json!({"aud": format!("{RESOURCE}/x")})), AUDIENCE),
        (
            "the path of the audience in upper case",
            but(json!({"aud": "https://mcp.example.com/MCP"})),
            AUDIENCE,
        ),
        (
            "the audience within a text",
            but(json!({"aud": format!("https://other.example {RESOURCE}")})),
            AUDIENCE,
        ),
        ("no audience", but(json!({"aud": null})), AUDIENCE),
        ("an empty list as audience", but(json!({"aud": []})), AUDIENCE),
        ("a number as audience", but(json!({"aud": 7})), MALFORMED),
        ("an object as audience", but(json!({"aud": {"a": RESOURCE}})), MALFORMED),
    ]
}

/// Tokens that are too old or too new.
fn tokens_by_time() -> Vec<Case<String>> {
    vec![
        ("no expiry", but(json!({"exp": null})), EXPIRED),
        ("expired within the leeway", but(json!({"exp": 1_699_999_941})), Pass),
        ("expired", but(json!({"exp": 1_699_999_940})), EXPIRED),
        ("expiry as a text", but(json!({"exp": "1700003600"})), MALFORMED),
        ("a negative expiry", but(json!({"exp": -1})), MALFORMED),
        ("an expiry that overflows", but(json!({"exp": 1e300})), MALFORMED),
        ("an expiry with a fraction", but(json!({"exp": 1_700_003_600.5})), Pass),
        ("not before, within the leeway", but(json!({"nbf": 1_700_000_060})), Pass),
        ("not before", but(json!({"nbf": 1_700_000_061})), EARLY),
    ]
}

/// Tokens with a wrong subject, binding or scope.
fn tokens_by_claims() -> Vec<Case<String>> {
    let duplicate = |name: &str| {
        claims().to_string().replacen('{', &format!("{{\"{name}\":1,\"{name}\":1,"), 1)
    };
    vec![
        (
            "neither subject nor client",
            but(json!({"sub": null, "client_id": null})),
            Invalid("the access token names no subject"),
        ),
        (
            "an empty subject and no client",
            but(json!({"sub": "", "client_id": null})),
            Invalid("the access token names no subject"),
        ),
        ("a client without a subject", but(json!({"sub": null})), Pass),
        ("a number as subject", but(json!({"sub": 7})), MALFORMED),
        ("a claim twice", over(&duplicate("exp")), MALFORMED),
        ("an unknown claim twice", over(&duplicate("team")), MALFORMED),
        ("claims that are a list", over("[]"), MALFORMED),
        ("claims that are no JSON", over("{"), MALFORMED),
        (
            "bound to a key, sent without a proof",
            but(json!({"cnf": {"jkt": "x"}})),
            Bound("the access token is bound to a key; send it as DPoP, with a proof"),
        ),
        (
            "bound to a certificate",
            but(json!({"cnf": {"x5t#S256": "x"}})),
            Invalid("the access token is bound to a certificate"),
        ),
        ("no scope", but(json!({"scope": null})), Scope),
        ("another scope", but(json!({"scope": "mcpx MCP files:read"})), Scope),
        ("the scope among others", but(json!({"scope": "a mcp b"})), Pass),
        ("a scope that includes it", but(json!({"scope": "admin"})), Pass),
        ("scp as a list", but(json!({"scope": null, "scp": ["a", "mcp"]})), Pass),
        ("scp as a text", but(json!({"scope": null, "scp": "a mcp"})), Pass),
        ("scope counts before scp", but(json!({"scope": "a", "scp": "mcp"})), Scope),
    ]
}

/// Requests that present a token in a wrong way, or none.
fn requests() -> Vec<Case<Parts>> {
    let good = sign(&key(Algorithm::Es256), &claims());
    let authorization = |value: &str| head("/mcp", &[("authorization", value.as_bytes())]);
    let long = |length: usize| authorization(&format!("Bearer {}", "a".repeat(length)));
    let bearer_text = format!("Bearer {good}");
    let twice = [("authorization", bearer_text.as_bytes()); 2];
    let query = Outcome::Request("a token must not be part of the URL");
    vec![
        ("no header", head("/mcp", &[]), NoToken),
        ("another scheme", authorization("Basic YTpi"), NoToken),
        ("an empty header", authorization(""), NoToken),
        ("the scheme in another case", authorization(&format!("bEARER  {good}")), Pass),
        ("no token after the scheme", authorization("Bearer"), HEADER),
        ("two tokens", authorization(&format!("Bearer {good} {good}")), HEADER),
        ("a quoted token", authorization(&format!("Bearer \"{good}\"")), HEADER),
        ("a list", authorization(&format!("Bearer {good}, Bearer {good}")), HEADER),
        ("a token that is not ASCII", head("/mcp", &[("authorization", b"Bearer \xff")]), HEADER),
        (
            "two headers",
            head("/mcp", &twice),
            Outcome::Request("there is more than one Authorization header"),
        ),
        ("a token as long as allowed", long(MOST_TOKEN), UNVERIFIABLE),
        (
            "a token that is too long",
            long(MOST_TOKEN + 1),
            Outcome::Request("the access token is too long"),
        ),
        (
            "a token of a megabyte",
            long(1024 * 1024),
            Outcome::Request("the access token is too long"),
        ),
        ("the token in the URL", head(&format!("/mcp?access_token={good}"), &[]), query),
        ("a token in both places", head("/mcp?a=b&access_token=x", &twice[..1]), query),
        ("a query without a token", head("/mcp?a=access_token", &twice[..1]), Pass),
        (
            "unbound, sent as DPoP",
            authorization(&format!("DPoP {good}")),
            Bound("the access token is not bound to a key"),
        ),
    ]
}

// spec: TOK-4, TOK-5, TOK-6, TOK-7, TOK-9, TOK-10, TOK-12, TOK-17, PRM-4, AUTH-7, OCC-9, SCOPE-1
// spec: SCOPE-9, SCOPE-19, RIND-6
#[tokio::test]
async fn token_table() {
    let tokens = [
        tokens_by_algorithm(),
        tokens_by_key(),
        tokens_by_form(),
        tokens_by_party(),
        tokens_by_time(),
        tokens_by_claims(),
    ];
    let tokens =
        tokens.into_iter().flatten().map(|(name, token, outcome)| (name, bearer(&token), outcome));
    let table: Vec<_> = tokens.chain(requests()).collect();
    assert!(table.len() >= 60, "{}", table.len());
    let admission = admission();
    let mut wrong = Vec::new();
    for (name, head, expected) in table {
        let found = outcome(&admission.admit(&head, at(0)).await);
        if found != expected.expected() {
            wrong.push(format!("{name}: expected {:?}, found {found:?}", expected.expected()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn an_admitted_caller_is_known_by_its_token() {
    let admission = admission();
    let changes = json!({"scope": "admin", "azp": "other", "email": "ann@example.com"});
    let caller = admission.admit(&bearer(&but(changes)), at(0)).await.unwrap();
    assert_eq!(caller.owner.identity(), Some((ISSUER, "ann")));
    assert_eq!(
        (caller.claims.subject.as_str(), caller.claims.client_id.as_deref()),
        ("ann", Some("app"))
    );
    assert_eq!(
        (caller.claims.scopes.as_slice(), caller.claims.audience.as_slice()),
        (&["admin".to_owned()][..], &[RESOURCE.to_owned()][..])
    );
    assert!(caller.access.has("admin") && caller.access.has("mcp") && !caller.access.has("other"));
    assert_eq!(caller.claims.expires, Some(at(3600)));
    assert_eq!(caller.claims.parse::<Value>().unwrap()["email"], "ann@example.com");
    let client = admission
        .admit(&bearer(&but(json!({"sub": null, "azp": "robot", "client_id": null}))), at(0))
        .await;
    assert_eq!(client.unwrap().owner.identity(), Some((ISSUER, "client:robot")));
}

#[tokio::test]
async fn an_algorithm_that_the_operator_left_out_is_refused() {
    let keys = [jwk(&key(Algorithm::Es256), json!({"kid": "ES256"}))];
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE).algorithms([Algorithm::EdDsa]);
    let admission = Admission::new(RESOURCE, jwt, Network::with_keys(&keys)).unwrap();
    let token = sign(&key(Algorithm::Es256), &claims());
    assert_eq!(super::authority::status(&admission, &token, at(0)).await, 401);
}

#[tokio::test]
async fn another_name_of_the_resource_is_accepted_where_it_is_configured() {
    let keys = [jwk(&key(Algorithm::Es256), json!({"kid": "ES256"}))];
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE).audience("api://default");
    let admission = Admission::new(RESOURCE, jwt, Network::with_keys(&keys)).unwrap();
    for (audience, status) in [("api://default", 200), (RESOURCE, 200), ("API://default", 401)] {
        let token = but(json!({"aud": audience}));
        assert_eq!(super::authority::status(&admission, &token, at(0)).await, status, "{audience}");
    }
}

#[tokio::test]
async fn nothing_of_a_refused_token_is_in_the_answer() {
    let token = but(json!({"iss": "https://canary.example", "sub": "canary"}));
    let rejection = admission().admit(&bearer(&token), at(0)).await.unwrap_err();
    let shown = format!("{rejection:?} {:?}", rejection.headers());
    assert!(!shown.contains("canary") && !shown.contains(token.split('.').nth(2).unwrap()));
}
