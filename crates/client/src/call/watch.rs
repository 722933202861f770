//! The progress of a call, for a caller that asked for it.

use bowline_proto::client::{CallAnswer, CallError, CallRequest};
use bowline_transport::connect::{CallObserver, Link, PendingCall};
use bowline_types::progress::ProgressParams;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::Report;

/// Progress notifications that wait for a busy caller; of more, only the newest are kept.
const NOTICES: usize = 32;

/// A call whose progress is reported: until its answer, and until the end of the task if the answer
/// is one.
pub(super) struct Watch {
    call: PendingCall,
    notices: Receiver<ProgressParams>,
}

impl Watch {
    /// Sends a call, and asks for its progress.
    pub(super) fn new(link: &Link, mut request: Box<CallRequest>) -> Self {
        request.progress = true;
        let (sender, notices) = broadcast::channel(NOTICES);
        let call = link.call(request, Some(Box::new(ProgressObserver(sender))));
        Self { call, notices }
    }

    /// Awaits the answer, and reports progress meanwhile.
    pub(super) async fn answer(
        &mut self,
        report: &mut Report<'_>,
    ) -> Result<CallAnswer, CallError> {
        reporting(&mut self.call, &mut self.notices, report).await
    }

    /// Awaits the end of the task that the call became, and reports its progress meanwhile.
    pub(super) async fn during<T>(
        mut self,
        wait: impl Future<Output = T> + Unpin,
        report: &mut Report<'_>,
    ) -> T {
        reporting(wait, &mut self.notices, report).await
    }
}

/// Awaits a future, and reports progress meanwhile.
async fn reporting<T>(
    mut wait: impl Future<Output = T> + Unpin,
    notices: &mut Receiver<ProgressParams>,
    report: &mut Report<'_>,
) -> T {
    loop {
        tokio::select! {
            biased;
            notice = notices.recv() => match notice {
                Ok(progress) => report(progress),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return wait.await,
            },
            outcome = &mut wait => {
                drain(notices, report);
                return outcome;
            }
        }
    }
}

/// Reports the progress that arrived just before the answer.
fn drain(notices: &mut Receiver<ProgressParams>, report: &mut Report<'_>) {
    loop {
        match notices.try_recv() {
            Ok(progress) => report(progress),
            Err(TryRecvError::Lagged(_)) => {}
            Err(TryRecvError::Empty | TryRecvError::Closed) => break,
        }
    }
}

/// Passes progress from the driver of the connection to the task of the caller.
///
/// The caller's function does not run here: if it blocked or panicked in the driver's task, it would
/// stop every other call.
struct ProgressObserver(Sender<ProgressParams>);

impl CallObserver for ProgressObserver {
    fn progress(&mut self, progress: ProgressParams) {
        // Fails only if the call was dropped a moment ago.
        let _ = self.0.send(progress);
    }
}
