//! Logins in vain: the MCP server refuses the token that a login has just brought.
//!
//! Another login would bring another token that it refuses, and a user would see a page for every
//! call. So there is a pause, in which a refusal is an error. Clients with the same plan share it: a
//! program that connects again and again logs in once.

use std::sync::Mutex;
use std::time::Duration;

use bowline_proto::sync::lock;
use tokio::time::Instant;

use super::redeem::quotable;
use crate::challenge::Challenge;
use crate::error::{Error, Kind};
use crate::secret::Secret;
use crate::url::Url;

/// How long no login begins after one whose token the MCP server refused at once.
pub(crate) const VAIN_LOGIN_PAUSE: Duration = Duration::from_secs(300);

/// The logins at one MCP server.
#[derive(Default)]
pub(crate) struct LoginHistory(Mutex<State>);

#[derive(Default)]
struct State {
    /// How many logins succeeded.
    count: u64,
    vain: Option<VainLogin>,
}

struct VainLogin {
    refused: Instant,
    /// What the MCP server answered.
    answer: String,
}

impl LoginHistory {
    pub(crate) fn count(&self) -> u64 {
        lock(&self.0).count
    }

    pub(crate) fn succeeded(&self) {
        lock(&self.0).count += 1;
    }

    /// The MCP server answered 401 to the token of a login that has just succeeded. A text that
    /// repeats the token is not kept.
    pub(crate) fn was_in_vain(&self, challenge: Option<&Challenge>, token: &Secret<String>) {
        let value = |name| challenge.and_then(|it| quotable(it.value(name)?, &[token]));
        let quoted = [value("error"), value("error_description")].into_iter().flatten();
        let quoted: Vec<String> = quoted.map(|text| format!("`{text}`")).collect();
        let answer = match quoted.is_empty() {
            true => "401".to_owned(),
            false => format!("401 ({})", quoted.join(", ")),
        };
        lock(&self.0).vain = Some(VainLogin { refused: Instant::now(), answer });
    }

    /// Ends the pause: the user wants a new login.
    pub(crate) fn forget(&self) {
        lock(&self.0).vain = None;
    }

    /// Checks that a login may begin.
    ///
    /// # Errors
    ///
    /// In the pause after a login in vain.
    pub(crate) fn check(&self, mcp: &Url) -> Result<(), Error> {
        let state = lock(&self.0);
        let Some(VainLogin { refused, answer }) = &state.vain else { return Ok(()) };
        let left = VAIN_LOGIN_PAUSE.saturating_sub(refused.elapsed());
        if left.is_zero() {
            return Ok(());
        }
        // No query: it may hold a secret.
        let (origin, path, seconds) = (mcp.origin(), mcp.path(), left.as_secs_f64().ceil());
        let text = format!(
            "`{origin}{path}` answered {answer} to the token of a login that had just succeeded; no \
             new login for {seconds} s, unless you log out first: check which issuer and which \
             audience the server accepts"
        );
        Err(Error::new(Kind::Login, text))
    }
}
