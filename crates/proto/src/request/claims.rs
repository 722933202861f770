//! What a verified credential says of its caller.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bowline_types::json::RawJson;
use bowline_types::read::ReadError;
use serde::de::DeserializeOwned;

use super::Owner;

/// What a verified credential says of its caller: the claims of an access token, without the token.
///
/// The code that verifies credentials attaches it to the [`Extensions`](super::Extensions) of a
/// request. Handlers must not get the token itself: a server may not pass it on.
///
/// ```
/// use bowline_proto::request::{Claims, Owner};
///
/// let claims = Claims::new("https://auth.example.com", "ann").scopes(["mcp"]);
/// assert_eq!(claims.subject, "ann");
/// assert_eq!(claims.owner(), Owner::known("https://auth.example.com", "ann"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Claims {
    /// The authorization server that issued the credential (`iss`).
    pub issuer: String,
    /// The user or account (`sub`). Of a client that acts for itself, and whose credential names no
    /// subject, `client:` and its id. A user may have the same text as subject, so code that decides
    /// by it asks [`is_client`](Self::is_client) too, or compares [`owner`](Self::owner).
    pub subject: String,
    /// The OAuth client that the credential was issued to (`client_id` or `azp`).
    pub client_id: Option<String>,
    /// The scopes that the credential names.
    pub scopes: Vec<String>,
    /// The servers that the credential is meant for (`aud`).
    pub audience: Vec<String>,
    /// When the credential expires (`exp`).
    pub expires: Option<SystemTime>,
    is_client: bool,
    json: Option<Arc<RawJson>>,
}

impl Claims {
    /// The claims about a user or account that an issuer knows under a subject.
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            issuer: issuer.into(),
            subject: subject.into(),
            client_id: None,
            scopes: Vec::new(),
            audience: Vec::new(),
            expires: None,
            is_client: false,
            json: None,
        }
    }

    /// The claims about a client that acts for itself, and whose credential names no subject.
    pub fn of_client(issuer: impl Into<String>, client_id: impl Into<String>) -> Self {
        let client_id = client_id.into();
        let subject = format!("client:{client_id}");
        Self { client_id: Some(client_id), is_client: true, ..Self::new(issuer, subject) }
    }

    /// Sets the client that the credential was issued to.
    #[must_use]
    pub fn client_id(mut self, client_id: impl Into<String>) -> Self {
        self.client_id = Some(client_id.into());
        self
    }

    /// Sets the scopes.
    #[must_use]
    pub fn scopes<S: Into<String>>(mut self, scopes: impl IntoIterator<Item = S>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the servers that the credential is meant for.
    #[must_use]
    pub fn audience<S: Into<String>>(mut self, audience: impl IntoIterator<Item = S>) -> Self {
        self.audience = audience.into_iter().map(Into::into).collect();
        self
    }

    /// Sets when the credential expires.
    #[must_use]
    pub fn expires(mut self, at: SystemTime) -> Self {
        self.expires = Some(at);
        self
    }

    /// Sets all claims as the issuer wrote them, for [`parse`](Self::parse).
    #[must_use]
    pub fn json(mut self, claims: RawJson) -> Self {
        self.json = Some(Arc::new(claims));
        self
    }

    /// Reads all claims into a type of your own, for those that have no field here.
    ///
    /// ```
    /// use bowline_proto::request::Claims;
    /// use bowline_types::json::RawJson;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Member {
    ///     team: String,
    /// }
    ///
    /// let json = RawJson::from_text(r#"{"sub":"ann","team":"red"}"#).unwrap();
    /// let claims = Claims::new("https://auth.example.com", "ann").json(json);
    /// assert_eq!(claims.parse::<Member>().unwrap().team, "red");
    /// ```
    ///
    /// # Errors
    ///
    /// If they do not have the shape of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        match &self.json {
            Some(json) => json.parse(),
            None => RawJson::empty_object().parse(),
        }
    }

    /// Whether a client acts for itself: the credential names no subject, and
    /// [`subject`](Self::subject) is made from the id of the client.
    pub fn is_client(&self) -> bool {
        self.is_client
    }

    /// The owner of what the caller creates.
    pub fn owner(&self) -> Owner {
        // A subject cannot pose as a client, or as the other form of a subject.
        let is_ambiguous =
            ["client:", "subject:"].iter().any(|prefix| self.subject.starts_with(prefix));
        let subject = match is_ambiguous && !self.is_client {
            true => format!("subject:{}", self.subject),
            false => self.subject.clone(),
        };
        Owner::known(self.issuer.clone(), subject)
    }
}

impl fmt::Debug for Claims {
    /// Leaves out the claims that have no field: they may be personal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claims")
            .field("issuer", &self.issuer)
            .field("subject", &self.subject)
            .field("is_client", &self.is_client)
            .field("client_id", &self.client_id)
            .field("scopes", &self.scopes)
            .field("audience", &self.audience)
            .field("expires", &self.expires)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_subject_owns_what_belongs_to_a_client_or_to_another_subject() {
        let owners = [
            Claims::of_client("issuer", "robot").owner(),
            Claims::new("issuer", "client:robot").client_id("robot").owner(),
            Claims::new("issuer", "subject:client:robot").owner(),
            Claims::new("issuer", "robot").owner(),
            Claims::new("other", "robot").owner(),
        ];
        for (index, owner) in owners.iter().enumerate() {
            assert!(!owners[index + 1..].contains(owner), "{owner:?}");
        }
    }

    #[test]
    fn a_user_whose_subject_looks_like_a_client_is_none() {
        let client = Claims::of_client("issuer", "robot");
        let user = Claims::new("issuer", "client:robot").client_id("robot");
        assert_eq!(client.subject, user.subject);
        assert!(client.is_client() && !user.is_client());
    }

    #[test]
    fn a_subject_owns_the_same_with_every_client_and_every_scope() {
        let first = Claims::new("issuer", "ann").client_id("app").scopes(["a"]);
        let second = Claims::new("issuer", "ann").client_id("other").scopes(["b"]);
        assert_eq!(first.owner(), second.owner());
    }

    #[test]
    fn claims_without_a_field_are_read_on_demand_and_not_shown() {
        let json = RawJson::from_text(r#"{"email":"ann@example.com"}"#).unwrap();
        let claims = Claims::new("issuer", "ann").json(json);
        #[derive(serde::Deserialize)]
        struct Email {
            email: String,
        }
        assert_eq!(claims.parse::<Email>().unwrap().email, "ann@example.com");
        assert!(!format!("{claims:?}").contains("example.com"));
        assert!(Claims::new("issuer", "ann").parse::<Email>().is_err());
    }
}
