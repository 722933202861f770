//! What a client can connect to: a command to start, or any transport.

use std::sync::Arc;
use std::time::Duration;

#[cfg(feature = "http")]
use bowline_http::client::Authorize;
use bowline_proto::client::ClientConfig;
use bowline_transport::child::Command;
use bowline_transport::connect::{Link, connect, is_mirrored};
use bowline_transport::tap::Tap;
use bowline_transport::transport::Transport;
use tokio::time::timeout;

use crate::era::RememberedEra;
use crate::error::{Error, Result};
use crate::host::Application;

/// What a client can connect to: a [`Command`], which is started, or any [`Transport`].
///
/// `How` is a marker that tells the two implementations apart; callers never write it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` leads to no server",
    label = "neither a `Command` nor a transport",
    note = "a client connects to a `Command`, which it starts, or to anything that implements \
            `bowline_transport::transport::Transport`"
)]
pub trait Connect<How>: Send {
    /// Opens a channel to the server and negotiates the revision.
    ///
    /// # Errors
    ///
    /// If the channel cannot be opened, or client and server have no revision in common.
    fn connect(self, connector: &Connector) -> impl Future<Output = Result<Link>> + Send;
}

/// Negotiates with a server over a given transport: holds the client's configuration and hooks.
#[derive(Clone, Debug)]
pub struct Connector {
    config: Arc<ClientConfig>,
    application: Arc<Application>,
    /// How long a command may take to start.
    start_timeout: Option<Duration>,
}

impl Connector {
    pub(crate) fn new(
        config: ClientConfig,
        application: Arc<Application>,
        start_timeout: Option<Duration>,
    ) -> Self {
        Self { config: Arc::new(config), application, start_timeout }
    }

    /// The same with another configuration.
    fn with_config(&self, config: ClientConfig) -> Self {
        Self::new(config, Arc::clone(&self.application), self.start_timeout)
    }

    /// Negotiates with the server at the other end of a transport.
    ///
    /// # Errors
    ///
    /// If the transport breaks, or client and server have no revision in common.
    pub async fn over<T: Transport>(&self, transport: T) -> Result<Link> {
        let application = Arc::clone(&self.application);
        application.mirror(is_mirrored::<T>());
        let (config, wire) = (Arc::clone(&self.config), application.wire());
        let connected = match wire {
            None => connect(transport, config, application).await,
            Some(wire) => {
                let tap = Tap::new(transport, move |direction, text| wire.call(direction, text));
                connect(tap, config, application).await
            }
        };
        connected.map_err(Error::connect)
    }

    /// The same with a declared extension.
    #[cfg(feature = "http")]
    pub(crate) fn with_extension(&self, identifier: &str) -> Result<Self> {
        let config = ClientConfig::clone(&self.config).with_extension(identifier);
        Ok(self.with_config(config.map_err(Error::address)?))
    }

    /// Whether the client offers a revision in which a server is its own authorization server.
    #[cfg(feature = "http")]
    pub(crate) fn speaks_with_authorization_at_origin(&self) -> bool {
        self.config.revisions().iter().any(|it| it.has_authorization_at_origin())
    }

    /// Notes what ends the login of this connection.
    #[cfg(feature = "http")]
    pub(crate) fn log_out_with(&self, authorize: &Arc<dyn Authorize>) {
        self.application.logged_in_by(authorize);
    }

    /// The same for revisions with a handshake only, so that no `server/discover` is sent first;
    /// `None` if this client speaks revisions of one era only.
    pub(crate) fn without_probe(&self) -> Option<Self> {
        let revisions = self.config.revisions();
        let legacy: Vec<_> = revisions.iter().copied().filter(|it| it.has_handshake()).collect();
        if legacy.is_empty() || legacy.len() == revisions.len() {
            return None;
        }
        let config = ClientConfig::clone(&self.config).with_revisions(legacy);
        Some(self.with_config(config))
    }
}

/// Marks a [`Transport`] in [`Connect`].
#[derive(Debug)]
pub enum ByTransport {}

impl<T: Transport> Connect<ByTransport> for T {
    async fn connect(self, connector: &Connector) -> Result<Link> {
        connector.over(self).await
    }
}

/// Marks a [`Command`] in [`Connect`].
#[derive(Debug)]
pub enum ByCommand {}

impl Connect<ByCommand> for Command {
    /// Starts the server. Starts it a second time with the other era first, if it exits on the
    /// probe, or if the remembered era was wrong.
    async fn connect(self, connector: &Connector) -> Result<Link> {
        let Some(without_probe) = connector.without_probe() else {
            return start(self, connector).await;
        };
        let era = RememberedEra::of(&self);
        let (first, second) = if era.had_handshake() {
            (&without_probe, connector)
        } else {
            (connector, &without_probe)
        };
        let link = match start(self.clone(), first).await {
            Err(error) if error.speaks_for_another_era(era.had_handshake()) => {
                era.forget();
                start(self, second).await?
            }
            outcome => outcome?,
        };
        era.remember(&link);
        Ok(link)
    }
}

async fn start(command: Command, connector: &Connector) -> Result<Link> {
    let child = command.spawn().map_err(Error::start)?;
    let stderr = child.stderr();
    let connecting = connector.over(child);
    let Some(longest) = connector.start_timeout else { return connecting.await };
    let connected = timeout(longest, connecting).await;
    connected.unwrap_or_else(|_| Err(Error::slow_start(longest, stderr.as_ref())))
}
