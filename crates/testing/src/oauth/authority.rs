//! The state that all endpoints share.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bowline_auth::scope::Scopes;
use bowline_proto::sync::lock;

use super::authority_clock::AuthorityClock;
use super::fault::{Fault, Faults};
use super::grant_store::GrantStore;
use super::key_ring::KeyRing;
use super::oauth_answer::Refusal;
use super::options::{OFFLINE_ACCESS, Options};
use super::registered_client::RegisteredClient;
use super::request_log::RequestLog;

/// The authorization server without its socket.
pub(super) struct Authority {
    /// To the letter as tokens and documents name it.
    pub(super) issuer: String,
    pub(super) options: Options,
    pub(super) clock: AuthorityClock,
    pub(super) keys: Arc<KeyRing>,
    pub(super) faults: Faults,
    pub(super) log: RequestLog,
    pub(super) grants: GrantStore,
    /// The user that sits at the browser.
    pub(super) user: Mutex<String>,
    /// The server behind this one, which has the rest of the origin.
    pub(super) neighbour: Mutex<Option<SocketAddr>>,
    clients: Mutex<HashMap<String, RegisteredClient>>,
}

impl Authority {
    /// A server at an origin such as `http://127.0.0.1:4000`.
    pub(super) fn new(origin: &str, mut options: Options) -> Self {
        let clients = std::mem::take(&mut options.clients);
        Self {
            issuer: format!("{origin}{}", options.path),
            clock: AuthorityClock::new(options.time),
            keys: Arc::new(KeyRing::new(options.key.take())),
            faults: Faults::default(),
            log: RequestLog::default(),
            grants: GrantStore::default(),
            user: Mutex::new(options.user.clone()),
            neighbour: Mutex::default(),
            clients: Mutex::new(clients.into_iter().map(|it| (it.id.clone(), it)).collect()),
            options,
        }
    }

    /// The URL of an endpoint.
    pub(super) fn endpoint(&self, name: &str) -> String {
        format!("{}/{name}", self.issuer.trim_end_matches('/'))
    }

    pub(super) fn client(&self, id: &str) -> Option<RegisteredClient> {
        lock(&self.clients).get(id).cloned()
    }

    pub(super) fn add_client(&self, client: RegisteredClient) {
        lock(&self.clients).insert(client.id.clone(), client);
    }

    pub(super) fn remove_client(&self, id: &str) {
        lock(&self.clients).remove(id);
    }

    pub(super) fn acts(&self, fault: &Fault) -> bool {
        self.faults.acts(fault)
    }

    /// The scopes that a client may ask for, as metadata lists them.
    pub(super) fn scopes(&self) -> Vec<String> {
        let offline = self.options.has_offline_access.then(|| OFFLINE_ACCESS.to_owned());
        self.options.scopes.iter().cloned().chain(offline).collect()
    }

    /// The scopes to grant: those that were asked for, or all that need no explicit request.
    pub(super) fn granted(&self, asked: Option<&str>) -> Result<Scopes, Refusal> {
        let malformed = |_| Refusal::new("invalid_scope", "a scope is malformed");
        let asked = Scopes::parse(asked.unwrap_or_default()).map_err(malformed)?;
        if asked.is_empty() {
            return Scopes::of(&self.options.scopes).map_err(malformed);
        }
        let known = self.scopes();
        let is_known = |scope: &str| scope == "openid" || known.iter().any(|it| it == scope);
        if !self.options.scopes.is_empty() && !asked.iter().all(is_known) {
            return Err(Refusal::new("invalid_scope", "the server has no such scope"));
        }
        Ok(asked)
    }

    /// Checks the resource that a token is asked for (RFC 8707).
    pub(super) fn resource(&self, asked: Option<&str>) -> Result<Option<String>, Refusal> {
        let known = &self.options.resources;
        match asked {
            None if self.options.is_resource_required => {
                Err(Refusal::new("invalid_target", "the request lacks `resource`"))
            }
            None => Ok(known.first().cloned()),
            Some(asked) if !known.is_empty() && !known.iter().any(|it| it == asked) => {
                Err(Refusal::new("invalid_target", "the server has no such resource"))
            }
            Some(asked) => Ok(Some(asked.to_owned())),
        }
    }
}
