//! The grants that the token endpoint takes.

/// A value of `grant_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrantType {
    Code,
    Refresh,
    ClientCredentials,
    JwtBearer,
    TokenExchange,
}

impl GrantType {
    pub(super) const ALL: [Self; 5] =
        [Self::Code, Self::Refresh, Self::ClientCredentials, Self::JwtBearer, Self::TokenExchange];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Code => "authorization_code",
            Self::Refresh => "refresh_token",
            Self::ClientCredentials => "client_credentials",
            Self::JwtBearer => "urn:ietf:params:oauth:grant-type:jwt-bearer",
            Self::TokenExchange => "urn:ietf:params:oauth:grant-type:token-exchange",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|grant| grant.name() == name)
    }
}
