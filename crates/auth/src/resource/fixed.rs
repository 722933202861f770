//! Tokens that are written in the program, for development on one machine.

use std::collections::HashMap;
use std::fmt;
use std::future::ready;

use bowline_proto::request::Claims;

use super::policy::{Policy, policy_methods};
use super::verify::{Denied, Presented, Verified, Verify, VerifyContext};
use crate::fetch::BoxFuture;

/// Accepts fixed tokens. An endpoint with a public URL on another host than this machine refuses to
/// be built with it.
///
/// ```
/// use bowline_auth::resource::FixedTokens;
/// use bowline_proto::request::Claims;
///
/// let tokens = FixedTokens::new([("dev", Claims::new("dev", "ann").scopes(["mcp"]))]);
/// ```
#[derive(Clone)]
pub struct FixedTokens {
    /// By the digest of the token: a lookup takes the same time for every wrong token.
    claims: HashMap<[u8; 32], Claims>,
    policy: Policy,
}

impl FixedTokens {
    /// Accepts these tokens.
    pub fn new<T: Into<String>>(tokens: impl IntoIterator<Item = (T, Claims)>) -> Self {
        let digest = |(token, claims): (T, Claims)| (Presented::new(token.into()).digest(), claims);
        Self { claims: tokens.into_iter().map(digest).collect(), policy: Policy::default() }
    }

    policy_methods!();
}

impl Verify for FixedTokens {
    fn verify<'a>(
        &'a self,
        token: &'a Presented,
        context: VerifyContext<'a>,
    ) -> BoxFuture<'a, Result<Verified, Denied>> {
        let verdict = match self.claims.get(&token.digest()) {
            Some(claims) if claims.expires.is_some_and(|at| at <= context.now) => {
                Err(Denied::Expired)
            }
            Some(claims) => Ok(claims.clone().into()),
            None => Err(Denied::Unverifiable),
        };
        Box::pin(ready(verdict))
    }

    fn issuer(&self) -> Option<&str> {
        None
    }

    fn policy(&self) -> Policy {
        self.policy.clone()
    }

    fn is_for_loopback_only(&self) -> bool {
        true
    }
}

impl fmt::Debug for FixedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FixedTokens({})", self.claims.len())
    }
}
