//! The answer of the token endpoint.

use serde::Serialize;

/// Tokens, and what the client needs to know about them.
#[derive(Default, Serialize)]
pub(super) struct TokenAnswer {
    pub(super) access_token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) issued_token_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) token_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_in: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refresh_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id_token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
}
