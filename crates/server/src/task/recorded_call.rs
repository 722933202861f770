//! A call as it is stored, so that another server can run it after the one that began it stopped.

use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::{
    Access, ClientProfile, ExchangeId, Extensions, Outbox, Owner, Parts, Request,
};
use bowline_types::capability::ClientCapabilities;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde::{Deserialize, Serialize};

/// A call of a tool. What layers and the transport attached to it is not stored: its values have no
/// form outside of their process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedCall {
    revision: Revision,
    params: RawJson,
    meta: RawJson,
    client: Option<Implementation>,
    capabilities: ClientCapabilities,
    log_level: Option<LoggingLevel>,
    /// `None` is access to everything.
    scopes: Option<Vec<String>>,
}

impl RecordedCall {
    pub(super) fn of(parts: &Parts, params: &Members) -> Self {
        let scopes = || parts.access.scopes().map(str::to_owned).collect();
        Self {
            revision: parts.revision,
            params: RawJson::from_checked(params.as_str()),
            meta: RawJson::from_checked(parts.meta.as_str()),
            client: parts.client.info.clone(),
            capabilities: parts.client.capabilities.clone(),
            log_level: parts.log_level,
            scopes: (parts.access != Access::everything()).then(scopes),
        }
    }

    /// The call as a request of its owner.
    pub(super) fn request(self, owner: Owner, outbox: Outbox, exchange: ExchangeId) -> Request {
        let members = |json: RawJson| Members::cut(json.into_text().into()).unwrap_or_default();
        let client = ClientProfile {
            info: self.client,
            capabilities: self.capabilities,
            ..ClientProfile::default()
        };
        let parts = Parts {
            exchange,
            method: Method::ToolsCall,
            revision: self.revision,
            client: Arc::new(client),
            meta: members(self.meta),
            progress: None,
            log_level: self.log_level,
            input: None,
            owner,
            access: self.scopes.map_or_else(Access::everything, Access::to),
            headers: None,
            outbox,
            extensions: Extensions::default(),
        };
        Request { parts, params: members(self.params) }
    }
}
