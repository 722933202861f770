//! Tests of signatures, keys and tokens.

use std::time::{Duration, UNIX_EPOCH};

use bowline_types::json::RawJson;
use rustls_pki_types::pem::PemObject as _;
use serde_json::json;

use super::jwk::{Jwk, JwkSet, MOST_KEY, MOST_KEYS, PublicKey};
use super::jws::{Algorithm, Jws, MOST_TOKEN};
use super::jwt::{Texts, TokenClaims};
use super::sign::{EmbeddedKey, MOST_PRIVATE_KEY, SigningKey};
use super::{from_base64, to_base64};
use crate::error::Error;
use crate::secret::Secret;

const RSA: &str = include_str!("../../tests/keys/rsa.pem");
const RSA_PKCS1: &str = include_str!("../../tests/keys/rsa-pkcs1.pem");
const RSA_1024: &str = include_str!("../../tests/keys/rsa-1024.pem");
const P256: &str = include_str!("../../tests/keys/p256.pem");
const P256_SEC1: &str = include_str!("../../tests/keys/p256-sec1.pem");
const ED25519: &str = include_str!("../../tests/keys/ed25519.pem");

fn key(algorithm: Algorithm) -> SigningKey {
    let pem = match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 => RSA,
        Algorithm::Es256 => P256,
        Algorithm::EdDsa => ED25519,
    };
    SigningKey::pem(pem, algorithm).unwrap()
}

fn sign(key: &SigningKey) -> String {
    let token = key.sign("JWT", EmbeddedKey::Absent, &json!({"sub": "ann"})).unwrap();
    token.expose().clone()
}

/// A token with any header, signed with ES256 whatever it says.
fn with_header(header: &str) -> String {
    let signed = format!("{}.{}", to_base64(header.as_bytes()), to_base64(b"{}"));
    let pem = rustls_pki_types::PrivatePkcs8KeyDer::from_pem_slice(P256.as_bytes()).unwrap();
    let random = ring::rand::SystemRandom::new();
    let alg = &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let pair = ring::signature::EcdsaKeyPair::from_pkcs8(alg, pem.secret_pkcs8_der(), &random);
    let signature = pair.unwrap().sign(&random, signed.as_bytes()).unwrap();
    format!("{signed}.{}", to_base64(signature.as_ref()))
}

fn verify(token: &str, algorithms: &[Algorithm], key: &PublicKey) -> Result<String, Error> {
    Jws::parse(token, algorithms)?.verify(key).map(str::to_owned)
}

