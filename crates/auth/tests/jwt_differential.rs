//! Tokens as two other libraries see them: `jsonwebtoken` over AWS-LC, `jwt-compact` in plain Rust.
//!
//! What this crate signs they verify, and the reverse. Of tokens that were damaged at random, this
//! crate accepts none that they refuse.

use std::cell::Cell;

use bowline_auth::jose::jwk::Jwk;
use bowline_auth::jose::jws::{Algorithm, Jws};
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_types::json::RawJson;
use jwt_compact::alg::VerifyingKey as _;
use jwt_compact::{AlgorithmExt as _, UntrustedToken};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

const CLAIMS: &str = r#"{"iss":"https://as.example","sub":"ann","aud":["a","b"],"exp":4102444800,"n":1.5,"é":"\u0000"}"#;

fn private(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 => include_str!("keys/rsa.pem"),
        Algorithm::Es256 => include_str!("keys/p256.pem"),
        Algorithm::EdDsa => include_str!("keys/ed25519.pem"),
    }
}

fn key(algorithm: Algorithm) -> SigningKey {
    SigningKey::pem(private(algorithm), algorithm).unwrap()
}

/// The claims of a token that `jsonwebtoken` accepts.
fn theirs(token: &str, algorithm: Algorithm) -> Option<Value> {
    let jwk = serde_json::from_str(&key(algorithm).public().to_json()).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(&jwk).unwrap();
    let mut validation = jsonwebtoken::Validation::new(their_name(algorithm));
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation.required_spec_claims.clear();
    jsonwebtoken::decode(token, &key, &validation).ok().map(|token| token.claims)
}

fn their_name(algorithm: Algorithm) -> jsonwebtoken::Algorithm {
    match algorithm {
        Algorithm::Rs256 => jsonwebtoken::Algorithm::RS256,
        Algorithm::Ps256 => jsonwebtoken::Algorithm::PS256,
        Algorithm::Es256 => jsonwebtoken::Algorithm::ES256,
        Algorithm::EdDsa => jsonwebtoken::Algorithm::EdDSA,
    }
}

fn their_token(algorithm: Algorithm) -> String {
    let pem = private(algorithm).as_bytes();
    let key = match algorithm {
        Algorithm::Rs256 | Algorithm::Ps256 => jsonwebtoken::EncodingKey::from_rsa_pem(pem),
        Algorithm::Es256 => jsonwebtoken::EncodingKey::from_ec_pem(pem),
        Algorithm::EdDsa => jsonwebtoken::EncodingKey::from_ed_pem(pem),
    };
    let header = jsonwebtoken::Header::new(their_name(algorithm));
    let claims: Value = serde_json::from_str(CLAIMS).unwrap();
    jsonwebtoken::encode(&header, &claims, &key.unwrap()).unwrap()
}

/// The claims of a token that `jwt-compact` accepts; it knows two of the algorithms here.
fn compact(token: &str, algorithm: Algorithm) -> Option<Value> {
    let public: Value = serde_json::from_str(&key(algorithm).public().to_json()).unwrap();
    let token = UntrustedToken::new(token).ok()?;
    let part = |name: &str| {
        use base64::Engine as _;
        let text = public[name].as_str().unwrap();
        base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(text).unwrap()
    };
    let claims = match algorithm {
        Algorithm::Es256 => {
            let point = [&[4][..], &part("x"), &part("y")].concat();
            let alg = jwt_compact::alg::Es256;
            let key = <jwt_compact::alg::Es256 as jwt_compact::Algorithm>::VerifyingKey::from_slice(
                &point,
            );
            alg.validator::<Value>(&key.unwrap()).validate(&token).ok()?.claims().clone()
        }
        Algorithm::EdDsa => {
            let alg = jwt_compact::alg::Ed25519;
            let key =
                <jwt_compact::alg::Ed25519 as jwt_compact::Algorithm>::VerifyingKey::from_slice(
                    &part("x"),
                );
            alg.validator::<Value>(&key.unwrap()).validate(&token).ok()?.claims().clone()
        }
        _ => return None,
    };
    Some(serde_json::to_value(claims.custom).unwrap())
}

fn ours(token: &str, algorithm: Algorithm) -> Option<Value> {
    let jws = Jws::parse(token, &[algorithm]).ok()?;
    serde_json::from_str(jws.verify(key(algorithm).public()).ok()?).ok()
}

