//! Sends the user to a web page, for what must not pass through the client.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::{UrlElicitationRequired, UrlParams};
use bowline_types::error::{ErrorObject, code};

use super::answer::AnswerError;
use super::{Ask, Asking, form};
use crate::call::Call;
use crate::error::visit::check;
use crate::error::{AskError, Error, Unsupported, Visit};

impl Ask {
    /// Asks the user to visit a page, for what must not pass through the client: to sign in
    /// somewhere, to enter a key, to pay.
    ///
    /// The answer is the user's consent and no more. Whether anything was done on the page is for
    /// the page to find out, and so is whether the visitor is the user who was asked: put a
    /// [`ticket`](Self::ticket) into the URL. When it is done, [`Visit::complete`] notifies a client
    /// of 2025-11-25.
    ///
    /// The URL is `https`, or `http` on this machine. It holds no secrets, and opening it does not
    /// sign the visitor in.
    ///
    /// # Errors
    ///
    /// If the user declines, the client sends its user to no pages, or the URL breaks these rules.
    pub fn url(&self, message: impl Into<String>, url: impl Into<String>) -> Asking<Visit> {
        match Visit::new(self, message, url) {
            Ok(visit) => self
                .put(visit.question(), move |answer| form::accepted(answer).map(|_| visit.clone())),
            Err(error) => Asking::of(async { Err(error) }),
        }
    }
}

impl Visit {
    /// A page to visit, without asking the user yet. [`Ask::url`] asks at once.
    ///
    /// # Errors
    ///
    /// If the URL is none that a user may be sent to, or the operating system gives no randomness.
    pub fn new(
        ask: &Ask,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Self, AskError> {
        let mut page = UrlParams::new(message, url);
        check(&page).map_err(AskError::Unaskable)?;
        let parts = ask.call.parts();
        if parts.revision.has_elicitation_ids() {
            let mut id = [0; 16];
            getrandom::fill(&mut id).map_err(|error| AskError::Unaskable(error.to_string()))?;
            page = page.with_elicitation_id(URL_SAFE_NO_PAD.encode(id));
        }
        Ok(Self { page, outbox: parts.outbox.clone() })
    }
}

/// Answers a call that cannot go on before the user has visited pages.
///
/// A client of 2025-11-25 gets the error for that (−32042). Since 2026-07-28 the call is answered
/// with the question. When the client retries with the user's consent and the handler fails again,
/// the user is asked again, because the page was not visited yet.
pub(crate) async fn require_visits(call: Call, visits: Vec<Visit>) -> Error {
    let required = ClientCapabilities::new().with_url_elicitation();
    if let Some(lack) = Unsupported::by(call.parts(), &required) {
        return AskError::Unsupported(Box::new(lack)).into();
    }
    if visits.is_empty() {
        let message = "a page must be visited first, but none is named".to_owned();
        return AskError::Unaskable(message).into();
    }
    let is_asked = call.is_in_task() && call.parts().revision.has_input_requests();
    if call.rounds().is_none() && !is_asked {
        return refusal(&visits);
    }
    let ask = Ask::of(call);
    let mut asking: Vec<_> = visits.iter().map(|visit| ask.insist(visit)).collect();
    let error = poll_fn(|cx| {
        let answers = asking.iter_mut().map(|asking| Pin::new(asking).poll(cx));
        let refused = |poll| match poll {
            Poll::Ready(Err(error)) => Some(error),
            Poll::Ready(Ok(())) | Poll::Pending => None,
        };
        // All of them are polled, so that all are asked.
        let refused: Vec<AskError> = answers.filter_map(refused).collect();
        refused.into_iter().next().map_or(Poll::Pending, Poll::Ready)
    });
    error.await.into()
}

impl Ask {
    /// Asks the user to visit a page, again after each consent.
    fn insist(&self, visit: &Visit) -> Asking<()> {
        self.put(visit.question(), |answer| {
            form::accepted(answer)?;
            Err(AnswerError::Unfit("the page was not visited yet".to_owned()))
        })
    }
}

/// The error for clients of 2025-11-25.
fn refusal(visits: &[Visit]) -> Error {
    let messages: Vec<_> = visits.iter().map(|visit| visit.page.message.as_str()).collect();
    let pages = visits.iter().map(|visit| visit.page.clone()).collect();
    let message = format!("a page must be visited first: {}", messages.join("; "));
    let error = ErrorObject::new(code::URL_ELICITATION_REQUIRED, message);
    Error::refusal(error.with_data(&UrlElicitationRequired::new(pages)))
}
