//! What is kept about one login: the authorization server, the client's registration, the tokens.
//!
//! A record belongs to one [`StoreKey`](super::store::StoreKey), which names the issuer. So nothing
//! that one authorization server gave is ever sent to another.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline_types::read::read;
use bowline_types::time::{millis, since_1970};
use serde::{Deserialize, Serialize};

use super::discover::AuthServer;
use super::dpop::DpopKey;
use super::identity::{AuthMethod, ClientIdentity, Credential};
use crate::error::{Error, Kind};
use crate::jose::{from_base64, to_base64};
use crate::scope::Scopes;
use crate::secret::Secret;

/// The longest time before its expiry that a token is renewed.
const EARLY: Duration = Duration::from_secs(30);

/// What is kept about one login.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) server: AuthServer,
    /// The resource, as the authorization server knows it.
    pub(crate) resource: String,
    /// The dynamic registration, if there is one.
    pub(crate) client: Option<Registered>,
    pub(crate) tokens: Option<Tokens>,
}

/// A dynamic registration at one authorization server.
#[derive(Clone, Debug)]
pub(crate) struct Registered {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret<String>>,
    pub(crate) method: Option<AuthMethod>,
    /// The redirect URI that was registered.
    pub(crate) redirect: String,
}

impl Registered {
    pub(crate) fn identity(&self) -> ClientIdentity {
        let credential = self.secret.clone().map_or(Credential::None, Credential::Secret);
        ClientIdentity { id: self.id.clone(), credential, method: self.method }
    }
}

/// How a token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TokenKind {
    Bearer,
    /// Bound to a key.
    DPoP,
}

impl TokenKind {
    /// The authentication scheme, and the `token_type` of an answer.
    pub(crate) fn scheme(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::DPoP => "DPoP",
        }
    }
}

/// What the token endpoint gave.
#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    pub(crate) access: Secret<String>,
    pub(crate) kind: TokenKind,
    pub(crate) issued: SystemTime,
    pub(crate) life: Option<Duration>,
    pub(crate) refresh: Option<Secret<String>>,
    /// The scopes that were granted, or asked for if the server does not say.
    pub(crate) scopes: Scopes,
    /// The key of a bound token.
    pub(crate) key: Option<DpopKey>,
}

impl Tokens {
    /// Whether to renew the token before it is used: it expires soon, or has expired.
    pub(crate) fn is_due(&self, now: SystemTime) -> bool {
        let Some(life) = self.life else { return false };
        now >= self.issued + life.saturating_sub(EARLY.min(life / 4))
    }
}

/// A record as it is written.
#[derive(Serialize)]
struct Written<'a> {
    server: &'a AuthServer,
    resource: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<WrittenClient<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<WrittenTokens<'a>>,
}

#[derive(Serialize)]
struct WrittenClient<'a> {
    id: &'a str,
    secret: Option<&'a str>,
    method: Option<AuthMethod>,
    redirect: &'a str,
}

#[derive(Serialize)]
struct WrittenTokens<'a> {
    access: &'a str,
    kind: TokenKind,
    /// Milliseconds since 1970.
    issued: u64,
    life: Option<u64>,
    refresh: Option<&'a str>,
    scopes: String,
    key: Option<String>,
}

/// A record as it is read.
#[derive(Deserialize)]
struct Read {
    server: AuthServer,
    resource: String,
    client: Option<ReadClient>,
    tokens: Option<ReadTokens>,
}

#[derive(Deserialize)]
struct ReadClient {
    id: String,
    secret: Option<Secret<String>>,
    method: Option<AuthMethod>,
    redirect: String,
}

#[derive(Deserialize)]
struct ReadTokens {
    access: Secret<String>,
    kind: TokenKind,
    issued: u64,
    life: Option<u64>,
    refresh: Option<Secret<String>>,
    scopes: String,
    key: Option<Secret<String>>,
}

impl Record {
    /// The record as a text to be stored.
    pub(crate) fn to_text(&self) -> Result<Secret<String>, Error> {
        let client = self.client.as_ref().map(|client| WrittenClient {
            id: &client.id,
            secret: client.secret.as_ref().map(|secret| secret.expose().as_str()),
            method: client.method,
            redirect: &client.redirect,
        });
        let tokens = self.tokens.as_ref().map(|tokens| WrittenTokens {
            access: tokens.access.expose(),
            kind: tokens.kind,
            issued: since_1970(tokens.issued),
            life: tokens.life.map(millis),
            refresh: tokens.refresh.as_ref().map(|token| token.expose().as_str()),
            scopes: tokens.scopes.to_string(),
            key: tokens.key.as_ref().map(|key| to_base64(key.stored().expose())),
        });
        let written = Written { server: &self.server, resource: &self.resource, client, tokens };
        serde_json::to_string(&written)
            .map(Secret::new)
            .map_err(|_| Error::new(Kind::Store, "a record cannot be written as JSON"))
    }