fn our_token(algorithm: Algorithm) -> String {
    let claims = RawJson::from_text(CLAIMS).unwrap();
    key(algorithm).sign("JWT", EmbeddedKey::Absent, &claims).unwrap().expose().clone()
}

#[test]
fn jwt_differential_on_sound_tokens() {
    let claims: Value = serde_json::from_str(CLAIMS).unwrap();
    for algorithm in Algorithm::ALL {
        for token in [our_token(algorithm), their_token(algorithm)] {
            assert_eq!(ours(&token, algorithm), Some(claims.clone()), "{algorithm:?}");
            assert_eq!(theirs(&token, algorithm), Some(claims.clone()), "{algorithm:?}");
            if matches!(algorithm, Algorithm::Es256 | Algorithm::EdDsa) {
                assert_eq!(
                    compact(&token, algorithm).unwrap()["sub"],
                    json!("ann"),
                    "{algorithm:?}"
                );
            }
        }
    }
}

#[test]
fn jwt_differential_on_thumbprints() {
    for algorithm in Algorithm::ALL {
        let json = key(algorithm).public().to_json();
        let ours = Jwk::parse(&RawJson::from_text(json.clone()).unwrap()).unwrap();
        let theirs: jsonwebtoken::jwk::Jwk = serde_json::from_str(&json).unwrap();
        let theirs = theirs.thumbprint(jsonwebtoken::jwk::ThumbprintHash::SHA256);
        assert_eq!(ours.key().thumbprint(), theirs.unwrap());
    }
}

/// Damage to a token.
#[derive(Clone, Debug)]
enum Damage {
    Replace(usize, char),
    Insert(usize, char),
    Remove(usize),
    /// Takes the part at this place from a token of another algorithm.
    Graft(usize, usize),
}

impl Damage {
    fn apply(&self, token: &str) -> String {
        let at = |position: usize| position % token.len();
        let mut text: Vec<char> = token.chars().collect();
        match self {
            Self::Replace(position, character) => text[at(*position)] = *character,
            Self::Insert(position, character) => text.insert(at(*position), *character),
            Self::Remove(position) => drop(text.remove(at(*position))),
            Self::Graft(part, other) => {
                let other = our_token(Algorithm::ALL[other % 4]);
                let mut parts: Vec<&str> = token.split('.').collect();
                // Damage before this may have removed a dot, and with it a part.
                if let Some(place) = parts.get_mut(part % 3) {
                    *place = other.split('.').nth(part % 3).unwrap();
                }
                return parts.join(".");
            }
        }
        text.into_iter().collect()
    }
}

fn damage() -> impl Strategy<Value = Damage> {
    let character = prop::sample::select("abcXYZ019-_.=+/ \n".chars().collect::<Vec<_>>());
    prop_oneof![
        (any::<usize>(), character.clone())
            .prop_map(|(at, character)| Damage::Replace(at, character)),
        (any::<usize>(), character).prop_map(|(at, character)| Damage::Insert(at, character)),
        any::<usize>().prop_map(Damage::Remove),
        (any::<usize>(), any::<usize>()).prop_map(|(part, other)| Damage::Graft(part, other)),
    ]
}

#[test]
fn jwt_differential_on_damaged_tokens() {
    const CASES: u32 = 1000;
    let accepted = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { cases: CASES, ..ProptestConfig::default() });
    let damages = (0_usize..4, prop::collection::vec(damage(), 1..3));
    let compared = runner.run(&damages, |(index, damages)| {
        let algorithm = Algorithm::ALL[index];
        let token = damages.iter().fold(our_token(algorithm), |token, damage| damage.apply(&token));
        let ours = ours(&token, algorithm);
        accepted.set(accepted.get() + u32::from(ours.is_some()));
        prop_assert_eq!(&ours, &theirs(&token, algorithm), "{}", token);
        if matches!(algorithm, Algorithm::Es256 | Algorithm::EdDsa) {
            prop_assert_eq!(ours.is_some(), compact(&token, algorithm).is_some(), "{}", token);
        }
        Ok(())
    });
    compared.unwrap();
    // Some damage leaves a token as it was; if none did, the comparison would show little.
    assert!((20..CASES / 2).contains(&accepted.get()), "{} are accepted", accepted.get());
}
