//! Proofs that a client has the key that its tokens are bound to (DPoP, RFC 9449).

use std::time::Duration;

use bowline_auth::jose::jwk::Jwk;
use bowline_auth::jose::jws::{Algorithm, Jws};
use bowline_auth::jose::jwt::ProofClaims;
use bowline_types::read::read;

use super::authority::Authority;
use super::fault::Fault;
use super::oauth_answer::Refusal;
use super::oauth_request::OAuthRequest;
use super::options::DpopPolicy;

/// How old or new a proof may be.
const WINDOW: Duration = Duration::from_secs(60);

/// Checks the proof of a request to an endpoint, and gives the thumbprint of its key. `None` if there
/// is no proof and none is needed.
pub(super) fn check(
    authority: &Authority,
    request: &OAuthRequest,
    endpoint: &str,
) -> Result<Option<String>, Refusal> {
    let mut proofs = request.headers.get_all("dpop").iter();
    let proof = match (proofs.next(), proofs.next(), authority.options.dpop) {
        (_, _, DpopPolicy::Ignored) | (None, _, DpopPolicy::Optional) => return Ok(None),
        (Some(proof), None, _) => proof.to_str().map_err(|_| invalid("the proof is malformed"))?,
        (None, ..) => return Err(invalid("the request lacks a proof")),
        (Some(_), Some(_), _) => return Err(invalid("the request has two proofs")),
    };
    let jws = Jws::parse(proof, &Algorithm::ALL).map_err(|_| invalid("the proof is malformed"))?;
    if jws.media_type() != Some("dpop+jwt") {
        return Err(invalid("`typ` of the proof is wrong"));
    }
    let key = jws.own_key().and_then(|key| Jwk::parse(key).ok());
    let key = key.ok_or_else(|| invalid("the proof holds no public key"))?;
    let claims = jws.verify(key.key()).ok().and_then(|payload| read(payload).ok());
    let claims = claims.ok_or_else(|| invalid("the signature or a claim of the proof is wrong"))?;
    check_claims(authority, request, &claims, endpoint)?;
    Ok(Some(key.key().thumbprint()))
}

fn check_claims(
    authority: &Authority,
    request: &OAuthRequest,
    claims: &ProofClaims,
    endpoint: &str,
) -> Result<(), Refusal> {
    if claims.htm != request.method.as_str() || claims.htu != endpoint {
        return Err(invalid("the proof is for another request"));
    }
    let (issued, now) = (claims.iat.0, authority.clock.now());
    if issued + WINDOW < now || issued > now + WINDOW {
        return Err(invalid("the proof is too old, or of the future"));
    }
    let is_endless = authority.acts(&Fault::EndlessNonces);
    let mut grants = authority.grants.lock();
    if is_endless {
        grants.rotate_nonce();
    }
    if (authority.options.wants_nonces || is_endless)
        && claims.nonce.as_deref() != Some(grants.nonce())
    {
        return Err(Refusal::use_dpop_nonce(grants.nonce().to_owned()));
    }
    match grants.use_once("proof", &claims.jti) {
        true => Ok(()),
        false => Err(invalid("the proof was used before")),
    }
}

fn invalid(description: &'static str) -> Refusal {
    Refusal::new("invalid_dpop_proof", description)
}