    /// Reads a stored record.
    ///
    /// # Errors
    ///
    /// If it is not a record, or its server is not the issuer whose record it should be.
    pub(crate) fn parse(text: &Secret<String>, issuer: &str) -> Result<Self, Error> {
        let malformed = || Error::new(Kind::Store, "a stored record cannot be read");
        let read: Read = read(text.expose()).map_err(|_| malformed())?;
        if read.server.issuer() != issuer {
            let text = "a stored record belongs to another authorization server";
            return Err(Error::new(Kind::Store, text));
        }
        let client = read.client.map(|ReadClient { id, secret, method, redirect }| Registered {
            id,
            secret,
            method,
            redirect,
        });
        let tokens = read.tokens.map(tokens).transpose()?;
        Ok(Self { server: read.server, resource: read.resource, client, tokens })
    }
}

fn tokens(read: ReadTokens) -> Result<Tokens, Error> {
    let malformed = || Error::new(Kind::Store, "the key of a stored record cannot be read");
    let key = read.key.map(|key| from_base64(key.expose()).ok_or_else(malformed)).transpose()?;
    Ok(Tokens {
        access: read.access,
        kind: read.kind,
        issued: UNIX_EPOCH + Duration::from_millis(read.issued),
        life: read.life.map(Duration::from_millis),
        refresh: read.refresh,
        scopes: Scopes::parse(&read.scopes)?,
        key: key.map(|key| DpopKey::load(Secret::new(key))).transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let text = r#"{"issuer":"https://as.example","token_endpoint":"https://as.example/t"}"#;
        let key = DpopKey::generate().unwrap();
        Record {
            server: AuthServer::parse(text, "https://as.example").unwrap(),
            resource: "https://a.example/mcp".into(),
            client: Some(Registered {
                id: "id".into(),
                secret: Some(Secret::from("canary")),
                method: Some(AuthMethod::Post),
                redirect: "http://127.0.0.1:7/callback".into(),
            }),
            tokens: Some(Tokens {
                access: Secret::from("canary"),
                kind: TokenKind::DPoP,
                issued: UNIX_EPOCH + Duration::from_millis(1500),
                life: Some(Duration::from_secs(100)),
                refresh: Some(Secret::from("canary")),
                scopes: Scopes::parse("a b").unwrap(),
                key: Some(key),
            }),
        }
    }

    #[test]
    fn a_record_survives_its_text() {
        let text = record().to_text().unwrap();
        let again = Record::parse(&text, "https://as.example").unwrap();
        assert_eq!(again.tokens.as_ref().unwrap().scopes.to_string(), "a b");
        // A new key was drawn, so the texts agree only without it.
        let keyless = |record: &Record| {
            let mut record = record.clone();
            record.tokens.as_mut().unwrap().key = None;
            record.to_text().unwrap().expose().clone()
        };
        assert_eq!(keyless(&record()), keyless(&again));
        assert!(again.tokens.unwrap().key.is_some());
    }

    // spec: PRM-11, PRM-12, REG-13
    #[test]
    fn a_record_of_another_issuer_is_refused() {
        let text = record().to_text().unwrap();
        assert!(Record::parse(&text, "https://as.example/").unwrap_err().is_store());
        assert!(Record::parse(&Secret::from("{}"), "https://as.example").is_err());
    }

    // spec: REFR-1, TOK-14
    #[test]
    fn debug_shows_no_token_and_no_secret() {
        assert!(!format!("{:?}", record()).contains("canary"));
    }

    #[test]
    fn a_token_is_due_30_seconds_or_a_quarter_of_its_life_before_it_expires() {
        let at = |milliseconds| UNIX_EPOCH + Duration::from_millis(milliseconds);
        let mut tokens = record().tokens.unwrap();
        // It was issued at 1.5 s and lives 100 s; a quarter is less than 30 s.
        assert!(!tokens.is_due(at(76_499)) && tokens.is_due(at(76_500)));
        tokens.life = Some(Duration::from_secs(3600));
        assert!(!tokens.is_due(at(3_571_499)) && tokens.is_due(at(3_571_500)));
        tokens.life = None;
        assert!(!tokens.is_due(at(u64::MAX >> 8)));
    }
}
