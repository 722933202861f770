//! What a client can connect to: a command to start, or any transport.

use std::sync::Arc;

use bowline_proto::client::ClientConfig;
use bowline_transport::child::Command;
use bowline_transport::connect::{Link, connect};
use bowline_transport::transport::Transport;

use crate::era::Way;
use crate::error::{Error, Result};
use crate::host::Application;

/// Something that leads to a server.
///
/// That is a [`Command`], which is started, and every [`Transport`], which is used as it is. `How`
/// tells the two apart and is never written out.
#[diagnostic::on_unimplemented(
    message = "`{Self}` leads to no server",
    label = "neither a `Command` nor a transport",
    note = "a client connects to a `Command`, which it starts, or to anything that implements \
            `bowline_transport::transport::Transport`"
)]
pub trait Connect<How>: Send {
    /// Opens a channel to the server and comes to terms with it.
    ///
    /// # Errors
    ///
    /// If there is no channel, or no agreement.
    fn connect(self, opening: &Opening) -> impl Future<Output = Result<Link>> + Send;
}

/// How a client introduces itself, over whatever it is connected to.
#[derive(Clone, Debug)]
pub struct Opening {
    config: Arc<ClientConfig>,
    application: Arc<Application>,
}

impl Opening {
    pub(crate) fn new(config: ClientConfig, application: Arc<Application>) -> Self {
        Self { config: Arc::new(config), application }
    }

    /// Comes to terms with the server at the other end of a transport.
    ///
    /// # Errors
    ///
    /// If the transport breaks first, or the two cannot talk.
    pub async fn over<T: Transport>(&self, transport: T) -> Result<Link> {
        let application = Arc::clone(&self.application);
        application.mirror(T::MIRRORS);
        connect(transport, Arc::clone(&self.config), application).await.map_err(Error::connect)
    }

    /// The same without a probe first; `None` if it takes one era only anyway.
    pub(crate) fn without_probe(&self) -> Option<Self> {
        let revisions = self.config.revisions();
        let legacy: Vec<_> = revisions.iter().copied().filter(|it| !it.is_modern()).collect();
        if legacy.is_empty() || legacy.len() == revisions.len() {
            return None;
        }
        let config = ClientConfig::clone(&self.config).with_revisions(legacy);
        Some(Self::new(config, Arc::clone(&self.application)))
    }
}

/// Marks what is used as it is.
#[derive(Debug)]
pub enum Open {}

impl<T: Transport> Connect<Open> for T {
    async fn connect(self, opening: &Opening) -> Result<Link> {
        opening.over(self).await
    }
}

/// Marks what is started.
#[derive(Debug)]
pub enum Spawn {}

impl Connect<Spawn> for Command {
    /// Starts the server; a second time, if it dies of the probe or of being taken for older than
    /// it is.
    async fn connect(self, opening: &Opening) -> Result<Link> {
        let Some(without_probe) = opening.without_probe() else {
            return start(self, opening).await;
        };
        let way = Way::of(&self);
        let (first, second) =
            if way.is_legacy() { (&without_probe, opening) } else { (opening, &without_probe) };
        let link = match start(self.clone(), first).await {
            Err(error) if error.speaks_for_another_era(way.is_legacy()) => {
                way.forget();
                start(self, second).await?
            }
            outcome => outcome?,
        };
        way.remember(&link);
        Ok(link)
    }
}

async fn start(command: Command, opening: &Opening) -> Result<Link> {
    opening.over(command.spawn().map_err(Error::start)?).await
}
