//! Pages that the user must visit before the upstream server serves a call (2025-11-25).
//!
//! Such a server refuses the call and names the pages. Callers of its revision get the refusal. A
//! caller without a session is asked to visit the pages, and the call is made again when the server
//! reports that the user has finished, or after half a minute: it did not run before (ELIC-36). For
//! other callers the refusal becomes a text that names the pages.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::Parts;
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::elicitation::{ElicitAction, ElicitParams, ElicitResult, UrlParams};
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::InputRequest;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::{Relay, caller};
use crate::call::ClientCall;
use crate::error::{Error, Result};

/// How long to wait for the server to report that the user has finished.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often one call may send the user to pages.
const VISITS: usize = 4;

impl Relay {
    /// Makes a call, and makes it again after the caller has visited the pages that it needs.
    pub(super) async fn forward_visiting<T>(
        &self,
        call: impl Fn() -> ClientCall<'static, T>,
        parts: &Parts,
    ) -> Result<T> {
        let mut outcome = self.forward(call(), parts).await;
        for _ in 0..VISITS {
            let Err(error) = &outcome else { break };
            let pages = pages(error);
            if pages.is_empty() {
                break;
            }
            if parts.revision.has_elicitation_ids() {
                self.remember(&pages, parts);
                break;
            }
            if !self.passes_on() || !self.visit(pages, parts).await {
                break;
            }
            outcome = self.forward(call(), parts).await;
        }
        outcome
    }

    /// Asks the caller to visit pages, and waits until the user has finished. Gives whether the user
    /// agreed to visit all of them.
    async fn visit(&self, pages: Vec<UrlParams>, parts: &Parts) -> bool {
        // Before the user can finish.
        let completed = self.callers().completions();
        let names: Vec<String> = pages.iter().filter_map(|it| it.elicitation_id.clone()).collect();
        let mut visits = JoinSet::new();
        for page in pages {
            let question = InputRequest::Elicit(ElicitParams::Url(page));
            visits.spawn(caller::ask(parts.outbox.clone(), parts.client.clone(), question));
        }
        while let Some(answer) = visits.join_next().await {
            let answer = answer.ok().and_then(|answer| answer.ok()?.parse::<ElicitResult>().ok());
            if !answer.is_some_and(|answer| answer.action == ElicitAction::Accept) {
                return false;
            }
        }
        let _ = timeout(PATIENCE, all_completed(completed, names)).await;
        true
    }

    /// Remembers whose pages these are, for the report that the user has finished.
    fn remember(&self, pages: &[UrlParams], parts: &Parts) {
        for name in pages.iter().filter_map(|page| page.elicitation_id.as_ref()) {
            self.callers().opened_page(name, &parts.outbox);
        }
    }
}

/// Waits until the server has reported all of these names.
async fn all_completed(mut completed: Receiver<Arc<str>>, mut names: Vec<String>) {
    if names.is_empty() {
        // The server does not name the page, so it reports nothing.
        return std::future::pending().await;
    }
    while !names.is_empty() {
        match completed.recv().await {
            Ok(name) => names.retain(|it| **it != *name),
            Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
    }
}

/// The pages that a server wants to be visited first, if that is why it refused a call.
fn pages(error: &Error) -> Vec<UrlParams> {
    let required = error.rpc().filter(|error| error.code == code::URL_ELICITATION_REQUIRED);
    let required = required.and_then(ErrorObject::parse_data::<UrlElicitationRequired>);
    required.map(|required| required.elicitations).unwrap_or_default()
}
