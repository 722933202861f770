//! Mistakes that the authorization server makes on request.

use std::sync::Mutex;
use std::time::Duration;

use bowline_proto::sync::lock;

use super::request_log::OAuthEndpoint;

/// A mistake, or an unpleasant habit, of an authorization server.
///
/// A fault is injected before the start by [`fault`](super::AuthorizationServerBuilder::fault), or
/// later by [`inject`](super::AuthorizationServer::inject). Several can act at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The metadata names another `issuer`.
    MetadataIssuerMismatch,
    /// The metadata has no `code_challenge_methods_supported`. The server still wants S256.
    NoS256,
    /// The metadata offers PKCE with `plain` only. The server still wants S256.
    PlainOnly,
    /// The authorization response carries the `iss` of another server (RFC 9207).
    WrongIss,
    /// The authorization response carries `iss` with a slash too many.
    NormalizedIss,
    /// The authorization response lacks `iss`, although the metadata announces it.
    MissingIss,
    /// The authorization response carries `iss`, although the metadata does not announce it.
    UnadvertisedIss,
    /// The authorization response carries another `state`.
    WrongState,
    /// The authorization response lacks `state`.
    MissingState,
    /// The authorization response is this error, such as `server_error`, instead of a code.
    ErrorResponse(&'static str),
    /// Registration fails with `invalid_client_metadata`.
    RegistrationRefused,
    /// Registration refuses redirects to an address of this machine and accepts `localhost`.
    LoopbackAddressRefused,
    /// The token endpoint answers `invalid_grant`.
    InvalidGrant,
    /// The token endpoint answers with another `token_type` than it issued.
    WrongTokenType,
    /// The token endpoint answers without `token_type`.
    MissingTokenType,
    /// The token endpoint answers without `expires_in`.
    MissingExpiresIn,
    /// The token endpoint issues no refresh token.
    NoRefreshToken,
    /// Access tokens are for another resource than the client asked for.
    WrongResource,
    /// Access tokens carry only the first of the scopes that the client asked for.
    FewerScopes,
    /// Access tokens are expired when they are issued.
    ExpiredTokens,
    /// Access tokens are signed with a key that the key set does not contain.
    UnpublishedKey,
    /// The token endpoint wants another DPoP nonce, whichever the client sends.
    EndlessNonces,
    /// An endpoint answers only after this time, which is tokio's and can be virtual.
    Slow(OAuthEndpoint, Duration),
    /// An endpoint never answers.
    Stalled(OAuthEndpoint),
    /// An endpoint answers with this status and no more.
    Status(OAuthEndpoint, u16),
    /// An endpoint redirects to this URL, with the status 307.
    Redirect(OAuthEndpoint, String),
    /// An endpoint answers with valid JSON of at least this many bytes.
    Oversize(OAuthEndpoint, usize),
    /// An endpoint answers with text that is not JSON, and calls it JSON.
    Malformed(OAuthEndpoint),
    /// An endpoint answers with the right JSON, and calls it HTML.
    WrongMediaType(OAuthEndpoint),
}

/// The faults that act now.
#[derive(Default)]
pub(super) struct Faults(Mutex<Vec<Injected>>);

struct Injected {
    fault: Fault,
    /// How often it acts from now on; `None`: always.
    left: Option<usize>,
}

impl Faults {
    /// Adds a fault that acts `times` times, or always.
    pub(super) fn inject(&self, fault: Fault, times: Option<usize>) {
        lock(&self.0).push(Injected { fault, left: times });
    }

    /// Removes all faults.
    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    /// Whether a fault acts. If it acts a limited number of times, this is one of them.
    pub(super) fn acts(&self, fault: &Fault) -> bool {
        self.take(|injected| (injected == fault).then_some(())).is_some()
    }

    /// Picks the first fault that fits, and counts it as one time that it acted.
    pub(super) fn take<T>(&self, pick: impl Fn(&Fault) -> Option<T>) -> Option<T> {
        let mut faults = lock(&self.0);
        let found = faults.iter().enumerate().find_map(|(at, injected)| {
            let picked = pick(&injected.fault)?;
            Some((at, picked))
        });
        let (at, picked) = found?;
        if let Some(left) = &mut faults[at].left {
            *left -= 1;
            if *left == 0 {
                faults.remove(at);
            }
        }
        Some(picked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_acts_as_often_as_it_should() {
        let faults = Faults::default();
        faults.inject(Fault::WrongIss, Some(1));
        faults.inject(Fault::InvalidGrant, None);
        assert!(faults.acts(&Fault::WrongIss) && !faults.acts(&Fault::WrongIss));
        assert!(faults.acts(&Fault::InvalidGrant) && faults.acts(&Fault::InvalidGrant));
        faults.clear();
        assert!(!faults.acts(&Fault::InvalidGrant));
    }
}
