//! Requests to the token endpoint: a grant is exchanged for tokens.

use std::fmt;
use std::time::Duration;

use bowline_types::read::read;
use http::StatusCode;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};

use super::dpop::{self, DpopKey};
use super::moment::Moment;
use super::pkce::Verifier;
use super::record::{TokenKind, Tokens};
use crate::error::{Error, Kind};
use crate::fetch::Fetched;
use crate::form::Form;
use crate::jose::jws::MOST_TOKEN;
use crate::scope::Scopes;
use crate::secret::Secret;

/// The most characters of a description that an error quotes.
const MOST_QUOTED: usize = 200;
/// The longest life of a token that is believed.
const LONGEST_LIFE: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The members of a request that redeems an authorization code.
pub(crate) fn code_form(
    code: &Secret<String>,
    verifier: &Verifier,
    redirect: &str,
    resource: &str,
) -> Form {
    Form::new()
        .with("grant_type", "authorization_code")
        .with("code", code.expose())
        .with("redirect_uri", redirect)
        .with("code_verifier", verifier.text().expose())
        .with("resource", resource)
}

/// The answer of an authorization server that refuses a request.
#[derive(Debug)]
pub(crate) struct OAuthRefusal {
    /// The code of the error, such as `invalid_grant`.
    pub(crate) code: String,
    description: String,
    /// The nonce that the next proof must have.
    nonce: Option<String>,
}

impl OAuthRefusal {
    /// Reads the body of a refusal. Texts of the server are quoted only if they are printable and do
    /// not repeat one of these secrets.
    pub(crate) fn read(answer: &Fetched, secrets: &[&Secret<String>]) -> Self {
        #[derive(Default, Deserialize)]
        struct Body {
            error: Option<String>,
            error_description: Option<String>,
        }

        let text = std::str::from_utf8(&answer.body).unwrap_or_default();
        let body: Body = match answer.is_json() {
            true => read(text).unwrap_or_default(),
            false => Body::default(),
        };
        let status = format!("status {}", answer.status.as_u16());
        let code = body.error.and_then(|text| quotable(&text, secrets)).unwrap_or(status);
        let description = body.error_description.and_then(|text| quotable(&text, secrets));
        let nonce = dpop::nonce_of(answer);
        Self { code, description: description.unwrap_or_default(), nonce }
    }

    /// The nonce, if the server only wants the request again with it.
    pub(crate) fn wanted_nonce(&self) -> Option<&str> {
        self.nonce.as_deref().filter(|_| self.code == dpop::USE_NONCE)
    }

    /// Whether the grant itself is worth nothing any more.
    pub(crate) fn is_invalid_grant(&self) -> bool {
        self.code == "invalid_grant"
    }

    /// Whether the server does not know the client, or not any more.
    pub(crate) fn is_invalid_client(&self) -> bool {
        self.code == "invalid_client"
    }

    /// Whether it is about the redirect URI of a registration.
    pub(crate) fn is_about_redirect(&self) -> bool {
        self.code == "invalid_redirect_uri"
            || self.description.to_ascii_lowercase().contains("redirect")
    }

    pub(crate) fn into_error(self, what: &str) -> Error {
        Error::new(Kind::Login, format!("the authorization server refused {what}: {self}"))
    }
}

impl fmt::Display for OAuthRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code)?;
        match self.description.as_str() {
            "" => Ok(()),
            description => write!(f, " ({description})"),
        }
    }
}

/// The beginning of a text as far as it can be shown, or `None` if it repeats a secret.
pub(crate) fn quotable(text: &str, secrets: &[&Secret<String>]) -> Option<String> {
    let repeats = |secret: &&Secret<String>| {
        !secret.expose().is_empty() && text.contains(secret.expose().as_str())
    };
    if text.is_empty() || secrets.iter().any(repeats) {
        return None;
    }
    let shown = |c: char| if (' '..='~').contains(&c) { c } else { '?' };
    Some(text.chars().take(MOST_QUOTED).map(shown).collect())
}

