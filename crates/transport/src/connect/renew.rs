//! Opens the channel again after the server is gone, if the transport supports that.
//!
//! What is renewed is the channel. The
//! [`ClientConnection`](bowline_proto::client::ClientConnection) stays and keeps its numbers, its
//! subscriptions and the calls that wait; it says itself which calls fail
//! ([`lost`](bowline_proto::client::ClientConnection::lost)).

use std::future::Future;
use std::pin::pin;

use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::driver::{Channel, Driver};
use super::link::Command;
use crate::clock::now;
use crate::error::Error;
use crate::transport::{Transport, Writer};

impl Driver {
    /// Opens the channel again, unless negotiation never succeeded on it.
    ///
    /// A server that ended before the first agreement is not started again: it most likely cannot
    /// run at all, and the caller of `connect` gets the reason at once.
    ///
    /// # Errors
    ///
    /// If the channel stays closed: with the reason if it broke or the client gave it up, with `None`
    /// if the user of the client ended it.
    pub(super) async fn renew<T: Transport>(
        &mut self,
        channel: &mut Channel<T>,
        mut lost: Option<Error>,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> Result<(), Option<Error>> {
        let Channel { reader, writer, renewal, limits } = channel;
        let Some(renewal) = renewal.as_mut().filter(|_| self.is_negotiated()) else {
            return Err(lost);
        };
        loop {
            let pause = renewal.pause(lost.unwrap_or_else(Error::closed)).map_err(Some)?;
            self.queue.clear();
            self.connection.lost(&pause.reason);
            self.host.diagnostic(&pause.reason);
            let pause = async {
                writer.close().await;
                sleep(pause.duration).await;
            };
            if !self.handle_all() || !self.wait(pause, inbox).await {
                return Err(self.given_up.take());
            }
            match renewal.open() {
                Ok(transport) => {
                    (*reader, *writer) = transport.split(limits);
                    self.connection.restarted(now());
                    return Ok(());
                }
                Err(error) => lost = Some(error),
            }
        }
    }

    /// Waits while there is no channel; returns whether to go on. Meanwhile it obeys commands and ends
    /// calls that wait for too long. The old channel is closed meanwhile, which for a process takes up to its grace periods.
    async fn wait(
        &mut self,
        pause: impl Future<Output = ()>,
        inbox: &mut mpsc::UnboundedReceiver<Command>,
    ) -> bool {
        let mut pause = pin!(pause);
        loop {
            let timeout = self.connection.poll_timeout().map(Instant::from_std);
            let goes_on = tokio::select! {
                () = &mut pause => return true,
                command = inbox.recv() => {
                    command.is_some_and(|command| self.command(command, now()))
                }
                () = sleep_until(timeout.unwrap_or_else(Instant::now)), if timeout.is_some() => {
                    self.connection.handle_timeout(now());
                    true
                }
            };
            if !goes_on || !self.handle_all() {
                return false;
            }
        }
    }
}
