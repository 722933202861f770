//! The claims that every token must have, whether it is signed or introspected.

use std::time::{Duration, SystemTime};

use bowline_proto::members::Members;
use bowline_proto::request::Claims;
use bowline_types::json::RawJson;
use bytes::Bytes;

use super::verify::{Denied, Verified};
use crate::jose::jwt::{NumericDate, Texts, TokenClaims};
use crate::scope::Scopes;
use crate::url::Url;

/// How far the clocks of this machine and of the authorization server may differ.
pub(super) const LEEWAY: Duration = Duration::from_secs(60);

/// What the claims of a token must say.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub(super) issuer: String,
    /// The names of this resource. URLs are in canonical form.
    audience: Vec<String>,
}

/// How the claims came here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// They are signed, so they must say everything.
    Signed,
    /// The authorization server sent them in answer to a question about the token. It may leave out
    /// its own name, and it has checked the expiry.
    Introspected,
}

impl Expected {
    pub(super) fn new(issuer: impl Into<String>, audience: &str) -> Self {
        Self { issuer: issuer.into(), audience: vec![canonical(audience)] }
    }

    /// Accepts another name of this resource.
    pub(super) fn add_audience(&mut self, audience: &str) {
        self.audience.push(canonical(audience));
    }

    /// Checks the claims in JSON and gives what they say.
    pub(super) fn check(
        &self,
        json: &str,
        source: Source,
        now: SystemTime,
    ) -> Result<Verified, Denied> {
        // A name that occurs twice is refused, whichever claim it is.
        Members::cut(Bytes::copy_from_slice(json.as_bytes())).map_err(|_| Denied::Malformed)?;
        let token = TokenClaims::parse(json).map_err(|_| Denied::Malformed)?;
        self.check_issuer(&token, source)?;
        self.check_audience(&token)?;
        check_times(&token, source, now)?;
        let claims = self.claims(&token)?;
        let confirmation = token.cnf.unwrap_or_default();
        if confirmation.certificate.is_some() {
            return Err(Denied::CertificateBound);
        }
        let claims = claims.json(RawJson::from_checked(json.trim()));
        Ok(Verified { claims, key_thumbprint: confirmation.jkt })
    }

    fn check_issuer(&self, token: &TokenClaims, source: Source) -> Result<(), Denied> {
        match (&token.iss, source) {
            (Some(issuer), _) if *issuer == self.issuer => Ok(()),
            (None, Source::Introspected) => Ok(()),
            _ => Err(Denied::OtherIssuer),
        }
    }

    fn check_audience(&self, token: &TokenClaims) -> Result<(), Denied> {
        let Texts(named) = &token.aud;
        match named.iter().any(|name| self.audience.contains(&canonical(name))) {
            true => Ok(()),
            false => Err(Denied::OtherAudience),
        }
    }

    fn claims(&self, token: &TokenClaims) -> Result<Claims, Denied> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let client = filled(&token.client_id).or_else(|| filled(&token.azp));
        let issuer = self.issuer.as_str();
        let claims = match (filled(&token.sub), client) {
            (Some(subject), Some(client)) => Claims::new(issuer, subject).client_id(client),
            (Some(subject), None) => Claims::new(issuer, subject),
            (None, Some(client)) => Claims::of_client(issuer, client),
            (None, None) => return Err(Denied::NoSubject),
        };
        let scopes = scopes(token)?;
        let claims = claims.scopes(scopes.iter()).audience(token.aud.0.iter());
        Ok(match token.exp {
            Some(NumericDate(at)) => claims.expires(at),
            None => claims,
        })
    }
}

fn check_times(token: &TokenClaims, source: Source, now: SystemTime) -> Result<(), Denied> {
    match token.exp {
        Some(NumericDate(expiry)) if now >= expiry + LEEWAY => return Err(Denied::Expired),
        None if source == Source::Signed => return Err(Denied::Expired),
        _ => {}
    }
    match token.nbf {
        Some(NumericDate(start)) if start > now + LEEWAY => Err(Denied::NotYetValid),
        _ => Ok(()),
    }
}

/// The scopes, which servers write as `scope` or as `scp`, as a text or as a list.
fn scopes(token: &TokenClaims) -> Result<Scopes, Denied> {
    let written = token.scope.as_ref().or(token.scp.as_ref());
    let text = written.map(|Texts(texts)| texts.join(" ")).unwrap_or_default();
    Scopes::parse(&text).map_err(|_| Denied::Malformed)
}

/// Implements [`Verify`](super::verify::Verify) for a verifier with a method `check`, a field `expected`
/// and an address that the operator may have configured.
macro_rules! verify_by_check {
    ($verifier:ty) => {
        impl Verify for $verifier {
            fn verify<'a>(
                &'a self,
                token: &'a Presented,
                context: VerifyContext<'a>,
            ) -> BoxFuture<'a, Result<Verified, Denied>> {
                Box::pin(self.check(token, context))
            }

            fn issuer(&self) -> Option<&str> {
                Some(&self.expected.issuer)
            }

            fn policy(&self) -> Policy {
                self.policy.clone()
            }

            fn addresses(&self) -> Vec<Url> {
                let issuer = Url::parse(&self.expected.issuer).ok();
                issuer.into_iter().chain(self.configured().cloned()).collect()
            }
        }
    };
}
pub(super) use verify_by_check;

/// The canonical form of a URL; another name stays as it is.
fn canonical(name: &str) -> String {
    Url::parse(name).map_or_else(|_| name.to_owned(), |url| url.canonical())
}
