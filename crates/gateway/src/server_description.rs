//! What a server told about itself.

use bowline_client::Client;
use bowline_proto::upstream::Upstream as _;
use bowline_types::capability::ServerCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

/// What a server told about itself when it was connected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerDescription {
    /// The revision that it speaks.
    pub revision: Revision,
    /// What it offers, as far as the gateway passes it on.
    pub capabilities: ServerCapabilities,
    /// Its instructions for models.
    pub instructions: Option<String>,
    /// The name and version that it gives itself.
    pub info: Option<Implementation>,
}

impl ServerDescription {
    /// What a connected server told.
    pub fn of(client: &Client) -> Self {
        Self {
            revision: client.revision(),
            capabilities: client.relay().capabilities(),
            instructions: client.instructions().map(str::to_owned),
            info: client.server_info().cloned(),
        }
    }
}