#[test]
fn every_algorithm_signs_what_it_verifies() {
    for algorithm in Algorithm::ALL {
        let key = key(algorithm);
        let token = sign(&key);
        assert_eq!(verify(&token, &[algorithm], key.public()).unwrap(), r#"{"sub":"ann"}"#);
        let mut changed = token.into_bytes();
        changed[40] ^= 1;
        let changed = String::from_utf8(changed).unwrap();
        assert!(verify(&changed, &[algorithm], key.public()).is_err(), "{algorithm:?}");
    }
}

#[test]
fn an_algorithm_that_is_not_configured_is_refused() {
    let key = key(Algorithm::Ps256);
    let token = sign(&key);
    assert!(verify(&token, &Algorithm::ALL, key.public()).is_ok());
    let error = verify(&token, &[Algorithm::Rs256, Algorithm::Es256], key.public()).unwrap_err();
    assert_eq!(error.to_string(), "the algorithm of the token is not accepted");
}

#[test]
fn none_and_hmac_do_not_exist() {
    for name in
        ["none", "None", "NONE", "HS256", "HS512", "rs256", "RS256 ", "ES384", "", "ES256\\u0000"]
    {
        let token = with_header(&format!(r#"{{"alg":"{name}"}}"#));
        assert!(Jws::parse(&token, &Algorithm::ALL).is_err(), "{name}");
    }
    for text in ["eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJub25lIn0.e30", "..", "", "a.b.c"] {
        assert!(Jws::parse(text, &Algorithm::ALL).is_err(), "{text}");
    }
}

#[test]
fn a_key_verifies_only_the_algorithms_of_its_kind() {
    for signer in Algorithm::ALL {
        let token = sign(&key(signer));
        for other in Algorithm::ALL.map(key) {
            let is_same = *other.public() == *key(signer).public();
            let verified = verify(&token, &Algorithm::ALL, other.public());
            assert_eq!(verified.is_ok(), is_same, "{signer:?} {other:?}");
        }
    }
    // The algorithm of the header does not fit the key that made the signature.
    let token = with_header(r#"{"alg":"RS256"}"#);
    assert!(verify(&token, &Algorithm::ALL, key(Algorithm::Es256).public()).is_err());
    assert!(verify(&token, &Algorithm::ALL, key(Algorithm::Rs256).public()).is_err());
}

#[test]
fn a_header_that_demands_an_extension_is_refused() {
    let public = key(Algorithm::Es256);
    assert!(
        verify(&with_header(r#"{"alg":"ES256","x":[1]}"#), &Algorithm::ALL, public.public())
            .is_ok()
    );
    for crit in [r#"["exp"]"#, "[]", "null", r#"["b64"]"#] {
        let token = with_header(&format!(r#"{{"alg":"ES256","crit":{crit},"b64":false}}"#));
        let error = Jws::parse(&token, &Algorithm::ALL).unwrap_err();
        assert_eq!(error.to_string(), "the token demands an extension (`crit`)");
    }
}

#[test]
fn a_header_that_readers_understand_differently_is_refused() {
    for header in [
        r#"{"alg":"ES256","alg":"ES256"}"#,
        r#"{"alg":"ES256","kid":"a","kid":"b"}"#,
        r#"["ES256"]"#,
        r#"{"alg":["ES256"]}"#,
        r#"{"alg":"ES256"} x"#,
        r#"{"ALG":"ES256"}"#,
        r#"{"kid":7,"alg":"ES256"}"#,
        "\u{feff}{\"alg\":\"ES256\"}",
    ] {
        assert!(Jws::parse(&with_header(header), &Algorithm::ALL).is_err(), "{header}");
    }
}

#[test]
fn each_token_has_one_text() {
    let key = key(Algorithm::Es256);
    let token = sign(&key);
    let [header, payload, signature] = token.split('.').collect::<Vec<_>>().try_into().unwrap();
    // The last character of 64 bytes has four bits that no byte uses.
    let last = signature.chars().next_back().unwrap();
    let other = char::from(last as u8 + 1);
    let stem = &signature[..signature.len() - 1];
    for bad in [
        format!("{token}="),
        format!("{token}\n"),
        format!(" {token}"),
        format!("{token}.x"),
        format!("{header}.{payload}.{stem}{other}"),
        format!("{header}.{payload}.{}", signature.replace(['-', '_'], "+")) + "A",
        format!("{header}=.{payload}.{signature}"),
        format!("{header}..{signature}"),
    ] {
        assert!(verify(&bad, &Algorithm::ALL, key.public()).is_err(), "{bad}");
    }
}

#[test]
fn a_token_is_bounded() {
    let fill = |length: usize| "a".repeat(length);
    assert!(!Jws::parse(&fill(MOST_TOKEN), &Algorithm::ALL).unwrap_err().is_too_large());
    assert!(Jws::parse(&fill(MOST_TOKEN + 1), &Algorithm::ALL).unwrap_err().is_too_large());
}

#[test]
fn a_signed_token_says_its_type_and_its_key() {
    let key = key(Algorithm::Es256).with_id("k1");
    let token = sign(&key);
    let parsed = Jws::parse(&token, &Algorithm::ALL).unwrap();
    assert_eq!((parsed.media_type(), parsed.key_id()), (Some("JWT"), Some("k1")));
    assert!(parsed.own_key().is_none());
    let proof = key.sign("dpop+jwt", EmbeddedKey::Present, &json!({})).unwrap();
    let parsed = Jws::parse(proof.expose(), &Algorithm::ALL).unwrap();
    let own = Jwk::parse(parsed.own_key().unwrap()).unwrap();
    assert_eq!((parsed.media_type(), parsed.key_id()), (Some("dpop+jwt"), None));
    assert_eq!(own.key(), key.public());
    assert_eq!(format!("{parsed:?}"), "Jws(ES256, None)");
    let thumbprint = key.public().thumbprint();
    assert_eq!(format!("{key:?}"), format!("SigningKey(ES256, {thumbprint})"));
    assert_eq!(format!("{:?}", key.public()), format!("PublicKey({thumbprint})"));
}

#[test]
fn private_keys_are_read_from_pem() {
    let thumbprint =
        |pem, algorithm| SigningKey::pem(pem, algorithm).map(|key| key.public().thumbprint());
    let rsa = thumbprint(RSA, Algorithm::Rs256).unwrap();
    assert_eq!(thumbprint(RSA_PKCS1, Algorithm::Ps256).unwrap(), rsa);
    for (pem, algorithm, reason) in [
        (P256_SEC1, Algorithm::Es256, "is not in PKCS#8"),
        (RSA_PKCS1, Algorithm::Es256, "is not in PKCS#8"),
        (RSA, Algorithm::Es256, "cannot sign with ES256"),
        (P256, Algorithm::EdDsa, "cannot sign with EdDSA"),
        (ED25519, Algorithm::Rs256, "cannot sign with RS256"),
        (RSA_1024, Algorithm::Rs256, "cannot sign with RS256"),
        ("", Algorithm::Es256, "no private key in PEM"),
        ("-----BEGIN PRIVATE KEY-----", Algorithm::Es256, "no private key in PEM"),
    ] {
        let error = thumbprint(pem, algorithm).unwrap_err();
        assert!(error.is_key() && error.to_string().contains(reason), "{error}");
    }
    let most = "a".repeat(MOST_PRIVATE_KEY);
    assert!(!thumbprint(&most, Algorithm::Es256).unwrap_err().is_too_large());
    let most = Secret::new(vec![0; MOST_PRIVATE_KEY]);
    assert!(!SigningKey::der(&most, Algorithm::Es256).unwrap_err().is_too_large());
    let long = "a".repeat(MOST_PRIVATE_KEY + 1);
    assert!(thumbprint(&long, Algorithm::Es256).unwrap_err().is_too_large());
    let long = Secret::new(vec![0; MOST_PRIVATE_KEY + 1]);
    assert!(SigningKey::der(&long, Algorithm::Es256).unwrap_err().is_too_large());
}

#[test]
fn a_generated_key_can_be_stored() {
    let (key, stored) = SigningKey::generate().unwrap();
    let again = SigningKey::der(&stored, Algorithm::Es256).unwrap();
    assert_eq!(key.public(), again.public());
    assert_ne!(key.public(), SigningKey::generate().unwrap().0.public());
    assert!(verify(&sign(&key), &[Algorithm::Es256], again.public()).is_ok());
}

fn jwk(json: &serde_json::Value) -> Result<Jwk, Error> {
    Jwk::parse(&RawJson::from_value(json).unwrap())
}

/// The key of the example in section 3.1 of RFC 7638.
const RFC_7638: &str = "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw";

#[test]
fn thumbprints_are_those_of_the_standards() {
    let rsa = jwk(
        &json!({"kty": "RSA", "n": RFC_7638, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}),
    )
    .unwrap();
    assert_eq!(rsa.key().thumbprint(), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
    // RFC 8037, appendix A.3.
    let x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    let ed25519 = jwk(&json!({"kty": "OKP", "crv": "Ed25519", "x": x})).unwrap();
    assert_eq!(ed25519.key().thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn the_signature_of_a_standard_is_accepted() {
    // RFC 8037, appendix A.4.
    let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
    let x = from_base64("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
    let key = PublicKey::ed25519(&x).unwrap();
    assert_eq!(verify(token, &[Algorithm::EdDsa], &key).unwrap(), "Example of Ed25519 signing");
}

#[test]
fn a_key_that_is_not_for_verifying_is_refused() {
    let x = to_base64(&[7; 32]);
    let with = |name: &str, value: serde_json::Value| {
        let mut key = json!({"kty": "OKP", "crv": "Ed25519", "x": x});
        key[name] = value;
        jwk(&key).is_ok()
    };
    for (name, value, is_accepted) in [
        ("use", json!("sig"), true),
        ("use", json!("enc"), false),
        ("key_ops", json!(["verify"]), true),
        ("key_ops", json!(["encrypt"]), false),
        ("key_ops", json!([]), false),
        ("alg", json!("EdDSA"), true),
        ("alg", json!("Ed25519"), true),
        ("alg", json!("ES256"), false),
        ("alg", json!("HS256"), false),
        ("alg", json!("none"), false),
        ("d", json!("AA"), false),
        ("k", json!("AA"), false),
        ("d", json!(null), true),
        ("x", json!("AA"), false),
        ("x", json!(to_base64(&[7; 33])), false),
        ("x", json!(null), false),
        ("crv", json!("X25519"), false),
        ("kty", json!("oct"), false),
        ("kid", json!(7), false),
    ] {
        assert_eq!(with(name, value.clone()), is_accepted, "{name}: {value}");
    }
    assert!(jwk(&json!({"kty": "EC", "crv": "P-256", "x": x, "y": to_base64(&[7; 31])})).is_err());
    assert!(jwk(&json!({"kty": "EC", "crv": "P-256", "x": to_base64(&[7; 33]), "y": to_base64(&[7; 31])})).is_err());
    assert!(jwk(&json!({"kty": "EC", "crv": "P-384", "x": x, "y": x})).is_err());
    assert!(jwk(&json!({"kty": "oct", "k": "AAAA"})).is_err());
    let sized = |size: usize| {
        let empty = json!({"kty": "OKP", "crv": "Ed25519", "x": x, "y": ""}).to_string().len();
        jwk(&json!({"kty": "OKP", "crv": "Ed25519", "x": x, "y": "a".repeat(size - empty)}))
    };
    assert!(sized(MOST_KEY).is_ok() && sized(MOST_KEY + 1).unwrap_err().is_too_large());
}

#[test]
fn an_rsa_key_for_another_algorithm_is_refused() {
    let rsa =
        |alg: &str| jwk(&json!({"kty": "RSA", "n": RFC_7638, "e": "AQAB", "alg": alg})).is_ok();
    let algorithms = ["RS256", "PS256", "ES256", "EdDSA", "RSA-OAEP"];
    assert_eq!(algorithms.map(rsa), [true, true, false, false, false]);
}

#[test]
fn rsa_keys_are_neither_weak_nor_slow() {
    let rsa = |bits: usize, exponent: &[u8]| {
        let mut n = vec![0xff; bits.div_ceil(8)];
        n[0] >>= n.len() * 8 - bits;
        PublicKey::rsa(&n, exponent).is_ok()
    };
    for (bits, is_accepted) in
        [(1024, false), (2047, false), (2048, true), (8192, true), (8193, false)]
    {
        assert_eq!(rsa(bits, &[1, 0, 1]), is_accepted, "{bits}");
    }
    assert!(rsa(2048, &[1; 4]));
    assert!(
        !rsa(2048, &[])
            && !rsa(2048, &[0])
            && !rsa(2048, &[1; 5])
            && PublicKey::rsa(&[], &[3]).is_err()
    );
    // Some libraries write a zero before the modulus.
    let n = from_base64(RFC_7638).unwrap();
    let plain = PublicKey::rsa(&n, &[1, 0, 1]).unwrap();
    assert_eq!(PublicKey::rsa(&[&[0], n.as_slice()].concat(), &[0, 1, 0, 1]).unwrap(), plain);
}

#[test]
fn keys_of_a_set_are_found_by_id_and_algorithm() {
    let public = |algorithm: Algorithm| key(algorithm).public().to_json();
    let with = |json: String, more: &str| json.replacen('{', &format!("{{{more},"), 1);
    let set = format!(
        r#"{{"keys":[{},{},{},{{"kty":"oct","kid":"e","k":"AA"}},7,{}]}}"#,
        with(public(Algorithm::Es256), r#""kid":"a""#),
        with(public(Algorithm::EdDsa), r#""kid":"a""#),
        with(public(Algorithm::Rs256), r#""kid":"r","alg":"PS256""#),
        with(public(Algorithm::Rs256), r#""use":"enc""#),
    );
    let set = JwkSet::parse(&set).unwrap();
    assert_eq!((set.len(), set.is_empty(), set.has("a"), set.has("e")), (3, false, true, false));
    let count = |id, algorithm| set.candidates(id, algorithm).count();
    assert_eq!(count(Some("a"), Algorithm::Es256), 1);
    assert_eq!(count(Some("a"), Algorithm::EdDsa), 1);
    assert_eq!(count(Some("b"), Algorithm::Es256), 0);
    assert_eq!((count(None, Algorithm::Es256), count(None, Algorithm::Ps256)), (1, 1));
    assert_eq!(count(Some("r"), Algorithm::Rs256), 0);
}

#[test]
fn key_sets_are_bounded() {
    let key = key(Algorithm::EdDsa).public().to_json();
    let set = |count: usize| {
        JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, vec![key.as_str(); count].join(",")))
    };
    let full = set(MOST_KEYS).unwrap();
    assert_eq!((full.len(), full.candidates(None, Algorithm::EdDsa).count()), (MOST_KEYS, 4));
    assert!(set(MOST_KEYS + 1).unwrap_err().is_too_large());
    assert!(set(0).unwrap().is_empty() && !full.is_empty());
    for text in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":[],"keys":[]}"#] {
        assert!(JwkSet::parse(text).is_err(), "{text}");
    }
}

#[test]
fn claims_are_read() {
    let claims = TokenClaims::parse(
        r#"{"iss":"i","sub":"s","aud":["a","b"],"exp":1700000000,"nbf":1.5,"scope":"x y","scp":["z"],"cnf":{"jkt":"t"},"other":[{}]}"#,
    );
    let claims = claims.unwrap();
    assert_eq!(claims.aud, Texts(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(claims.exp.unwrap().seconds(), 1_700_000_000);
    assert_eq!(claims.nbf.unwrap().0, UNIX_EPOCH + Duration::from_millis(1500));
    assert_eq!(claims.scope, Some(Texts(vec!["x y".to_owned()])));
    assert_eq!(claims.cnf.unwrap().jkt.as_deref(), Some("t"));
    assert_eq!(TokenClaims::parse(r#"{"aud":"a"}"#).unwrap().aud, Texts(vec!["a".to_owned()]));
}

#[test]
fn claims_of_the_wrong_type_are_refused() {
    for text in [
        r#"{"exp":"1700000000"}"#,
        r#"{"exp":-1}"#,
        r#"{"exp":1e300}"#,
        r#"{"exp":253402300800}"#,
        r#"{"exp":1e400}"#,
        r#"{"exp":true}"#,
        r#"{"aud":7}"#,
        r#"{"aud":["a",7]}"#,
        r#"{"aud":{"a":1}}"#,
        r#"{"sub":7}"#,
        r#"{"iss":"a","iss":"a"}"#,
        r#"{"cnf":"x"}"#,
        "[]",
        "null",
        "",
    ] {
        assert!(TokenClaims::parse(text).is_err(), "{text}");
    }
    let error = TokenClaims::parse(r#"{"aud":7}"#).unwrap_err().to_string();
    assert!(error.contains("`aud`") && error.contains("a text or a list of texts"), "{error}");
}
