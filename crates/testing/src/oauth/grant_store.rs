//! Everything that the server has promised: logins that are under way, codes, and tokens.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use bowline_auth::scope::Scopes;
use bowline_proto::sync::lock;

use super::random::random_text;

/// What a user, or a client for itself, allowed a client to do.
#[derive(Clone)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Scopes,
    pub(super) resource: Option<String>,
    /// The `nonce` of OpenID Connect, for the ID token.
    pub(super) nonce: Option<String>,
    /// The thumbprint of the key that its tokens are bound to.
    pub(super) key: Option<String>,
    /// All tokens of one login are a family. They are revoked together.
    pub(super) family: u64,
}

/// A login that waits for the user's decision, or, with a code, for the client.
#[derive(Clone)]
pub(super) struct Login {
    pub(super) grant: Grant,
    pub(super) redirect_uri: String,
    pub(super) state: Option<String>,
    pub(super) challenge: String,
    pub(super) expires: SystemTime,
    pub(super) is_spent: bool,
}

#[derive(Clone)]
pub(super) struct RefreshToken {
    pub(super) grant: Grant,
    pub(super) is_spent: bool,
}

#[derive(Clone)]
pub(super) struct AccessToken {
    pub(super) grant: Grant,
    pub(super) audience: Vec<String>,
    pub(super) issued: SystemTime,
    pub(super) expires: SystemTime,
    pub(super) is_revoked: bool,
}

#[derive(Default)]
pub(super) struct GrantStore(Mutex<GrantTables>);

#[derive(Default)]
pub(super) struct GrantTables {
    pub(super) tickets: HashMap<String, Login>,
    pub(super) codes: HashMap<String, Login>,
    pub(super) refresh: HashMap<String, RefreshToken>,
    pub(super) access: HashMap<String, AccessToken>,
    families: u64,
    revoked: HashSet<u64>,
    /// How many families were revoked because a token of theirs was used twice.
    pub(super) reuses: usize,
    /// The ids of assertions and proofs that were used.
    used: HashSet<String>,
    nonce: Option<String>,
}

impl GrantStore {
    pub(super) fn lock(&self) -> MutexGuard<'_, GrantTables> {
        lock(&self.0)
    }
}

impl GrantTables {
    pub(super) fn new_family(&mut self) -> u64 {
        self.families += 1;
        self.families
    }

    pub(super) fn revoke(&mut self, family: u64) {
        self.revoked.insert(family);
    }

    /// Revokes a family of which a code or refresh token was used twice: one user is a thief.
    pub(super) fn revoke_for_reuse(&mut self, family: u64) {
        if self.revoked.insert(family) {
            self.reuses += 1;
        }
    }

    pub(super) fn is_revoked(&self, family: u64) -> bool {
        self.revoked.contains(&family)
    }

    /// Marks an id as used; false if it was.
    pub(super) fn use_once(&mut self, kind: &str, id: &str) -> bool {
        self.used.insert(format!("{kind} {id}"))
    }

    /// The nonce that proofs must carry.
    pub(super) fn nonce(&mut self) -> &str {
        self.nonce.get_or_insert_with(random_text)
    }

    pub(super) fn rotate_nonce(&mut self) {
        self.nonce = Some(random_text());
    }

    /// The record of an access token that is valid now.
    pub(super) fn active(&self, token: &str, now: SystemTime) -> Option<&AccessToken> {
        let record = self.access.get(token)?;
        let is_active =
            !record.is_revoked && !self.is_revoked(record.grant.family) && now < record.expires;
        is_active.then_some(record)
    }
}
