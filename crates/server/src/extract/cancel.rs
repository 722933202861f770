//! Time to clean up after a cancellation.

use super::FromCall;
use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

/// Lets a handler go on for a while after its call was cancelled.
///
/// Without this parameter a cancelled handler is dropped where it stands, which is what most
/// handlers want. With it the handler runs on in a task of its own, for as long as
/// [`Tool::grace`](crate::Tool::grace) allows, and should end soon after
/// [`cancelled`](Self::cancelled). Its answer is dropped.
///
/// ```
/// use bowline_server::Cancel;
///
/// async fn export(cancel: Cancel) -> &'static str {
///     let rows = async { /* write rows */ };
///     tokio::select! {
///         () = rows => "exported",
///         () = cancel.cancelled() => {
///             // remove the half-written file
///             "cancelled"
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Cancel(Call);

impl FromCall for Cancel {
    fn describe(signature: &mut HandlerSignature) {
        signature.may_linger();
    }

    async fn from_call(call: &Call) -> Result<Self> {
        Ok(Self(call.clone()))
    }
}

impl Cancel {
    /// Waits until the call is cancelled.
    pub async fn cancelled(&self) {
        self.0.over().raised().await;
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.over().is_raised()
    }
}
