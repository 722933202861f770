//! The login with which a target is connected, and how it explains failures of that target.

use bowline::auth::ServerLogin;
use bowline_gateway::ServerCredential;
use bowline_gateway::config::Launch;

use super::{Credential, LoginMode, credential, known_server, quoted, status, unusable};
use crate::exit::{Exit, Failure};
use crate::print::{TerminalText, text};

/// What authorizes the requests to one target.
#[derive(Debug)]
pub(crate) struct TargetLogin {
    /// How the user named the server.
    label: String,
    /// None for a command, and for a server that gets a header `Authorization` anyway.
    credential: Option<Credential>,
    /// Why the list of logins cannot be read, if it cannot.
    unreadable: Option<TerminalText>,
}

impl TargetLogin {
    /// The stored login of the server. If the list of logins cannot be read, there is none: most servers
    /// demand no login.
    ///
    /// # Errors
    ///
    /// If a file that the server's entry names cannot be read.
    pub(crate) fn of(label: &str, launch: &Launch) -> Result<Self, Failure> {
        let label = label.to_owned();
        let none = Self { label, credential: None, unreadable: None };
        let Some(url) = launch.login_url() else { return Ok(none) };
        match known_server(url) {
            Ok(server) => {
                let credential = credential(&server, LoginMode::StoredOnly(String::new()))?;
                Ok(Self { credential: Some(credential), ..none })
            }
            Err(reason) => Ok(Self { unreadable: Some(reason), ..none }),
        }
    }

    /// What a client needs to connect.
    pub(crate) fn credential(&self) -> Option<ServerCredential> {
        self.credential.as_ref().map(Credential::for_client)
    }

    fn login(&self) -> Option<&ServerLogin> {
        match &self.credential {
            Some(Credential::Login(login)) => Some(login),
            _ => None,
        }
    }

    /// Whether the server got a stored credential.
    pub(crate) async fn is_logged_in(&self) -> bool {
        match self.login() {
            Some(login) => login.status().await.is_ok_and(|status| status.is_some()),
            None => false,
        }
    }

    /// The value of the header `Authorization` for requests to the server, if there is one.
    ///
    /// # Errors
    ///
    /// If the stored logins cannot be read, or the token is bound to a key.
    pub(crate) async fn header(&self) -> Result<Option<String>, Failure> {
        let login = match &self.credential {
            None => return Ok(None),
            Some(Credential::Token(token)) => return Ok(Some(super::bearer(token))),
            Some(Credential::Login(login)) => login,
        };
        if status(login).await?.is_some_and(|status| status.is_bound) {
            let text = "the login is bound to a key (DPoP), which this command cannot use";
            return Err(Failure::new(Exit::Unauthorized, text));
        }
        let headers = login.headers().await.map_err(|error| unusable(&error))?;
        let value = headers.get("authorization").and_then(|value| value.to_str().ok());
        Ok(value.map(str::to_owned))
    }

    /// Adds what the user can do to a failure of this server for want of a login or of scopes.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        let demand = self.login().and_then(ServerLogin::demand);
        let lacks_scopes = demand.as_ref().is_some_and(|demand| demand.is_step_up);
        let failure = match failure.http_status() {
            Some(403) if lacks_scopes => failure.with_exit(Exit::Unauthorized),
            _ => failure,
        };
        if failure.exit() != Exit::Unauthorized {
            return failure;
        }
        let Some(demand) = demand else {
            return self.unreadable.iter().fold(failure, Failure::hint);
        };
        let scopes = match lacks_scopes && !demand.scopes.is_empty() {
            true => format!(" --scope {}", quoted(&demand.scopes.to_string())),
            false => String::new(),
        };
        failure.hint(text!("bowline login {}{scopes}", quoted(&self.label)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_the_login_of_one_target_explains_no_failure_of_another() {
        let login = |unreadable| TargetLogin { label: "a".into(), credential: None, unreadable };
        let explained = |login: &TargetLogin| {
            let failure = login.explain(Failure::new(Exit::Unauthorized, "401 Unauthorized"));
            failure.advice().map(|advice| advice.as_str().to_owned())
        };
        let reason = "the list of logins cannot be read";
        assert_eq!(explained(&login(Some(reason.into()))).as_deref(), Some(reason));
        assert_eq!(explained(&login(None)), None);
    }
}