/// The successful answer of a token endpoint.
#[derive(Deserialize)]
struct TokenAnswer {
    access_token: Secret<String>,
    token_type: String,
    #[serde(default)]
    expires_in: Option<Seconds>,
    refresh_token: Option<Secret<String>>,
    scope: Option<String>,
}

/// What was asked of a token endpoint.
pub(crate) struct Asked<'a> {
    pub(crate) scopes: &'a Scopes,
    /// The key that the token must be bound to.
    pub(crate) key: Option<&'a DpopKey>,
}

impl Asked<'_> {
    /// Reads the successful answer.
    ///
    /// # Errors
    ///
    /// If it is malformed, or the token is not of the kind that was asked for.
    pub(crate) fn read(&self, answer: &Fetched, moment: &Moment) -> Result<Tokens, Error> {
        // `read` names the member that is wrong and quotes nothing.
        let body: TokenAnswer = read(json(answer)?).map_err(|error| unusable(&error))?;
        let kind = if self.key.is_some() { TokenKind::DPoP } else { TokenKind::Bearer };
        if !body.token_type.eq_ignore_ascii_case(kind.scheme()) {
            return Err(unusable(&format!("the token is not of the type {}", kind.scheme())));
        }
        check_token(&body.access_token)?;
        let refresh = body.refresh_token.filter(|token| !token.expose().is_empty());
        if refresh.as_ref().is_some_and(|token| token.expose().len() > MOST_TOKEN) {
            return Err(Error::too_large("the refresh token", MOST_TOKEN, "bytes"));
        }
        let granted = body.scope.as_deref().filter(|scope| !scope.is_empty());
        let scopes = granted.map_or_else(|| Ok(self.scopes.clone()), Scopes::parse)?;
        Ok(Tokens {
            access: body.access_token,
            kind,
            issued: moment.now,
            life: body.expires_in.map(|Seconds(life)| life),
            refresh,
            scopes,
            key: self.key.cloned(),
        })
    }
}

/// The JSON of a successful answer.
fn json(answer: &Fetched) -> Result<&str, Error> {
    match answer.status {
        StatusCode::OK => answer.json(),
        status => Err(unusable(&format!("the status is {status}"))),
    }
}

/// Refuses a token that cannot be sent in a header.
fn check_token(token: &Secret<String>) -> Result<(), Error> {
    let token = token.expose();
    if token.len() > MOST_TOKEN {
        return Err(Error::too_large("the access token", MOST_TOKEN, "bytes"));
    }
    match !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(()),
        false => Err(unusable(&"the access token is not printable ASCII")),
    }
}

fn unusable(reason: &dyn fmt::Display) -> Error {
    Error::new(Kind::Login, format!("the answer of the token endpoint cannot be used: {reason}"))
}

/// A number of seconds; some servers write it as a text.
struct Seconds(Duration);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SecondsVisitor;

        impl Visitor<'_> for SecondsVisitor {
            type Value = Seconds;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of seconds")
            }

            fn visit_f64<E: serde::de::Error>(self, seconds: f64) -> Result<Seconds, E> {
                let life = Duration::try_from_secs_f64(seconds).map_err(E::custom)?;
                Ok(Seconds(life.min(LONGEST_LIFE)))
            }

            fn visit_u64<E: serde::de::Error>(self, seconds: u64) -> Result<Seconds, E> {
                Ok(Seconds(Duration::from_secs(seconds).min(LONGEST_LIFE)))
            }

            fn visit_i64<E: serde::de::Error>(self, seconds: i64) -> Result<Seconds, E> {
                self.visit_u64(seconds.try_into().unwrap_or(0))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Seconds, E> {
                text.parse().map_err(E::custom).and_then(|seconds| self.visit_u64(seconds))
            }
        }

        deserializer.deserialize_any(SecondsVisitor)
    }
}

#[cfg(test)]
mod tests;
