//! `bowline status`: all stored logins.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline::auth::LoginStatus;
use bowline_types::text::counted;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::logins::known::{self, KnownServer, LoginMethod};
use crate::logins::{self, Credential, LoginMode, quoted};
use crate::print::{self, TerminalText, json, line, table};

/// Shows all stored logins, their scopes, and how long they last
///
/// Contacts no server, and shows no token.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Prints the logins as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bowline status
  bowline status --json | jq '.logins[].expiresAt'
";

#[derive(Serialize)]
struct AllLogins {
    logins: Vec<LoginReport>,
}

/// A login for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LoginReport {
    server: String,
    by: &'static str,
    /// `ready`, `expired`, `ended` or `unreadable`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    issuer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    scopes: Vec<String>,
    /// In seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    can_renew: bool,
    /// Why the login cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl LoginReport {
    fn of(login: &StoredLogin) -> Self {
        match &login.status {
            Ok(status) => Self::new(&login.server, status.as_ref()),
            Err(failure) => Self {
                state: "unreadable",
                can_renew: false,
                error: Some(failure.to_string()),
                ..Self::new(&login.server, None)
            },
        }
    }

    /// Without a status, the login has ended, or a file has the token.
    pub(crate) fn new(server: &KnownServer, status: Option<&LoginStatus>) -> Self {
        let is_file = matches!(server.method, LoginMethod::TokenFile { .. });
        let state = match status {
            None if is_file => "ready",
            None => "ended",
            Some(status) if is_over(status) && !status.can_renew => "expired",
            Some(_) => "ready",
        };
        let expires = status.and_then(|it| it.expires?.duration_since(UNIX_EPOCH).ok());
        Self {
            server: server.url.clone(),
            by: server.method_name(),
            state,
            issuer: status.map(|it| it.issuer.clone()),
            client_id: status.and_then(|it| it.client_id.clone()),
            scopes: status
                .map(|it| it.scopes.iter().map(str::to_owned).collect())
                .unwrap_or_default(),
            expires_at: expires.map(|it| it.as_secs()),
            can_renew: is_file || status.is_some_and(|it| it.can_renew),
            error: None,
        }
    }
}

/// A server of the list, and what is stored of the login there.
struct StoredLogin {
    server: KnownServer,
    status: Result<Option<LoginStatus>, Failure>,
}

impl Args {
    pub(crate) async fn run(self) -> Result<Exit, Failure> {
        let mut logins = Vec::new();
        for server in known::all()? {
            let status = status_of(&server).await;
            logins.push(StoredLogin { server, status });
        }
        if self.json {
            json::print(&AllLogins { logins: logins.iter().map(LoginReport::of).collect() });
        } else if logins.is_empty() {
            print::note("there are no logins; `bowline login URL` makes one");
        } else {
            print::text(TerminalText::joined(logins.iter().map(shown), "\n"));
        }
        let unreadable = logins.iter().find_map(|login| login.status.as_ref().err());
        Ok(unreadable.map_or(Exit::Done, Failure::exit))
    }
}

async fn status_of(server: &KnownServer) -> Result<Option<LoginStatus>, Failure> {
    match logins::credential(server, LoginMode::StoredOnly(String::new())) {
        Ok(Credential::Login(login)) => logins::status(&login).await,
        // The keyring may hold tokens that this program cannot see.
        Err(failure) if !server.tokens.is_files() => Err(failure),
        // The file of a secret is gone, so no token can be obtained.
        Ok(Credential::Token(_)) | Err(_) => Ok(None),
    }
}

fn shown(StoredLogin { server, status }: &StoredLogin) -> TerminalText {
    let mut table = table::Table::new(line(&server.url));
    match (status, &server.method) {
        (Err(failure), _) => {
            table.row("login", &format!("cannot be read: {failure}"));
            if let Some(advice) = failure.advice() {
                table.row("hint", advice.as_str());
            }
        }
        (Ok(None), LoginMethod::TokenFile { path }) => {
            table.row("token", &format!("in {}, kept by another program", path.display()));
        }
        (Ok(None), _) => {
            let again = format!("ended: `bowline login {}` begins a new one", quoted(&server.url));
            table.row("login", &again);
        }
        (Ok(Some(status)), _) => {
            table.row("issuer", &status.issuer);
            if !status.scopes.is_empty() {
                table.row("scopes", &status.scopes.to_string());
            }
            table.row("expires", &lifetime(status));
        }
    }
    table.render(table::width())
}

fn is_over(status: &LoginStatus) -> bool {
    status.expires.is_some_and(|expires| expires <= SystemTime::now())
}

/// How long a login lasts, in words.
pub(crate) fn lifetime(status: &LoginStatus) -> String {
    let Some(expires) = status.expires else {
        return "at a time that the authorization server does not name".to_owned();
    };
    let (when, is_over) = match expires.duration_since(SystemTime::now()) {
        Ok(left) => (format!("in {}", words(left)), false),
        Err(error) => (format!("{} ago", words(error.duration())), true),
    };
    let then = match (status.can_renew, is_over) {
        (true, true) => "renewed by the next command",
        (true, false) => "then renewed without you",
        (false, true) => "log in again",
        (false, false) => "then you log in again",
    };
    format!("{when}; {then}")
}

/// A length of time in its greatest unit.
fn words(time: Duration) -> String {
    let seconds = usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
    match seconds {
        0..120 => counted(seconds, "second"),
        120..7200 => counted(seconds / 60, "minute"),
        7200..172_800 => counted(seconds / 3600, "hour"),
        _ => counted(seconds / 86_400, "day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_words() {
        for (seconds, expected) in [
            (1, "1 second"),
            (119, "119 seconds"),
            (121, "2 minutes"),
            (3600, "60 minutes"),
            (7200, "2 hours"),
            (200_000, "2 days"),
        ] {
            assert_eq!(words(Duration::from_secs(seconds)), expected);
        }
    }
}
