//! `bowline logout`: ends the login at a server.

use serde::Serialize;

use super::login::login_url;
use crate::exit::{Exit, Failure};
use crate::interrupt::interruptible;
use crate::logins::known::{self, KnownServer, LoginMethod};
use crate::logins::{self, Credential, LoginMode};
use crate::print::{self, json, text};
use crate::target::TargetArgs;

/// Ends the login at a server, for all commands and instances
///
/// Asks the authorization server to revoke the tokens, and deletes them here even if that fails.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The server: a URL, or a name
    #[arg(value_name = "TARGET")]
    target: String,
    /// Prints the outcome as JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  bowline logout https://mcp.example.com/mcp
";

#[derive(Serialize)]
struct LoggedOut<'u> {
    server: &'u str,
    #[serde(rename = "wasLoggedIn")]
    was_logged_in: bool,
}

impl Args {
    pub(crate) async fn run(self) -> Result<Exit, Failure> {
        let target = TargetArgs::only_named().take(&mut vec![self.target.clone()])?;
        let url = login_url(&target)?;
        let was_logged_in = interruptible(log_out(&url)).await?;
        match (self.json, was_logged_in) {
            (true, _) => json::print(&LoggedOut { server: &url, was_logged_in }),
            (false, true) => print::text(text!("logged out of {url}")),
            (false, false) => print::note(text!("there was no login at {url}")),
        }
        Ok(Exit::Done)
    }
}

/// Ends a login. Says whether there was one.
async fn log_out(url: &str) -> Result<bool, Failure> {
    let server = known::find(url)?.unwrap_or_else(|| KnownServer::new(url));
    let was_logged_in = match logins::credential(&server, LoginMode::LogOut) {
        Ok(Credential::Login(login)) => {
            let was_logged_in = logins::status(&login).await?.is_some();
            login.log_out().await.map_err(|error| logins::unusable(&error))?;
            was_logged_in
        }
        Ok(Credential::Token(_)) => true,
        // The file is of another program, and may be gone. The entry can still be removed.
        Err(_) if matches!(server.method, LoginMethod::TokenFile { .. }) => true,
        Err(failure) => return Err(failure),
    };
    known::forget(url)?;
    Ok(was_logged_in)
}
