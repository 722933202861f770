//! What a store holds about a login, without its secrets.

use std::time::SystemTime;

use bowline_proto::sync::lock;
use http::StatusCode;

use super::Authorizer;
use crate::challenge::Challenge;
use crate::client::plan::Grant;
use crate::client::record::TokenKind;
use crate::error::Error;
use crate::scope::Scopes;

/// A stored login, without its secrets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoginStatus {
    /// The authorization server.
    pub issuer: String,
    /// What the token is for: the MCP server, as it names itself.
    pub resource: String,
    /// The client id that the authorization server gave to this program, if it did.
    pub client_id: Option<String>,
    /// The scopes that were granted.
    pub scopes: Scopes,
    /// When the access token expires, if the authorization server has named a time.
    pub expires: Option<SystemTime>,
    /// Whether an expired token is replaced without a user.
    pub can_renew: bool,
    /// Whether the token is bound to a key (DPoP).
    pub is_bound: bool,
}

/// What an MCP server demanded when it refused a message.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoginDemand {
    /// The scopes that it named, if it did.
    pub scopes: Scopes,
    /// Whether there is a login that lacks these scopes. Otherwise a login is demanded.
    pub is_step_up: bool,
}

impl LoginDemand {
    /// What a refusal demands; `None` if it is not about a login.
    pub(super) fn of(status: StatusCode, challenge: Option<&Challenge>) -> Option<Self> {
        let value = |name| challenge.and_then(|it| it.value(name)).unwrap_or_default();
        let is_step_up = match status {
            StatusCode::UNAUTHORIZED => false,
            StatusCode::FORBIDDEN if value("error") == "insufficient_scope" => true,
            _ => return None,
        };
        let scopes = Scopes::parse(value("scope")).unwrap_or_default();
        Some(Self { scopes, is_step_up })
    }
}

impl Authorizer {
    /// What the MCP server demanded when it refused a message last, unless the message was sent again.
    pub fn demand(&self) -> Option<LoginDemand> {
        lock(&self.0.demand).clone()
    }

    /// The login that the store holds now; `None` if there is none, or it has ended.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn status(&self) -> Result<Option<LoginStatus>, Error> {
        let Some(held) = self.0.reload().await? else { return Ok(None) };
        let Some(tokens) = held.tokens() else { return Ok(None) };
        let is_program = !matches!(self.0.plan.grant, Grant::Code(_));
        Ok(Some(LoginStatus {
            issuer: held.record.server.issuer().to_owned(),
            resource: held.record.resource.clone(),
            client_id: held.record.client.as_ref().map(|client| client.id.clone()),
            scopes: tokens.scopes.clone(),
            expires: tokens.life.and_then(|life| tokens.issued.checked_add(life)),
            can_renew: is_program || tokens.refresh.is_some(),
            is_bound: tokens.kind == TokenKind::DPoP,
        }))
    }
}
