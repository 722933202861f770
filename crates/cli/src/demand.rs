//! What a server demanded of the login that a target used, and what the user can do about it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bowline::auth::ServerLogin;

use crate::exit::{Exit, Failure};
use crate::print::{TerminalText, text};

/// The login of one target. Clones share it, since a bridge connects to its target again and again.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoginUse(Arc<Mutex<Used>>);

#[derive(Debug, Default)]
struct Used {
    /// How the user named the server.
    label: String,
    /// The login of the last connection.
    login: Option<ServerLogin>,
    /// Why the list of logins cannot be read, if it cannot.
    unreadable: Option<TerminalText>,
}

impl LoginUse {
    fn used(&self) -> MutexGuard<'_, Used> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the server of this name gets this login.
    pub(crate) fn note(&self, label: &str, login: &ServerLogin) {
        let mut used = self.used();
        label.clone_into(&mut used.label);
        used.login = Some(login.clone());
    }

    /// Notes why the list of logins cannot be read.
    pub(crate) fn note_unreadable(&self, reason: TerminalText) {
        self.used().unreadable = Some(reason);
    }

    /// Whether the server got a stored credential.
    pub(crate) async fn is_logged_in(&self) -> bool {
        let login = self.used().login.clone();
        match login {
            Some(login) => login.status().await.is_ok_and(|status| status.is_some()),
            None => false,
        }
    }

    /// Adds what the user can do to a failure of this server for want of a login or of scopes.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let used = self.used();
        let demand = used.login.as_ref().and_then(ServerLogin::demand);
        let lacks_scopes = demand.as_ref().is_some_and(|demand| demand.is_step_up);
        let failure = match failure.http_status() {
            Some(403) if lacks_scopes => failure.with_exit(Exit::Unauthorized),
            _ => failure,
        };
        if failure.exit() != Exit::Unauthorized {
            return failure;
        }
        let Some(demand) = demand else {
            return used.unreadable.iter().fold(failure, Failure::hint);
        };
        let scopes = match lacks_scopes && !demand.scopes.is_empty() {
            true => format!(" --scope {}", quoted(&demand.scopes.to_string())),
            false => String::new(),
        };
        failure.hint(text!("bowline login {}{scopes}", quoted(&used.label)))
    }
}

/// A word of a command line.
pub(crate) fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_the_login_of_one_target_explains_no_failure_of_another() {
        let (own, other) = (LoginUse::default(), LoginUse::default());
        own.note_unreadable("the list of logins cannot be read".into());
        let explained = |login: &LoginUse| {
            let failure = login.explain(Failure::new(Exit::Unauthorized, "401 Unauthorized"));
            failure.advice().map(|advice| advice.as_str().to_owned())
        };
        assert_eq!(explained(&own).as_deref(), Some("the list of logins cannot be read"));
        assert_eq!(explained(&other), None);
    }
}
