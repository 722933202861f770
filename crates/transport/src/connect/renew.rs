//! Opens a channel again whose server is gone, if its transport knows how.

use bowline_proto::limits::Limits;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::{Command, Driver, now};
use crate::error::Error;
use crate::transport::{Renewal, Transport, Writer};

/// A channel, and how it is opened again.
pub(super) struct Channel<T: Transport> {
    pub(super) reader: T::Reader,
    pub(super) writer: T::Writer,
    pub(super) renewal: Option<Box<dyn Renewal<T>>>,
    pub(super) limits: Limits,
}

/// What became of a channel whose server is gone.
pub(super) enum Renewed {
    /// It is open again.
    Open,
    /// It stays closed, and why if it broke.
    Ended(Option<Error>),
}

impl Driver {
    /// Opens a channel again, if it was in use and its transport knows how.
    pub(super) async fn renew<T: Transport>(
        &mut self,
        channel: &mut Channel<T>,
        mut lost: Option<Error>,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> Renewed {
        let Channel { reader, writer, renewal, limits } = channel;
        let Some(renewal) = renewal.as_mut().filter(|_| self.ready.is_none()) else {
            return Renewed::Ended(lost);
        };
        loop {
            let pause = match renewal.pause(lost.unwrap_or_else(Error::closed)) {
                Ok(pause) => pause,
                Err(error) => return Renewed::Ended(Some(error)),
            };
            self.queue.clear();
            self.connection.lost(&pause.reason);
            self.host.odd(&pause.reason);
            let pause = async {
                writer.close().await;
                sleep(pause.duration).await;
            };
            if !self.handle_all() || !self.wait(pause, inbox).await {
                return Renewed::Ended(None);
            }
            match renewal.open() {
                Ok(transport) => {
                    (*reader, *writer) = transport.split(limits);
                    self.connection.restarted(now());
                    return Renewed::Open;
                }
                Err(error) => lost = Some(error),
            }
        }
    }

    /// Waits while there is no channel, and does what handles ask as far as that is possible; gives
    /// whether to go on.
    async fn wait(
        &mut self,
        pause: impl Future<Output = ()>,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> bool {
        let mut pause = std::pin::pin!(pause);
        loop {
            let command = tokio::select! {
                () = &mut pause => return true,
                command = inbox.recv() => command,
            };
            let goes_on = command.is_some_and(|command| self.command(command, now()));
            if !goes_on || !self.handle_all() {
                return false;
            }
        }
    }
}
