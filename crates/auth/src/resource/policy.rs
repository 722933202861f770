//! What a caller needs beside a token that verifies.

use std::collections::BTreeSet;

use bowline_proto::request::Access;

use crate::error::{Error, Kind};
use crate::scope::Scopes;

/// The scope that asks for a refresh token. It concerns the client and the authorization server, so a
/// resource must not ask for it.
const OFFLINE_ACCESS: &str = "offline_access";

/// The most rules about included scopes.
const MOST_RULES: usize = 1000;

/// What every caller needs, and which scopes include which.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    required: Scopes,
    /// Pairs of a scope and one that it includes.
    includes: Vec<(String, String)>,
    /// Whether every token must be bound to a key.
    is_dpop_required: bool,
    /// Whether proofs of possession must carry a nonce of ours.
    has_nonces: bool,
    /// The first mistake in the settings. Reported when the policy is used.
    mistake: Option<String>,
}

impl Policy {
    /// Requires a scope of every caller.
    #[must_use]
    pub fn require_scope(mut self, scope: &str) -> Self {
        let added = self.required.insert(scope);
        self.note(added);
        self
    }

    /// Lets a scope include others: a caller that has the first has all of them.
    #[must_use]
    pub fn scope_includes<I>(mut self, scope: &str, included: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let added = Scopes::of([scope]).and(Scopes::of(included));
        if let Ok(included) = &added {
            let pairs = included.iter().map(|included| (scope.to_owned(), included.to_owned()));
            self.includes.extend(pairs);
        }
        self.note(added.map(|_| ()));
        if self.includes.len() > MOST_RULES {
            self.note(Err(Error::too_large("the policy", MOST_RULES, "rules about scopes")));
        }
        self
    }

    /// Accepts only tokens that are bound to a key, with a proof of possession (DPoP).
    #[must_use]
    pub fn dpop(mut self) -> Self {
        self.is_dpop_required = true;
        self
    }

    /// Demands a nonce of this resource in every proof of possession.
    #[must_use]
    pub fn dpop_nonces(mut self) -> Self {
        self.has_nonces = true;
        self
    }

    fn note(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.mistake.get_or_insert(error.to_string());
        }
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// If a scope is malformed, or is one that a resource must not ask for.
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Some(mistake) = &self.mistake {
            return Err(Error::new(Kind::Scope, mistake.clone()));
        }
        if self.required.contains(OFFLINE_ACCESS) {
            let text = "`offline_access` is between client and authorization server; a resource must not require it";
            return Err(Error::new(Kind::Scope, text));
        }
        Ok(())
    }

    /// The scopes that every caller needs.
    pub fn required(&self) -> &Scopes {
        &self.required
    }

    /// Whether every token must be bound to a key.
    pub fn is_dpop_required(&self) -> bool {
        self.is_dpop_required
    }

    /// Whether proofs of possession must carry a nonce.
    pub fn has_nonces(&self) -> bool {
        self.has_nonces
    }

    /// The scopes of a token, and all that they include.
    pub fn expand<'a>(&'a self, scopes: impl IntoIterator<Item = &'a str>) -> Access {
        let mut granted = BTreeSet::new();
        let mut next: Vec<&str> = scopes.into_iter().collect();
        while let Some(scope) = next.pop() {
            if granted.insert(scope) {
                let rules = self.includes.iter().filter(|(including, _)| including == scope);
                next.extend(rules.map(|(_, included)| included.as_str()));
            }
        }
        Access::to(granted)
    }
}

/// The settings of a [`Policy`], as methods of a verifier with a field `policy`.
macro_rules! policy_methods {
    () => {
        /// Requires a scope of every caller.
        #[must_use]
        pub fn require_scope(mut self, scope: &str) -> Self {
            self.policy = self.policy.require_scope(scope);
            self
        }

        /// Lets a scope include others: a caller that has the first has all of them.
        #[must_use]
        pub fn scope_includes<I>(mut self, scope: &str, included: I) -> Self
        where
            I: IntoIterator<Item: AsRef<str>>,
        {
            self.policy = self.policy.scope_includes(scope, included);
            self
        }

        /// Accepts only tokens that are bound to a key, with a proof of possession (DPoP). Without
        /// it, the proof is demanded of the tokens that are bound.
        #[must_use]
        pub fn dpop(mut self) -> Self {
            self.policy = self.policy.dpop();
            self
        }

        /// Demands a nonce of this resource in every proof of possession.
        #[must_use]
        pub fn dpop_nonces(mut self) -> Self {
            self.policy = self.policy.dpop_nonces();
            self
        }
    };
}
pub(super) use policy_methods;

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(policy: &Policy, scopes: &[&str]) -> Vec<String> {
        policy.expand(scopes.iter().copied()).scopes().map(str::to_owned).collect()
    }

    // spec: SCOPE-19
    #[test]
    fn a_scope_includes_others_at_any_depth() {
        let policy = Policy::default()
            .scope_includes("admin", ["write", "audit"])
            .scope_includes("write", ["read"])
            .scope_includes("read", ["admin:none", "read"]);
        assert_eq!(
            expanded(&policy, &["admin"]),
            ["admin", "admin:none", "audit", "read", "write"]
        );
        assert_eq!(expanded(&policy, &["write"]), ["admin:none", "read", "write"]);
        assert_eq!(expanded(&policy, &["other"]), ["other"]);
        assert_eq!(expanded(&policy, &[]), [""; 0]);
    }

    #[test]
    fn scopes_that_include_each_other_are_no_endless_loop() {
        let policy = Policy::default().scope_includes("a", ["b"]).scope_includes("b", ["a"]);
        assert_eq!(expanded(&policy, &["b"]), ["a", "b"]);
    }

    #[test]
    fn a_malformed_scope_is_reported() {
        for policy in [
            Policy::default().require_scope("a b"),
            Policy::default().require_scope(""),
            Policy::default().scope_includes("a\"", ["b"]),
            Policy::default().scope_includes("a", ["b\\"]),
        ] {
            assert!(policy.check().is_err(), "{policy:?}");
        }
        assert!(Policy::default().require_scope("mcp").check().is_ok());
        let rules = |count: usize| {
            let add = |all: Policy, n: usize| all.scope_includes("a", [n.to_string()]);
            (0..count).fold(Policy::default(), add).check()
        };
        assert!(rules(MOST_RULES).is_ok() && rules(MOST_RULES + 1).is_err());
    }

    // spec: REFR-5
    #[test]
    fn a_resource_cannot_require_offline_access() {
        let error = Policy::default().require_scope("offline_access").check().unwrap_err();
        assert!(error.to_string().contains("must not require it"), "{error}");
    }
}
