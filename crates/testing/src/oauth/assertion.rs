//! Signed assertions: of a client about itself, of an identity provider about a user.

use std::time::{Duration, SystemTime};

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::jws::{Algorithm, Jws};
use bowline_auth::jose::jwt::{NumericDate, Texts};
use bowline_types::read::read;
use serde::Deserialize;

/// How far the clocks of two machines may differ.
const LEEWAY: Duration = Duration::from_secs(60);

/// The claims that are read.
#[derive(Deserialize)]
pub(super) struct AssertionClaims {
    pub(super) iss: String,
    pub(super) sub: String,
    #[serde(default)]
    aud: Texts,
    exp: NumericDate,
    nbf: Option<NumericDate>,
    pub(super) jti: Option<String>,
    pub(super) client_id: Option<String>,
    pub(super) resource: Option<String>,
    pub(super) scope: Option<String>,
}

/// An assertion whose signature and times are right.
pub(super) struct Assertion {
    pub(super) claims: AssertionClaims,
    /// The `typ` of its header.
    pub(super) media_type: Option<String>,
}

impl Assertion {
    /// The issuer that an assertion names, before its signature is checked: it selects the keys.
    pub(super) fn unverified_issuer(text: &str) -> Option<String> {
        Some(unverified(text)?.iss)
    }

    /// Verifies an assertion for an audience, which must be the only one.
    pub(super) fn verify(
        text: &str,
        keys: &JwkSet,
        audience: &str,
        now: SystemTime,
    ) -> Result<Self, &'static str> {
        let jws = Jws::parse(text, &Algorithm::ALL).map_err(|_| "the assertion is malformed")?;
        let payload = keys
            .candidates(jws.key_id(), jws.algorithm())
            .find_map(|key| jws.verify(key.key()).ok())
            .ok_or("no key fits the signature of the assertion")?;
        let claims: AssertionClaims =
            read(payload).map_err(|_| "a claim of the assertion is missing or wrong")?;
        if claims.aud.0 != [audience] {
            return Err("the assertion is for another audience");
        }
        if claims.exp.0 + LEEWAY <= now {
            return Err("the assertion has expired");
        }
        if claims.nbf.is_some_and(|nbf| nbf.0 > now + LEEWAY) {
            return Err("the assertion is not valid yet");
        }
        let media_type = jws.media_type().map(str::to_owned);
        Ok(Self { claims, media_type })
    }
}

/// The claims of a text that may be forged.
fn unverified(text: &str) -> Option<AssertionClaims> {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    let payload = URL_SAFE_NO_PAD.decode(text.split('.').nth(1)?).ok()?;
    read(std::str::from_utf8(&payload).ok()?).ok()
}
